/*
 * A libpfm 3 program for Montecito as a user would have written it, recompiled:
 * find events with unit masks, set up each feature of the PMU, dispatch, print
 * the registers.  The values it expects were measured on libpfm 3.10.
 */
#include "check_pfm3.h"

#include <perfmon/pfmlib_montecito.h>
#include <stdlib.h>

#define ETB_PMDS "38 39 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63"

static pfmlib_input_param_t inp;
static pfmlib_output_param_t outp;
static pfmlib_mont_input_param_t mont_inp;
static pfmlib_mont_output_param_t mont_outp;

static void
start(void)
{
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(&mont_inp, 0, sizeof(mont_inp));
	memset(&mont_outp, 0, sizeof(mont_outp));
	inp.pfp_dfl_plm = PFM_PLM0 | PFM_PLM3;
}

static void
add_event(const char *name, unsigned int plm)
{
	pfmlib_event_t *e = &inp.pfp_events[inp.pfp_event_count];

	CHECK_EQ(pfm_find_full_event(name, e), PFMLIB_SUCCESS);
	e->plm = plm;
	mont_inp.pfp_mont_counters[inp.pfp_event_count].flags = PFMLIB_MONT_FL_EVT_NO_QUALCHECK;
	inp.pfp_event_count++;
}

static pfm_err_t
dispatch(void)
{
	pfm_err_t ret = pfm_dispatch_events(&inp, &mont_inp, &outp, &mont_outp);

	if (ret != PFMLIB_SUCCESS)
		printf("cannot configure events: %s\n", pfm_strerror(ret));
	for (unsigned int i = 0; ret == PFMLIB_SUCCESS && i < outp.pfp_pmc_count; i++)
		printf("PMC%-2u 0x%016llx\n", outp.pfp_pmcs[i].reg_num, outp.pfp_pmcs[i].reg_value);
	return ret;
}

static const char *
pmcs(void)
{
	return show_values(outp.pfp_pmcs, outp.pfp_pmc_count);
}

static const char *
pmds(void)
{
	return show_numbers(outp.pfp_pmds, outp.pfp_pmd_count);
}

static void
initialise(void)
{
	pfmlib_options_t options;
	unsigned int count;
	char name[32];

	memset(&options, 0, sizeof(options));
	CHECK_EQ(pfm_set_options(&options), PFMLIB_SUCCESS);
	setenv("LIBPFM_FORCE_PMU", "4", 1);
	CHECK_EQ(pfm_initialize(), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_get_pmu_name(name, sizeof(name)), PFMLIB_SUCCESS);
	CHECK_TEXT(name, "dual-core Itanium 2");
	CHECK_EQ(pfm_get_num_counters(&count), PFMLIB_SUCCESS);
	CHECK_EQ(count, PMU_MONT_NUM_COUNTERS);
}

static void
plain_counting(void)
{
	start();
	add_event("CPU_OP_CYCLES_ALL", PFM_PLM0);
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "4=0x2001201");

	start();
	for (int i = 0; i < PMU_MONT_NUM_COUNTERS; i++)
		add_event("CPU_OP_CYCLES_ALL", 0);
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_SUCCESS);
	CHECK_TEXT(pmds(), "4 5 6 7 8 9 10 11 12 13 14 15");

	start();
	add_event("CPU_OP_CYCLES_ALL", 0);
	add_event("BUS_ALL_ANY", 0);
	add_event("ER_SNOOPQ_REQ_HI", 0);
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "6=0x2001209 4=0x2038709 5=0x200b609");
}

static void
unit_masks(void)
{
	char name[64];

	start();
	add_event("l3_inserts:m:i", 0);
	CHECK_EQ(inp.pfp_events[0].num_masks, 2);
	CHECK_EQ(inp.pfp_events[0].unit_masks[0], 3);
	CHECK_EQ(inp.pfp_events[0].unit_masks[1], 0);
	CHECK_EQ(pfm_get_full_event_name(&inp.pfp_events[0], name, sizeof(name)), PFMLIB_SUCCESS);
	CHECK_TEXT(name, "L3_INSERTS:M:I");
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "4=0x4a00da09");
	inp.pfp_events[0].num_masks = 0;
	CHECK_EQ(dispatch(), PFMLIB_ERR_UMASK);
}

static void
event_address_registers(void)
{
	start();
	add_event("L1I_EAR_CACHE_LAT128", 0);
	inp.pfp_flags = PFMLIB_PFP_SYSTEMWIDE;
	CHECK_EQ(pfm_mont_is_iear_cache(inp.pfp_events[0].event), 1);
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "4=0x2004349 37=0x3e19");
	CHECK_TEXT(pmds(), "4 34 35");

	start();
	mont_inp.pfp_mont_iear.ear_used = 1;
	mont_inp.pfp_mont_iear.ear_mode = PFMLIB_MONT_EAR_CACHE_MODE;
	mont_inp.pfp_mont_iear.ear_umask = 0x1ff;
	mont_inp.pfp_mont_iear.ear_plm = PFM_PLM3;
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "37=0x3fe8");
}

static void
execution_trace_buffer(void)
{
	start();
	add_event("BRANCH_EVENT", 0);
	CHECK_EQ(pfm_mont_is_etb(inp.pfp_events[0].event), 1);
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "4=0x2001109 39=0x3f09");
	CHECK_TEXT(pmds(), "4 " ETB_PMDS);

	start();
	mont_inp.pfp_mont_etb = (pfmlib_mont_etb_t){
		.etb_used = 1,
		.etb_tm = 2,
		.etb_ptm = 7,
		.etb_ppm = 1,
		.etb_brt = 3,
		.etb_plm = PFM_PLM3,
	};
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "39=0xde08");
	CHECK_TEXT(pmds(), ETB_PMDS);
}

static void
ip_event_capture(void)
{
	start();
	add_event("CPU_OP_CYCLES_ALL", 0);
	mont_inp.pfp_mont_ipear.ipear_used = 1;
	mont_inp.pfp_mont_ipear.ipear_delay = 0x1ff;
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "4=0x2001209 42=0x7fc09");
#ifndef PFMLIB_NO_REG_UNIONS /* which a big-endian processor does not have */
	pfm_mont_pmc_reg_t reg = { .pmc_val = outp.pfp_pmcs[1].reg_value };

	CHECK_EQ(reg.pmc42_mont_reg.ipear_delay, 0xff);
	CHECK_EQ(reg.pmc42_mont_reg.ipear_mode, 4);
#endif
	CHECK_TEXT(pmds(), "4 " ETB_PMDS);

	start();
	add_event("ETB_EVENT", 0);
	mont_inp.pfp_mont_ipear.ipear_used = 1;
	CHECK_EQ(dispatch(), PFMLIB_ERR_FEATCOMB);
}

static void
opcode_matchers(void)
{
	start();
	add_event("IA64_INST_RETIRED", 0);
	mont_inp.pfp_mont_opcm1 = (pfmlib_mont_opcm_t){
		.opcm_used = 1,
		.opcm_m = 1,
		.opcm_i = 1,
		.opcm_match = 0x1234567890123,
		.opcm_mask = 0x1fffffffff0,
	};
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "4=0x2000809 32=0x20c01fffffffff0 33=0x14567890123");

	start();
	add_event("IA64_INST_RETIRED", 0);
	mont_inp.pfp_mont_opcm2 = (pfmlib_mont_opcm_t){
		.opcm_used = 1,
		.opcm_m = 1,
		.opcm_i = 1,
		.opcm_f = 1,
		.opcm_b = 2,
		.opcm_match = 5,
		.opcm_mask = 0x1f,
	};
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "4=0x2000809 34=0xe00000000001f 35=0x5");
}

static void
one_code_range(unsigned long from, unsigned long to, unsigned int flags)
{
	mont_inp.pfp_mont_irange.rr_used = 1;
	mont_inp.pfp_mont_irange.rr_flags = flags;
	mont_inp.pfp_mont_irange.rr_limits[0].rr_start = from;
	mont_inp.pfp_mont_irange.rr_limits[0].rr_end = to;
}

static void
code_range_in_fine_mode(void)
{
	pfmlib_mont_output_rr_t *ir = &mont_outp.pfp_mont_irange;

	start();
	add_event("IA64_INST_RETIRED", 0);
	one_code_range(0x1010, 0x2010, 0);
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "4=0x2000809 38=0x2d34 41=0x2078fefefeee 32=0xf01ffffffffff");
	CHECK_TEXT(show_values(ir->rr_br, ir->rr_nbr_used),
		   "0=0x1000 1=0x9000000ffff0000 4=0x2010 5=0x9000000ffff0000");
	CHECK_EQ(ir->rr_infos[0].rr_soff, 0x10);
	CHECK_EQ(ir->rr_infos[0].rr_eoff, 0x10);
	CHECK_EQ(ir->rr_br[0].reg_addr, 1); /* one too high: as in libpfm 3.10 */
	CHECK_EQ(pfm_mont_irange_is_fine(&outp, &mont_outp), 1);
}

static void
code_range_in_coarse_mode(void)
{
	pfmlib_mont_output_rr_t *ir = &mont_outp.pfp_mont_irange;

	start();
	add_event("IA64_TAGGED_INST_RETIRED_IBRP0_PMC32_33", 0);
	add_event("IA64_TAGGED_INST_RETIRED_IBRP1_PMC34_35", 0);
	add_event("IA64_TAGGED_INST_RETIRED_IBRP2_PMC32_33", 0);
	add_event("IA64_TAGGED_INST_RETIRED_IBRP3_PMC34_35", 0);
	one_code_range(0x12340, 0x45670, 0);
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "4=0x2000809 5=0x2010809 6=0x2020809 7=0x2030809 38=0x924 41=0x1e078eeeeeeee "
			   "32=0xf01ffffffffff");
	CHECK_TEXT(show_values(ir->rr_br, ir->rr_nbr_used),
		   "0=0x20000 1=0x9fffffffffe0000 2=0x18000 3=0x9ffffffffff8000 "
		   "4=0x10000 5=0x9ffffffffff8000 6=0x40000 7=0x9ffffffffff8000");
	CHECK_EQ(ir->rr_infos[0].rr_soff, 0x2340);
	CHECK_EQ(ir->rr_infos[0].rr_eoff, 0x2990);
	CHECK_EQ(pfm_mont_irange_is_fine(&outp, &mont_outp), 0);
}

static void
dual_event(void)
{
	start();
	add_event("L1I_FILLS", 0);
	one_code_range(0x1000, 0x2000, 0);
	CHECK_EQ(dispatch(), PFMLIB_ERR_IRRFLAGS);
	mont_inp.pfp_mont_irange.rr_flags = PFMLIB_MONT_IRR_DEMAND_FETCH | PFMLIB_MONT_IRR_PREFETCH_MATCH;
	memset(&mont_outp, 0, sizeof(mont_outp));
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "4=0x2004109 38=0x2924 41=0x6078fefeeeee 32=0xf01ffffffffff");
	CHECK_EQ(mont_outp.pfp_mont_irange.rr_nbr_used, 8);
}

static void
data_range(void)
{
	pfmlib_mont_output_rr_t *dr = &mont_outp.pfp_mont_drange;

	start();
	add_event("LOADS_RETIRED", 0);
	mont_inp.pfp_mont_drange.rr_used = 1;
	mont_inp.pfp_mont_drange.rr_limits[0].rr_start = 0x1001;
	mont_inp.pfp_mont_drange.rr_limits[0].rr_end = 0x2fff;
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(pmcs(), "5=0x200cd09 41=0x1e078f6f6f6f6");
	CHECK_TEXT(show_values(dr->rr_br, dr->rr_nbr_used),
		   "0=0x2000 1=0x9fffffffffff800 2=0x1800 3=0x9fffffffffff800 "
		   "4=0x1000 5=0x9fffffffffff800 6=0x2800 7=0x9fffffffffff800");
}

static void
what_cannot_be_measured(void)
{
	start();
	add_event("CPU_OP_CYCLES_HALTED", 0);
	add_event("CPU_OP_CYCLES_HALTED", 0);
	CHECK_EQ(dispatch(), PFMLIB_ERR_NOASSIGN);

	start();
	add_event("CPU_OP_CYCLES_ALL", 0);
	mont_inp.pfp_mont_counters[0].flags = PFMLIB_MONT_FL_EVT_ALL_THRD;
	CHECK_EQ(dispatch(), PFMLIB_ERR_NOTSUPP);

	start();
	add_event("FE_BUBBLE_ALL", 0);
	mont_inp.pfp_mont_counters[0].flags = 0;
	one_code_range(0x1000, 0x2000, 0);
	CHECK_EQ(dispatch(), PFMLIB_ERR_FEATCOMB);
}

int
main(void)
{
	initialise();
	plain_counting();
	unit_masks();
	event_address_registers();
	execution_trace_buffer();
	ip_event_capture();
	opcode_matchers();
	code_range_in_fine_mode();
	code_range_in_coarse_mode();
	dual_event();
	data_range();
	what_cannot_be_measured();
	return check_result();
}
