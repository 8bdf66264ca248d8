/*
 * check.h for programs about perfmon2: a machine with the model, contexts, registers, children.
 */
#ifndef TESTS_PERFMON2_CHECK_H
#define TESTS_PERFMON2_CHECK_H

#include "check.h"

#include <perfmon/perfmon.h>
#include <perfmon/perfmon_dfl_smpl.h>
#include <perfmon/perfmon_model.h>
#include <perfmon/pfmlib.h>

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* CPU_CYCLES of Itanium 2, at level 3: the value of a PMC, and as the model's events are named. */
#define CYCLES 0x12
#define CYCLES_PMC (CYCLES << 8 | 8)

static inline pid_t
self_id(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/* Before the first call. */
static inline void
check_begin(const char *backend, int pmu)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	setenv("LIBPFM_PERFMON", backend, 1);
	CHECK_EQ(pfm_force_pmu(pmu), PFMLIB_SUCCESS);
}

static inline int
create(uint32_t flags)
{
	pfarg_ctx_t ctx = { .ctx_flags = flags };

	return pfm_create_context(&ctx, NULL, NULL, 0);
}

static inline int
load_set(int fd, pid_t target, uint16_t set)
{
	pfarg_load_t load = { .load_pid = (uint32_t)target, .load_set = set };

	return pfm_load_context(fd, &load);
}

static inline int
load(int fd, pid_t target)
{
	return load_set(fd, target, 0);
}

static inline int
write_pmc(int fd, uint16_t number, uint64_t value)
{
	pfarg_pmc_t pmc = { .reg_num = number, .reg_value = value };

	return pfm_write_pmcs(fd, &pmc, 1);
}

static inline int
write_pmd(int fd, uint16_t number, uint64_t value, uint32_t flags)
{
	pfarg_pmd_t pmd = { .reg_num = number, .reg_value = value, .reg_flags = flags };

	return pfm_write_pmds(fd, &pmd, 1);
}

static inline pfarg_pmd_t
read_all_of(int fd, uint16_t number, uint16_t set)
{
	pfarg_pmd_t pmd = { .reg_num = number, .reg_set = set };

	CHECK_EQ(pfm_read_pmds(fd, &pmd, 1), 0);
	return pmd;
}

static inline uint64_t
read_pmd(int fd, uint16_t number)
{
	return read_all_of(fd, number, 0).reg_value;
}

/* Cycles of the calling thread. */
static inline int
cycles(uint64_t count)
{
	return pfm_model_advance_code(CYCLES, 0, PFM_PLM3, count);
}

/* PMD4, which notifies at each of so many events. */
static inline pfarg_pmd_t
notifying(uint64_t period)
{
	return (pfarg_pmd_t){ .reg_num = 4,
			      .reg_value = -period,
			      .reg_long_reset = -period,
			      .reg_short_reset = -period,
			      .reg_flags = PFM_REGFL_OVFL_NOTIFY };
}

/* A context that counts cycles with PMD4, loaded on the calling thread, not started. */
static inline int
counting(uint64_t value, uint32_t flags, uint32_t context_flags)
{
	const int fd = create(context_flags);

	CHECK(fd >= 0);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, value, flags), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	return fd;
}

static inline pfarg_setinfo_t
info_of(int fd, uint16_t set)
{
	pfarg_setinfo_t info = { .set_id = set };

	CHECK_EQ(pfm_getinfo_evtsets(fd, &info, 1), 0);
	return info;
}

static inline int
make_set(int fd, uint16_t id, uint32_t flags, uint64_t timeout)
{
	pfarg_setdesc_t set = { .set_id = id, .set_flags = flags, .set_timeout = timeout };

	return pfm_create_evtsets(fd, &set, 1);
}

/* Wait for a child: its exit status, or minus the signal that ended it. */
static inline int
wait_for(pid_t child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A child that is stopped by its tracer, as debuggers have it; when it goes on it ends, or waits for ever. */
static inline pid_t
stopped_child(bool waits)
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) /* qemu-user has none */
			_exit(1);
		raise(SIGSTOP);
		while (waits)
			pause();
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFSTOPPED(status));
	return child;
}

/* The code in a child, which ends with the number of its failed checks; then wait for it. */
#define IN_CHILD(code) \
	do { \
		pid_t made = fork(); \
		if (made == 0) { \
			check_failures = 0; \
			code check_exit(check_failures); \
		} \
		CHECK_EQ(wait_for(made), 0); \
	} while (0)

#endif /* TESTS_PERFMON2_CHECK_H */
