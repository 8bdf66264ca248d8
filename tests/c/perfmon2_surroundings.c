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

/* Within 1 %; a busy machine may count a little more of what comes before and after. */
static bool
is_about(uint64_t value, uint64_t wanted)
{
	const bool is_right = value >= wanted - wanted / 100 && value <= wanted + wanted / 20;

	if (!is_right)
		printf("%llu is not about %llu\n", (unsigned long long)value, (unsigned long long)wanted);
	return is_right;
}

static void
oneself(void)
{
	const int fd = counting(0, 0, 0);

	CHECK_EQ(pfm_start(fd, NULL), 0);
	spin(MS);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK(is_about(read_pmd(fd, 4), EVENTS));
	CHECK(is_about(info_of(fd, 0).set_act_duration, MS * 1000000));
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
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(is_about(read_pmd(fd, 4), EVENTS));
	CHECK_EQ(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	CHECK_EQ(waitpid(child, &status, 0), child); /* nobody has looked meanwhile, and now it is gone */
	CHECK_EQ(read(fd, message, sizeof(message)), 64);
	ret = pfm_read_pmds(fd, &pmd, 1);
	CHECK(ret == 0 ? is_about(pmd.reg_value, EVENTS) : is_without_perf && errno == ESRCH);
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
