/*
 * perfmon2_check.h for programs about the back end "host" with real events of the kernel: in the place of the processor's,
 * which this machine may not have, software events that a program can cause one by one.  All but the table of events is
 * the library's.
 */
#ifndef TESTS_PERFMON2_EVENTS_H
#define TESTS_PERFMON2_EVENTS_H

#include "perfmon2_check.h"

#include "host_events.h"

#include <perfmon/perf_event.h>
#include <sys/mman.h>
#include <time.h>

#define TASK_CLOCK_PMC (0x8 << 8 | 8) /* IA64_INST_RETIRED */
#define SWITCHES_PMC (0x41 << 8 | 9)  /* which the kernel does, at its level */

/*
 * CPU_CYCLES are page faults, IA64_INST_RETIRED are nanoseconds of the thread, 0x41 are context switches; 0x40 is nothing that
 * any host has.
 */
const struct host_event *__wrap_host_event_of(int pmu, unsigned int es, unsigned int umask);
const struct host_event *
__wrap_host_event_of(int pmu, unsigned int es, unsigned int umask)
{
	static const struct host_event faults = { 0, CYCLES, 0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS };
	static const struct host_event clock = { 0, 0x8, 0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK };
	static const struct host_event switches = { 0, 0x41, 0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES };
	static const struct host_event nothing = { 0, 0x40, 0, PERF_TYPE_SOFTWARE, 0xffff };

	(void)pmu;
	return umask          ? NULL
	       : es == CYCLES ? &faults
	       : es == 0x8    ? &clock
	       : es == 0x41   ? &switches
	       : es == 0x40   ? &nothing
			      : NULL;
}

/* So many page faults. */
static inline void
faults(size_t count)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	madvise((void *)(uintptr_t)memory, count * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < count; i++)
		memory[i * page] = 1;
	munmap((void *)(uintptr_t)memory, count * page);
}

static inline void
spin(long ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < ms * 1000000);
}

/* Some pages the calls themselves touch for the first time; a sanitizer has more of its own. */
static inline bool
is_about(uint64_t value, uint64_t wanted)
{
	const uint64_t more = CHECK_ROUGHLY ? 4000 : 20;

	if (value >= wanted && value < wanted + more)
		return true;
	printf("%llu is not about %llu\n", (unsigned long long)value, (unsigned long long)wanted);
	return false;
}

/* A child that runs this when its tracer lets it go on, and ends. */
static inline pid_t
traced_child(void (*run)(void))
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		run();
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, WUNTRACED), child);
	return child;
}

static inline void
thousand_faults(void)
{
	faults(1000);
}

/* Another task, under ptrace: what it counts, and its end. */
static inline void
counts_another(void)
{
	pfarg_msg_t message;
	const pid_t child = traced_child(thousand_faults);
	const int fd = create(0);

	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, 0, 0), 0);
	CHECK_EQ(load(fd, child), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
	CHECK_EQ(read(fd, &message, sizeof(message)), sizeof(message));
	CHECK_EQ(message.type, PFM_MSG_END);
	CHECK(is_about(read_pmd(fd, 4), 1000));
	CHECK_EQ(wait_for(child), 0);
	close(fd);
}

/* A machine with these events, or the test is skipped. */
static inline void
begin_with_events(void)
{
	int fd;

	check_begin("host", PFMLIB_ITANIUM2_PMU);
	fd = create(0);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	if (load(fd, self_id()) < 0) {
		perror("perf_event_open");
		exit(CHECK_SKIPPED);
	}
	close(fd);
}

#endif /* TESTS_PERFMON2_EVENTS_H */
