/*
 * Contexts of other tasks: what a thread must be for each call, what a masked one lets others do, END messages, threads of
 * other processes, system-wide contexts and CPUs.
 */
#include "perfmon2_check.h"

#include <pthread.h>

enum { CPU_CYCLES = 179 }; /* libpfm's index on Itanium 2 */

static void
end(pid_t child)
{
	kill(child, SIGKILL);
	CHECK_EQ(wait_for(child), -SIGKILL);
}

static int
on_child(pid_t child, uint64_t value, uint32_t flags)
{
	const int fd = create(0);

	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, value, flags), 0);
	CHECK_EQ(load(fd, child), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	return fd;
}

/* Stopped, all calls go; running, those that need no stop; stopped again, all. */
static void
stopped_and_running(void)
{
	const pid_t child = stopped_child(true);
	const int fd = on_child(child, 0, 0);
	pfarg_pmd_t pmd = { .reg_num = 4 };
	int status;

	CHECK_EQ(pfm_model_advance_task(child, CPU_CYCLES, PFM_PLM3, 5), 0);
	CHECK_EQ(read_pmd(fd, 4), 5);
	CHECK_EQ(ptrace(PTRACE_CONT, child, 0, 0), 0);
	while (kill(child, 0) == 0 && pfm_read_pmds(fd, &pmd, 1) == 0)
		; /* until it runs */
	CHECK_ERRNO(pfm_read_pmds(fd, &pmd, 1), ESRCH);
	CHECK_ERRNO(pfm_stop(fd), ESRCH);
	CHECK_ERRNO(pfm_start(fd, NULL), ESRCH);
	CHECK_ERRNO(write_pmc(fd, 4, 0), ESRCH);
	CHECK_ERRNO(write_pmd(fd, 4, 0, 0), ESRCH);
	CHECK_ERRNO(pfm_unload_context(fd), ESRCH);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	CHECK_ERRNO(make_set(fd, 1, 0, 0), EBUSY);
	CHECK_EQ(info_of(fd, 0).set_runs, 1);
	kill(child, SIGSTOP);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(pfm_model_advance_task(child, CPU_CYCLES, PFM_PLM3, 5), 0);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(read_pmd(fd, 4), 10);
	CHECK_EQ(pfm_unload_context(fd), 0);
	end(child);
	close(fd);
}

/* Masked, it need not be stopped, but for unload: a program reads, writes and restarts while the task runs. */
static void
masked_and_running(void)
{
	const pid_t child = stopped_child(true);
	const int fd = on_child(child, (uint64_t)-10, PFM_REGFL_OVFL_NOTIFY);
	pfarg_msg_t message;

	CHECK_EQ(pfm_model_advance_task(child, CPU_CYCLES, PFM_PLM3, 15), 0);
	CHECK_EQ(ptrace(PTRACE_DETACH, child, 0, 0), 0);
	CHECK_EQ(read(fd, &message, sizeof(message)), 64);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_pid, child);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_tid, child);
	CHECK_EQ(read_pmd(fd, 4), 0);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, (uint64_t)-5, PFM_REGFL_OVFL_NOTIFY), 0);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_ERRNO(pfm_unload_context(fd), ESRCH);
	CHECK_ERRNO(pfm_attach(fd, 0, PFM_NO_TARGET), ESRCH);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_ERRNO(write_pmd(fd, 4, 0, 0), ESRCH); /* it counts again */
	end(child);
	CHECK_EQ(read(fd, &message, sizeof(message)), 64);
	CHECK_EQ(message.type, PFM_MSG_END);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_pid, 0);
	CHECK_EQ(make_set(fd, 1, 0, 0), 0);
	close(fd);
}

static pid_t traced;
static int tracer_fd;

static void *
traces(void *unused)
{
	traced = stopped_child(true);
	CHECK_EQ(load(tracer_fd, traced), 0);
	CHECK_EQ(pfm_unload_context(tracer_fd), 0);
	return unused;
}

/* The tracer is a thread: another one of its process is not. */
static void
tracer_is_a_thread(void)
{
	pthread_t thread;

	tracer_fd = create(0);
	CHECK_EQ(pthread_create(&thread, NULL, traces, NULL), 0);
	pthread_join(thread, NULL); /* its end lets the child go */
	CHECK_ERRNO(load(tracer_fd, traced), ESRCH);
	end(traced);
	close(tracer_fd);
}

/* A full queue loses the END message; else it comes after what waits, and only a load takes it away. */
static void
end_messages(void)
{
	for (int waiting = 0; waiting <= 8; waiting += 4) {
		const pid_t child = stopped_child(true);
		const int fd = on_child(child, 0, 0);
		pfarg_pmd_t pmd = notifying(1);
		int overflows = 0, ends = 0;
		pfarg_msg_t message;

		CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
		for (int i = 0; i < waiting; i++) {
			CHECK_EQ(pfm_model_advance_task(child, CPU_CYCLES, PFM_PLM3, 1), 0);
			CHECK_EQ(pfm_restart(fd), 0);
		}
		end(child);
		CHECK_ERRNO(pfm_stop(fd), EINVAL); /* it is unloaded, and has said so */
		CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
		while (read(fd, &message, sizeof(message)) == 64) {
			overflows += message.type == PFM_MSG_OVFL && !ends;
			ends += message.type == PFM_MSG_END;
		}
		CHECK_EQ(overflows, waiting);
		CHECK_EQ(ends, waiting < 8);
		close(fd);
	}
}

/* System-wide: all threads of the CPU that call; from another CPU no call. */
static void
cpus(void)
{
	cpu_set_t all, one;
	int fd, cpu, other = -1;

	CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	cpu = sched_getcpu();
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (i != cpu && CPU_ISSET((size_t)i, &all))
			other = i;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	fd = create(PFM_FL_SYSTEM_WIDE);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, 0, 0), 0);
	CHECK_EQ(load(fd, cpu), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(5), 0);
	IN_CHILD(/* which has its own contexts and sessions, and a copy that counts nothing */
		 const int own = create(0); CHECK_EQ(cycles(5), 0); CHECK_ERRNO(write_pmd(fd, 5, 9, 0), ESRCH);
		 CHECK_EQ(load(own, self_id()), 0););
	if (other >= 0) {
		CPU_ZERO(&one);
		CPU_SET((size_t)other, &one);
		CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
		CHECK_EQ(cycles(7), 0); /* not there */
		CHECK_ERRNO(write_pmd(fd, 4, 0, 0), EBUSY);
		CHECK_ERRNO(pfm_stop(fd), EBUSY);
		CHECK_ERRNO(pfm_restart(fd), EBUSY);
		CHECK_ERRNO(pfm_getinfo_evtsets(fd, NULL, 0), EBUSY);
		CHECK_ERRNO(pfm_unload_context(fd), EBUSY);
		CHECK_ERRNO(perfmonctl(fd, PFM_STOP, NULL, 0), EBUSY);
		CHECK_ERRNO(load(fd, other), EBUSY);
	} else {
		printf("not tested: calls from another CPU, of which there is none\n");
	}
	CHECK_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	CHECK_EQ(read_pmd(fd, 4), 5);
	CHECK_EQ(pfm_unload_context(fd), 0);
	CHECK_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
	close(fd);
}

/* The option np: nothing has to be stopped, and any CPU may be named. */
static void
without_stops(void)
{
	const pid_t child = fork();
	int fd;

	if (child == 0)
		for (;;)
			pause();
	fd = on_child(child, 0, 0);
	CHECK_EQ(pfm_model_advance_task(child, CPU_CYCLES, PFM_PLM3, 6), 0);
	CHECK_EQ(read_pmd(fd, 4), 6);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(perfmonctl(fd, PFM_UNLOAD_CONTEXT, NULL, 0), 0);
	CHECK_ERRNO(load(fd, 1 << 30), ESRCH);
	end(child);
	close(fd);
	fd = create(PFM_FL_SYSTEM_WIDE);
	CHECK_ERRNO(load(fd, 1 << 20), EINVAL);
	CHECK_EQ(load(fd, 0), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(pfm_unload_context(fd), 0);
	close(fd);
}

/* A process that dies with what it has loaded leaves its CPU and its threads to others. */
static void
killed(void)
{
	const pid_t child = fork();
	const int fd = create(PFM_FL_SYSTEM_WIDE);

	if (child == 0) {
		counting(0, 0, 0);
		raise(SIGKILL);
	}
	CHECK_EQ(wait_for(child), -SIGKILL);
	CHECK(load(fd, sched_getcpu()) == 0 || errno == EINVAL); /* moved to another CPU meanwhile */
	close(fd);
	CHECK_EQ(pfm_unload_context(counting(0, 0, 0)), 0);
}

int
main(void)
{
	IN_CHILD(check_begin("model,np", PFMLIB_ITANIUM2_PMU); without_stops(););
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	stopped_and_running();
	masked_and_running();
	tracer_is_a_thread();
	end_messages();
	IN_CHILD(cpus(););
	killed();
	return check_result();
}
