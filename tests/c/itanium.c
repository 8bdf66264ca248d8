/*
 * The Itanium PMU (Merced): its queries, and the quirks of the reference, which
 * recorded answers show but do not name.
 */
#include "check_pfm3.h"

#include <limits.h>
#include <perfmon/pfmlib_itanium.h>
#include <stdlib.h>

#define UNTOUCHED 0x5a5a5a5a
#define NUM_EVENTS 230

static pfmlib_input_param_t inp;
static pfmlib_output_param_t outp;
static pfmlib_ita_input_param_t in;
static pfmlib_ita_output_param_t out;

/* A request for events at the user level, with structures of zeros. */
static void
start(const char *first, const char *second)
{
	const char *const names[] = { first, second };

	memset(&inp, 0, sizeof(inp));
	memset(&in, 0, sizeof(in));
	memset(&out, 0, sizeof(out));
	inp.pfp_dfl_plm = PFM_PLM3;
	for (int i = 0; i < 2 && names[i]; i++)
		CHECK_EQ(pfm_find_event(names[i], &inp.pfp_events[inp.pfp_event_count++].event), PFMLIB_SUCCESS);
}

static pfm_err_t
dispatch(void)
{
	return pfm_dispatch_events(&inp, &in, &outp, &out);
}

/* The PMCs of a request that has to succeed. */
static const char *
pmcs(void)
{
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	return show_values(outp.pfp_pmcs, outp.pfp_pmc_count);
}

static void
data_range(unsigned long first, unsigned long end)
{
	in.pfp_ita_drange.rr_used = 1;
	in.pfp_ita_drange.rr_limits[0].rr_start = first;
	in.pfp_ita_drange.rr_limits[0].rr_end = end;
}

/* ---- queries, which need no initialisation ---- */

typedef int (*predicate)(unsigned int);

static void
predicates(void)
{
	static const predicate all[] = {
		pfm_ita_is_ear,       pfm_ita_is_dear,      pfm_ita_is_dear_tlb,   pfm_ita_is_dear_cache,
		pfm_ita_is_iear,      pfm_ita_is_iear_tlb,  pfm_ita_is_iear_cache, pfm_ita_is_btb,
		pfm_ita_support_opcm, pfm_ita_support_iarr, pfm_ita_support_darr,
	};
	static const int wanted[] = { 28, 14, 3, 11, 14, 2, 12, 1, 106, 130, 25 };

	for (size_t p = 0; p < sizeof(all) / sizeof(*all); p++) {
		int count = 0;

		for (unsigned int i = 0; i < NUM_EVENTS; i++)
			count += all[p](i);
		CHECK_EQ(count, wanted[p]);
		CHECK_EQ(all[p](NUM_EVENTS), 0);
		CHECK_EQ(all[p](UINT_MAX), 0);
	}
	CHECK_EQ(pfm_ita_is_btb(10), 1);
	CHECK_EQ(pfm_ita_is_dear(126), 0); /* DATA_EAR_EVENTS is an ordinary event */
	CHECK_EQ(pfm_ita_is_iear(162), 0); /* so is INSTRUCTION_EAR_EVENTS */
}

static void
getters(unsigned int i, pfm_err_t ret)
{
	unsigned int maxincr = UNTOUCHED;
	unsigned long umask = UNTOUCHED;

	CHECK_EQ(pfm_ita_get_event_maxincr(i, &maxincr), ret);
	CHECK_EQ(pfm_ita_get_event_umask(i, &umask), ret);
	if (ret != PFMLIB_SUCCESS)
		CHECK(maxincr == UNTOUCHED && umask == UNTOUCHED);
	CHECK_EQ(pfm_ita_get_event_maxincr(i, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_ita_get_event_umask(i, NULL), PFMLIB_ERR_INVAL);
}

/* The reference does not check the index (I1): here it is an error. */
static void
ear_mode(void)
{
	static const unsigned int bad[] = { 0, 126, 162, NUM_EVENTS, NUM_EVENTS + 1, INT_MAX, UINT_MAX };
	pfmlib_ita_ear_mode_t mode = (pfmlib_ita_ear_mode_t)77;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQ(pfm_ita_get_ear_mode(bad[i], &mode), PFMLIB_ERR_INVAL);
	CHECK_EQ(mode, 77);
	CHECK_EQ(pfm_ita_get_ear_mode(115, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_ita_get_ear_mode(115, &mode), PFMLIB_SUCCESS); /* DATA_EAR_CACHE_LAT1024 */
	CHECK_EQ(mode, PFMLIB_ITA_EAR_CACHE_MODE);
	CHECK_EQ(pfm_ita_get_ear_mode(164, &mode), PFMLIB_SUCCESS); /* INSTRUCTION_EAR_TLB_VHPT */
	CHECK_EQ(mode, PFMLIB_ITA_EAR_TLB_MODE);
}

static void
numbers(void)
{
	pfmlib_regmask_t mask;
	pfmlib_event_t event;
	unsigned int number;
	size_t length;
	char *text;
	int code;

	CHECK_EQ(pfm_get_num_events(&number), PFMLIB_SUCCESS);
	CHECK_EQ(number, NUM_EVENTS);
	CHECK_EQ(pfm_get_num_pmcs(&number), PFMLIB_SUCCESS);
	CHECK_EQ(number, PMU_ITA_NUM_PMCS);
	CHECK_EQ(pfm_get_num_pmds(&number), PFMLIB_SUCCESS);
	CHECK_EQ(number, PMU_ITA_NUM_PMDS);
	CHECK_EQ(pfm_get_num_counters(&number), PFMLIB_SUCCESS);
	CHECK_EQ(number, PMU_ITA_NUM_COUNTERS);
	CHECK_EQ(pfm_get_hw_counter_width(&number), PFMLIB_SUCCESS);
	CHECK_EQ(number, PMU_ITA_COUNTER_WIDTH);
	CHECK_EQ(pfm_get_impl_pmcs(&mask), PFMLIB_SUCCESS);
	CHECK_EQ(mask.bits[0], 0x3fff);
	CHECK_EQ(pfm_get_impl_pmds(&mask), PFMLIB_SUCCESS);
	CHECK_EQ(mask.bits[0], 0x3ffff);
	CHECK_EQ(pfm_get_impl_counters(&mask), PFMLIB_SUCCESS);
	CHECK_EQ(mask.bits[0], 0xf0);
	CHECK_EQ(pfm_get_max_event_name_len(&length), PFMLIB_SUCCESS);
	CHECK_EQ(length, 55);
	CHECK_EQ(pfm_get_cycle_event(&event), PFMLIB_SUCCESS);
	CHECK_EQ(event.event, 113);
	CHECK_EQ(pfm_get_inst_retired_event(&event), PFMLIB_SUCCESS);
	CHECK_EQ(event.event, 142);
	CHECK_EQ(pfm_get_event_code_counter(142, 7, &code), PFMLIB_SUCCESS);
	CHECK_EQ(code, 0x08);
	CHECK_EQ(pfm_get_event_code_counter(142, 3, &code), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_code_counter(142, 8, &code), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_code_counter(142, 68, &code), PFMLIB_ERR_INVAL);
	/* Of no event there is a description. */
	for (unsigned int i = 0; i < NUM_EVENTS; i++) {
		CHECK_EQ(pfm_get_event_description(i, &text), PFMLIB_SUCCESS);
		CHECK_TEXT(text, "no description available");
		free(text);
	}
}

/* ---- quirks of the encoding ---- */

/* A mode of 2 passes, and its low bit counts (I2). */
static void
third_mode(void)
{
	static const pfm_err_t answers[] = { 0, 0, 0, PFMLIB_ERR_INVAL, PFMLIB_ERR_INVAL };

	for (unsigned int mode = 0; mode < 5; mode++) {
		start(NULL, NULL);
		in.pfp_ita_iear.ear_used = 1;
		in.pfp_ita_iear.ear_mode = (pfmlib_ita_ear_mode_t)mode;
		CHECK_EQ(dispatch(), answers[mode]);
		if (answers[mode] == PFMLIB_SUCCESS)
			CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count), mode == 1 ? "10=0x88" : "10=0x8");
		start(NULL, NULL);
		in.pfp_ita_dear.ear_used = 1;
		in.pfp_ita_dear.ear_mode = (pfmlib_ita_ear_mode_t)mode;
		CHECK_EQ(dispatch(), answers[mode]);
	}
	/* Before it is looked whether the register can be used. */
	inp.pfp_unavail_pmcs.bits[0] = 1 << 11;
	CHECK_EQ(dispatch(), PFMLIB_ERR_INVAL);
}

/* Of several EAR events the last one decides; on Itanium 2 it is the first. */
static void
last_ear(void)
{
	start("DATA_EAR_CACHE_LAT4", "DATA_EAR_TLB_VHPT");
	CHECK_TEXT(pmcs(), "4=0x6728 5=0x6728 11=0x10040088");
	start("INSTRUCTION_EAR_TLB_SW", "INSTRUCTION_EAR_CACHE_LAT64");
	CHECK_TEXT(pmcs(), "4=0x2328 5=0x2328 10=0x40008");
	CHECK_TEXT(show_numbers(outp.pfp_pmds, outp.pfp_pmd_count), "4 5 0 1");
}

/* PMC11 and data ranges: I3, I4, I6. */
static void
data_ear(void)
{
	const pfmlib_reg_t *reg = &outp.pfp_pmcs[1];

	/* An EAR that comes from its event ignores the range (pt = 1), and nothing else restricts. */
	start("DATA_EAR_CACHE_LAT8", NULL);
	in.pfp_ita_counters[0].flags = PFMLIB_ITA_FL_EVT_NO_QUALCHECK;
	data_range(0x1000, 0x2000);
	CHECK_TEXT(pmcs(), "4=0x6728 11=0x10010008");
	CHECK(reg->reg_addr == 11 && reg->reg_alt_addr == 0); /* I4 */
	/* The same with settings of its own: pt = 0. */
	in.pfp_ita_dear.ear_used = 1;
	in.pfp_ita_dear.ear_umask = 1;
	CHECK_TEXT(pmcs(), "4=0x6728 11=0x10008");
	CHECK(reg->reg_addr == 11 && reg->reg_alt_addr == 0);
	/* Settings without an event: PMC11 comes twice, with different values. */
	start("LOADS_RETIRED", NULL);
	in.pfp_ita_dear.ear_used = 1;
	in.pfp_ita_dear.ear_umask = 1;
	in.pfp_ita_dear.ear_plm = PFM_PLM0;
	data_range(0x1000, 0x2000);
	CHECK_TEXT(pmcs(), "4=0x6c28 11=0x10001 11=0x8");
	CHECK(reg[1].reg_addr == 11 && reg[1].reg_alt_addr == 11);
	CHECK_TEXT(show_numbers(outp.pfp_pmds, outp.pfp_pmd_count), "4 2 3 17");
	/* No EAR at all: only for the range, and without the systemwide bit. */
	memset(&in.pfp_ita_dear, 0, sizeof(in.pfp_ita_dear));
	inp.pfp_flags = PFMLIB_PFP_SYSTEMWIDE;
	CHECK_TEXT(pmcs(), "4=0x6c68 11=0x8");
	inp.pfp_unavail_pmcs.bits[0] = 1 << 11;
	CHECK_EQ(dispatch(), PFMLIB_ERR_NOASSIGN);
}

/* The register's number is written in the place of its value (I5). */
static void
branch_buffer(void)
{
	start("BRANCH_EVENT", NULL);
	CHECK_TEXT(pmcs(), "4=0x1128 12=0xc");
	CHECK(outp.pfp_pmcs[1].reg_addr == 0 && outp.pfp_pmcs[1].reg_alt_addr == 0);
	CHECK_TEXT(show_numbers(outp.pfp_pmds, outp.pfp_pmd_count), "4 8 9 10 11 12 13 14 15 16");
	start(NULL, NULL);
	in.pfp_ita_btb = (pfmlib_ita_btb_t){ .btb_used = 2, .btb_tar = 1, .btb_tm = 1, .btb_plm = PFM_PLM0 };
	CHECK_TEXT(pmcs(), "12=0xc");
	inp.pfp_unavail_pmcs.bits[0] = 1 << 12;
	CHECK_EQ(dispatch(), PFMLIB_ERR_NOASSIGN);
}

/* Registers are written from the first place on, whatever the count says; a failure leaves the count alone. */
static void
stale_counts(void)
{
	static const unsigned int stale[] = { 0, 2, 8, 9, 0x7fffffff, 0xffffffff };

	for (size_t i = 0; i < sizeof(stale) / sizeof(*stale); i++) {
		start("LOADS_RETIRED", NULL);
		data_range(0x1000, 0x2000);
		in.pfp_ita_drange.rr_flags = in.pfp_ita_drange.rr_nbr_used = stale[i]; /* ignored */
		in.pfp_ita_drange.rr_limits[0].rr_flags = stale[i];
		out.pfp_ita_drange.rr_nbr_used = stale[i];
		CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
		CHECK_EQ(out.pfp_ita_drange.rr_nbr_used, 2);
		CHECK_TEXT(show_values(out.pfp_ita_drange.rr_br, 2), "0=0x1000 1=0x8fffffffffff000");
		CHECK_EQ(out.pfp_ita_drange.rr_br[1].reg_addr, 1);
		out.pfp_ita_drange.rr_nbr_used = stale[i];
		data_range(0x2000, 0x1000);
		CHECK_EQ(dispatch(), PFMLIB_ERR_IRRINVAL);
		CHECK_EQ(out.pfp_ita_drange.rr_nbr_used, stale[i]);
	}
}

static void
ranges(void)
{
	start("NOPS_RETIRED", NULL);
	in.pfp_ita_irange.rr_used = 255;
	in.pfp_ita_irange.rr_limits[0].rr_start = 0x1000;
	in.pfp_ita_irange.rr_limits[0].rr_end = 0x1008;
	CHECK_EQ(dispatch(), PFMLIB_ERR_IRRALIGN);
	in.pfp_ita_irange.rr_limits[0].rr_end = 0;
	CHECK_EQ(dispatch(), PFMLIB_ERR_IRRINVAL);
	in.pfp_ita_irange.rr_limits[0].rr_start = 0;
	CHECK_EQ(dispatch(), PFMLIB_ERR_IRRINVAL); /* none */
	in.pfp_ita_irange.rr_limits[0].rr_start = 0x1010;
	in.pfp_ita_irange.rr_limits[0].rr_end = 0x1040;
	in.pfp_ita_irange.rr_limits[0].rr_plm = PFM_PLM0;
	CHECK_TEXT(pmcs(), "4=0x3028 13=0x0");
	CHECK_TEXT(show_values(out.pfp_ita_irange.rr_br, out.pfp_ita_irange.rr_nbr_used),
		   "0=0x1020 1=0x1ffffffffffffe0 2=0x1010 3=0x1fffffffffffff0");
	CHECK_EQ(pfm_dispatch_events(&inp, &in, &outp, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, &out), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_dispatch_events(&inp, &in, NULL, &out), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_dispatch_events(NULL, &in, &outp, &out), PFMLIB_ERR_INVAL);
	/* The fifth pair: each is a code for what ran out. */
	for (int i = 0; i < 4; i++) {
		in.pfp_ita_irange.rr_limits[i].rr_start = 0x10010ul + 0x10000ul * (unsigned int)i;
		in.pfp_ita_irange.rr_limits[i].rr_end = 0x18000ul + 0x10000ul * (unsigned int)i;
		in.pfp_ita_drange.rr_limits[i].rr_start = in.pfp_ita_irange.rr_limits[i].rr_start;
		in.pfp_ita_drange.rr_limits[i].rr_end = in.pfp_ita_irange.rr_limits[i].rr_end;
	}
	CHECK_EQ(dispatch(), PFMLIB_ERR_IRRTOOMANY);
	in.pfp_ita_irange.rr_used = 0;
	in.pfp_ita_drange.rr_used = 1;
	in.pfp_ita_counters[0].flags = PFMLIB_ITA_FL_EVT_NO_QUALCHECK;
	CHECK_EQ(dispatch(), PFMLIB_ERR_DRRTOOMANY);
	memset(in.pfp_ita_drange.rr_limits, 0, sizeof(in.pfp_ita_drange.rr_limits));
	CHECK_EQ(dispatch(), PFMLIB_ERR_DRRINVAL);
}

/* Counters: limited ones, fields that are cut. */
static void
counters(void)
{
	start("IA64_INST_RETIRED", "IA64_TAGGED_INST_RETIRED_PMC8"); /* PMC4 and PMC5 only */
	in.pfp_ita_counters[1].thres = 0xf;
	in.pfp_ita_counters[1].ism = (pfmlib_ita_ism_t)6;
	in.pfp_ita_pmc8.opcm_used = 7;
	in.pfp_ita_pmc8.pmc_val = 0x1234567890abcdef; /* verbatim, its low bits too */
	CHECK_TEXT(pmcs(), "4=0x828 5=0x2730828 8=0x1234567890abcdef");
	inp.pfp_unavail_pmcs.bits[0] = 1 << 4;
	CHECK_EQ(dispatch(), PFMLIB_ERR_NOASSIGN);
	inp.pfp_event_count = 5;
	CHECK_EQ(dispatch(), PFMLIB_ERR_NOASSIGN);
	start("CPU_CYCLES", NULL);
	in.pfp_ita_pmc9.opcm_used = 1;
	CHECK_EQ(dispatch(), PFMLIB_ERR_FEATCOMB);
}

int
main(void)
{
	predicates();
	getters(0, PFMLIB_SUCCESS);
	getters(NUM_EVENTS - 1, PFMLIB_SUCCESS);
	getters(NUM_EVENTS, PFMLIB_ERR_INVAL);
	getters(UINT_MAX, PFMLIB_ERR_INVAL);
	ear_mode();
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM_PMU), PFMLIB_SUCCESS);
	numbers();
	third_mode();
	last_ear();
	data_ear();
	branch_buffer();
	stale_counts();
	ranges();
	counters();
	return check_result();
}
