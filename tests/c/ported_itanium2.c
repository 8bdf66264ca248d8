/*
 * A libpfm 3 program for Itanium 2 as a user would have written it, recompiled:
 * find events, set up each feature of the PMU, dispatch, print the registers.
 * The values it expects were measured on libpfm 3.10.
 */
#include "check_pfm3.h"

#include <perfmon/pfmlib_itanium2.h>
#include <stdlib.h>

static pfmlib_input_param_t inp;
static pfmlib_output_param_t outp;
static pfmlib_ita2_input_param_t ita2_inp;
static pfmlib_ita2_output_param_t ita2_outp;

static void
start(unsigned int plm)
{
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(&ita2_inp, 0, sizeof(ita2_inp));
	memset(&ita2_outp, 0, sizeof(ita2_outp));
	inp.pfp_dfl_plm = plm;
}

static void
add_event(const char *name, unsigned int plm)
{
	pfmlib_event_t *e = &inp.pfp_events[inp.pfp_event_count++];

	CHECK_EQ(pfm_find_event(name, &e->event), PFMLIB_SUCCESS);
	e->plm = plm;
}

static pfm_err_t
dispatch(void)
{
	pfm_err_t ret = pfm_dispatch_events(&inp, &ita2_inp, &outp, &ita2_outp);

	if (ret != PFMLIB_SUCCESS)
		printf("cannot configure events: %s\n", pfm_strerror(ret));
	for (unsigned int i = 0; ret == PFMLIB_SUCCESS && i < outp.pfp_pmc_count; i++)
		printf("PMC%-2u 0x%016llx\n", outp.pfp_pmcs[i].reg_num, outp.pfp_pmcs[i].reg_value);
	return ret;
}

static void
initialise(void)
{
	pfmlib_options_t options;
	char name[32];
	int type;

	memset(&options, 0, sizeof(options));
	options.pfm_debug = 0;
	options.pfm_verbose = 0;
	CHECK_EQ(pfm_set_options(&options), PFMLIB_SUCCESS);
	setenv("LIBPFM_FORCE_PMU", "3", 1);
	CHECK_EQ(pfm_initialize(), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_get_pmu_type(&type), PFMLIB_SUCCESS);
	CHECK_EQ(type, PFMLIB_ITANIUM2_PMU);
	CHECK_EQ(pfm_get_pmu_name(name, sizeof(name)), PFMLIB_SUCCESS);
	CHECK_TEXT(name, "itanium2");
}

static void
plain_counting(void)
{
	start(PFM_PLM3);
	add_event("cpu_cycles", PFM_PLM0);
	add_event("IA64_INST_RETIRED", 0);
	inp.pfp_flags = PFMLIB_PFP_SYSTEMWIDE;
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_SUCCESS);
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count), "4=0x1261 5=0x868");
	CHECK_TEXT(show_numbers(outp.pfp_pmds, outp.pfp_pmd_count), "4 5");
	for (unsigned int i = 0; i < outp.pfp_pmc_count; i++) {
		CHECK_EQ(outp.pfp_pmcs[i].reg_addr, outp.pfp_pmcs[i].reg_num);
		CHECK_EQ(outp.pfp_pmcs[i].reg_alt_addr, outp.pfp_pmcs[i].reg_num);
	}
}

static void
register_fields(void)
{
	start(PFM_PLM3);
	add_event("NOPS_RETIRED", 0);
	ita2_inp.pfp_ita2_counters[0].thres = 5;
	ita2_inp.pfp_ita2_counters[0].ism = PFMLIB_ITA2_ISM_IA64;
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count), "4=0x2505028 15=0xffffffff");
#ifndef PFMLIB_NO_REG_UNIONS /* which a big-endian processor does not have */
	pfm_ita2_pmc_reg_t reg = { .pmc_val = outp.pfp_pmcs[0].reg_value };

	CHECK_EQ(reg.pmc_ita2_counter_reg.pmc_plm, PFM_PLM3);
	CHECK_EQ(reg.pmc_ita2_counter_reg.pmc_oi, 1);
	CHECK_EQ(reg.pmc_ita2_counter_reg.pmc_es, 0x50);
	CHECK_EQ(reg.pmc_ita2_counter_reg.pmc_thres, 5);
	CHECK_EQ(reg.pmc_ita2_counter_reg.pmc_ism, 2);
#endif
}

static void
unavailable_counter(void)
{
	start(PFM_PLM3);
	add_event("CPU_CYCLES", 0);
	CHECK_EQ(pfm_regmask_set(&inp.pfp_unavail_pmcs, 4), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_SUCCESS);
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count), "5=0x1228");
}

static void
one_code_range(unsigned long from, unsigned long to, unsigned int flags)
{
	ita2_inp.pfp_ita2_irange.rr_used = 1;
	ita2_inp.pfp_ita2_irange.rr_flags = flags;
	ita2_inp.pfp_ita2_irange.rr_limits[0].rr_start = from;
	ita2_inp.pfp_ita2_irange.rr_limits[0].rr_end = to;
}

static void
code_range_in_fine_mode(void)
{
	pfmlib_ita2_output_rr_t *ir = &ita2_outp.pfp_ita2_irange;

	start(PFM_PLM3);
	add_event("IA64_INST_RETIRED", 0);
	one_code_range(0x4000000000001000, 0x4000000000001040, 0);
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count),
		   "4=0x828 14=0x2d34 13=0x2078fefefeee 8=0xffffffff3ffffffc 15=0xffffffff");
	CHECK_TEXT(show_values(ir->rr_br, ir->rr_nbr_used),
		   "0=0x4000000000001000 1=0x8000000fffff000 4=0x4000000000001030 5=0x8000000fffff000");
	CHECK_EQ(ir->rr_infos[0].rr_soff, 0);
	CHECK_EQ(ir->rr_infos[0].rr_eoff, 0);
	CHECK_EQ(pfm_ita2_irange_is_fine(&outp, &ita2_outp), 1);
}

static void
code_range_without_fine_mode(void)
{
	pfmlib_ita2_output_rr_t *ir = &ita2_outp.pfp_ita2_irange;

	start(PFM_PLM3);
	add_event("NOPS_RETIRED", 0);
	one_code_range(0x1ff0, 0x2010, 0);
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count),
		   "4=0x5028 14=0xdb4 13=0x2078fefefeee 8=0xffffffff3ffffffc 15=0xffffffff");
	CHECK_TEXT(show_values(ir->rr_br, ir->rr_nbr_used), "0=0x0 1=0x8ffffffffffc000");
	CHECK_EQ(ir->rr_infos[0].rr_soff, 0x1ff0);
	CHECK_EQ(ir->rr_infos[0].rr_eoff, 0x1ff0);
	CHECK_EQ(pfm_ita2_irange_is_fine(&outp, &ita2_outp), 0);
}

static void
inverted_code_range(void)
{
	start(PFM_PLM3);
	add_event("IA64_INST_RETIRED", 0);
	one_code_range(0x4000000000001010, 0x4000000000001050, PFMLIB_ITA2_RR_INV);
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count),
		   "4=0x828 14=0x2d34 13=0x2078fefefeee 8=0xffffffff3ffffffe 15=0xffffffff");
}

static void
data_range(void)
{
	pfmlib_ita2_output_rr_t *dr = &ita2_outp.pfp_ita2_drange;

	start(PFM_PLM3);
	add_event("LOADS_RETIRED", 0);
	ita2_inp.pfp_ita2_drange.rr_used = 1;
	ita2_inp.pfp_ita2_drange.rr_limits[0].rr_start = 0x1001;
	ita2_inp.pfp_ita2_drange.rr_limits[0].rr_end = 0x2003;
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count), "5=0xcd28 13=0x1e078f6f6f6f6 15=0xffffffff");
	CHECK_TEXT(show_values(dr->rr_br, dr->rr_nbr_used),
		   "0=0x1800 1=0x8fffffffffff800 2=0x1400 3=0x8fffffffffffc00 "
		   "4=0x1000 5=0x8fffffffffffc00 6=0x2000 7=0x8fffffffffffffc");
	CHECK_EQ(dr->rr_infos[0].rr_soff, 1);
	CHECK_EQ(dr->rr_infos[0].rr_eoff, 1);
}

static void
event_address_registers(void)
{
	pfmlib_ita2_ear_mode_t mode;
	unsigned int i;

	start(PFM_PLM3);
	add_event("DATA_EAR_CACHE_LAT4096", 0);
	inp.pfp_flags = PFMLIB_PFP_SYSTEMWIDE;
	i = inp.pfp_events[0].event;
	CHECK_EQ(pfm_ita2_is_dear(i), 1);
	CHECK_EQ(pfm_ita2_is_iear(i), 0);
	CHECK_EQ(pfm_ita2_get_ear_mode(i, &mode), PFMLIB_SUCCESS);
	CHECK_EQ(mode, PFMLIB_ITA2_EAR_CACHE_MODE);
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_SUCCESS);
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count), "4=0xc868 11=0xa0048");
	CHECK_TEXT(show_numbers(outp.pfp_pmds, outp.pfp_pmd_count), "4 2 3 17");

	start(PFM_PLM3); /* free running, without an event */
	ita2_inp.pfp_ita2_iear.ear_used = 1;
	ita2_inp.pfp_ita2_iear.ear_mode = PFMLIB_ITA2_EAR_TLB_MODE;
	ita2_inp.pfp_ita2_iear.ear_umask = 0x1ff;
	ita2_inp.pfp_ita2_iear.ear_ism = PFMLIB_ITA2_ISM_IA64;
	ita2_inp.pfp_ita2_iear.ear_plm = 3;
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count), "10=0x8fe3 15=0xffffffff");
	CHECK_TEXT(show_numbers(outp.pfp_pmds, outp.pfp_pmd_count), "0 1");
}

static void
branch_trace_buffer(void)
{
	start(PFM_PLM3);
	add_event("BRANCH_EVENT", 0);
	CHECK_EQ(pfm_ita2_is_btb(inp.pfp_events[0].event), 1);
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_SUCCESS);
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count), "4=0x1128 12=0x3f08");
	CHECK_TEXT(show_numbers(outp.pfp_pmds, outp.pfp_pmd_count), "4 8 9 10 11 12 13 14 15 16");

	start(PFM_PLM3);
	ita2_inp.pfp_ita2_btb = (pfmlib_ita2_btb_t){
		.btb_used = 1,
		.btb_ds = 1,
		.btb_tm = 2,
		.btb_ptm = 1,
		.btb_ppm = 3,
		.btb_brt = 2,
		.btb_plm = 1,
	};
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count), "15=0xffffffff 12=0xb681");
}

static void
opcode_matcher(void)
{
	start(PFM_PLM3);
	add_event("IA64_TAGGED_INST_RETIRED_IBRP2_PMC8", 0);
	ita2_inp.pfp_ita2_pmc8.opcm_used = 1;
	ita2_inp.pfp_ita2_pmc8.pmc_val = ~0ul;
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count), "4=0x20828 8=0xfffffffffffffffd 15=0xfffffffb");
}

static void
what_cannot_be_measured(void)
{
	start(PFM_PLM3);
	add_event("L1D_READS_SET0", 0);
	add_event("L1D_READS_SET1", 0);
	CHECK_EQ(dispatch(), PFMLIB_ERR_EVTSET);

	start(PFM_PLM3);
	add_event("BRANCH_EVENT", 0);
	add_event("DATA_EAR_TLB_ALL", 0);
	CHECK_EQ(dispatch(), PFMLIB_ERR_EVTINCOMP);

	start(PFM_PLM3);
	add_event("L2_OZQ_CANCELS0_ANY", 0);
	add_event("L2_OZQ_CANCELS0_ANY", 0);
	CHECK_EQ(dispatch(), PFMLIB_ERR_INVAL);

	start(PFM_PLM3);
	add_event("NOPS_RETIRED", 0);
	one_code_range(0x1008, 0x2000, 0);
	CHECK_EQ(dispatch(), PFMLIB_ERR_IRRALIGN);
}

int
main(void)
{
	initialise();
	plain_counting();
	register_fields();
	unavailable_counter();
	code_range_in_fine_mode();
	code_range_without_fine_mode();
	inverted_code_range();
	data_range();
	event_address_registers();
	branch_trace_buffer();
	opcode_matcher();
	what_cannot_be_measured();
	return check_result();
}
