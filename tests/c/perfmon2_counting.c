/*
 * Registers and counters of perfmon2: reserved bits, checks of values, 64 bits, which counter counts, overflows, what is
 * reset.
 */
#include "perfmon2_check.h"

/* The registers that there are; a PMC's number and what cannot be read is told by what is counted. */
static void
available(int pmu, uint64_t low_pmcs, uint64_t debug, uint64_t pmds)
{
	pfarg_setinfo_t info;
	int fd;

	CHECK_EQ(pfm_force_pmu(pmu), 0);
	fd = create(0);
	info = info_of(fd, 0);
	CHECK_EQ(info.set_avail_pmcs[0], low_pmcs);
	CHECK_EQ(info.set_avail_pmcs[4], debug);
	CHECK_EQ(info.set_avail_pmds[0], pmds);
	CHECK_ERRNO(write_pmc(fd, 272, 0), EINVAL);
	CHECK_ERRNO(write_pmd(fd, 18, 0, 0), EINVAL);
	CHECK_ERRNO(write_pmd(fd, 64, 0, 0), EINVAL);
	close(fd);
}

/* Values that the processor must not have. */
static void
forbidden(void)
{
	int fd;

	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), 0);
	fd = create(0);
	CHECK_EQ(write_pmc(fd, 8, 0), 0); /* it looks at code ranges; by default they are off */
	CHECK_EQ(write_pmc(fd, 14, 0), 0);
	CHECK_ERRNO(write_pmc(fd, 13, 0), EINVAL);
	CHECK_EQ(write_pmc(fd, 14, 1 << 1 | 1 << 4), 0);
	CHECK_EQ(write_pmc(fd, 13, 0), 0);
	CHECK_ERRNO(write_pmc(fd, 14, 0), EINVAL);
	CHECK_EQ(write_pmc(fd, 8, 1), 0);
	CHECK_EQ(write_pmc(fd, 14, 0), 0);
	close(fd);
	CHECK_EQ(pfm_force_pmu(PFMLIB_MONTECITO_PMU), 0);
	fd = create(0);
	CHECK_EQ(write_pmc(fd, 32, 0), 0);
	CHECK_EQ(write_pmc(fd, 38, 0), 0);
	CHECK_ERRNO(write_pmc(fd, 41, 0), EINVAL);
	CHECK_EQ(write_pmc(fd, 38, 1 << 1 | 1 << 4), 0);
	CHECK_EQ(write_pmc(fd, 41, 0), 0);
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), 0); /* the context keeps its machine */
	CHECK_EQ(write_pmc(fd, 42, 0), 0);
	close(fd);
}

/* The upper bits are the engine's, whatever the width. */
static void
sixty_four_bits(int pmu, unsigned int width)
{
	const uint64_t low = (UINT64_C(1) << width) - 1;
	pfarg_pmc_t narrow = { .reg_num = 5, .reg_value = CYCLES_PMC, .reg_flags = PFM_REGFL_NO_EMUL64 };
	int fd;

	CHECK_EQ(pfm_force_pmu(pmu), 0);
	fd = create(0);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, low - 1, 0), 0);
	if (pmu != PFMLIB_GEN_IA64_PMU) {
		CHECK_EQ(pfm_write_pmcs(fd, &narrow, 1), 0);
		CHECK_EQ(write_pmd(fd, 5, (UINT64_C(3) << width) + low - 1, PFM_REGFL_OVFL_NOTIFY), 0);
	} else {
		CHECK_ERRNO(pfm_write_pmcs(fd, &narrow, 1), EINVAL);
	}
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(read_pmd(fd, 4), low + 9);
	if (pmu != PFMLIB_GEN_IA64_PMU)
		CHECK_EQ(read_pmd(fd, 5), (UINT64_C(3) << width) + 8); /* wrapped by itself, no overflow */
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(read_pmd(fd, 4), low + 10);
	close(fd);
}

/* Level, event, unit mask, threshold, instruction set; started; used. */
static void
what_counts(void)
{
	static const struct {
		uint64_t pmc;
		uint64_t counted;
	} cases[] = {
		{ CYCLES_PMC, 7 },           { CYCLES << 8 | 1, 3 },      { CYCLES << 8 | 9, 10 },
		{ CYCLES << 8, 0 },          { 0x13 << 8 | 8, 0 },        { CYCLES_PMC | 1 << 16, 0 },
		{ CYCLES_PMC | 1 << 20, 0 }, { CYCLES_PMC | 1 << 24, 0 }, { CYCLES_PMC | 2 << 24, 7 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int fd = create(0);

		CHECK_EQ(write_pmc(fd, 4, cases[i].pmc), 0);
		CHECK_EQ(write_pmd(fd, 4, 0, 0), 0);
		CHECK_EQ(load(fd, self_id()), 0);
		CHECK_EQ(cycles(5), 0); /* not started */
		CHECK_EQ(pfm_start(fd, NULL), 0);
		CHECK_EQ(cycles(7), 0);
		CHECK_EQ(pfm_model_advance_code(CYCLES, 0, PFM_PLM0, 3), 0);
		CHECK_EQ(pfm_stop(fd), 0);
		CHECK_EQ(cycles(5), 0);
		CHECK_EQ(read_pmd(fd, 4), cases[i].counted);
		CHECK_EQ(pfm_unload_context(fd), 0);
		CHECK_EQ(read_pmd(fd, 4), cases[i].counted);
		close(fd);
	}
}

/* libpfm's own events and values; an event of several levels counts once. */
static void
events_of_libpfm(void)
{
	pfmlib_input_param_t in = { .pfp_event_count = 2, .pfp_dfl_plm = PFM_PLM0 | PFM_PLM3 };
	pfmlib_output_param_t out = { .pfp_pmc_count = 0 };
	unsigned int ear;
	const int fd = create(0);

	CHECK_EQ(pfm_find_event("CPU_CYCLES", &in.pfp_events[0].event), 0);
	CHECK_EQ(pfm_find_event("L2_MISSES", &in.pfp_events[1].event), 0);
	CHECK_EQ(pfm_dispatch_events(&in, NULL, &out, NULL), 0);
	for (unsigned int i = 0; i < out.pfp_pmc_count; i++)
		CHECK_EQ(write_pmc(fd, (uint16_t)out.pfp_pmcs[i].reg_num, out.pfp_pmcs[i].reg_value), 0);
	for (unsigned int i = 0; i < out.pfp_pmd_count; i++)
		CHECK_EQ(write_pmd(fd, (uint16_t)out.pfp_pmds[i].reg_num, 0, 0), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(pfm_model_advance(in.pfp_events[0].event, PFM_PLM0 | PFM_PLM3, 20), 0);
	CHECK_EQ(pfm_model_advance(in.pfp_events[1].event, PFM_PLM0, 3), 0);
	CHECK_EQ(read_pmd(fd, (uint16_t)out.pfp_pmds[0].reg_num), 20);
	CHECK_EQ(read_pmd(fd, (uint16_t)out.pfp_pmds[1].reg_num), 3);
	CHECK_ERRNO(pfm_model_advance(100000, PFM_PLM3, 1), EINVAL);
	CHECK_ERRNO(pfm_model_advance(0, 0, 1), EINVAL);
	CHECK_ERRNO(pfm_model_advance_code(CYCLES, 0, 16, 1), EINVAL);
	CHECK_ERRNO(pfm_model_set_pmd(4, 1), EINVAL);
	CHECK_ERRNO(pfm_model_set_pmd(18, 1), EINVAL);
	CHECK_EQ(pfm_model_set_pmd(2, 77), 0);
	CHECK_EQ(write_pmd(fd, 3, 0, 0), 0);
	CHECK_EQ(pfm_model_set_pmd(3, 78), 0);
	CHECK_EQ(read_pmd(fd, 3), 78);
	CHECK_EQ(write_pmc(fd, 5, 0xc8 << 8 | 8), 0); /* DATA_EAR_EVENTS */
	CHECK_EQ(write_pmd(fd, 5, 0, 0), 0);
	CHECK_EQ(pfm_find_event("DATA_EAR_CACHE_LAT64", &ear), 0);
	CHECK_EQ(pfm_model_advance(ear, PFM_PLM3, 6), 0);
	CHECK_EQ(read_pmd(fd, 5), 6);
	close(fd);
}

/* An overflow without notification and without a format stops the counting, and nothing can be done about it. */
static void
saturation(void)
{
	const int fd = counting((uint64_t)-100, 0, 0);
	char message[64];

	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(150), 0);
	CHECK_EQ(read_pmd(fd, 4), 0);
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	CHECK_ERRNO((int)read(fd, message, sizeof(message)), EAGAIN);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	CHECK_EQ(info_of(fd, 0).set_ovfl_pmds[0], 1 << 4);
	CHECK_EQ(pfm_unload_context(fd), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(info_of(fd, 0).set_ovfl_pmds[0], 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(150), 0);
	CHECK_EQ(read_pmd(fd, 4), 150);
	close(fd);
}

/* Counters that wrap together are one overflow; restart gives long reset values to them and to what they reset. */
static void
long_resets(void)
{
	pfarg_pmd_t pmds[] = {
		{ .reg_num = 4,
		  .reg_value = (uint64_t)-10,
		  .reg_long_reset = (uint64_t)-20,
		  .reg_short_reset = 1,
		  .reg_flags = PFM_REGFL_OVFL_NOTIFY,
		  .reg_reset_pmds = { 1 << 6 } },
		{ .reg_num = 5, .reg_value = (uint64_t)-10, .reg_long_reset = 500 },
		{ .reg_num = 6, .reg_value = 3, .reg_long_reset = 600 },
		{ .reg_num = 7, .reg_value = 4, .reg_long_reset = 700 },
	};
	const int fd = create(0);
	pfarg_msg_t message;

	for (uint16_t i = 4; i < 8; i++)
		CHECK_EQ(write_pmc(fd, i, CYCLES_PMC), 0);
	CHECK_EQ(pfm_write_pmds(fd, pmds, 4), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(30), 0);
	CHECK_EQ(read(fd, &message, sizeof(message)), 64);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_pmds[0], 0x30);
	CHECK_EQ(read_pmd(fd, 6), 13);
	CHECK_EQ(write_pmd(fd, 7, 40, 0), 0); /* while it is masked */
	CHECK_EQ(cycles(5), 0);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ((int64_t)read_pmd(fd, 4), -20);
	CHECK_EQ(read_pmd(fd, 5), 500);
	CHECK_EQ(read_pmd(fd, 6), 600);
	CHECK_EQ(read_pmd(fd, 7), 40);
	CHECK_EQ(read_all_of(fd, 5, 0).reg_last_reset_val, 500);
	CHECK_EQ(cycles(2), 0);
	CHECK_EQ(read_pmd(fd, 7), 42);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	close(fd);
}

/* Stop while masked: after restart nothing counts until start. */
static void
stopped_while_masked(void)
{
	const int fd = counting((uint64_t)-1, PFM_REGFL_OVFL_NOTIFY, 0);

	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(read_pmd(fd, 4), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(read_pmd(fd, 4), 1);
	close(fd);
}

static void
random_resets(void)
{
	pfarg_pmd_t pmd = { .reg_num = 4,
			    .reg_value = (uint64_t)-1,
			    .reg_long_reset = (uint64_t)-1000,
			    .reg_random_mask = 0xff,
			    .reg_flags = PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM };
	const int fd = counting(0, 0, 0);
	bool differ = false;
	uint64_t last = 0;

	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	for (int i = 0; i < 8; i++) {
		CHECK_EQ(cycles(-read_pmd(fd, 4)), 0);
		CHECK_EQ(pfm_restart(fd), 0);
		CHECK(read_pmd(fd, 4) <= (uint64_t)-1000 && read_pmd(fd, 4) >= (uint64_t)-1255);
		CHECK_EQ(read_all_of(fd, 4, 0).reg_last_reset_val, read_pmd(fd, 4));
		differ |= i && read_pmd(fd, 4) != last;
		last = read_pmd(fd, 4);
	}
	CHECK(differ);
	close(fd);
}

int
main(void)
{
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	available(PFMLIB_ITANIUM_PMU, 0x3ff0, 0xffff, 0x3ffff);
	available(PFMLIB_ITANIUM2_PMU, 0xfff0, 0xffff, 0x3ffff);
	available(PFMLIB_MONTECITO_PMU, UINT64_C(0x7ff0000fff0), 0xffff, UINT64_C(0xffff00df0000fff0));
	available(PFMLIB_GEN_IA64_PMU, 0xf0, 0, 0xf0);
	forbidden();
	sixty_four_bits(PFMLIB_ITANIUM_PMU, 32);
	sixty_four_bits(PFMLIB_ITANIUM2_PMU, 47);
	sixty_four_bits(PFMLIB_MONTECITO_PMU, 47);
	sixty_four_bits(PFMLIB_GEN_IA64_PMU, 47);
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), 0);
	what_counts();
	events_of_libpfm();
	saturation();
	long_resets();
	stopped_while_masked();
	random_resets();
	return check_result();
}
