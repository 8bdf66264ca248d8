/*
 * Processes that end at any moment, inside calls: a context that another process shares stays whole, nobody waits for a
 * lock for ever, and no session stays taken.
 *
 * An argument is the number of rounds.
 */
#include "perfmon2_check.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { SETS = 5 };

static int rounds = 300;

/* The same again and again, all with numbers that tell whether they are whole. */
static void
call_without_end(int fd)
{
	for (uint64_t i = 0;; i++) {
		const uint64_t twice = (i & 0xffff) * 0x100010001;
		pfarg_pmd_t pmd = { .reg_num = 4, .reg_set = 0, .reg_value = twice, .reg_long_reset = twice };

		make_set(fd, (uint16_t)(1 + i * 7 % SETS), 0, 0);
		make_set(fd, (uint16_t)(1 + i * 3 % SETS), 0, 0);
		pfm_delete_evtsets(fd, &(pfarg_setdesc_t){ .set_id = (uint16_t)(1 + i * 5 % SETS) }, 1);
		pfm_write_pmds(fd, &pmd, 1);
		load(fd, self_id());
		pfm_start(fd, NULL);
		cycles(3);
		pfm_stop(fd);
		pfm_unload_context(fd);
	}
}

/* Sets are found, each once; others can be made and deleted; the context can be loaded. */
static void
check_whole(int fd)
{
	unsigned int there = 0, again = 0;

	for (uint16_t id = 0; id <= SETS; id++) {
		pfarg_setinfo_t info = { .set_id = id };

		there += pfm_getinfo_evtsets(fd, &info, 1) == 0;
	}
	CHECK_EQ(write_pmd(fd, 4, (uint64_t)-1, PFM_REGFL_OVFL_NOTIFY), 0);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	for (uint16_t id = 1; id <= SETS; id++) {
		CHECK_EQ(make_set(fd, id, PFM_SETFL_TIME_SWITCH, 10), 0);
		CHECK_EQ(info_of(fd, id).set_runs, 0);
	}
	CHECK_EQ(make_set(fd, 0, PFM_SETFL_TIME_SWITCH, 10), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(pfm_model_time(10 * (SETS + 1)), 0);	/* once through all */
	for (uint16_t id = 0; id <= SETS; id++)
		CHECK_EQ(info_of(fd, id).set_runs, id == 0 ? 2 : 1);
	CHECK_EQ(pfm_unload_context(fd), 0);
	for (uint16_t id = 1; id <= SETS; id++) {
		CHECK_EQ(pfm_delete_evtsets(fd, &(pfarg_setdesc_t){ .set_id = id }, 1), 0);
		again += pfm_getinfo_evtsets(fd, &(pfarg_setinfo_t){ .set_id = id }, 1) == 0;
	}
	CHECK_EQ(again, 0);
	CHECK(there >= 1);
}

/* A child is killed after a while that differs each time. */
static pid_t
kill_later(void (*run)(int), int fd, int round)
{
	const pid_t child = fork();

	if (child == 0)
		run(fd);
	usleep((useconds_t)(200 + round * 37 % 1500));
	kill(child, SIGKILL);
	return child;
}

static void
shared_context(void)
{
	const int fd = create(0), before = check_failures;

	for (int i = 0; i < rounds && check_failures == before; i++) {
		const pid_t child = kill_later(call_without_end, fd, i);
		pfarg_pmd_t pmd = { .reg_num = 4 };

		CHECK_EQ(wait_for(child), -SIGKILL);
		if (pfm_read_pmds(fd, &pmd, 1) == 0)
			CHECK((pmd.reg_value & 0xffff) * 0x100010001 - pmd.reg_value <= 3 || pmd.reg_value == (uint64_t)-1);
		check_whole(fd);
	}
	close(fd);
}

/* What is loaded on a child that has ended is free, even if nobody has waited for it. */
static void
hold_cpu(int fd)
{
	for (;;) {
		load(fd, sched_getcpu());
		pfm_start(fd, NULL);
		pfm_unload_context(fd);
	}
}

static void
sessions(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET((unsigned int)sched_getcpu(), &here);
	CHECK_EQ(sched_setaffinity(0, sizeof(here), &here), 0);
	for (int i = 0; i < rounds && !check_failures; i++) {
		const int theirs = create(PFM_FL_SYSTEM_WIDE), own = create(0);
		const pid_t child = kill_later(hold_cpu, theirs, i);
		siginfo_t ended;

		CHECK_EQ(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
		CHECK_EQ(pfm_unload_context(theirs), 0);
		CHECK_EQ(load(own, self_id()), 0);
		CHECK_EQ(pfm_unload_context(own), 0);
		CHECK_EQ(wait_for(child), -SIGKILL);
		close(own);
		close(theirs);
	}
}

/* The same with a context that the parent does not share. */
static void
zombies(void)
{
	const int own = create(0);
	siginfo_t ended;
	pid_t child = fork();

	if (child == 0) {
		const int cpu = sched_getcpu();
		cpu_set_t here;

		/* A context of a CPU is loaded on that CPU: stay there. */
		CPU_ZERO(&here);
		CPU_SET((unsigned int)cpu, &here);
		CHECK_EQ(sched_setaffinity(0, sizeof(here), &here), 0);
		CHECK_EQ(load(create(PFM_FL_SYSTEM_WIDE), cpu), 0);
		_exit(check_failures);
	}
	CHECK_EQ(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
	CHECK_EQ(load(own, self_id()), 0);
	CHECK_EQ(pfm_unload_context(own), 0);
	CHECK_EQ(wait_for(child), 0);
	close(own);
}

/* A child that closes all it has takes nothing from its parent, nor does one whose table is then looked at. */
static void
closing_child(void)
{
	const int fd = counting(0, 0, 0);

	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(3), 0);
	IN_CHILD(
		for (int i = 3; i < 1024; i++)
			close(i);
		CHECK_EQ(cycles(1), 0);
		CHECK(create(0) >= 0);
	);
	CHECK_EQ(cycles(4), 0);
	CHECK_EQ(read_pmd(fd, 4), 7);
	close(fd);
}

/* A program that closes the engine's end, or takes its number, gives up the context: its thread is free for another. */
static void
own_end_closed(void)
{
	const int fd = counting(0, 0, 0);
	int other;

	CHECK_EQ(pfm_start(fd, NULL), 0);
	for (int i = 3; i < 1024; i++)
		if (i != fd)
			close(i);
	CHECK_ERRNO(pfm_stop(fd), EBADF);
	other = counting(0, 0, 0);
	CHECK(other >= 0);
	for (int i = 512; i < 600; i++)
		CHECK_EQ(dup2(0, i), i);
	CHECK_ERRNO(pfm_stop(other), EBADF);
	CHECK_EQ(fcntl(512, F_GETFD), 0);	/* the program's own now */
	close(other);
	CHECK(counting(0, 0, 0) >= 0);
}

int
main(int argc, char **argv)
{
	alarm(120);	/* a lock that is never released */
	if (argc > 1)
		rounds = atoi(argv[1]);
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	zombies();
	closing_child();
	IN_CHILD(own_end_closed(););
	shared_context();
	IN_CHILD(sessions(););
	return check_result();
}
