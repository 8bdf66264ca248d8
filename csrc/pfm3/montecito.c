/*
 * The Montecito PMU (dual-core Itanium 2 9000): its constants, its event
 * queries, its encoding.
 *
 * The stages of montecito_dispatch() stand in the order in which they run, which
 * is also the order of the registers in the output.  Register layouts:
 * perfmon/pfmlib_montecito.h.
 */
#include "ia64.h"
#include "queries.h"

enum { GROUP_L1D = PFMLIB_MONT_EVT_L1D_CACHE_GRP, GROUP_L2D = PFMLIB_MONT_EVT_L2D_CACHE_GRP };

/* Event codes that the rules name. */
enum { CODE_INST_RETIRED = 0x08 };
static const unsigned char inst_retired_codes[] = { CODE_INST_RETIRED };
static const unsigned char cancel_codes[] = { 0xe0, 0xe2 };	/* L2D_OZQ_CANCELS0, 1 */
static const unsigned char op_cycles_codes[] = { 0x12 };	/* CPU_OP_CYCLES_ALL, _QUAL */
static const unsigned char prefetch_codes[] = { 0x44, 0x5f, 0x45 };	/* L1I, L1I streaming, L2I */
/* Events that see demand fetches and prefetches: ISB_BUNPAIRS_IN,
 * L1I_FETCH_RAB_HIT, L1I_FETCH_ISB_HIT, L1I_FILLS. */
static const unsigned char dual_codes[] = { 0x46, 0x65, 0x66, 0x41 };

/* Event indices that the rules name. */
enum { CPU_OP_CYCLES_ALL = 199, IA64_INST_RETIRED = 635 };

/* Registers of the output. */
enum { PMC_OPCM1 = 32, PMC_MATCH1 = 33, PMC_OPCM2 = 34, PMC_MATCH2 = 35, PMC_IEAR = 37,
       PMC_IRANGE = 38, PMC_ETB = 39, PMC_DEAR = 40, PMC_DRANGE = 41, PMC_IPEAR = 42 };

/* Counters of all events but a few. */
#define ALL_COUNTERS 0xfff0

/* ism field of every counter and of the D-EAR: IA-64 only. */
#define ISM_IA64 2

static const struct pfm3_mask mesi_masks[] = {
	{ "I", "invalid", 0 },
	{ "S", "shared", 1 },
	{ "E", "exclusive", 2 },
	{ "M", "modified", 3 },
};

static const pfmlib_mont_input_param_t *
input(const struct pfm3_job *job)
{
	return job->model_in;
}

static pfmlib_mont_output_param_t *
output(const struct pfm3_job *job)
{
	return job->model_out;
}

/* What the model's structures say, for the shared stages. */
static void
read_extras(struct pfm3_job *job)
{
	const pfmlib_mont_input_param_t *in = input(job);
	pfmlib_mont_output_param_t *out = output(job);
	struct pfm3_extras *x = &job->extras;

	for (unsigned int i = 0; i < job->count; i++)
		if (in->pfp_mont_counters[i].flags & PFMLIB_MONT_FL_EVT_NO_QUALCHECK)
			x->unchecked |= 1u << i;
	x->opcm[0] = in->pfp_mont_opcm1.opcm_used;
	x->opcm[1] = in->pfp_mont_opcm2.opcm_used;
	x->iear = (struct pfm3_ear){
		.used = in->pfp_mont_iear.ear_used, .mode = (unsigned int)in->pfp_mont_iear.ear_mode,
		.plm = in->pfp_mont_iear.ear_plm,
		.umask = in->pfp_mont_iear.ear_umask,
	};
	x->dear = (struct pfm3_ear){
		.used = in->pfp_mont_dear.ear_used, .mode = (unsigned int)in->pfp_mont_dear.ear_mode,
		.plm = in->pfp_mont_dear.ear_plm,
		.umask = in->pfp_mont_dear.ear_umask,
	};
	x->branches = (struct pfm3_branches){
		.used = in->pfp_mont_etb.etb_used, .plm = in->pfp_mont_etb.etb_plm,
		.tm = in->pfp_mont_etb.etb_tm, .ptm = in->pfp_mont_etb.etb_ptm,
		.ppm = in->pfp_mont_etb.etb_ppm, .brt = in->pfp_mont_etb.etb_brt,
	};
	x->irange = (struct pfm3_range_use){
		.used = in->pfp_mont_irange.rr_used, .flags = in->pfp_mont_irange.rr_flags,
		.in = &in->pfp_mont_irange, .out = out ? &out->pfp_mont_irange : NULL,
	};
	x->drange = (struct pfm3_range_use){
		.used = in->pfp_mont_drange.rr_used, .flags = in->pfp_mont_drange.rr_flags,
		.in = &in->pfp_mont_drange, .out = out ? &out->pfp_mont_drange : NULL,
	};
}

/* Which counters are free, and which event has which. */
struct placement {
	unsigned int	free;				/* bit n: PMCn */
	unsigned int	counter[PMU_MONT_NUM_COUNTERS];	/* 0: not placed yet */
};

static int
take(struct placement *p, unsigned int i, unsigned int counter)
{
	if (!(p->free >> counter & 1))
		return PFMLIB_ERR_NOASSIGN;
	p->free &= ~(1u << counter);
	p->counter[i] = counter;
	return PFMLIB_SUCCESS;
}

/* L1D events must be of one set; *anchor is the last of them, or -1. */
static pfm_err_t
find_l1d_anchor(const struct pfm3_job *job, int *anchor)
{
	*anchor = -1;
	for (unsigned int i = 0; i < job->count; i++) {
		if (job->events[i]->group != GROUP_L1D)
			continue;
		if (*anchor >= 0 && job->events[*anchor]->set != job->events[i]->set)
			return PFMLIB_ERR_EVTSET;
		*anchor = (int)i;
	}
	return PFMLIB_SUCCESS;
}

/* The first two sets of the L2D group that the request names; -1 for none. */
static pfm_err_t
find_l2d_sets(const struct pfm3_job *job, int sets[2])
{
	sets[0] = sets[1] = -1;
	for (unsigned int i = 0; i < job->count; i++) {
		int set = job->events[i]->set;

		if (job->events[i]->group != GROUP_L2D || set == sets[0] || set == sets[1])
			continue;
		if (sets[1] >= 0)
			return PFMLIB_ERR_EVTSET;
		sets[sets[0] >= 0] = set;
	}
	return PFMLIB_SUCCESS;
}

/* The first three events of each L2D set have counters of their own; there is no
 * search for others if one is taken (quirk). */
static pfm_err_t
place_l2d(const struct pfm3_job *job, const int sets[2], struct placement *p)
{
	static const unsigned int home[2][3] = { { 4, 5, 8 }, { 6, 7, 9 } };
	unsigned int placed[2] = { 0, 0 };

	for (unsigned int i = 0; i < job->count; i++) {
		unsigned int which = job->events[i]->set == sets[1];
		pfm_err_t ret;

		if (job->events[i]->group != GROUP_L2D || placed[which] == 3)
			continue;
		ret = take(p, i, home[which][placed[which]++]);
		if (ret != PFMLIB_SUCCESS)
			return ret;
	}
	return PFMLIB_SUCCESS;
}

/* Place what is left: first the events that cannot go everywhere. */
static pfm_err_t
place_rest(const struct pfm3_job *job, int restricted, struct placement *p)
{
	for (unsigned int i = 0; i < job->count; i++) {
		unsigned int counters = job->events[i]->counters & p->free;

		if (p->counter[i] || (job->events[i]->counters != ALL_COUNTERS) != restricted)
			continue;
		if (!counters)
			return PFMLIB_ERR_NOASSIGN;
		take(p, i, (unsigned int)__builtin_ctz(counters));
	}
	return PFMLIB_SUCCESS;
}

/* All checks of the cache groups come before any counter is looked at. */
static pfm_err_t
place_cache_events(const struct pfm3_job *job, struct placement *p)
{
	int anchor, l2d_sets[2];
	pfm_err_t ret = find_l1d_anchor(job, &anchor);

	if (ret == PFMLIB_SUCCESS)
		ret = find_l2d_sets(job, l2d_sets);
	/* Cancel events are of the L2D group. */
	if (ret == PFMLIB_SUCCESS && job->groups >> GROUP_L2D & 1 &&
	    pfm3_count_codes(job, cancel_codes, sizeof(cancel_codes)) > 1)
		ret = PFMLIB_ERR_INVAL;
	if (ret == PFMLIB_SUCCESS && anchor >= 0)
		ret = take(p, (unsigned int)anchor, 5);
	return ret == PFMLIB_SUCCESS ? place_l2d(job, l2d_sets, p) : ret;
}

static pfm_err_t
place(const struct pfm3_job *job, struct placement *p)
{
	pfm_err_t ret = PFMLIB_SUCCESS;

	*p = (struct placement){ 0 };
	p->free = ALL_COUNTERS & ~(unsigned int)job->in->pfp_unavail_pmcs.bits[0];
	if (job->groups & (1u << GROUP_L1D | 1u << GROUP_L2D))
		ret = place_cache_events(job, p);
	if (ret == PFMLIB_SUCCESS)
		ret = place_rest(job, 1, p);
	if (ret == PFMLIB_SUCCESS)
		ret = place_rest(job, 0, p);
	return ret;
}

/* Bits 27 to 30 of a counter: the cache line states given as unit masks. */
static void
set_mesi(const pfmlib_event_t *e, pfm_mont_pmc_reg_t *reg)
{
	for (unsigned int i = 0; i < e->num_masks; i++)
		switch (e->unit_masks[i]) {
		case 0: reg->pmc_mont_counter_reg.pmc_i = 1; break;
		case 1: reg->pmc_mont_counter_reg.pmc_s = 1; break;
		case 2: reg->pmc_mont_counter_reg.pmc_e = 1; break;
		case 3: reg->pmc_mont_counter_reg.pmc_m = 1; break;
		}
}

static void
trace_counter(const struct pfm3_job *job, unsigned int i, unsigned int num, unsigned long value)
{
	pfm_mont_pmc_reg_t reg = { .pmc_val = value };

	pfm3_trace(job, "[PMC%u(pmc%u)=0x%06lx m=%u e=%u s=%u i=%u thres=%u all=%u es=0x%02x plm=%u"
		   " umask=0x%x pm=%u ism=0x%x oi=%u] %s\n[PMD%u(pmd%u)]\n", num, num, value,
		   (unsigned int)reg.pmc_mont_counter_reg.pmc_m, (unsigned int)reg.pmc_mont_counter_reg.pmc_e,
		   (unsigned int)reg.pmc_mont_counter_reg.pmc_s, (unsigned int)reg.pmc_mont_counter_reg.pmc_i,
		   (unsigned int)reg.pmc_mont_counter_reg.pmc_thres,
		   (unsigned int)reg.pmc_mont_counter_reg.pmc_all,
		   (unsigned int)reg.pmc_mont_counter_reg.pmc_es, (unsigned int)reg.pmc_mont_counter_reg.pmc_plm,
		   (unsigned int)reg.pmc_mont_counter_reg.pmc_umask,
		   (unsigned int)reg.pmc_mont_counter_reg.pmc_pm, (unsigned int)reg.pmc_mont_counter_reg.pmc_ism,
		   (unsigned int)reg.pmc_mont_counter_reg.pmc_oi, job->events[i]->name, num, num);
}

static pfm_err_t
emit_counter(struct pfm3_job *job, unsigned int i, unsigned int num)
{
	const pfmlib_mont_counter_t *options = input(job) ? &input(job)->pfp_mont_counters[i] : NULL;
	pfm_mont_pmc_reg_t reg;

	if (options && options->flags & PFMLIB_MONT_FL_EVT_ALL_THRD)
		return PFMLIB_ERR_NOTSUPP;
	reg.pmc_val = pfm3_counter_value(job, i, options ? options->thres : 0);
	reg.pmc_mont_counter_reg.pmc_ism = ISM_IA64;
	set_mesi(&job->in->pfp_events[i], &reg);
	if (pfm3_verbose(job))
		trace_counter(job, i, num, reg.pmc_val);
	pfm3_emit_pmds(job, num, num);
	return pfm3_emit_pmc(job, num, reg.pmc_val);
}

static pfm_err_t
counters(struct pfm3_job *job)
{
	struct placement p;
	pfm_err_t ret = place(job, &p);

	for (unsigned int i = 0; i < job->count && ret == PFMLIB_SUCCESS; i++)
		ret = emit_counter(job, i, p.counter[i]);
	return ret;
}

/* How the events of a request want the debug register pairs of code ranges. */
struct fetch {
	unsigned int	events;		/* prefetch and dual events */
	unsigned int	base;		/* first register: 0, or 2 for pair 1 */
	int		both;		/* the range has to be in both pairs 0 and 1 */
};

static pfm_err_t
find_fetch(const struct pfm3_job *job, unsigned int flags, struct fetch *f)
{
	unsigned int prefetch = pfm3_count_codes(job, prefetch_codes, sizeof(prefetch_codes));
	unsigned int dual = pfm3_count_codes(job, dual_codes, sizeof(dual_codes));
	int demand = dual && flags & PFMLIB_MONT_IRR_DEMAND_FETCH;
	int match = prefetch || (dual && flags & PFMLIB_MONT_IRR_PREFETCH_MATCH);

	if (dual && !(flags & (PFMLIB_MONT_IRR_DEMAND_FETCH | PFMLIB_MONT_IRR_PREFETCH_MATCH)))
		return PFMLIB_ERR_IRRFLAGS;
	f->events = prefetch + dual;
	f->base = match && !demand ? 2 : 0;
	f->both = match && demand;
	/* IBRP1 and CPU_OP_CYCLES_QUAL exclude each other; its ALL sibling suffers too (quirk). */
	if (match && pfm3_count_codes(job, op_cycles_codes, sizeof(op_cycles_codes)))
		return PFMLIB_ERR_FEATCOMB;
	return PFMLIB_SUCCESS;
}

/* Fine mode: 64 KB pages; bits 55:32 of the mask are 0 (quirk). */
static pfm_err_t
cover_fine(const struct pfm3_job *job, const struct pfm3_rr_in *in, int n, const struct fetch *f,
	   struct pfm3_rr_out *out)
{
	static const struct pfm3_fine_mode mode = { .mask = 0xffff0000, .widen = 1 };
	pfm_err_t ret = pfm3_cover_fine(job, in, n, f->base, &mode, 1, out);

	if (ret == PFMLIB_SUCCESS && f->both)
		ret = pfm3_cover_fine(job, in, n, f->base + 2, &mode, 1, out);
	return ret;
}

/* Compute the instruction debug registers of n ranges. */
static pfm_err_t
cover_code(const struct pfm3_job *job, const struct pfm3_rr_in *in, int n, int fine,
	   unsigned int retired, struct pfm3_rr_out *out)
{
	int retired_only = retired == job->count;
	struct fetch f;
	pfm_err_t ret;

	if (n > (fine ? 2 : retired_only ? 4 : 1))
		return PFMLIB_ERR_IRRTOOMANY;
	ret = find_fetch(job, in->flags, &f);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	if (!fine && !retired_only && f.events + retired != job->count)
		return PFMLIB_ERR_FEATCOMB;	/* also of events that need one pair only (quirk) */
	if (fine && f.events && n > 1)
		return PFMLIB_ERR_IRRTOOMANY;
	if (fine) {
		ret = cover_fine(job, in, n, &f, out);
	} else if (retired_only) {
		ret = pfm3_cover_ranges(job, in, n, out);
	} else {
		ret = pfm3_cover_single(job, in, f.base, 1, out);
		if (ret == PFMLIB_SUCCESS && f.both)	/* the same pair once more (quirk) */
			ret = pfm3_cover_single(job, in, f.base, 1, out);
	}
	return ret == PFMLIB_ERR_TOOMANY ? PFMLIB_ERR_IRRTOOMANY : ret;
}

/* Compute the debug registers of the code ranges, into out, and PMC38. */
static pfm_err_t
encode_code_ranges(struct pfm3_job *job, const struct pfm3_rr_in *in, struct pfm3_rr_out *out)
{
	unsigned int retired = pfm3_count_codes(job, inst_retired_codes, sizeof(inst_retired_codes));
	int n = pfm3_count_ranges(in, 16), fine, tagged;
	uint64_t value;
	pfm_err_t ret;

	if (n < 0)
		return n;
	if (n == 0)
		return PFMLIB_ERR_IRRINVAL;
	/* The end is exclusive, and bits above 31 are not compared (quirks). */
	fine = !(in->flags & PFMLIB_MONT_RR_NO_FINE_MODE) && pfm3_ranges_in_page(in, n, 0xffff0000);
	ret = cover_code(job, in, n, fine, retired, out);
	tagged = retired == job->count ? pfm3_tagged_pairs(job, CODE_INST_RETIRED) : -1;
	if (ret == PFMLIB_SUCCESS)
		ret = pfm3_code_range_value(out, fine, tagged, &value);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	return pfm3_emit_irange(job, value);
}

static pfm_err_t
code_ranges(struct pfm3_job *job)
{
	return pfm3_code_ranges(job, encode_code_ranges);
}

/* PMC32 or PMC34: slots and mask of a matcher. */
static pfm_mont_pmc_reg_t
matcher_value(const pfmlib_mont_opcm_t *opcm)
{
	pfm_mont_pmc_reg_t reg = { .pmc_val = 0 };

	reg.pmc32_34_mont_reg.opcm_mask = opcm->opcm_mask & 0x1ffffffffff;
	/* Of each slot byte only bit 0 counts (quirk). */
	reg.pmc32_34_mont_reg.opcm_m = opcm->opcm_m & 1u;
	reg.pmc32_34_mont_reg.opcm_i = opcm->opcm_i & 1u;
	reg.pmc32_34_mont_reg.opcm_f = opcm->opcm_f & 1u;
	reg.pmc32_34_mont_reg.opcm_b = opcm->opcm_b & 1u;
	return reg;
}

/* Emit the PMC that holds the pattern of a matcher. */
static pfm_err_t
emit_match(struct pfm3_job *job, unsigned int num, const pfmlib_mont_opcm_t *opcm)
{
	uint64_t value = pfm3_field(opcm->opcm_match, 0, 41);

	pfm3_trace(job, "[PMC%u(pmc%u)=0x%llx match=0x%llx]\n", num, num,
		   (unsigned long long)value, (unsigned long long)value);
	return pfm3_emit_pmc(job, num, value);
}

static void
trace_matcher(const struct pfm3_job *job, unsigned int num, unsigned long value)
{
	pfm_mont_pmc_reg_t reg = { .pmc_val = value };

	pfm3_trace(job, "[PMC%u(pmc%u)=0x%lx m=%u i=%u f=%u b=%u mask=0x%llx", num, num, value,
		   (unsigned int)reg.pmc32_34_mont_reg.opcm_m, (unsigned int)reg.pmc32_34_mont_reg.opcm_i,
		   (unsigned int)reg.pmc32_34_mont_reg.opcm_f, (unsigned int)reg.pmc32_34_mont_reg.opcm_b,
		   (unsigned long long)reg.pmc32_34_mont_reg.opcm_mask);
	if (num == PMC_OPCM1)
		pfm3_trace(job, " inv=%u ig_ad=%u", (unsigned int)reg.pmc32_34_mont_reg.opcm_inv,
			   (unsigned int)reg.pmc32_34_mont_reg.opcm_ig_ad);
	pfm3_trace(job, "]\n");
}

/* PMC32 and PMC33; PMC32 takes part in code ranges, too. */
static pfm_err_t
matcher1(struct pfm3_job *job)
{
	const pfmlib_mont_opcm_t *opcm = &input(job)->pfp_mont_opcm1;
	int ranges = job->extras.irange.used;
	pfm_mont_pmc_reg_t reg = { .pmc_val = 0xf01ffffffffff };
	pfm_err_t ret;

	if (!opcm->opcm_used && !(ranges && output(job)->pfp_mont_irange.rr_nbr_used))
		return PFMLIB_SUCCESS;
	if (opcm->opcm_used)
		reg = matcher_value(opcm);
	reg.pmc32_34_mont_reg.opcm_ig_ad = !ranges;
	reg.pmc32_34_mont_reg.opcm_inv = ranges && job->extras.irange.flags & PFMLIB_MONT_RR_INV;
	trace_matcher(job, PMC_OPCM1, reg.pmc_val);
	ret = pfm3_emit_pmc(job, PMC_OPCM1, reg.pmc_val);
	if (ret == PFMLIB_SUCCESS && opcm->opcm_used)
		ret = emit_match(job, PMC_MATCH1, opcm);
	return ret;
}

/* PMC34 and PMC35. */
static pfm_err_t
matcher2(struct pfm3_job *job)
{
	const pfmlib_mont_opcm_t *opcm = &input(job)->pfp_mont_opcm2;
	unsigned long value;
	pfm_err_t ret;

	if (!opcm->opcm_used)
		return PFMLIB_SUCCESS;
	value = matcher_value(opcm).pmc_val;
	trace_matcher(job, PMC_OPCM2, value);
	ret = pfm3_emit_pmc(job, PMC_OPCM2, value);
	return ret == PFMLIB_SUCCESS ? emit_match(job, PMC_MATCH2, opcm) : ret;
}

/* PMC36 is never written: its value is the one after reset. */
static pfm_err_t
opcode_matchers(struct pfm3_job *job)
{
	pfm_err_t ret;

	if (!job->model_in)
		return PFMLIB_SUCCESS;
	ret = matcher1(job);
	return ret == PFMLIB_SUCCESS ? matcher2(job) : ret;
}

/* The data registers of the trace buffer, used by branches and by the IP-EAR. */
static void
emit_trace_buffer_pmds(struct pfm3_job *job)
{
	pfm3_trace(job, "[PMD38(pmd38)]\n[PMD39(pmd39)\n");
	pfm3_emit_pmds(job, 38, 39);
	pfm3_emit_shown_pmds(job, 48, 63);
}

static pfm_err_t
execution_trace_buffer(struct pfm3_job *job)
{
	int record;
	pfm_err_t ret = pfm3_branches(job, &record);

	if (ret == PFMLIB_SUCCESS && record)
		emit_trace_buffer_pmds(job);
	return ret;
}

/* The IP-EAR fills the trace buffer with addresses, so branches cannot be in it. */
static pfm_err_t
ip_ear(struct pfm3_job *job)
{
	const pfmlib_mont_input_param_t *in = input(job);
	pfm_mont_pmc_reg_t reg = { .pmc_val = 0 };
	pfm_err_t ret;

	if (!in || !in->pfp_mont_ipear.ipear_used)
		return PFMLIB_SUCCESS;
	if (job->extras.branches.used || pfm3_first_of_kinds(job, 1u << PFM3_BTB))
		return PFMLIB_ERR_FEATCOMB;
	reg.pmc42_mont_reg.ipear_plm = pfm3_plm(job, in->pfp_mont_ipear.ipear_plm) & 0xf;
	reg.pmc42_mont_reg.ipear_pm = pfm3_systemwide(job) & 1;
	reg.pmc42_mont_reg.ipear_mode = 4;
	reg.pmc42_mont_reg.ipear_delay = in->pfp_mont_ipear.ipear_delay & 0xffu;
	ret = pfm3_emit_pmc(job, PMC_IPEAR, reg.pmc_val);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	pfm3_trace(job, "[PMC42(pmc42)=0x%lx plm=%u pm=%u mode=%u delay=%u]\n", reg.pmc_val,
		   (unsigned int)reg.pmc42_mont_reg.ipear_plm, (unsigned int)reg.pmc42_mont_reg.ipear_pm,
		   (unsigned int)reg.pmc42_mont_reg.ipear_mode, (unsigned int)reg.pmc42_mont_reg.ipear_delay);
	emit_trace_buffer_pmds(job);
	return PFMLIB_SUCCESS;
}

static pfm_err_t
montecito_dispatch(struct pfm3_job *job)
{
	static const pfm3_stage stages[] = {
		pfm3_check_extras, counters, pfm3_instruction_ear, pfm3_data_ear, code_ranges,
		pfm3_data_ranges, opcode_matchers, execution_trace_buffer, ip_ear,
	};

	return pfm3_job_run(job, stages, sizeof(stages) / sizeof(*stages));
}

const struct pfm3_model pfm3_montecito = {
	.name = "dual-core Itanium 2",
	.type = PFMLIB_MONTECITO_PMU,
	.family = 0x20,
	.num_pmcs = PMU_MONT_NUM_PMCS,
	.num_pmds = PMU_MONT_NUM_PMDS,
	.num_counters = PMU_MONT_NUM_COUNTERS,
	.counter_width = PMU_MONT_COUNTER_WIDTH,
	.impl_counters = ALL_COUNTERS,
	.impl_pmcs = { { 0x7ff0000ffff } },
	.impl_pmds = { { 0xffff00ff0000fff0 } },
	.table = &pfm3_montecito_table,
	.masks = mesi_masks,
	.num_masks = sizeof(mesi_masks) / sizeof(*mesi_masks),
	.cycle_event = CPU_OP_CYCLES_ALL,
	.inst_retired_event = IA64_INST_RETIRED,
	.registers = {
		.iear = PMC_IEAR, .dear = PMC_DEAR, .irange = PMC_IRANGE, .drange = PMC_DRANGE,
		.branches = PMC_ETB, .iear_pmd = 34, .dear_pmd = 32, .dear_pmd3 = 36, .dear_ism = ISM_IA64,
		.irange_field = "ig_ibrp", .drange_field = "cfg_dtag",
	},
	.read_extras = read_extras,
	.dispatch = montecito_dispatch,
};

/* The queries of the manual page. */
PFM3_QUERIES_2(mont, pfm3_montecito, PMC_IRANGE)
PFM3_QUERY_KIND(pfm_mont_is_etb, pfm3_montecito, 1u << PFM3_BTB)
PFM3_QUERY_FLAG(pfm_mont_support_all, pfm3_montecito, PFM3_ALL)
PFM3_QUERY_MEMBER(pfm_mont_get_event_type, pfm3_montecito, int, type)
