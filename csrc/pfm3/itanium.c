/*
 * The Itanium PMU (Merced): its constants, its event queries, its encoding.
 *
 * The stages of itanium_dispatch() stand in the order in which they run, which is
 * also the order of the registers in the output.  Register layouts:
 * perfmon/pfmlib_itanium.h.
 */
#include "ia64.h"
#include "queries.h"

/* Event indices that the rules name. */
enum { CPU_CYCLES = 113, IA64_INST_RETIRED = 142 };

/* Registers of the output. */
enum { PMC_OPCM8 = 8, PMC_OPCM9 = 9, PMC_IEAR = 10, PMC_DEAR = 11, PMC_BTB = 12, PMC_IRANGE = 13 };

static const pfmlib_ita_input_param_t *
input(const struct pfm3_job *job)
{
	return job->model_in;
}

static pfmlib_ita_output_param_t *
output(const struct pfm3_job *job)
{
	return job->model_out;
}

/* What the model's structures say, for the shared stages.  The ranges have a layout of their own:
 * see cover(). */
static void
read_extras(struct pfm3_job *job)
{
	const pfmlib_ita_input_param_t *in = input(job);
	struct pfm3_extras *x = &job->extras;

	for (unsigned int i = 0; i < job->count; i++)
		if (in->pfp_ita_counters[i].flags & PFMLIB_ITA_FL_EVT_NO_QUALCHECK)
			x->unchecked |= 1u << i;
	x->opcm[0] = in->pfp_ita_pmc8.opcm_used;
	x->opcm[1] = in->pfp_ita_pmc9.opcm_used;
	x->iear = (struct pfm3_ear){
		.used = in->pfp_ita_iear.ear_used, .mode = (unsigned int)in->pfp_ita_iear.ear_mode,
		.plm = in->pfp_ita_iear.ear_plm, .ism = (unsigned int)in->pfp_ita_iear.ear_ism,
		.umask = in->pfp_ita_iear.ear_umask,
	};
	x->dear = (struct pfm3_ear){
		.used = in->pfp_ita_dear.ear_used, .mode = (unsigned int)in->pfp_ita_dear.ear_mode,
		.plm = in->pfp_ita_dear.ear_plm, .ism = (unsigned int)in->pfp_ita_dear.ear_ism,
		.umask = in->pfp_ita_dear.ear_umask,
	};
	x->branches.used = in->pfp_ita_btb.btb_used;
	x->irange.used = in->pfp_ita_irange.rr_used;
	x->drange.used = in->pfp_ita_drange.rr_used;
}

static pfm_err_t
counters(struct pfm3_job *job)
{
	const pfmlib_ita_input_param_t *in = input(job);
	struct pfm3_placement p = { { 0 } };
	pfm_err_t ret = PFMLIB_SUCCESS;

	if (!pfm3_place(job, NULL, &p))
		return PFMLIB_ERR_NOASSIGN;
	for (unsigned int i = 0; i < job->count && ret == PFMLIB_SUCCESS; i++)
		ret = pfm3_emit_counter(job, i, p.counter[i], in ? in->pfp_ita_counters[i].thres : 0,
					in ? (unsigned int)in->pfp_ita_counters[i].ism : 0);
	return ret;
}

/* PMC10 or PMC11, which differ in one bit: pt, no data range restricts. */
static pfm_err_t
emit_ear(struct pfm3_job *job, unsigned int num, const struct pfm3_ear *ear, unsigned int pt,
	 struct pfm3_addresses at)
{
	uint64_t value = pfm3_field(pfm3_plm(job, ear->plm), 0, 4) |
			 pfm3_field(pfm3_systemwide(job), 6, 1) |
			 pfm3_field(ear->mode, 7, 1) |
			 pfm3_field(ear->umask, 16, 4) |
			 pfm3_field(ear->ism, 24, 2) |
			 pfm3_field(pt, 28, 1);
	pfm_err_t ret;

	if (ear->mode > 2)	/* there are 0 and 1; 2 passes, and counts as 0 (quirk) */
		return PFMLIB_ERR_INVAL;
	ret = pfm3_emit_pmc_at(job, num, value, at);
	if (ret == PFMLIB_SUCCESS)
		pfm3_trace(job, "[PMC%u(pmc%u)=0x%llx tlb=%s plm=%u pm=%u ism=0x%x umask=0x%lx pt=%u]\n", num, num,
			   (unsigned long long)value, ear->mode & 1 ? "yes" : "no", pfm3_plm(job, ear->plm),
			   pfm3_systemwide(job), ear->ism, ear->umask, pt);
	return ret;
}

static pfm_err_t
instruction_ear(struct pfm3_job *job)
{
	struct pfm3_ear ear;
	pfm_err_t ret;

	if (!pfm3_ear_settings(job, &job->extras.iear, PFM3_IEAR_KINDS, &ear))
		return PFMLIB_SUCCESS;
	ret = emit_ear(job, PMC_IEAR, &ear, 0, (struct pfm3_addresses){ PMC_IEAR, PMC_IEAR });
	if (ret == PFMLIB_SUCCESS)
		pfm3_emit_shown_pmds(job, 0, 1);
	return ret;
}

static pfm_err_t
data_ear(struct pfm3_job *job)
{
	/* An EAR that an event implies is never restricted, whatever the data ranges (quirk). */
	unsigned int pt = !(job->extras.dear.used && job->extras.drange.used);
	struct pfm3_ear ear;
	pfm_err_t ret;

	if (!pfm3_ear_settings(job, &job->extras.dear, PFM3_DEAR_KINDS, &ear))
		return PFMLIB_SUCCESS;
	/* The second address stays 0 (quirk). */
	ret = emit_ear(job, PMC_DEAR, &ear, pt, (struct pfm3_addresses){ PMC_DEAR, 0 });
	if (ret != PFMLIB_SUCCESS)
		return ret;
	pfm3_emit_shown_pmds(job, 2, 3);
	pfm3_emit_shown_pmds(job, 17, 17);
	return PFMLIB_SUCCESS;
}

static pfm_err_t
emit_matcher(struct pfm3_job *job, unsigned int num, const pfmlib_ita_opcm_t *opcm)
{
	pfm_ita_pmc_reg_t reg = { .pmc_val = opcm->pmc_val };

	if (!opcm->opcm_used)
		return PFMLIB_SUCCESS;
	if (pfm3_verbose(job))
		pfm3_trace(job, "[PMC%u(pmc%u)=0x%lx m=%u i=%u f=%u b=%u match=0x%x mask=0x%x]\n", num, num, reg.pmc_val,
			   (unsigned int)reg.pmc8_9_ita_reg.m, (unsigned int)reg.pmc8_9_ita_reg.i,
			   (unsigned int)reg.pmc8_9_ita_reg.f, (unsigned int)reg.pmc8_9_ita_reg.b,
			   (unsigned int)reg.pmc8_9_ita_reg.match, (unsigned int)reg.pmc8_9_ita_reg.mask);
	return pfm3_emit_pmc(job, num, reg.pmc_val);
}

static pfm_err_t
opcode_matchers(struct pfm3_job *job)
{
	const pfmlib_ita_input_param_t *in = input(job);
	pfm_err_t ret;

	if (!in)
		return PFMLIB_SUCCESS;
	ret = emit_matcher(job, PMC_OPCM8, &in->pfp_ita_pmc8);
	return ret == PFMLIB_SUCCESS ? emit_matcher(job, PMC_OPCM9, &in->pfp_ita_pmc9) : ret;
}

static pfm_err_t
branch_trace_buffer(struct pfm3_job *job)
{
	pfm_err_t ret;

	if (!job->extras.branches.used && !pfm3_first_of_kinds(job, 1u << PFM3_BTB))
		return PFMLIB_SUCCESS;
	/* The reference computes the value, then writes the register's number over it, and leaves the
	 * addresses at 0 (quirk): no setting counts. */
	ret = pfm3_emit_pmc_at(job, PMC_BTB, PMC_BTB, (struct pfm3_addresses){ 0, 0 });
	if (ret != PFMLIB_SUCCESS)
		return ret;
	pfm3_trace(job, "[PMC%u(pmc%u)=0x%x]\n", PMC_BTB, PMC_BTB, PMC_BTB);
	pfm3_emit_shown_pmds(job, 8, 16);
	return PFMLIB_SUCCESS;
}

/* Run an encoder on ranges of this model.  Registers are written from the first place on, whatever
 * count the caller left behind; of a failure the count says nothing. */
static pfm_err_t
cover(struct pfm3_job *job, const pfmlib_ita_input_rr_t *given, pfmlib_ita_output_rr_t *answer,
      pfm3_range_encoder encoder)
{
	struct pfm3_rr_in in = { .used = given->rr_used };
	unsigned int before = answer->rr_nbr_used;
	pfm_err_t ret;

	for (int i = 0; i < 4; i++)
		in.limits[i] = (struct pfm3_limit){
			.plm = given->rr_limits[i].rr_plm,
			.start = given->rr_limits[i].rr_start, .end = given->rr_limits[i].rr_end,
		};
	answer->rr_nbr_used = 0;
	ret = pfm3_with_ranges(job, &in, answer, encoder);
	if (ret != PFMLIB_SUCCESS)
		answer->rr_nbr_used = before;
	return ret;
}

static pfm_err_t
cover_code(struct pfm3_job *job, const struct pfm3_rr_in *in, struct pfm3_rr_out *out)
{
	int n = pfm3_count_ranges(in, 16);
	pfm_err_t ret;

	if (n < 0)
		return n;
	if (n == 0)
		return PFMLIB_ERR_IRRINVAL;
	ret = pfm3_cover_ranges(job, in, n, out);
	return ret == PFMLIB_ERR_TOOMANY ? PFMLIB_ERR_IRRTOOMANY : ret;
}

static pfm_err_t
code_ranges(struct pfm3_job *job)
{
	pfm_err_t ret;

	if (!job->extras.irange.used)
		return PFMLIB_SUCCESS;
	if (!output(job))
		return PFMLIB_ERR_INVAL;
	ret = cover(job, &input(job)->pfp_ita_irange, &output(job)->pfp_ita_irange, cover_code);
	if (ret == PFMLIB_SUCCESS)
		ret = pfm3_emit_pmc(job, PMC_IRANGE, 0);	/* ta = 0: the ranges restrict */
	if (ret == PFMLIB_SUCCESS)
		pfm3_trace(job, "[PMC%u(pmc%u)=0x0 ta=0]\n", PMC_IRANGE, PMC_IRANGE);
	return ret;
}

static pfm_err_t
data_ranges(struct pfm3_job *job)
{
	pfm_err_t ret;

	if (!job->extras.drange.used)
		return PFMLIB_SUCCESS;
	if (!output(job))
		return PFMLIB_ERR_INVAL;
	ret = cover(job, &input(job)->pfp_ita_drange, &output(job)->pfp_ita_drange, pfm3_cover_data);
	if (ret != PFMLIB_SUCCESS || pfm3_first_of_kinds(job, PFM3_DEAR_KINDS))
		return ret;
	/* Also if a free-running EAR has written PMC11 before, with another value (quirk).  The
	 * systemwide bit is not set here. */
	ret = pfm3_emit_pmc(job, PMC_DEAR, pfm3_field(pfm3_plm(job, 0), 0, 4));
	if (ret == PFMLIB_SUCCESS)
		pfm3_trace(job, "[PMC%u(pmc%u)=0x%x pt=0]\n", PMC_DEAR, PMC_DEAR, pfm3_plm(job, 0) & 0xf);
	return ret;
}

static pfm_err_t
itanium_dispatch(struct pfm3_job *job)
{
	static const pfm3_stage stages[] = {
		pfm3_check_extras, counters, instruction_ear, data_ear, opcode_matchers,
		branch_trace_buffer, code_ranges, data_ranges,
	};

	return pfm3_job_run(job, stages, sizeof(stages) / sizeof(*stages));
}

const struct pfm3_model pfm3_itanium = {
	.name = "itanium",
	.type = PFMLIB_ITANIUM_PMU,
	.family = 0x07,
	.num_pmcs = PMU_ITA_NUM_PMCS,
	.num_pmds = PMU_ITA_NUM_PMDS,
	.num_counters = PMU_ITA_NUM_COUNTERS,
	.counter_width = PMU_ITA_COUNTER_WIDTH,
	.impl_counters = 0xf0,
	.impl_pmcs = { { 0x3fff } },
	.impl_pmds = { { 0x3ffff } },
	.table = &pfm3_itanium_table,
	.undescribed = 1,
	.cycle_event = CPU_CYCLES,
	.inst_retired_event = IA64_INST_RETIRED,
	.registers = { .iear = PMC_IEAR, .dear = PMC_DEAR, .irange = PMC_IRANGE, .branches = PMC_BTB,
		       .has_ism = 1, .last_ear = 1 },
	.read_extras = read_extras,
	.dispatch = itanium_dispatch,
};

/* The queries.  The EAR mode of an index that is no event is an error; the reference reads behind
 * its table (a quirk that is not kept). */
PFM3_QUERIES(ita, pfm3_itanium)
PFM3_QUERY_KIND(pfm_ita_is_btb, pfm3_itanium, 1u << PFM3_BTB)
