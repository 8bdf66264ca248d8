/*
 * Events of the host on kernels that refuse something: an older one, a stricter setting, a PMU without interrupts, no memory
 * for rings.  What is counted is right, or the call fails.  And each call of an operation fails in turn: nothing is kept, and
 * the next context counts.
 */
#include "failing.h"
#include "perfmon2_events.h"

#include <sys/ptrace.h>

void *__real_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);

FAILING(int, epoll_create1, (int flags), (flags))
FAILING(int, eventfd, (unsigned int value, int flags), (value, flags))
FAILING(int, pipe, (int ends[2]), (ends))

static bool no_rings; /* no locked memory is left */

void *
__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	if (no_rings && fd >= 0 && flags == MAP_SHARED) {
		errno = EPERM;
		return MAP_FAILED;
	}
	return failing_now() ? MAP_FAILED : __real_mmap(addr, length, prot, flags, fd, offset);
}

/* Descriptors, when what was closed is freed and the engine's thread has ended; one stays for all contexts. */
static int
settled_descriptors(void)
{
	CHECK_EQ(load(-1, 0), -1);
	failing_wait_alone();
	return failing_descriptors();
}

/* ---- what each kernel can ------------------------------------------------------------------- */

static void
overflows(void)
{
	pfarg_pmd_t pmd = notifying(100);
	pfarg_msg_t message;
	const int fd = create(0);

	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	for (int round = 0; round < 3; round++) {
		faults(1000);
		CHECK_EQ(read(fd, &message, sizeof(message)), sizeof(message));
		CHECK_EQ(message.type, PFM_MSG_OVFL);
		CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_pmds[0], 1 << 4);
		CHECK_EQ(pfm_restart(fd), 0);
	}
	close(fd);
}

static int
moved(int fd)
{
	const int other = dup(fd);

	close(fd);
	return other;
}

/* What nobody has read before the next load, or is not to read at all, is gone from the queue. */
static void
drains(uint32_t flags)
{
	pfarg_pmd_t pmd = notifying(100);
	pfarg_msg_t message;
	int fd = create(flags);

	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	for (int round = 0; round < 2; round++) {
		CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
		CHECK_EQ(load(fd, self_id()), 0);
		CHECK_ERRNO((int)read(fd, &message, sizeof(message)), EAGAIN);
		CHECK_EQ(pfm_start(fd, NULL), 0);
		if (round == 1)
			fd = moved(fd);
		faults(1000);
		usleep(30000); /* the engine's thread may be the first to see the overflow */
		CHECK_EQ(pfm_stop(fd), 0);
		CHECK_EQ(info_of(fd, 0).set_ovfl_pmds[0], 1 << 4);
		if (flags & PFM_FL_OVFL_NO_MSG)
			CHECK_ERRNO((int)read(fd, &message, sizeof(message)), EAGAIN);
		CHECK_EQ(pfm_unload_context(fd), 0);
	}
	close(fd);
}

/* Not in the kernel: an alarm that may not look into it would not ring there. */
static void
spin_200(void)
{
	for (clock_t begin = clock(); clock() - begin < CLOCKS_PER_SEC / 5;)
		for (volatile int i = 0; i < 1000000; i++)
			;
}

/* Sets of a child take turns by the time that it runs. */
static void
turns(void)
{
	const pid_t child = traced_child(spin_200);
	const int fd = create(0);
	pfarg_msg_t message;
	uint64_t runs = 0;

	for (uint16_t set = 0; set < 2; set++) {
		pfarg_pmc_t pmc = { .reg_num = 4, .reg_set = set, .reg_value = CYCLES_PMC };
		pfarg_pmd_t pmd = { .reg_num = 4, .reg_set = set };

		CHECK_EQ(make_set(fd, set, PFM_SETFL_TIME_SWITCH, 10000000), 0);
		CHECK_EQ(pfm_write_pmcs(fd, &pmc, 1), 0);
		CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	}
	CHECK_EQ(load(fd, child), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
	CHECK_EQ(read(fd, &message, sizeof(message)), sizeof(message));
	CHECK_EQ(message.type, PFM_MSG_END);
	for (uint16_t set = 0; set < 2; set++)
		runs += info_of(fd, set).set_runs;
	CHECK(runs >= 5 && runs <= 21); /* of 20; fewer on a busy machine */
	CHECK_EQ(wait_for(child), 0);
	close(fd);
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* perf_event_paranoid is 2, but for the kernel's own events: none may count in it. */
static int
only_user(long number, const long *arguments)
{
	const struct perf_event_attr *wanted = (const void *)arguments[0];

	return number == SYS_perf_event_open && !wanted->exclude_kernel ? EACCES : 0;
}

/* The PMU has no interrupt: a clock has one still. */
static int
without_interrupts(long number, const long *arguments)
{
	const struct perf_event_attr *wanted = (const void *)arguments[0];

	return number == SYS_perf_event_open && wanted->sample_period && wanted->config != PERF_COUNT_SW_TASK_CLOCK
		       ? EOPNOTSUPP
		       : 0;
}

/* Debian 12: a descriptor is for a process, not for one of its threads, and a pipe cannot be asked to read without waiting. */
static int
of_linux_6_1(long number, const long *arguments)
{
	return number == SYS_preadv2 ? EOPNOTSUPP : number == SYS_pidfd_open && arguments[1] ? EINVAL : 0;
}

/* Before Linux 5.3 another task's end is told by an event on it. */
static int
of_linux_4_5(long number, const long *arguments)
{
	(void)arguments;
	return number == SYS_pidfd_open || number == SYS_preadv2 ? ENOSYS : 0;
}

/* No event that counts nothing, which each context has. */
static int
without_anchor(long number, const long *arguments)
{
	const struct perf_event_attr *wanted = (const void *)arguments[0];

	return number == SYS_perf_event_open && wanted->config == PERF_COUNT_SW_DUMMY && !wanted->pinned ? ENOENT : 0;
}

static const struct kernel {
	const char *name;
	int (*refuses)(long number, const long *arguments);
	bool has_no_rings;
} kernels[] = {
	{ "as it is", NULL, false },
	{ "perf_event_paranoid 2", only_user, false },
	{ "no interrupts", without_interrupts, false },
	{ "Linux 6.1", of_linux_6_1, false },
	{ "Linux 4.5", of_linux_4_5, false },
	{ "no rings", NULL, true },
	{ "no rings, Linux 4.5", of_linux_4_5, true },
};

static void
on_each_kernel(void)
{
	overflows();
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		const int failures = check_failures, before = settled_descriptors();

		failing_refused = kernels[i].refuses;
		no_rings = kernels[i].has_no_rings;
		overflows();
		drains(0);
		drains(PFM_FL_OVFL_NO_MSG);
		counts_another();
		turns();
		failing_refused = NULL;
		no_rings = false;
		CHECK_EQ(settled_descriptors(), before);
		if (check_failures != failures)
			printf("that was: %s\n", kernels[i].name);
	}
}

static void
refused(void)
{
	const int fd = create(0);

	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	failing_refused = without_anchor;
	CHECK_ERRNO(load(fd, self_id()), ENODEV);
	failing_refused = NULL;
	CHECK_EQ(load(fd, self_id()), 0);
	close(fd);
}

/* ---- each call fails in turn ---------------------------------------------------------------- */

static pid_t target;
static int descriptors;

/* Errors of perf_event_open() and of memory; a count that is returned is not more than there was. */
static void
operate(void)
{
	const long left = failing_left;
	pfarg_pmd_t pmd = { .reg_num = 4 };
	int fd;

	failing_end();
	fd = create(0);
	for (uint16_t set = 0; set < 2; set++) {
		pfarg_pmc_t pmc = { .reg_num = 4, .reg_set = set, .reg_value = CYCLES_PMC };
		pfarg_pmd_t value = notifying(300);

		value.reg_set = set;
		CHECK_EQ(make_set(fd, set, PFM_SETFL_TIME_SWITCH, 10000000), 0);
		CHECK_EQ(pfm_write_pmcs(fd, &pmc, 1), 0);
		CHECK_EQ(pfm_write_pmds(fd, &value, 1), 0);
	}
	failing_left = left;
	if (load(fd, target ? target : self_id()) == 0 && pfm_start(fd, NULL) == 0) {
		faults(400);
		if (pfm_read_pmds(fd, &pmd, 1) == 0)
			CHECK(pmd.reg_value <= 500 || pmd.reg_value >= (uint64_t)-300);
		pfm_restart(fd);
		faults(10);
		pfm_stop(fd);
		write_pmc(fd, 4, TASK_CLOCK_PMC);
		pfm_unload_context(fd);
	} else {
		CHECK(errno != 0);
	}
	failing_end();
	close(fd);
	fd = counting(0, 0, 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	faults(50);
	CHECK(is_about(read_pmd(fd, 4), 50));
	close(fd);
}

static void
pause_for_ever(void)
{
	for (;;)
		pause();
}

static void
with_each_failure(void)
{
	alarm(120); /* a lock that is held */
	operate();
	descriptors = settled_descriptors();
	for (size_t i = 0; i < sizeof(failing_codes) / sizeof(*failing_codes); i++) {
		failing_code = failing_codes[i];
		CHECK(failing_each(operate) >= 10);
		CHECK_EQ(settled_descriptors(), descriptors);
	}
}

int
main(void)
{
	begin_with_events();
	IN_CHILD(alarm(120); on_each_kernel(); refused(););
	IN_CHILD(with_each_failure(););
	IN_CHILD(target = traced_child(pause_for_ever); with_each_failure(); kill(target, SIGKILL););
	return check_result();
}
