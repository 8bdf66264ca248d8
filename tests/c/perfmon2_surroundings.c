/*
 * The model with a rate, where a system has little: the right count, or a documented error.
 */
#include "perfmon2_check.h"
#include "surroundings.h"

#include <sys/ptrace.h>
#include <time.h>

enum { MS = 100, EVENTS = MS * 1000 }; /* 1,000 events a millisecond */

static void
spin(int ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < ms * 1000000L);
}

/* Microseconds of a clock: that is, events. */
static uint64_t
elapsed(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* What was spun away, within 1 %, and not more than the time since: perf's clock has what a host takes from a virtual machine. */
static bool
is_about(uint64_t value, uint64_t begun)
{
	const uint64_t most = elapsed() - begun;
	const bool is_right = value >= EVENTS - EVENTS / 100 && value <= most;

	if (!is_right)
		printf("%llu is not between %d and %llu\n", (unsigned long long)value, EVENTS,
		       (unsigned long long)most);
	return is_right;
}

static void
oneself(void)
{
	const int fd = counting(0, 0, 0);
	const uint64_t begun = elapsed();

	CHECK_EQ(pfm_start(fd, NULL), 0);
	spin(MS);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK(is_about(read_pmd(fd, 4), begun));
	CHECK(is_about(info_of(fd, 0).set_act_duration / 1000, begun));
	CHECK_EQ(pfm_unload_context(fd), 0);
	close(fd);
}

static void
another(bool is_without_perf)
{
	const pid_t child = fork();
	const int fd = create(0);
	char message[64];
	pfarg_pmd_t pmd = { .reg_num = 4 };
	uint64_t begun;
	int status, ret;

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		spin(MS);
		raise(SIGSTOP);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, 0, 0), 0);
	CHECK_EQ(load(fd, child), 0);
	begun = elapsed();
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(is_about(read_pmd(fd, 4), begun));
	CHECK_EQ(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	CHECK_EQ(waitpid(child, &status, 0), child); /* nobody has looked meanwhile, and now it is gone */
	CHECK_EQ(read(fd, message, sizeof(message)), 64);
	ret = pfm_read_pmds(fd, &pmd, 1);
	CHECK(ret == 0 ? is_about(pmd.reg_value, begun) : is_without_perf && errno == ESRCH);
	close(fd);
}

static void
run(const struct surroundings *there)
{
	alarm(60);
	check_begin("model,rate=1000", PFMLIB_ITANIUM2_PMU);
	oneself();
	another(there->is_without_perf);
}

int
main(void)
{
	run_everywhere(run);
	return check_result();
}
