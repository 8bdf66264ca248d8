/*
 * perfmonctl(2), rule by rule: checks in pairs, what is copied back, registers of each PMU and their flags, who may be
 * loaded, restarts, and how it and the calls of version 2 meet on one descriptor.
 */
#include "perfmon2_check.h"

#include <perfmon/perfmon_default_smpl.h>

#include <pthread.h>
#include <sys/mman.h>

#define NOWHERE ((void *)16)

static int
made(unsigned long flags)
{
	pfarg_context_t context = { .ctx_flags = flags };

	CHECK_EQ(perfmonctl(-1, PFM_CREATE_CONTEXT, &context, 1), 0);
	CHECK(context.ctx_fd >= 0);
	return context.ctx_fd;
}

static int
one(int fd, int command, pfarg_reg_t reg)
{
	return perfmonctl(fd, command, &reg, 1);
}

static int
load_ctl(int fd, pid_t target)
{
	pfarg_load_t wanted = { .load_pid = (uint32_t)target };

	return perfmonctl(fd, PFM_LOAD_CONTEXT, &wanted, 1);
}

static int
plain(int fd, int command)
{
	return perfmonctl(fd, command, NULL, 0);
}

static long
value_of(int fd, unsigned int number)
{
	pfarg_reg_t reg = { .reg_num = number };

	CHECK_EQ(perfmonctl(fd, PFM_READ_PMDS, &reg, 1), 0);
	return (long)reg.reg_value;
}

/* Command, number, size, address, descriptor, state. */
static void
order_of_checks(void)
{
	/* clang-format off */
	static const int none[] = { PFM_ENABLE, PFM_DISABLE, PFM_DESTROY_CONTEXT, PFM_PROTECT_CONTEXT, PFM_UNPROTECT_CONTEXT,
				    0x12, 0x1f, 0x22, 0x7fffffff, -1 };
	static const int many[] = { PFM_WRITE_PMCS, PFM_WRITE_PMDS, PFM_READ_PMDS };
	static const int alone[] = { PFM_STOP, PFM_START, PFM_RESTART, PFM_UNLOAD_CONTEXT };
	/* clang-format on */
	static pfarg_reg_t regs[25];
	pfarg_context_t context = { .ctx_flags = PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK, .ctx_smpl_buf_id = { 1 } };
	const int fd = made(0);

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		CHECK_ERRNO(perfmonctl(-1, none[i], NOWHERE, -1), EINVAL);
	for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++) {
		CHECK_ERRNO(perfmonctl(-1, many[i], NOWHERE, -1), EINVAL);
		CHECK_ERRNO(perfmonctl(-1, many[i], NOWHERE, 0), EINVAL);
		CHECK_ERRNO(perfmonctl(-1, many[i], NOWHERE, 26), E2BIG);
		CHECK_ERRNO(perfmonctl(-1, many[i], NOWHERE, INT_MAX), E2BIG);
		CHECK_ERRNO(perfmonctl(-1, many[i], NOWHERE, 25), EFAULT);
	}
	CHECK_ERRNO(perfmonctl(-1, PFM_GET_PMC_RESET_VAL, NOWHERE, 26), E2BIG);
	CHECK_ERRNO(perfmonctl(-1, PFM_WRITE_IBRS, NOWHERE, 129), E2BIG);
	CHECK_ERRNO(perfmonctl(-1, PFM_WRITE_DBRS, NOWHERE, 128), EFAULT);
	CHECK_ERRNO(perfmonctl(-1, PFM_LOAD_CONTEXT, NOWHERE, 0), EINVAL);
	CHECK_ERRNO(perfmonctl(-1, PFM_LOAD_CONTEXT, NOWHERE, 1), EFAULT);
	CHECK_ERRNO(perfmonctl(-1, PFM_CREATE_CONTEXT, NOWHERE, 2), EINVAL);
	CHECK_ERRNO(perfmonctl(-1, PFM_CREATE_CONTEXT, NOWHERE, 1), EFAULT);
	CHECK_ERRNO(perfmonctl(-1, PFM_GET_FEATURES, NOWHERE, 0), EINVAL);
	CHECK_ERRNO(perfmonctl(-1, PFM_GET_FEATURES, NOWHERE, 1), EFAULT);
	CHECK_ERRNO(perfmonctl(-1, PFM_DEBUG, NOWHERE, 2), EINVAL);
	CHECK_ERRNO(perfmonctl(-1, PFM_DEBUG, NOWHERE, 1), EFAULT);
	for (size_t i = 0; i < sizeof(alone) / sizeof(*alone); i++)
		CHECK_ERRNO(perfmonctl(STDIN_FILENO, alone[i], NOWHERE, -7), EBADF);
	CHECK_ERRNO(perfmonctl(-1, PFM_WRITE_PMCS, regs, 25), EBADF);
	CHECK_ERRNO(perfmonctl(-1, PFM_CREATE_CONTEXT, &context, 1), EINVAL);
	CHECK_ERRNO(plain(fd, PFM_START), EINVAL);
	CHECK_ERRNO(plain(fd, PFM_STOP), EINVAL);
	CHECK_ERRNO(plain(fd, PFM_RESTART), EBUSY);
	CHECK_EQ(perfmonctl(fd, PFM_UNLOAD_CONTEXT, NULL, 7), 0);
	close(fd);
}

static void
without_a_context(void)
{
	pfarg_features_t features = { .ft_reserved = 5 };
	pfarg_reg_t regs[] = {
		{ .reg_num = 0 }, { .reg_num = 4 }, { .reg_num = 13 }, { .reg_num = 99, .reg_flags = 3 }
	};
	unsigned int on = 1;

	CHECK_EQ(perfmonctl(-1, PFM_GET_FEATURES, &features, 1), 0);
	CHECK_EQ(features.ft_version, 0x20000);
	CHECK_EQ(features.ft_reserved, 5);
	CHECK_EQ(perfmonctl(-1, PFM_DEBUG, &on, 1), 0);
	CHECK_ERRNO(perfmonctl(-1, PFM_GET_PMC_RESET_VAL, regs, 4), EINVAL);
	CHECK_EQ(regs[0].reg_value, 1);
	CHECK_EQ(regs[1].reg_value, 0x800000);
	CHECK_EQ(regs[2].reg_value, 0x2078fefefefe);
	CHECK_EQ(regs[3].reg_flags, PFM_REG_RETFL_EINVAL | 3);
	CHECK(PFM_REG_HAS_ERROR((long)regs[3].reg_flags));
}

/* The task comes before the registers, and then nothing is copied back. */
static void
of_another_task(void)
{
	const int fd = made(0);
	pfarg_reg_t bad = { .reg_num = 999, .reg_flags = 1 };

	CHECK_EQ(one(fd, PFM_WRITE_PMDS, (pfarg_reg_t){ .reg_num = 4 }), 0);
	CHECK_EQ(load_ctl(fd, self_id()), 0);
	IN_CHILD(CHECK_ERRNO(perfmonctl(fd, PFM_WRITE_PMCS, &bad, 1), EBUSY);
		 CHECK_ERRNO(perfmonctl(fd, PFM_READ_PMDS, &bad, 1), EBUSY); CHECK_EQ(bad.reg_flags, 1);
		 CHECK_ERRNO(plain(fd, PFM_START), EBUSY); CHECK_ERRNO(plain(fd, PFM_STOP), EBUSY);
		 CHECK_ERRNO(plain(fd, PFM_UNLOAD_CONTEXT), EBUSY); CHECK_ERRNO(plain(fd, PFM_RESTART), EBUSY);
		 CHECK_ERRNO(load_ctl(fd, 1 << 30), EBUSY););
	CHECK_ERRNO(load_ctl(fd, 0), EBUSY); /* loaded: before the target */
	CHECK_ERRNO(perfmonctl(fd, PFM_WRITE_PMCS, &bad, 1), EINVAL);
	CHECK_EQ(bad.reg_flags, PFM_REG_RETFL_EINVAL | 1);
	close(fd);
}

/* A result that cannot be written is EFAULT, though what was asked for has been done; but a context is taken back. */
static void
read_only_arguments(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pfarg_reg_t *reg = (void *)page;
	pfarg_load_t *wanted = (void *)(page + 1024);
	pfarg_context_t *context = (void *)(page + 2048);
	int fd, next;

	fd = made(0);
	next = dup(fd);
	close(next);
	*reg = (pfarg_reg_t){ .reg_num = 4, .reg_value = 77 };
	wanted->load_pid = (uint32_t)self_id();
	context->ctx_fd = 1234;
	CHECK_EQ(mprotect(page, 4096, PROT_READ), 0);
	CHECK_ERRNO(perfmonctl(fd, PFM_WRITE_PMDS, reg, 1), EFAULT);
	CHECK_EQ(value_of(fd, 4), 77);
	CHECK_ERRNO(perfmonctl(fd, PFM_READ_PMDS, reg, 1), EFAULT);
	CHECK_ERRNO(perfmonctl(fd, PFM_LOAD_CONTEXT, wanted, 1), EFAULT);
	CHECK_EQ(plain(fd, PFM_START), 0); /* loaded */
	CHECK_ERRNO(perfmonctl(-1, PFM_CREATE_CONTEXT, context, 1), EFAULT);
	CHECK_EQ(made(0), next);
	close(next);
	close(fd);
	munmap(page, 4096);
}

static void
defaults_of(int pmu, unsigned int count, const unsigned int *numbers, const unsigned long *values)
{
	pfarg_reg_t reg;

	CHECK_EQ(pfm_force_pmu(pmu), 0);
	for (unsigned int i = 0; i < count; i++) {
		reg = (pfarg_reg_t){ .reg_num = numbers[i], .reg_flags = (unsigned long)PFM_REG_RETFL_MASK | 3UL };
		CHECK_EQ(perfmonctl(-1, PFM_GET_PMC_RESET_VAL, &reg, 1), 0);
		CHECK_EQ(reg.reg_value, values[i]);
		CHECK_EQ(reg.reg_flags, 3);
	}
	CHECK_ERRNO(one(-1, PFM_GET_PMC_RESET_VAL, (pfarg_reg_t){ .reg_num = 256 }), EINVAL);
}

static void
defaults(void)
{
	static const unsigned int low[] = { 0, 3, 4, 8, 11, 13 },
				  montecito[] = { 0, 4, 15, 32, 34, 36, 38, 40, 41, 42 };
	static const unsigned long itanium_values[] = { 1, 0, 0, 0xf00000003ffffff8, 0x10000000, 0x3ffff00000001 };
	static const unsigned long montecito_values[] = {
		0,          0x2000000, 0x2000000, 0x30f01ffffffffff, 0xf01ffffffffff,
		0xfffffff0, 0xdb6,     0x2000000, 0x2078fefefefe,    0
	};
	static const unsigned long generic_values[] = { 1, 0, 0 };

	defaults_of(PFMLIB_ITANIUM_PMU, 6, low, itanium_values);
	defaults_of(PFMLIB_MONTECITO_PMU, 10, montecito, montecito_values);
	defaults_of(PFMLIB_GEN_IA64_PMU, 3, low, generic_values);
	CHECK_ERRNO(one(-1, PFM_GET_PMC_RESET_VAL, (pfarg_reg_t){ .reg_num = 8 }), EINVAL);
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), 0);
}

/* The privilege bit must fit the context, unless the value is the default. */
static void
privilege(void)
{
	const int fd = made(0), wide = made(PFM_FL_SYSTEM_WIDE);

	for (unsigned int i = 4; i < 8; i++) {
		CHECK_ERRNO(one(fd, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = i, .reg_value = 0x1248 }), EINVAL);
		CHECK_EQ(one(fd, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = i, .reg_value = 0x1208 }), 0);
		CHECK_ERRNO(one(wide, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = i, .reg_value = 0x1208 }), EINVAL);
		CHECK_EQ(one(wide, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = i, .reg_value = 0x1248 }), 0);
	}
	CHECK_EQ(one(wide, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = 4, .reg_value = 0x800000 }), 0);
	CHECK_EQ(one(wide, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = 5 }), 0);
	CHECK_ERRNO(one(fd, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = 10, .reg_value = 1 << 4 }), EINVAL);
	CHECK_EQ(one(wide, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = 10, .reg_value = 1 << 4 }), 0);
	CHECK_EQ(one(fd, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = 9, .reg_value = 1 << 6 }), 0); /* it has none */
	for (unsigned int i = 0; i < 4; i++)
		CHECK_ERRNO(one(fd, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = i }), EINVAL);
	CHECK_ERRNO(one(fd, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = 256 }), EINVAL);
	CHECK_ERRNO(one(fd, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = 12, .reg_flags = PFM_REGFL_RANDOM }), EINVAL);
	CHECK_ERRNO(one(fd, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = 5, .reg_reset_pmds = { 1UL << 40 } }), EINVAL);
	CHECK_EQ(one(fd, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = 8, .reg_value = 0, .reg_smpl_pmds = { 1UL << 40 } }),
		 0);
	CHECK_EQ(one(fd, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = 14 }), 0);
	CHECK_ERRNO(one(fd, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = 13 }),
		    EINVAL); /* ranges that exclude each other */
	close(wide);
	close(fd);
}

/* Debug registers: eight of each; the generic PMU has none. */
static void
debug_registers(void)
{
	pfarg_dbreg_t regs[3] = { { .dbreg_num = 7, .dbreg_flags = 5 },
				  { .dbreg_num = 8, .dbreg_flags = 2 },
				  { .dbreg_num = 0 } };
	int fd = made(0);

	CHECK_ERRNO(perfmonctl(fd, PFM_WRITE_DBRS, regs, 3), EINVAL);
	CHECK_EQ(regs[0].dbreg_flags, 5);
	CHECK_EQ(regs[1].dbreg_flags, PFM_REG_RETFL_EINVAL | 2);
	CHECK_EQ(perfmonctl(fd, PFM_WRITE_IBRS, regs, 1), 0);
	close(fd);
	CHECK_EQ(pfm_force_pmu(PFMLIB_GEN_IA64_PMU), 0);
	fd = made(0);
	CHECK_ERRNO(perfmonctl(fd, PFM_WRITE_IBRS, regs, 1), EINVAL);
	CHECK_EQ(regs[0].dbreg_flags, PFM_REG_RETFL_EINVAL | 5);
	close(fd);
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), 0);
}

/* What is used with what; flags that come back lose the marks of errors. */
static void
groups(void)
{
	static const struct {
		unsigned int pmc, pmd;
	} by_pmc[] = { { 4, 4 }, { 10, 1 }, { 11, 17 }, { 12, 16 } };
	pfarg_reg_t reg = { .reg_num = 9, .reg_set = 5, .reg_flags = (unsigned long)PFM_REG_RETFL_MASK | 3UL };
	int fd;

	for (size_t i = 0; i < sizeof(by_pmc) / sizeof(*by_pmc); i++) {
		fd = made(0);
		CHECK_ERRNO(one(fd, PFM_READ_PMDS, (pfarg_reg_t){ .reg_num = by_pmc[i].pmd }), EINVAL);
		CHECK_EQ(one(fd, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = by_pmc[i].pmc }), 0);
		CHECK_EQ(value_of(fd, by_pmc[i].pmd), 0);
		close(fd);
	}
	fd = made(0);
	reg.reg_value = 9;
	CHECK_EQ(perfmonctl(fd, PFM_WRITE_PMDS, &reg, 1), 0); /* one of the trace buffer */
	CHECK_EQ(reg.reg_flags, 3);
	CHECK_EQ(value_of(fd, 16), 0);
	CHECK_EQ(value_of(fd, 9), 9);
	reg.reg_flags = (unsigned long)PFM_REG_RETFL_NOTAVAIL | 1UL;
	CHECK_EQ(perfmonctl(fd, PFM_READ_PMDS, &reg, 1), 0);
	CHECK_EQ(reg.reg_flags, 1);
	CHECK_EQ(reg.reg_last_reset_val, 9);
	CHECK_ERRNO(one(fd, PFM_WRITE_PMDS, (pfarg_reg_t){ .reg_num = 18 }), EINVAL);
	close(fd);
}

static void
count_with(int fd, unsigned int number, unsigned long value, unsigned long flags, unsigned long resets)
{
	CHECK_EQ(one(fd, PFM_WRITE_PMCS,
		     (pfarg_reg_t){ .reg_num = number,
				    .reg_value = CYCLES_PMC,
				    .reg_flags = flags,
				    .reg_reset_pmds = { resets } }),
		 0);
	CHECK_EQ(one(fd, PFM_WRITE_PMDS,
		     (pfarg_reg_t){ .reg_num = number,
				    .reg_value = value,
				    .reg_short_reset = value - 1,
				    .reg_long_reset = value - 2 }),
		 0);
}

/* Values do not touch the attributes, attributes not the values; each write of them replaces all. */
static void
attributes(void)
{
	const int fd = made(0);
	char message[64];

	count_with(fd, 4, (unsigned long)-10, PFM_REGFL_OVFL_NOTIFY, 1 << 5);
	CHECK_EQ(one(fd, PFM_WRITE_PMDS,
		     (pfarg_reg_t){ .reg_num = 4,
				    .reg_value = (unsigned long)-3,
				    .reg_long_reset = 44,
				    .reg_short_reset = 45 }),
		 0);
	CHECK_EQ(one(fd, PFM_WRITE_PMDS, (pfarg_reg_t){ .reg_num = 5, .reg_value = 1, .reg_long_reset = 55 }), 0);
	CHECK_EQ(load_ctl(fd, self_id()), 0);
	CHECK_EQ(plain(fd, PFM_START), 0);
	CHECK_EQ(cycles(3), 0);
	CHECK_EQ(read(fd, message, sizeof(message)), 56);
	CHECK_EQ(plain(fd, PFM_RESTART), 0);
	CHECK_EQ(value_of(fd, 4), 44);
	CHECK_EQ(value_of(fd, 5), 55);
	CHECK_EQ(one(fd, PFM_WRITE_PMCS, (pfarg_reg_t){ .reg_num = 4, .reg_value = CYCLES_PMC }), 0);
	CHECK_EQ(one(fd, PFM_WRITE_PMDS,
		     (pfarg_reg_t){ .reg_num = 4, .reg_value = (unsigned long)-3, .reg_short_reset = 46 }),
		 0);
	CHECK_EQ(one(fd, PFM_WRITE_PMDS, (pfarg_reg_t){ .reg_num = 5, .reg_value = 2 }), 0);
	CHECK_EQ(cycles(3 + 1), 0); /* no notification any more: short, and on */
	CHECK_EQ(value_of(fd, 4), 47);
	CHECK_EQ(value_of(fd, 5), 2);
	close(fd);
}

/* Two wrap together, and one notifies: it alone is in the message, none is reset, and restart gives both the long value. */
static void
together(void)
{
	const int fd = made(0);
	pfm_msg_t message;

	count_with(fd, 4, (unsigned long)-10, 0, 0);
	count_with(fd, 5, (unsigned long)-10, PFM_REGFL_OVFL_NOTIFY, 0);
	count_with(fd, 6, (unsigned long)-4, 0, 0);
	CHECK_EQ(load_ctl(fd, self_id()), 0);
	CHECK_EQ(plain(fd, PFM_START), 0);
	CHECK_EQ(cycles(50), 0);
	CHECK_EQ(read(fd, &message, sizeof(message)), 56);
	CHECK_EQ(message.type, PFM_MSG_OVFL);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ctx_fd, fd);
	CHECK_EQ(message.pfm_ovfl_msg.msg_tstamp, 0);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_pmds[0], 1 << 5);
	CHECK_EQ(value_of(fd, 4), 0);
	CHECK_EQ(value_of(fd, 6), -4); /* short once, at 4; then 5, and 1 more */
	CHECK_EQ(plain(fd, PFM_RESTART), 0);
	CHECK_EQ(value_of(fd, 4), -12);
	CHECK_EQ(value_of(fd, 5), -12);
	CHECK_EQ(value_of(fd, 6), -4);
	close(fd);
}

/* Masked: no start, but a stop, after which the restart lets nothing count. */
static void
while_masked(void)
{
	const int fd = made(0);

	count_with(fd, 4, (unsigned long)-10, PFM_REGFL_OVFL_NOTIFY, 0);
	CHECK_EQ(load_ctl(fd, self_id()), 0);
	CHECK_EQ(plain(fd, PFM_START), 0);
	CHECK_EQ(plain(fd, PFM_START), 0);
	CHECK_EQ(cycles(10), 0);
	CHECK_ERRNO(plain(fd, PFM_START), EINVAL);
	CHECK_EQ(plain(fd, PFM_STOP), 0);
	CHECK_EQ(plain(fd, PFM_RESTART), 0);
	CHECK_EQ(cycles(5), 0);
	CHECK_EQ(value_of(fd, 4), -12);
	CHECK_EQ(plain(fd, PFM_START), 0);
	CHECK_EQ(cycles(5), 0);
	CHECK_EQ(value_of(fd, 4), -7);
	CHECK_EQ(plain(fd, PFM_UNLOAD_CONTEXT), 0);
	CHECK_ERRNO(plain(fd, PFM_STOP), EINVAL);
	close(fd);
}

/* The queue is full at the 32nd: a thread restarts itself all the same. */
static void
full_queue(void)
{
	const int fd = made(0);

	CHECK_EQ(one(fd, PFM_WRITE_PMCS,
		     (pfarg_reg_t){ .reg_num = 4, .reg_value = CYCLES_PMC, .reg_flags = PFM_REGFL_OVFL_NOTIFY }),
		 0);
	CHECK_EQ(
		one(fd, PFM_WRITE_PMDS,
		    (pfarg_reg_t){ .reg_num = 4, .reg_value = (unsigned long)-1, .reg_long_reset = (unsigned long)-1 }),
		0);
	CHECK_EQ(load_ctl(fd, self_id()), 0);
	CHECK_EQ(plain(fd, PFM_START), 0);
	for (int i = 0; i < 31; i++) {
		CHECK_EQ(cycles(1), 0);
		CHECK_EQ(plain(fd, PFM_RESTART), 0);
	}
	CHECK_EQ(cycles(1), 0);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	CHECK_EQ(plain(fd, PFM_RESTART), 0);
	CHECK_EQ(value_of(fd, 4), -1);
	close(fd);
}

/* Who may be loaded. */
static void
loading(void)
{
	const int fd = made(0), blocking = made(PFM_FL_NOTIFY_BLOCK), wide = made(PFM_FL_SYSTEM_WIDE), second = made(0);
	siginfo_t info;
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	CHECK_EQ(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	CHECK_ERRNO(load_ctl(fd, 0), EPERM);
	CHECK_ERRNO(load_ctl(fd, 1), EPERM);
	CHECK_ERRNO(load_ctl(fd, -1), EPERM);
	CHECK_ERRNO(load_ctl(fd, 1 << 30), ESRCH);
	CHECK_ERRNO(load_ctl(fd, child), EPERM); /* dead: no memory */
	CHECK_EQ(wait_for(child), 0);
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	CHECK_ERRNO(load_ctl(fd, child), EBUSY); /* it runs */
	CHECK_ERRNO(load_ctl(wide, child), EBUSY);
	kill(child, SIGKILL);
	CHECK_EQ(wait_for(child), -SIGKILL);
	CHECK_ERRNO(load_ctl(blocking, self_id()), EINVAL);
	CHECK_EQ(load_ctl(fd, self_id()), 0);
	CHECK_ERRNO(load_ctl(second, self_id()), EBUSY); /* version 2: EEXIST */
	CHECK_ERRNO(load_ctl(wide, self_id()), EBUSY);
	CHECK_EQ(plain(fd, PFM_UNLOAD_CONTEXT), 0);
	CHECK_EQ(load_ctl(wide, self_id()), 0);
	CHECK_ERRNO(load_ctl(fd, self_id()), EBUSY);
	close(fd);
	close(blocking);
	close(wide);
	close(second);
}

/* Another thread that is masked: it can be restarted once for each notification. */
static void
another_task(void)
{
	const pid_t child = stopped_child(false);
	const int fd = made(PFM_FL_NOTIFY_BLOCK);
	pfm_msg_t message;

	count_with(fd, 4, (unsigned long)-10, PFM_REGFL_OVFL_NOTIFY, 0);
	CHECK_EQ(load_ctl(fd, child), 0);
	CHECK_EQ(plain(fd, PFM_START), 0);
	CHECK_ERRNO(plain(fd, PFM_RESTART), EBUSY);
	CHECK_EQ(pfm_model_advance_task(child, 179, PFM_PLM3, 15), 0); /* CPU_CYCLES */
	CHECK_EQ(value_of(fd, 4), 0);
	CHECK_EQ(plain(fd, PFM_RESTART), 0);
	CHECK_EQ(value_of(fd, 4), -12);
	CHECK_EQ(ptrace(PTRACE_DETACH, child, 0, 0), 0);
	CHECK_EQ(read(fd, &message, sizeof(message)), 56);
	CHECK_EQ(message.type, PFM_MSG_OVFL);
	CHECK_EQ(read(fd, &message, sizeof(message)), 56);
	CHECK_EQ(message.type, PFM_MSG_END);
	CHECK_EQ(message.pfm_end_msg.msg_ctx_fd, fd);
	CHECK_EQ(message.pfm_end_msg.msg_tstamp, 0);
	CHECK_EQ(wait_for(child), 0);
	close(fd);
}

static int ended;

static void *
loads_itself(void *unused)
{
	ended = made(0);
	CHECK_EQ(load_ctl(ended, self_id()), 0);
	return unused;
}

/* The end of a thread is a message for what it had loaded on itself, too. */
static void
end_of_a_thread(void)
{
	pthread_t thread;
	pfm_msg_t message;

	CHECK_EQ(pthread_create(&thread, NULL, loads_itself, NULL), 0);
	pthread_join(thread, NULL);
	CHECK_EQ(read(ended, &message, sizeof(message)), 56);
	CHECK_EQ(message.type, PFM_MSG_END);
	CHECK_ERRNO(plain(ended, PFM_STOP), EINVAL);
	close(ended);
}

/* Calls of each generation work on the other's descriptors; how it overflows and what it tells is the descriptor's. */
static void
mixed(void)
{
	pfarg_pmd_t pmd = { .reg_num = 4,
			    .reg_value = (uint64_t)-10,
			    .reg_short_reset = (uint64_t)-30,
			    .reg_long_reset = (uint64_t)-40 };
	int fd = made(0);
	char message[128];

	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC | 1 << 6), 0); /* version 2 corrects the bit */
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(15), 0);
	CHECK_EQ(value_of(fd, 4), -25); /* perfmonctl()'s: not masked */
	CHECK_EQ(write_pmd(fd, 4, (uint64_t)-1, PFM_REGFL_OVFL_NOTIFY), 0);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(read(fd, message, sizeof(message)), 56);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(info_of(fd, 0).set_runs, 1);
	CHECK_ERRNO(load(fd, self_id()), EBUSY);
	close(fd);

	fd = counting((uint64_t)-10, 0, 0);
	CHECK_EQ(plain(fd, PFM_START), 0);
	CHECK_EQ(cycles(15), 0);
	CHECK_EQ(value_of(fd, 4), 0); /* masked */
	CHECK_EQ(one(fd, PFM_WRITE_PMCS,
		     (pfarg_reg_t){ .reg_num = 4, .reg_value = CYCLES_PMC, .reg_flags = PFM_REGFL_OVFL_NOTIFY }),
		 0);
	CHECK_EQ(plain(fd, PFM_RESTART), 0); /* which version 2 refuses */
	CHECK_EQ(one(fd, PFM_WRITE_PMDS, (pfarg_reg_t){ .reg_num = 4, .reg_value = (unsigned long)-1 }), 0);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(read(fd, message, sizeof(message)), 64);
	CHECK_EQ(plain(fd, PFM_UNLOAD_CONTEXT), 0);
	close(fd);
}

/* Attributes stand with the PMC, values with the PMD. */
static int
counting_ctl(unsigned long value, unsigned long flags, unsigned long short_reset, unsigned long long_reset)
{
	pfarg_reg_t pmc = { .reg_num = 4, .reg_value = CYCLES_PMC, .reg_flags = flags };
	pfarg_reg_t pmd = {
		.reg_num = 4, .reg_value = value, .reg_short_reset = short_reset, .reg_long_reset = long_reset
	};
	const int fd = made(0);

	CHECK_EQ(perfmonctl(fd, PFM_WRITE_PMCS, &pmc, 1), 0);
	CHECK_EQ(perfmonctl(fd, PFM_WRITE_PMDS, &pmd, 1), 0);
	CHECK_EQ(load_ctl(fd, self_id()), 0);
	CHECK_ERRNO(load_ctl(fd, self_id()), EBUSY);
	CHECK_EQ(plain(fd, PFM_START), 0);
	return fd;
}

/* Without notification a counter starts anew and goes on. */
static void
short_resets(void)
{
	const int fd = counting_ctl((unsigned long)-10, 0, (unsigned long)-20, 5), other = made(0);

	CHECK_ERRNO(load_ctl(other, self_id()), EBUSY); /* the thread has one */
	CHECK_EQ(cycles(35), 0);
	CHECK_EQ(value_of(fd, 4), -15);
	CHECK_EQ(plain(fd, PFM_STOP), 0);
	CHECK_EQ(cycles(5), 0);
	CHECK_EQ(value_of(fd, 4), -15);
	CHECK_EQ(plain(fd, PFM_UNLOAD_CONTEXT), 0);
	CHECK_EQ(value_of(fd, 4), -15);
	close(other);
	close(fd);
}

/* The minimal standard generator: 1, 16807, 282475249 ... */
static void
random_resets(void)
{
	pfarg_reg_t pmc = { .reg_num = 4, .reg_value = CYCLES_PMC, .reg_flags = PFM_REGFL_RANDOM };
	pfarg_reg_t pmd = { .reg_num = 4,
			    .reg_value = (unsigned long)-1,
			    .reg_short_reset = (unsigned long)-1000,
			    .reg_random_seed = 1,
			    .reg_random_mask = 0xff };
	static const long expected[] = { -1000 - 1, -1000 - (16807 & 0xff), -1000 - (282475249 & 0xff),
					 -1000 - (1622650073 & 0xff) };
	const int fd = made(0);

	CHECK_EQ(perfmonctl(fd, PFM_WRITE_PMCS, &pmc, 1), 0);
	CHECK_EQ(perfmonctl(fd, PFM_WRITE_PMDS, &pmd, 1), 0);
	CHECK_EQ(load_ctl(fd, self_id()), 0);
	CHECK_EQ(plain(fd, PFM_START), 0);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(cycles((uint64_t)-value_of(fd, 4)), 0);
		CHECK_EQ(value_of(fd, 4), expected[i]);
	}
	close(fd);
}

/* 680 bytes hold one sample; when it is full, a counter that does not notify goes on from 0. */
static void
samples(unsigned long flags)
{
	pfm_default_smpl_ctx_arg_t wanted = {
		.ctx_arg = { .ctx_smpl_buf_id = PFM_DEFAULT_SMPL_UUID },
		.buf_arg = { .buf_size = 679 },
	};
	pfarg_reg_t pmc = { .reg_num = 5, .reg_value = CYCLES_PMC, .reg_flags = flags, .reg_smpl_pmds = { 1 << 2 } };
	pfarg_reg_t pmd = { .reg_num = 5,
			    .reg_value = (unsigned long)-10,
			    .reg_short_reset = (unsigned long)-10,
			    .reg_long_reset = (unsigned long)-30 };
	const pfm_default_smpl_hdr_t *header;
	const pfm_default_smpl_entry_t *entry;
	int fd;

	CHECK_ERRNO(perfmonctl(-1, PFM_CREATE_CONTEXT, &wanted, 1), EINVAL);
	wanted.buf_arg.buf_size = 680;
	CHECK_EQ(perfmonctl(-1, PFM_CREATE_CONTEXT, &wanted, 1), 0);
	fd = wanted.ctx_arg.ctx_fd;
	header = wanted.ctx_arg.ctx_smpl_vaddr;
	entry = (const void *)(header + 1);
	CHECK_EQ(header->hdr_version, PFM_DEFAULT_SMPL_VERSION);
	CHECK_EQ(header->hdr_buf_size, 680);
	CHECK_EQ(perfmonctl(fd, PFM_WRITE_PMCS, &pmc, 1), 0);
	CHECK_EQ(perfmonctl(fd, PFM_WRITE_PMDS, &pmd, 1), 0);
	CHECK_EQ(load_ctl(fd, self_id()), 0);
	CHECK_EQ(plain(fd, PFM_START), 0);
	CHECK_EQ(pfm_model_set_pmd(2, 99), 0);
	CHECK_EQ(cycles(15), 0);
	CHECK_EQ(header->hdr_count, 1);
	CHECK_EQ(header->hdr_overflows, 1);
	CHECK_EQ(entry->ovfl_pmd, 5);
	CHECK_EQ(entry->pid, self_id());
	CHECK_EQ(*(const uint64_t *)(entry + 1), 99);
	CHECK_EQ(value_of(fd, 5), flags ? 0 : 5);
	CHECK_EQ(plain(fd, PFM_RESTART), 0);
	CHECK_EQ(header->hdr_count, 0);
	if (flags)
		CHECK_EQ(value_of(fd, 5), -30);
	close(fd);
}

/* A context of another version whose sets have all been deleted has no registers, and cannot be loaded. */
static void
no_sets(void)
{
	pfarg_load_t target = { .load_pid = (uint32_t)self_id() };
	pfarg_reg_t reg = { .reg_num = 4 };
	pfarg_dbreg_t debug = { .dbreg_num = 0 };
	const int fd = create(0);

	CHECK_EQ(pfm_delete_evtsets(fd, &(pfarg_setdesc_t){ .set_id = 0 }, 1), 0);
	CHECK_ERRNO(perfmonctl(fd, PFM_WRITE_PMCS, &reg, 1), EINVAL);
	CHECK_ERRNO(perfmonctl(fd, PFM_WRITE_PMDS, &reg, 1), EINVAL);
	CHECK_ERRNO(perfmonctl(fd, PFM_READ_PMDS, &reg, 1), EINVAL);
	CHECK_ERRNO(perfmonctl(fd, PFM_WRITE_IBRS, &debug, 1), EINVAL);
	CHECK_ERRNO(perfmonctl(fd, PFM_LOAD_CONTEXT, &target, 1), EINVAL);
	CHECK_EQ(make_set(fd, 7, 0, 0), 0);
	CHECK_EQ(perfmonctl(fd, PFM_WRITE_PMDS, &reg, 1), 0);
	CHECK_EQ(perfmonctl(fd, PFM_LOAD_CONTEXT, &target, 1), 0);
	close(fd);
}

static int
mapped_buffers(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[300];
	int count = 0;

	while (maps && fgets(line, sizeof(line), maps))
		count += strstr(line, "memfd:perfmon") != NULL;
	if (maps)
		fclose(maps);
	return count;
}

/* The buffer that the call has mapped goes when the context does; what the program has mapped at its place stays. */
static void
mappings(void)
{
	pfm_default_smpl_ctx_arg_t wanted = {
		.ctx_arg = { .ctx_smpl_buf_id = PFM_DEFAULT_SMPL_UUID },
		.buf_arg = { .buf_size = 4096 },
	};
	const int before = mapped_buffers();
	char *own;

	for (int i = 0; i < 20; i++) {
		CHECK_EQ(perfmonctl(-1, PFM_CREATE_CONTEXT, &wanted, 1), 0);
		close(wanted.ctx_arg.ctx_fd);
	}
	CHECK_EQ(perfmonctl(-1, PFM_CREATE_CONTEXT, &wanted, 1), 0);
	CHECK(mapped_buffers() <= before + 2);
	own = mmap(wanted.ctx_arg.ctx_smpl_vaddr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		   -1, 0);
	CHECK(own == wanted.ctx_arg.ctx_smpl_vaddr);
	own[0] = 1;
	close(wanted.ctx_arg.ctx_fd);
	close(create(0)); /* the context is freed */
	CHECK_EQ(own[0], 1);
	CHECK_EQ(mapped_buffers(), before);
	munmap(own, 4096);
}

int
main(void)
{
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	order_of_checks();
	without_a_context();
	of_another_task();
	read_only_arguments();
	defaults();
	privilege();
	debug_registers();
	groups();
	attributes();
	together();
	while_masked();
	full_queue();
	loading();
	another_task();
	end_of_a_thread();
	mixed();
	short_resets();
	random_resets();
	samples(PFM_REGFL_OVFL_NOTIFY);
	samples(0);
	no_sets();
	mappings();
	return check_result();
}
