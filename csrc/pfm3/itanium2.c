/*
 * The Itanium 2 PMU: its constants, its event queries, its encoding.
 *
 * The stages of itanium2_dispatch() stand in the order in which they run, which
 * is also the order of the registers in the output.  Register layouts:
 * perfmon/pfmlib_itanium2.h.
 */
#include "ia64.h"
#include "queries.h"

enum { GROUP_L1 = PFMLIB_ITA2_EVT_L1_CACHE_GRP, GROUP_L2 = PFMLIB_ITA2_EVT_L2_CACHE_GRP };

/* Event codes that the rules name. */
enum { CODE_INST_RETIRED = 0x08 };
static const unsigned char inst_retired_codes[] = { CODE_INST_RETIRED };
static const unsigned char prefetch_codes[] = { 0x44, 0x5f, 0x45 };	/* L1I, L1I streaming, L2 */
static const unsigned char cancel_codes[] = { 0xa0, 0xac, 0xa8 };	/* L2_OZQ_CANCELS0, 1, 2 */

/* Event indices that the rules name. */
enum { CPU_CYCLES = 179, IA64_INST_RETIRED = 270, TAGGED_IBRP0 = 272 /* to IBRP3 = 275 */ };

/* Registers of the output. */
enum { PMC_OPCM8 = 8, PMC_OPCM9 = 9, PMC_IEAR = 10, PMC_DEAR = 11, PMC_BTB = 12,
       PMC_DRANGE = 13, PMC_IRANGE = 14, PMC_OPCM_ROUTE = 15 };

static const pfmlib_ita2_input_param_t *
input(const struct pfm3_job *job)
{
	return job->model_in;
}

static pfmlib_ita2_output_param_t *
output(const struct pfm3_job *job)
{
	return job->model_out;
}

/* What the model's structures say, for the shared stages. */
static void
read_extras(struct pfm3_job *job)
{
	const pfmlib_ita2_input_param_t *in = input(job);
	pfmlib_ita2_output_param_t *out = output(job);
	struct pfm3_extras *x = &job->extras;

	for (unsigned int i = 0; i < job->count; i++)
		if (in->pfp_ita2_counters[i].flags & PFMLIB_ITA2_FL_EVT_NO_QUALCHECK)
			x->unchecked |= 1u << i;
	x->opcm[0] = in->pfp_ita2_pmc8.opcm_used;
	x->opcm[1] = in->pfp_ita2_pmc9.opcm_used;
	x->iear = (struct pfm3_ear){
		.used = in->pfp_ita2_iear.ear_used, .mode = (unsigned int)in->pfp_ita2_iear.ear_mode,
		.plm = in->pfp_ita2_iear.ear_plm, .ism = (unsigned int)in->pfp_ita2_iear.ear_ism,
		.umask = in->pfp_ita2_iear.ear_umask,
	};
	x->dear = (struct pfm3_ear){
		.used = in->pfp_ita2_dear.ear_used, .mode = (unsigned int)in->pfp_ita2_dear.ear_mode,
		.plm = in->pfp_ita2_dear.ear_plm, .ism = (unsigned int)in->pfp_ita2_dear.ear_ism,
		.umask = in->pfp_ita2_dear.ear_umask,
	};
	x->branches = (struct pfm3_branches){
		.used = in->pfp_ita2_btb.btb_used, .plm = in->pfp_ita2_btb.btb_plm, .ds = in->pfp_ita2_btb.btb_ds,
		.tm = in->pfp_ita2_btb.btb_tm, .ptm = in->pfp_ita2_btb.btb_ptm,
		.ppm = in->pfp_ita2_btb.btb_ppm, .brt = in->pfp_ita2_btb.btb_brt,
	};
	x->irange = (struct pfm3_range_use){
		.used = in->pfp_ita2_irange.rr_used, .flags = in->pfp_ita2_irange.rr_flags,
		.in = &in->pfp_ita2_irange, .out = out ? &out->pfp_ita2_irange : NULL,
	};
	x->drange = (struct pfm3_range_use){
		.used = in->pfp_ita2_drange.rr_used, .flags = in->pfp_ita2_drange.rr_flags,
		.in = &in->pfp_ita2_drange, .out = out ? &out->pfp_ita2_drange : NULL,
	};
}

static int
uses_cache_groups(const struct pfm3_job *job)
{
	return (job->groups & (1u << GROUP_L1 | 1u << GROUP_L2)) != 0;
}

/* In sets 1 and 2 of the L2 group each event brings a unit mask of its own. */
static int
l2_set_shares_umask(const struct pfm3_event *event)
{
	return event->group == GROUP_L2 && event->set != 1 && event->set != 2;
}

/* Events of one group must be of one set; of most L2 sets, of one unit mask. */
static pfm_err_t
check_groups(const struct pfm3_job *job)
{
	for (unsigned int i = 0; i < job->count; i++) {
		const struct pfm3_event *a = job->events[i];

		for (unsigned int j = i + 1; a->group && j < job->count; j++) {
			const struct pfm3_event *b = job->events[j];

			if (a->group != b->group)
				continue;
			if (a->set != b->set)
				return PFMLIB_ERR_EVTSET;
			/* A later unit mask of 0 passes, an earlier one does not (quirk). */
			if (l2_set_shares_umask(a) && b->umask && b->umask != a->umask)
				return PFMLIB_ERR_NOASSIGN;
		}
	}
	/* Cancel events are of the L2 group. */
	if (job->groups >> GROUP_L2 & 1 && pfm3_count_codes(job, cancel_codes, sizeof(cancel_codes)) > 1)
		return PFMLIB_ERR_INVAL;
	return PFMLIB_SUCCESS;
}

/* The rules that look at the whole placement: L2 events need one on PMC4 (whose
 * unit mask holds for all), L1 events need one on PMC5. */
static int
placement_holds(const struct pfm3_job *job, const struct pfm3_placement *p)
{
	const struct pfm3_event *on4 = NULL, *on5 = NULL;
	unsigned int l1 = job->groups >> GROUP_L1 & 1, l2 = job->groups >> GROUP_L2 & 1;

	for (unsigned int i = 0; i < job->count; i++)
		if (p->counter[i] == 4)
			on4 = job->events[i];
		else if (p->counter[i] == 5)
			on5 = job->events[i];
	if (l2 && !(on4 && on4->group == GROUP_L2))
		return 0;
	if (l1 && !(on5 && on5->group == GROUP_L1))
		return 0;
	for (unsigned int i = 0; l2 && l2_set_shares_umask(on4) && i < job->count; i++) {
		const struct pfm3_event *event = job->events[i];

		if (event->group == GROUP_L2 && event->umask && event->umask != on4->umask)
			return 0;
	}
	return 1;
}

static pfm_err_t
counters(struct pfm3_job *job)
{
	static const struct pfm3_placement_rules cache_groups = {
		.kept = { [GROUP_L2] = 1u << 4, [GROUP_L1] = 1u << 5 }, .holds = placement_holds,
	};
	const pfmlib_ita2_input_param_t *in = input(job);
	struct pfm3_placement p = { { 0 } };
	int groups = uses_cache_groups(job);
	pfm_err_t ret = groups ? check_groups(job) : PFMLIB_SUCCESS;

	if (ret != PFMLIB_SUCCESS)
		return ret;
	if (!pfm3_place(job, groups ? &cache_groups : NULL, &p))
		return PFMLIB_ERR_NOASSIGN;
	for (unsigned int i = 0; i < job->count && ret == PFMLIB_SUCCESS; i++)
		ret = pfm3_emit_counter(job, i, p.counter[i], in ? in->pfp_ita2_counters[i].thres : 0,
					in ? (unsigned int)in->pfp_ita2_counters[i].ism : 0);
	return ret;
}

/* Compute the instruction debug registers of n ranges. */
static pfm_err_t
cover_code(const struct pfm3_job *job, const struct pfm3_rr_in *in, int n, int fine,
	   int retired_only, struct pfm3_rr_out *out)
{
	unsigned int prefetches = pfm3_count_codes(job, prefetch_codes, sizeof(prefetch_codes));
	unsigned int retired = pfm3_count_codes(job, inst_retired_codes, sizeof(inst_retired_codes));
	unsigned int base = prefetches ? 2 : 0;
	/* Bits 55:32 of the mask are 0 (quirk). */
	struct pfm3_fine_mode mode = { .mask = 0xfffff000, .widen = job->settings->fine_mode_bug };
	pfm_err_t ret;

	if (!fine && !retired_only && n > 1)
		return PFMLIB_ERR_IRRTOOMANY;
	if (fine && n > (prefetches ? 1 : 2))
		return PFMLIB_ERR_IRRTOOMANY;
	if (!fine && !retired_only && prefetches && prefetches + retired != job->count)
		return PFMLIB_ERR_FEATCOMB;
	if (fine)
		ret = pfm3_cover_fine(job, in, n, base, &mode, 0, out);
	else if (retired_only)
		ret = pfm3_cover_ranges(job, in, n, out);
	else
		ret = pfm3_cover_single(job, in, base, 0, out);
	return ret == PFMLIB_ERR_TOOMANY ? PFMLIB_ERR_IRRTOOMANY : ret;
}

/* Pairs 0 and 2 go through PMC8, so a range in them cannot be used with PMC9; and so on. */
static pfm_err_t
check_opcode_pairs(const struct pfm3_job *job, const struct pfm3_rr_out *out)
{
	for (unsigned int i = 0; i < out->nbr_used; i++) {
		unsigned int num = out->br[i].reg_num;

		if ((num == 0 || num == 4) && job->extras.opcm[1])
			return PFMLIB_ERR_FEATCOMB;
		if ((num == 2 || num == 6) && job->extras.opcm[0])
			return PFMLIB_ERR_FEATCOMB;
	}
	return PFMLIB_SUCCESS;
}

/* Compute the debug registers of the code ranges, into out, and PMC14. */
static pfm_err_t
encode_code_ranges(struct pfm3_job *job, const struct pfm3_rr_in *in, struct pfm3_rr_out *out)
{
	unsigned int retired = pfm3_count_codes(job, inst_retired_codes, sizeof(inst_retired_codes));
	int retired_only = retired == job->count;	/* also without any event (quirk) */
	int n = pfm3_count_ranges(in, 16), fine;
	uint64_t value;
	pfm_err_t ret;

	if (n < 0)
		return n;
	if (n == 0)
		return PFMLIB_ERR_IRRINVAL;
	/* The end is exclusive: a range up to the end of its page is not fine (quirk). */
	fine = !(in->flags & PFMLIB_ITA2_RR_NO_FINE_MODE) && pfm3_ranges_in_page(in, n, 0xfffff000);
	ret = cover_code(job, in, n, fine, retired_only, out);
	if (ret == PFMLIB_SUCCESS && retired_only)
		ret = check_opcode_pairs(job, out);
	if (ret == PFMLIB_SUCCESS)
		ret = pfm3_code_range_value(out, fine, retired_only ? pfm3_tagged_pairs(job, CODE_INST_RETIRED) : -1,
					    &value);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	return pfm3_emit_irange(job, value);
}

static pfm_err_t
code_ranges(struct pfm3_job *job)
{
	return pfm3_code_ranges(job, encode_code_ranges);
}

static int
has_event(const struct pfm3_job *job, unsigned int idx)
{
	for (unsigned int i = 0; i < job->count; i++)
		if (job->in->pfp_events[i].event == idx)
			return 1;
	return 0;
}

/* A matcher routed to two pairs is cut off from the pair whose tagged event is not measured. */
static void
route_matcher(const struct pfm3_job *job, unsigned int pair, uint64_t *route)
{
	int first = has_event(job, TAGGED_IBRP0 + pair), second = has_event(job, TAGGED_IBRP0 + pair + 2);

	if (first || !second)
		*route &= ~((uint64_t)1 << pair);
	if (second || !first)
		*route &= ~((uint64_t)1 << (pair + 2));
}

static void
trace_matcher(const struct pfm3_job *job, unsigned int num, unsigned long value)
{
	pfm_ita2_pmc_reg_t reg = { .pmc_val = value };

	pfm3_trace(job, "[PMC%u(pmc%u)=0x%lx m=%u i=%u f=%u b=%u match=0x%x mask=0x%x", num, num, value,
		   (unsigned int)reg.pmc8_9_ita2_reg.opcm_m, (unsigned int)reg.pmc8_9_ita2_reg.opcm_i,
		   (unsigned int)reg.pmc8_9_ita2_reg.opcm_f, (unsigned int)reg.pmc8_9_ita2_reg.opcm_b,
		   (unsigned int)reg.pmc8_9_ita2_reg.opcm_match, (unsigned int)reg.pmc8_9_ita2_reg.opcm_mask);
	if (num == PMC_OPCM8)
		pfm3_trace(job, " inv=%u ig_ad=%u", (unsigned int)reg.pmc8_9_ita2_reg.opcm_inv,
			   (unsigned int)reg.pmc8_9_ita2_reg.opcm_ig_ad);
	pfm3_trace(job, "]\n");
}

/* PMC8 takes part in opcode matching and, for inversion, in code ranges. */
static pfm_err_t
emit_matcher8(struct pfm3_job *job, uint64_t *route)
{
	const pfmlib_ita2_input_param_t *in = input(job);
	pfm_ita2_pmc_reg_t reg = { .pmc_val = 0xffffffff3fffffff };
	int ranges = job->extras.irange.used;

	if (!in->pfp_ita2_pmc8.opcm_used && !(ranges && output(job)->pfp_ita2_irange.rr_nbr_used))
		return PFMLIB_SUCCESS;
	if (in->pfp_ita2_pmc8.opcm_used)
		reg.pmc_val = in->pfp_ita2_pmc8.pmc_val;
	reg.pmc8_9_ita2_reg.opcm_ig_ad = !ranges;
	reg.pmc8_9_ita2_reg.opcm_inv = ranges && job->extras.irange.flags & PFMLIB_ITA2_RR_INV;
	reg.pmc8_9_ita2_reg.opcm_bit2 = 1;
	trace_matcher(job, PMC_OPCM8, reg.pmc_val);
	if (in->pfp_ita2_pmc8.opcm_used)
		route_matcher(job, 0, route);
	return pfm3_emit_pmc(job, PMC_OPCM8, reg.pmc_val);
}

/* PMC9 only works for retired instructions. */
static pfm_err_t
emit_matcher9(struct pfm3_job *job, uint64_t *route)
{
	const pfmlib_ita2_input_param_t *in = input(job);
	pfm_ita2_pmc_reg_t reg;

	if (!in->pfp_ita2_pmc9.opcm_used)
		return PFMLIB_SUCCESS;
	if (pfm3_count_codes(job, inst_retired_codes, sizeof(inst_retired_codes)) != job->count)
		return PFMLIB_ERR_FEATCOMB;
	reg.pmc_val = in->pfp_ita2_pmc9.pmc_val;
	reg.pmc8_9_ita2_reg.opcm_ig_ad = 1;
	reg.pmc8_9_ita2_reg.opcm_inv = 0;
	reg.pmc8_9_ita2_reg.opcm_bit2 = 1;
	trace_matcher(job, PMC_OPCM9, reg.pmc_val);
	route_matcher(job, 1, route);
	return pfm3_emit_pmc(job, PMC_OPCM9, reg.pmc_val);
}

static pfm_err_t
opcode_matchers(struct pfm3_job *job)
{
	uint64_t route = 0xffffffff;
	pfm_err_t ret;

	if (!job->model_in)
		return PFMLIB_SUCCESS;
	ret = emit_matcher8(job, &route);
	if (ret == PFMLIB_SUCCESS)
		ret = emit_matcher9(job, &route);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	pfm3_trace(job, "[PMC15(pmc15)=0x%llx ibrp0_pmc8=%u ibrp1_pmc9=%u ibrp2_pmc8=%u ibrp3_pmc9=%u]\n",
		   (unsigned long long)route, (unsigned int)route & 1, (unsigned int)route >> 1 & 1,
		   (unsigned int)route >> 2 & 1, (unsigned int)route >> 3 & 1);
	/* Written even if nothing is matched (quirk). */
	return pfm3_emit_pmc(job, PMC_OPCM_ROUTE, route);
}

static pfm_err_t
branch_trace_buffer(struct pfm3_job *job)
{
	int record;
	pfm_err_t ret = pfm3_branches(job, &record);

	if (ret == PFMLIB_SUCCESS && record)
		pfm3_emit_shown_pmds(job, 8, 16);
	return ret;
}

static pfm_err_t
itanium2_dispatch(struct pfm3_job *job)
{
	static const pfm3_stage stages[] = {
		pfm3_check_extras, counters, pfm3_instruction_ear, pfm3_data_ear, code_ranges,
		pfm3_data_ranges, opcode_matchers, branch_trace_buffer,
	};

	return pfm3_job_run(job, stages, sizeof(stages) / sizeof(*stages));
}

const struct pfm3_model pfm3_itanium2 = {
	.name = "itanium2",
	.type = PFMLIB_ITANIUM2_PMU,
	.family = 0x1f,
	.has_fine_mode_bug = 1,
	.num_pmcs = PMU_ITA2_NUM_PMCS,
	.num_pmds = PMU_ITA2_NUM_PMDS,
	.num_counters = PMU_ITA2_NUM_COUNTERS,
	.counter_width = PMU_ITA2_COUNTER_WIDTH,
	.impl_counters = 0xf0,
	.impl_pmcs = { { 0xffff } },
	.impl_pmds = { { 0x3ffff } },
	.table = &pfm3_itanium2_table,
	.cycle_event = CPU_CYCLES,
	.inst_retired_event = IA64_INST_RETIRED,
	.registers = {
		.iear = PMC_IEAR, .dear = PMC_DEAR, .irange = PMC_IRANGE, .drange = PMC_DRANGE,
		.branches = PMC_BTB, .iear_pmd = 0, .dear_pmd = 2, .dear_pmd3 = 17, .has_ism = 1,
		.irange_field = "ibrp", .drange_field = "cfg_dbrp",
	},
	.read_extras = read_extras,
	.dispatch = itanium2_dispatch,
};

/* The queries of the manual page. */
PFM3_QUERIES_2(ita2, pfm3_itanium2, PMC_IRANGE)
PFM3_QUERY_KIND(pfm_ita2_is_btb, pfm3_itanium2, 1u << PFM3_BTB)
