/*
 * Overflows of perfmon2, step by step: which counters, what is reset and how, what a masked context lets be done, what
 * stays pending.
 */
#include "perfmon2_check.h"

/* A context with the given counters on cycles, loaded and started. */
static int
running(pfarg_pmd_t *pmds, int count, uint32_t flags)
{
	const int fd = create(flags);

	for (int i = 0; i < count; i++)
		if (pmds[i].reg_num >= 4 && pmds[i].reg_num < 8)
			CHECK_EQ(write_pmc(fd, pmds[i].reg_num, CYCLES_PMC), 0);
	CHECK_EQ(pfm_write_pmds(fd, pmds, count), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	return fd;
}

static uint64_t
next_message(int fd)
{
	pfarg_msg_t message;

	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return read(fd, &message, sizeof(message)) == 64 ? message.pfm_ovfl_msg.msg_ovfl_pmds[0] : 0;
}

/* One of them notifies: the message has both, and the other counters stop where they are. */
static void
together(void)
{
	pfarg_pmd_t pmds[] = {
		{ .reg_num = 4, .reg_value = (uint64_t)-10, .reg_long_reset = 40 },
		{ .reg_num = 5, .reg_value = (uint64_t)-10, .reg_long_reset = 50, .reg_flags = PFM_REGFL_OVFL_NOTIFY },
		{ .reg_num = 6, .reg_value = (uint64_t)-11, .reg_flags = PFM_REGFL_OVFL_NOTIFY },
	};
	const int fd = running(pmds, 3, 0);

	CHECK_EQ(cycles(100), 0);
	CHECK_EQ(next_message(fd), 0x30);
	CHECK_EQ((int64_t)read_pmd(fd, 6), -1);
	CHECK_EQ(info_of(fd, 0).set_ovfl_pmds[0], 0x30);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(read_pmd(fd, 4), 40);
	CHECK_EQ(read_pmd(fd, 5), 50);
	CHECK_EQ((int64_t)read_pmd(fd, 6), -1);
	CHECK_EQ(info_of(fd, 0).set_ovfl_pmds[0], 0x30); /* what the last one was */
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(next_message(fd), 0x40);
	close(fd);
}

/* A counter that does not notify masks as well, and then no notification of another one can come. */
static void
silent_first(void)
{
	pfarg_pmd_t pmds[] = {
		{ .reg_num = 4, .reg_value = (uint64_t)-10 },
		{ .reg_num = 5, .reg_value = (uint64_t)-20, .reg_flags = PFM_REGFL_OVFL_NOTIFY },
	};
	const int fd = running(pmds, 2, 0);

	CHECK_EQ(cycles(100), 0);
	CHECK_EQ(next_message(fd), 0);
	CHECK_EQ((int64_t)read_pmd(fd, 5), -10);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0); /* it stays masked */
	CHECK_EQ(cycles(100), 0);
	CHECK_EQ((int64_t)read_pmd(fd, 5), -10);
	close(fd);
}

/* 0 is no overflow; the next one is 2^64 events away. */
static void
from_zero(void)
{
	pfarg_pmd_t pmd = { .reg_num = 4, .reg_value = 0, .reg_flags = PFM_REGFL_OVFL_NOTIFY };
	const int fd = running(&pmd, 1, 0);

	CHECK_EQ(cycles(UINT64_MAX), 0);
	CHECK_EQ((int64_t)read_pmd(fd, 4), -1);
	CHECK_EQ(next_message(fd), 0);
	CHECK_EQ(cycles(7), 0);
	CHECK_EQ(next_message(fd), 0x10);
	CHECK_EQ(read_pmd(fd, 4), 0);
	CHECK_EQ(pfm_restart(fd), 0); /* its long reset value is 0 */
	CHECK_EQ(cycles(7), 0);
	CHECK_EQ(read_pmd(fd, 4), 7);
	close(fd);
}

/* Each register is reset by its own values and flags, counters or not. */
static void
own_values(void)
{
	pfarg_pmd_t pmds[] = {
		{ .reg_num = 4,
		  .reg_value = (uint64_t)-10,
		  .reg_long_reset = (uint64_t)-10,
		  .reg_flags = PFM_REGFL_OVFL_NOTIFY,
		  .reg_reset_pmds = { 1 << 2 | 1 << 5 | 1 << 6 } },
		{ .reg_num = 2, .reg_value = 8, .reg_long_reset = 22, .reg_short_reset = 23 },
		{ .reg_num = 5,
		  .reg_value = 1,
		  .reg_long_reset = UINT64_C(1) << 40,
		  .reg_random_mask = 0xf,
		  .reg_flags = PFM_REGFL_RANDOM },
		{ .reg_num = 6, .reg_value = 1, .reg_long_reset = 66, .reg_random_mask = 0xf }, /* without the flag */
	};
	const int fd = running(pmds, 4, 0);
	bool differ = false;
	uint64_t first = 0;

	for (int i = 0; i < 20; i++) {
		CHECK_EQ(pfm_model_set_pmd(2, 9), 0);
		CHECK_EQ(cycles(10), 0);
		CHECK_EQ(read_pmd(fd, 2), 9);
		CHECK_EQ(next_message(fd), 0x10);
		CHECK_EQ(pfm_restart(fd), 0);
		CHECK_EQ(read_pmd(fd, 2), 22);
		CHECK_EQ(read_pmd(fd, 6), 66);
		CHECK(read_pmd(fd, 5) <= UINT64_C(1) << 40 && read_pmd(fd, 5) >= (UINT64_C(1) << 40) - 15);
		CHECK_EQ(read_all_of(fd, 2, 0).reg_last_reset_val, 22);
		first = i ? first : read_pmd(fd, 5);
		differ |= read_pmd(fd, 5) != first;
	}
	CHECK(differ);
	close(fd);
}

/* A mask with upper bits gets 64 random bits, one without them 32. */
static void
wide_random_masks(void)
{
	pfarg_pmd_t pmd = { .reg_num = 4,
			    .reg_value = (uint64_t)-1,
			    .reg_long_reset = (uint64_t)-1,
			    .reg_short_reset = 7,
			    .reg_random_mask = UINT64_C(0xff000000ff),
			    .reg_flags = PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM };
	const int fd = running(&pmd, 1, 0);
	uint64_t seen = 0, outside = 0;

	for (int i = 0; i < 40; i++) {
		CHECK_EQ(cycles(-read_pmd(fd, 4)), 0);
		CHECK_EQ(next_message(fd), 0x10);
		CHECK_EQ(pfm_restart(fd), 0);
		seen |= (uint64_t)-1 - read_pmd(fd, 4);
		outside |= ((uint64_t)-1 - read_pmd(fd, 4)) & ~UINT64_C(0xff000000ff);
	}
	CHECK_EQ(seen, UINT64_C(0xff000000ff));
	CHECK_EQ(outside, 0);
	close(fd);
}

/* What is written while masked goes to the counters at restart; what has overflowed is reset all the same. */
static void
written_while_masked(void)
{
	pfarg_pmd_t pmds[] = {
		{ .reg_num = 4,
		  .reg_value = (uint64_t)-10,
		  .reg_long_reset = (uint64_t)-100,
		  .reg_flags = PFM_REGFL_OVFL_NOTIFY },
		{ .reg_num = 5, .reg_value = 0 },
	};
	const int fd = running(pmds, 2, 0);

	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(next_message(fd), 0x10);
	CHECK_EQ(write_pmc(fd, 5, CYCLES_PMC | 1 << 16), 0); /* another event */
	CHECK_EQ(write_pmd(fd, 5, 1000, 0), 0);
	CHECK_EQ(info_of(fd, 0).set_ovfl_pmds[0], 0x10);
	pmds[0].reg_long_reset = (uint64_t)-50;
	pmds[0].reg_value = 3;
	CHECK_EQ(pfm_write_pmds(fd, pmds, 1), 0);
	CHECK_EQ(info_of(fd, 0).set_ovfl_pmds[0], 0); /* a write of it clears that */
	CHECK_EQ(cycles(7), 0);
	CHECK_EQ(read_pmd(fd, 4), 3);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(read_pmd(fd, 5), 1000);
	CHECK_EQ((int64_t)read_pmd(fd, 4), -50);
	CHECK_EQ(cycles(7), 0);
	CHECK_EQ(read_pmd(fd, 5), 1000);
	CHECK_EQ(pfm_model_advance_code(CYCLES, 1, PFM_PLM3, 4), 0);
	CHECK_EQ(read_pmd(fd, 5), 1004);
	close(fd);
}

/* Registers that are written while they count take effect at once, also a change of the event. */
static void
written_while_counting(void)
{
	pfarg_pmd_t pmd = { .reg_num = 4, .reg_value = 0 };
	const int fd = running(&pmd, 1, 0);

	CHECK_EQ(cycles(3), 0);
	CHECK_EQ(write_pmd(fd, 4, 100, 0), 0);
	CHECK_EQ(cycles(3), 0);
	CHECK_EQ(read_pmd(fd, 4), 103);
	CHECK_EQ(write_pmc(fd, 4, 0), 0);
	CHECK_EQ(cycles(3), 0);
	CHECK_EQ(read_pmd(fd, 4), 103);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 5, 0, 0), 0); /* its PMC was never written: it counts nothing */
	CHECK_EQ(cycles(3), 0);
	CHECK_EQ(read_pmd(fd, 4), 106);
	CHECK_EQ(read_pmd(fd, 5), 0);
	close(fd);
}

/* Unload keeps the values; the restart that was due is gone after the next load. */
static void
unloaded_while_masked(void)
{
	pfarg_pmd_t pmds[] = {
		{ .reg_num = 4,
		  .reg_value = (uint64_t)-10,
		  .reg_long_reset = (uint64_t)-100,
		  .reg_flags = PFM_REGFL_OVFL_NOTIFY },
		{ .reg_num = 5, .reg_value = 0 },
	};
	const int fd = running(pmds, 2, 0);

	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(pfm_unload_context(fd), 0);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	CHECK_EQ(read_pmd(fd, 4), 0);
	CHECK_EQ(info_of(fd, 0).set_ovfl_pmds[0], 0x10);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(info_of(fd, 0).set_ovfl_pmds[0], 0);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	CHECK_EQ(cycles(5), 0);
	CHECK_EQ(read_pmd(fd, 5), 10); /* not started */
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(5), 0);
	CHECK_EQ(read_pmd(fd, 4), 5);
	CHECK_EQ(info_of(fd, 0).set_runs, 2);
	close(fd);
}

/* Version 3 changes a value and the notification, and leaves the rest. */
static void
values_only(void)
{
	pfarg_pmd_t pmd = { .reg_num = 4, .reg_value = 0, .reg_long_reset = 77, .reg_flags = PFM_REGFL_OVFL_NOTIFY };
	pfarg_pmr_t value = { .reg_num = 4, .reg_value = (uint64_t)-3 };
	const int fd = running(&pmd, 1, 0);

	CHECK_EQ(pfm_write(fd, 0, PFM_RW_PMD, &value, sizeof(value)), 0);
	CHECK_EQ(cycles(5), 0);
	CHECK_EQ(next_message(fd), 0); /* without the flag */
	CHECK_EQ(read_pmd(fd, 4), 0);
	CHECK_EQ(pfm_unload_context(fd), 0);
	value.reg_flags = PFM_REGFL_OVFL_NOTIFY;
	CHECK_EQ(pfm_write(fd, 0, PFM_RW_PMD, &value, sizeof(value)), 0);
	CHECK_EQ(pfm_attach(fd, 0, self_id()), 0);
	CHECK_EQ(pfm_set_state(fd, 0, PFM_ST_START), 0);
	CHECK_EQ(cycles(5), 0);
	CHECK_EQ(next_message(fd), 0x10);
	CHECK_EQ(pfm_set_state(fd, 0, PFM_ST_RESTART), 0);
	CHECK_EQ(read_pmd(fd, 4), 77);
	close(fd);
}

/* No message, and the queue never fills; each restart needs an overflow. */
static void
without_messages(void)
{
	pfarg_pmd_t pmd = { .reg_num = 4,
			    .reg_value = (uint64_t)-1,
			    .reg_long_reset = (uint64_t)-1,
			    .reg_flags = PFM_REGFL_OVFL_NOTIFY };
	const int fd = running(&pmd, 1, PFM_FL_OVFL_NO_MSG);

	for (int i = 0; i < 300; i++) { /* more than a counter of 8 bits has */
		CHECK_EQ(cycles(1), 0);
		CHECK_EQ(next_message(fd), 0);
		CHECK_EQ(pfm_restart(fd), 0);
		CHECK_ERRNO(pfm_restart(fd), EBUSY);
	}
	close(fd);
}

/* Registers that are named to be sampled or reset are used, with 0, in the set of the register that names them. */
static void
used_by_others(void)
{
	pfarg_pmd_t pmds[] = {
		{ .reg_num = 6, .reg_value = 60 },
		{ .reg_num = 4, .reg_smpl_pmds = { 1 << 6 | 1 << 7 } },
		{ .reg_num = 4, .reg_set = 1, .reg_reset_pmds = { 1 << 5 } },
	};
	pfarg_pmd_t wanted = { .reg_num = 5 };
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 1, 0, 0), 0);
	CHECK_EQ(pfm_write_pmds(fd, pmds, 3), 0);
	CHECK_EQ(read_pmd(fd, 6), 60); /* it was used */
	CHECK_EQ(read_pmd(fd, 7), 0);
	CHECK_ERRNO(pfm_read_pmds(fd, &wanted, 1), EINVAL);
	wanted.reg_set = 1;
	CHECK_EQ(pfm_read_pmds(fd, &wanted, 1), 0);
	wanted.reg_num = 7;
	CHECK_ERRNO(pfm_read_pmds(fd, &wanted, 1), EINVAL);
	close(fd);
}

int
main(void)
{
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	together();
	silent_first();
	from_zero();
	own_values();
	wide_random_masks();
	written_while_masked();
	written_while_counting();
	unloaded_while_masked();
	values_only();
	without_messages();
	used_by_others();
	return check_result();
}
