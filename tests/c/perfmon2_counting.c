/*
 * Registers and counters of perfmon2: which there are, checks of values, which counter counts, an overflow, random resets.
 * perfmon2_core.c and tests/fuzz/perfmon2_calls.c have all that can be foretold.
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

/* Each restart another value; a mask with upper bits gets 64 random bits, one without them 32. */
static void
random_resets(void)
{
	pfarg_pmd_t pmd = { .reg_num = 4,
			    .reg_value = (uint64_t)-1,
			    .reg_long_reset = (uint64_t)-1,
			    .reg_short_reset = 7,
			    .reg_random_mask = UINT64_C(0xff000000ff),
			    .reg_flags = PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM };
	const int fd = counting(0, 0, 0);
	uint64_t seen = 0;

	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	for (int i = 0; i < 40; i++) {
		char message[64];

		CHECK_EQ(cycles(-read_pmd(fd, 4)), 0);
		CHECK_EQ(read(fd, message, sizeof(message)), 64);
		CHECK_EQ(pfm_restart(fd), 0);
		CHECK_EQ(read_all_of(fd, 4, 0).reg_last_reset_val, read_pmd(fd, 4));
		seen |= (uint64_t)-1 - read_pmd(fd, 4);
	}
	CHECK_EQ(seen, pmd.reg_random_mask);
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
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), 0);
	what_counts();
	events_of_libpfm();
	saturation();
	random_resets();
	return check_result();
}
