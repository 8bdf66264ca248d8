/*
 * When the sampling buffers of perfmon2 are full: several counters at once, with and without notification, each PMU's least
 * space, what a restart and a load leave; the format of perfmonctl(2).
 */
#include "perfmon2_check.h"

#include <perfmon/perfmon_default_smpl.h>

static char name[] = "default";

static int
create_sampling(uint64_t size, uint32_t flags, pfm_dfl_smpl_hdr_t **header)
{
	pfarg_ctx_t ctx = { .ctx_flags = flags };
	pfm_dfl_smpl_arg_t format = { .buf_size = size };
	const int fd = pfm_create_context(&ctx, name, &format, sizeof(format));

	CHECK(fd >= 0);
	*header = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(*header != MAP_FAILED);
	return fd;
}

static void
start_with(int fd, pfarg_pmd_t *pmds, int count)
{
	for (int i = 0; i < count; i++)
		CHECK_EQ(write_pmc(fd, pmds[i].reg_num, CYCLES_PMC), 0);
	CHECK_EQ(pfm_write_pmds(fd, pmds, count), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
}

static uint64_t
next_message(int fd)
{
	pfarg_msg_t message;

	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return read(fd, &message, sizeof(message)) == 64 ? message.pfm_ovfl_msg.msg_ovfl_pmds[0] : 0;
}

static pfarg_pmd_t
counter(uint16_t number, uint64_t period, uint32_t flags, uint64_t smpl)
{
	return (pfarg_pmd_t){ .reg_num = number,
			      .reg_value = -period,
			      .reg_short_reset = -period,
			      .reg_long_reset = -period,
			      .reg_flags = flags,
			      .reg_smpl_pmds = { smpl } };
}

/* The least buffer of each PMU, and the space that it says it needs. */
static void
least_sizes(void)
{
	static const struct {
		int pmu;
		uint64_t space;
	} least[] = {
		{ PFMLIB_ITANIUM_PMU, 184 },
		{ PFMLIB_ITANIUM2_PMU, 184 },
		{ PFMLIB_MONTECITO_PMU, 320 },
		{ PFMLIB_GEN_IA64_PMU, 72 },
	};
	pfm_dfl_smpl_arg_t format = { .buf_flags = 9, .res1 = 8 };
	pfarg_ctx_t ctx = { .ctx_flags = PFM_FL_SMPL_FMT };
	pfm_dfl_smpl_hdr_t *header;

	for (size_t i = 0; i < sizeof(least) / sizeof(*least); i++) {
		CHECK_EQ(pfm_force_pmu(least[i].pmu), 0);
		format.buf_size = 127 + least[i].space;
		CHECK_ERRNO(pfm_create_context(&ctx, name, &format, sizeof(format)), EINVAL);
		close(create_sampling(128 + least[i].space, 0, &header));
		CHECK_EQ(header->hdr_min_buf_space, least[i].space);
		CHECK_EQ(header->hdr_buf_size, 128 + least[i].space); /* not rounded */
		munmap(header, 4096);
	}
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), 0);
}

/* Three wrap together, and there is room for one: it has an entry, the others are lost, each finds the buffer full. */
static void
three_together(void)
{
	pfarg_pmd_t pmds[] = { counter(4, 10, 0, 0), counter(5, 10, PFM_REGFL_OVFL_NOTIFY, 0), counter(6, 10, 0, 0),
			       counter(7, 100, 0, 0) };
	pfm_dfl_smpl_hdr_t *header;
	const int fd = create_sampling(128 + 184, 0, &header);

	start_with(fd, pmds, 4);
	CHECK_EQ(cycles(50), 0);
	CHECK_EQ(header->hdr_count, 1);
	CHECK_EQ(((pfm_dfl_smpl_entry_t *)(header + 1))->ovfl_pmd, 4);
	CHECK_EQ(header->hdr_overflows, 3);
	CHECK_EQ(next_message(fd), 0x70);
	CHECK_EQ(read_pmd(fd, 4), 0); /* none is reset before the restart */
	CHECK_EQ((int64_t)read_pmd(fd, 7), -90);
	CHECK_EQ(pfm_restart(fd), 0);
	for (uint16_t i = 4; i < 7; i++)
		CHECK_EQ((int64_t)read_pmd(fd, i), -10);
	CHECK_EQ((int64_t)read_pmd(fd, 7), -90);
	CHECK_EQ(header->hdr_count, 0);
	CHECK_EQ(header->hdr_overflows, 3);
	CHECK_EQ(((pfm_dfl_smpl_entry_t *)(header + 1))->ovfl_pmd, 4); /* entries are not cleared */
	close(fd);
	munmap(header, 4096);
}

/* Room for two: nobody is told while there is room, whatever the flags say. */
static void
two_of_three(void)
{
	pfarg_pmd_t pmds[] = { counter(4, 10, PFM_REGFL_OVFL_NOTIFY, 0), counter(5, 10, 0, 0), counter(6, 15, 0, 0) };
	pfm_dfl_smpl_hdr_t *header;
	const int fd = create_sampling(128 + 184 + 2 * 40, 0, &header);

	start_with(fd, pmds, 3);
	CHECK_EQ(cycles(14), 0);
	CHECK_EQ(header->hdr_count, 2);
	CHECK_EQ(next_message(fd), 0);
	CHECK_EQ((int64_t)read_pmd(fd, 4), -6);
	CHECK_EQ(cycles(1), 0); /* the third is PMD6's, which does not notify: masked, and nobody knows */
	CHECK_EQ(header->hdr_count, 3);
	CHECK_EQ(header->hdr_overflows, 1);
	CHECK_EQ(next_message(fd), 0);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	CHECK_EQ(cycles(100), 0);
	CHECK_EQ((int64_t)read_pmd(fd, 4), -5);
	CHECK_EQ(pfm_unload_context(fd), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(header->hdr_count, 3); /* load does not touch the buffer */
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(5), 0);
	CHECK_EQ(header->hdr_count, 3); /* there is no room */
	CHECK_EQ(header->hdr_overflows, 3);
	CHECK_EQ(next_message(fd), 0x30);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(header->hdr_cur_offs, 128);
	close(fd);
	munmap(header, 4096);
}

/* Values in ascending order, counters as they stand, with the ones that wrap at 0. */
static void
values_of_a_sample(void)
{
	pfarg_pmd_t pmds[] = { counter(5, 10, 0, 1 << 4 | 1 << 5 | 1 << 17), counter(4, 1000, 0, 0) };
	const pfm_dfl_smpl_entry_t *entry;
	pfm_dfl_smpl_hdr_t *header;
	const int fd = create_sampling(4096, 0, &header);
	const uint64_t *values;

	pmds[0].reg_short_reset = (uint64_t)-20;
	pmds[0].reg_reset_pmds[0] = 1 << 4;
	pmds[1].reg_short_reset = 500;
	start_with(fd, pmds, 2);
	CHECK_EQ(pfm_model_set_pmd(17, 1717), 0);
	CHECK_EQ(cycles(30), 0);
	entry = (const void *)(header + 1);
	values = (const void *)(entry + 1);
	CHECK_EQ(header->hdr_cur_offs, 128 + 2 * (40 + 24));
	CHECK_EQ((int64_t)entry->last_reset_val, -10);
	CHECK_EQ((int64_t)values[0], -990);
	CHECK_EQ(values[1], 0);
	CHECK_EQ(values[2], 1717);
	entry = (const void *)(values + 3);
	values = (const void *)(entry + 1);
	CHECK_EQ((int64_t)entry->last_reset_val, -20);
	CHECK_EQ(values[0], 520); /* it was reset, too */
	CHECK_EQ(entry->reserved, 0);
	close(fd);
	munmap(header, 4096);
}

/* A set that overflows into the next one: the sample has the old set, and its reset waits. */
static void
with_sets(void)
{
	pfarg_pmd_t pmd = counter(4, 10, 0, 0);
	pfarg_pmc_t pmc = { .reg_num = 4, .reg_set = 6, .reg_value = CYCLES_PMC };
	const pfm_dfl_smpl_entry_t *entries;
	pfm_dfl_smpl_hdr_t *header;
	const int fd = create_sampling(4096, 0, &header);

	CHECK_EQ(make_set(fd, 0, PFM_SETFL_OVFL_SWITCH, 0), 0);
	CHECK_EQ(make_set(fd, 6, PFM_SETFL_OVFL_SWITCH, 0), 0);
	pmd.reg_ovfl_switch_cnt = 1;
	CHECK_EQ(pfm_write_pmcs(fd, &pmc, 1), 0);
	pmd.reg_set = 6;
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	pmd.reg_set = 0;
	start_with(fd, &pmd, 1);
	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(read_pmd(fd, 4), 0);
	CHECK_EQ(cycles(14), 0);
	entries = (const void *)(header + 1);
	CHECK_EQ(header->hdr_count, 2);
	CHECK_EQ(entries[0].set, 0);
	CHECK_EQ(entries[1].set, 6);
	CHECK_EQ((int64_t)read_pmd(fd, 4), -6);
	close(fd);
	munmap(header, 4096);
}

/* With PFM_FL_OVFL_NO_MSG a full buffer can be restarted all the same; version 3 makes the same buffer. */
static void
without_messages(void)
{
	pfm_dfl_smpl_arg_t format = { .buf_size = 128 + 184 };
	pfarg_pmd_t pmd = counter(4, 10, PFM_REGFL_OVFL_NOTIFY, 0);
	const int fd = pfm_create(PFM_FL_SMPL_FMT | PFM_FL_OVFL_NO_MSG, NULL, name, &format, sizeof(format));
	const pfm_dfl_smpl_hdr_t *header = mmap(NULL, 312, PROT_READ, MAP_PRIVATE, fd, 0);

	CHECK(header != MAP_FAILED);
	start_with(fd, &pmd, 1);
	for (int i = 1; i <= 20; i++) {
		CHECK_EQ(cycles(10), 0);
		CHECK_EQ(header->hdr_overflows, i);
		CHECK_EQ(next_message(fd), 0);
		CHECK_EQ(pfm_set_state(fd, 0, PFM_ST_RESTART), 0);
		CHECK_ERRNO(pfm_restart(fd), EBUSY); /* though there is a buffer */
	}
	close(fd);
	CHECK_EQ(header->hdr_overflows, 20); /* the mapping stays */
	munmap((void *)header, 312);
}

/* ---- perfmonctl(2) ------------------------------------------------------------------------------ */

static int
create_ctl(unsigned long size, const pfm_default_smpl_hdr_t **header)
{
	pfm_default_smpl_ctx_arg_t wanted = {
		.ctx_arg = { .ctx_smpl_buf_id = PFM_DEFAULT_SMPL_UUID },
		.buf_arg = { .buf_size = size },
	};

	CHECK_EQ(perfmonctl(-1, PFM_CREATE_CONTEXT, &wanted, 1), 0);
	*header = wanted.ctx_arg.ctx_smpl_vaddr;
	return wanted.ctx_arg.ctx_fd;
}

static void
start_ctl(int fd, const unsigned long *flags, const unsigned long *smpl, const unsigned long *periods)
{
	pfarg_load_t self = { .load_pid = (uint32_t)self_id() };

	for (unsigned int i = 0; i < 2; i++) {
		pfarg_reg_t pmc = {
			.reg_num = 4 + i, .reg_value = CYCLES_PMC, .reg_flags = flags[i], .reg_smpl_pmds = { smpl[i] }
		};
		pfarg_reg_t pmd = { .reg_num = 4 + i,
				    .reg_value = -periods[i],
				    .reg_short_reset = -periods[i],
				    .reg_long_reset = (uint64_t)-2 * periods[i] };

		CHECK_EQ(perfmonctl(fd, PFM_WRITE_PMCS, &pmc, 1), 0);
		CHECK_EQ(perfmonctl(fd, PFM_WRITE_PMDS, &pmd, 1), 0);
	}
	CHECK_EQ(perfmonctl(fd, PFM_LOAD_CONTEXT, &self, 1), 0);
	CHECK_EQ(perfmonctl(fd, PFM_START, NULL, 0), 0);
}

static long
value_ctl(int fd, unsigned int number)
{
	pfarg_reg_t reg = { .reg_num = number };

	CHECK_EQ(perfmonctl(fd, PFM_READ_PMDS, &reg, 1), 0);
	return (long)reg.reg_value;
}

/* Two wrap together, and the first one fills the buffer: the second one notifies, and is told of alone. */
static void
two_of_ctl(void)
{
	static const unsigned long flags[] = { 0, PFM_REGFL_OVFL_NOTIFY }, smpl[] = { 0, 0 }, periods[] = { 10, 10 };
	const pfm_default_smpl_hdr_t *header;
	const int fd = create_ctl(680, &header);
	pfm_msg_t message;

	start_ctl(fd, flags, smpl, periods);
	CHECK_EQ(cycles(100), 0);
	CHECK_EQ(header->hdr_count, 1);
	CHECK_EQ(header->hdr_overflows, 2);
	CHECK_EQ(read(fd, &message, sizeof(message)), 56);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_pmds[0], 1 << 5);
	CHECK_EQ(value_ctl(fd, 4) | value_ctl(fd, 5), 0);
	CHECK_EQ(perfmonctl(fd, PFM_RESTART, NULL, 0), 0);
	CHECK_EQ(value_ctl(fd, 4), -20); /* long */
	CHECK_EQ(value_ctl(fd, 5), -20);
	CHECK_EQ(header->hdr_cur_offs, 128);
	CHECK_EQ(header->hdr_count, 0);
	close(fd);
}

/* Full without notification: counters go on from 0, each overflow is counted; a restart resets them, masked or not. */
static void
saturated_ctl(void)
{
	static const unsigned long flags[] = { 0, 0 }, smpl[] = { 1 << 5, 0 }, periods[] = { 10, 1000 };
	const pfm_default_smpl_hdr_t *header;
	const int fd = create_ctl(128 + 552 + 48, &header); /* room for two */

	start_ctl(fd, flags, smpl, periods);
	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(header->hdr_count, 1);
	CHECK_EQ(header->hdr_overflows, 0);
	CHECK_EQ(value_ctl(fd, 4), -10);
	CHECK_EQ(cycles(13), 0);
	CHECK_EQ(header->hdr_count, 2);
	CHECK_EQ(header->hdr_overflows, 1);
	CHECK_EQ(value_ctl(fd, 4), 3);
	CHECK_EQ(value_ctl(fd, 5), -977);
	CHECK_EQ(perfmonctl(fd, PFM_RESTART, NULL, 0), 0);
	CHECK_EQ(header->hdr_count, 0);
	CHECK_EQ(value_ctl(fd, 4), -20);
	CHECK_EQ(value_ctl(fd, 5), -977);
	CHECK_EQ(cycles(20), 0);
	CHECK_EQ(header->hdr_count, 1);
	CHECK_EQ(value_ctl(fd, 4), -10);
	close(fd);
}

int
main(void)
{
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	least_sizes();
	three_together();
	two_of_three();
	values_of_a_sample();
	with_sets();
	without_messages();
	two_of_ctl();
	saturated_ctl();
	return check_result();
}
