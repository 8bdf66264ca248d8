/*
 * perfmonctl(2): its checks in their order, commands, registers and their errors, overflows, messages, sampling format.
 */
#include "perfmon2_check.h"

#include <perfmon/perfmon_default_smpl.h>

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
write_one(int fd, int command, pfarg_reg_t *reg)
{
	return perfmonctl(fd, command, reg, 1);
}

static unsigned long
value_of(int fd, unsigned int number)
{
	pfarg_reg_t reg = { .reg_num = number };

	CHECK_EQ(write_one(fd, PFM_READ_PMDS, &reg), 0);
	return reg.reg_value;
}

static int
load_self(int fd)
{
	pfarg_load_t wanted = { .load_pid = (uint32_t)self_id() };

	return perfmonctl(fd, PFM_LOAD_CONTEXT, &wanted, 1);
}

static void
order_of_checks(void)
{
	static pfarg_reg_t regs[27];
	pfarg_context_t context = { .ctx_flags = PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK, .ctx_smpl_buf_id = { 1 } };
	const int fd = made(0);

	CHECK_ERRNO(perfmonctl(-1, PFM_ENABLE, NOWHERE, 0), EINVAL);
	CHECK_ERRNO(perfmonctl(-1, 0, NOWHERE, 1), EINVAL);
	CHECK_ERRNO(perfmonctl(-1, -1, NOWHERE, 1), EINVAL);
	CHECK_ERRNO(perfmonctl(-1, PFM_WRITE_PMCS, NOWHERE, 0), EINVAL);
	CHECK_ERRNO(perfmonctl(-1, PFM_WRITE_PMCS, regs, 26), E2BIG);
	CHECK_ERRNO(perfmonctl(-1, PFM_WRITE_PMCS, NOWHERE, 25), EFAULT);
	CHECK_ERRNO(perfmonctl(-1, PFM_WRITE_PMCS, regs, 25), EBADF);
	CHECK_ERRNO(perfmonctl(-1, PFM_LOAD_CONTEXT, NOWHERE, 2), EINVAL);
	CHECK_ERRNO(perfmonctl(-1, PFM_START, NOWHERE, 99), EBADF);
	CHECK_ERRNO(perfmonctl(-1, PFM_CREATE_CONTEXT, &context, 1), EINVAL);
	CHECK_ERRNO(perfmonctl(fd, PFM_START, NULL, 0), EINVAL);
	CHECK_ERRNO(perfmonctl(fd, PFM_STOP, NULL, 0), EINVAL);
	CHECK_ERRNO(perfmonctl(fd, PFM_RESTART, NULL, 0), EBUSY);
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

static void
registers(void)
{
	pfarg_reg_t regs[] = {
		{ .reg_num = 4, .reg_value = CYCLES_PMC, .reg_flags = PFM_REG_RETFL_EINVAL },
		{ .reg_num = 3, .reg_flags = PFM_REGFL_RANDOM },
		{ .reg_num = 5 },
	};
	pfarg_dbreg_t debug = { .dbreg_num = 8 };
	const int fd = made(0);

	CHECK_ERRNO(perfmonctl(fd, PFM_WRITE_PMCS, regs, 3), EINVAL);
	CHECK_EQ(regs[0].reg_flags, 0);
	CHECK_EQ(regs[1].reg_flags, PFM_REG_RETFL_EINVAL | PFM_REGFL_RANDOM);
	CHECK_EQ(regs[2].reg_flags, 0);
	regs[0] = (pfarg_reg_t){ .reg_num = 4, .reg_value = CYCLES_PMC | 1 << 6 }; /* privileged */
	CHECK_ERRNO(write_one(fd, PFM_WRITE_PMCS, regs), EINVAL);
	regs[0] = (pfarg_reg_t){ .reg_num = 8, .reg_flags = PFM_REGFL_OVFL_NOTIFY };
	CHECK_ERRNO(write_one(fd, PFM_WRITE_PMCS, regs), EINVAL);
	regs[0] = (pfarg_reg_t){ .reg_num = 4, .reg_smpl_pmds = { 1 << 20 } };
	CHECK_ERRNO(write_one(fd, PFM_WRITE_PMCS, regs), EINVAL);
	regs[0] = (pfarg_reg_t){ .reg_num = 10 }; /* uses PMD0 and 1 */
	CHECK_EQ(write_one(fd, PFM_WRITE_PMCS, regs), 0);
	CHECK_EQ(value_of(fd, 0) + value_of(fd, 1), 0);
	regs[0] = (pfarg_reg_t){ .reg_num = 2 };
	CHECK_ERRNO(write_one(fd, PFM_READ_PMDS, regs), EINVAL);
	CHECK_EQ(regs[0].reg_flags, PFM_REG_RETFL_EINVAL);
	CHECK_EQ(write_one(fd, PFM_WRITE_PMDS, regs), 0);
	CHECK_EQ(value_of(fd, 17), 0); /* of its group */
	CHECK_ERRNO(perfmonctl(fd, PFM_WRITE_IBRS, &debug, 1), EINVAL);
	CHECK_EQ(debug.dbreg_flags, PFM_REG_RETFL_EINVAL);
	debug.dbreg_num = 1;
	CHECK_EQ(perfmonctl(fd, PFM_WRITE_DBRS, &debug, 1), 0);
	CHECK_EQ(debug.dbreg_flags, 0);
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

	CHECK_EQ(write_one(fd, PFM_WRITE_PMCS, &pmc), 0);
	CHECK_EQ(write_one(fd, PFM_WRITE_PMDS, &pmd), 0);
	CHECK_EQ(load_self(fd), 0);
	CHECK_ERRNO(load_self(fd), EBUSY);
	CHECK_EQ(perfmonctl(fd, PFM_START, NULL, 0), 0);
	return fd;
}

/* Without notification a counter starts anew and goes on. */
static void
short_resets(void)
{
	const int fd = counting_ctl((unsigned long)-10, 0, (unsigned long)-20, 5), other = made(0);

	CHECK_ERRNO(load_self(other), EBUSY); /* the thread has one */
	CHECK_EQ(cycles(35), 0);
	CHECK_EQ((long)value_of(fd, 4), -15);
	CHECK_EQ(perfmonctl(fd, PFM_STOP, NULL, 0), 0);
	CHECK_EQ(cycles(5), 0);
	CHECK_EQ((long)value_of(fd, 4), -15);
	CHECK_EQ(perfmonctl(fd, PFM_UNLOAD_CONTEXT, NULL, 0), 0);
	CHECK_EQ((long)value_of(fd, 4), -15);
	close(other);
	close(fd);
}

static void
messages(void)
{
	const int fd = counting_ctl((unsigned long)-10, PFM_REGFL_OVFL_NOTIFY, 1, (unsigned long)-7);
	pfm_msg_t message;
	char rest[128];

	CHECK_EQ(cycles(35), 0);
	CHECK_EQ(value_of(fd, 4), 0);
	CHECK_ERRNO(perfmonctl(fd, PFM_START, NULL, 0), EINVAL); /* masked */
	CHECK_EQ(read(fd, &message, sizeof(message)), 56);
	CHECK_EQ(message.type, PFM_MSG_OVFL);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ctx_fd, fd);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_pmds[0], 1 << 4);
	CHECK_EQ(message.pfm_ovfl_msg.msg_tstamp, 0);
	CHECK_EQ(perfmonctl(fd, PFM_RESTART, NULL, 0), 0);
	CHECK_EQ((long)value_of(fd, 4), -7);
	CHECK_ERRNO(perfmonctl(fd, PFM_RESTART, NULL, 0), EBUSY);
	for (int i = 0; i < 31; i++) {
		CHECK_EQ(cycles(7), 0);
		CHECK_EQ(perfmonctl(fd, PFM_RESTART, NULL, 0), 0);
	}
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 31; i++)
		CHECK_EQ(read(fd, rest, sizeof(rest)), 56);
	CHECK_ERRNO((int)read(fd, rest, sizeof(rest)), EAGAIN);
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

	CHECK_EQ(write_one(fd, PFM_WRITE_PMCS, &pmc), 0);
	CHECK_EQ(write_one(fd, PFM_WRITE_PMDS, &pmd), 0);
	CHECK_EQ(load_self(fd), 0);
	CHECK_EQ(perfmonctl(fd, PFM_START, NULL, 0), 0);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(cycles(-value_of(fd, 4)), 0);
		CHECK_EQ((long)value_of(fd, 4), expected[i]);
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
	CHECK_EQ(write_one(fd, PFM_WRITE_PMCS, &pmc), 0);
	CHECK_EQ(write_one(fd, PFM_WRITE_PMDS, &pmd), 0);
	CHECK_EQ(load_self(fd), 0);
	CHECK_EQ(perfmonctl(fd, PFM_START, NULL, 0), 0);
	CHECK_EQ(pfm_model_set_pmd(2, 99), 0);
	CHECK_EQ(cycles(15), 0);
	CHECK_EQ(header->hdr_count, 1);
	CHECK_EQ(header->hdr_overflows, 1);
	CHECK_EQ(entry->ovfl_pmd, 5);
	CHECK_EQ(entry->pid, self_id());
	CHECK_EQ(*(const uint64_t *)(entry + 1), 99);
	CHECK_EQ(value_of(fd, 5), flags ? 0 : 5);
	CHECK_EQ(perfmonctl(fd, PFM_RESTART, NULL, 0), 0);
	CHECK_EQ(header->hdr_count, 0);
	if (flags)
		CHECK_EQ((long)value_of(fd, 5), -30);
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
	CHECK_ERRNO(write_one(fd, PFM_WRITE_PMCS, &reg), EINVAL);
	CHECK_ERRNO(write_one(fd, PFM_WRITE_PMDS, &reg), EINVAL);
	CHECK_ERRNO(write_one(fd, PFM_READ_PMDS, &reg), EINVAL);
	CHECK_ERRNO(perfmonctl(fd, PFM_WRITE_IBRS, &debug, 1), EINVAL);
	CHECK_ERRNO(perfmonctl(fd, PFM_LOAD_CONTEXT, &target, 1), EINVAL);
	CHECK_EQ(make_set(fd, 7, 0, 0), 0);
	CHECK_EQ(write_one(fd, PFM_WRITE_PMDS, &reg), 0);
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
	registers();
	short_resets();
	messages();
	random_resets();
	samples(PFM_REGFL_OVFL_NOTIFY);
	samples(0);
	no_sets();
	mappings();
	return check_result();
}
