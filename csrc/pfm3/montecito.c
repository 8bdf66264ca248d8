/*
 * The Montecito PMU (dual-core Itanium 2 9000): its constants, its event
 * queries, its encoding.
 *
 * The stages stand in the order in which they run, which is also the order of the registers in the output.  Register layouts:
 * perfmon/pfmlib_montecito.h.
 */
#include "encoder.h"
#include "queries.h"

enum { GROUP_L1D = PFMLIB_MONT_EVT_L1D_CACHE_GRP, GROUP_L2D = PFMLIB_MONT_EVT_L2D_CACHE_GRP };

/* Event codes that the rules name. */
static const unsigned char cancel_codes[] = { 0xe0, 0xe2 };         /* L2D_OZQ_CANCELS0, 1 */
static const unsigned char op_cycles_codes[] = { 0x12 };            /* CPU_OP_CYCLES_ALL, _QUAL */
static const unsigned char prefetch_codes[] = { 0x44, 0x5f, 0x45 }; /* L1I, L1I streaming, L2I */
/* Events that see demand fetches and prefetches: ISB_BUNPAIRS_IN,
 * L1I_FETCH_RAB_HIT, L1I_FETCH_ISB_HIT, L1I_FILLS. */
static const unsigned char dual_codes[] = { 0x46, 0x65, 0x66, 0x41 };

/* Event indices that the rules name. */
enum { CPU_OP_CYCLES_ALL = 199, IA64_INST_RETIRED = 635 };

/* Registers of the output. */
enum {
	PMC_OPCM1 = 32,
	PMC_OPCM2 = 34,
	PMC_MATCH2 = 35,
	PMC_IEAR = 37,
	PMC_IRANGE = 38,
	PMC_ETB = 39,
	PMC_DEAR = 40,
	PMC_DRANGE = 41,
	PMC_IPEAR = 42
};

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

/* The free counters, and the counter of each event. */
struct placement {
	unsigned int free;                           /* bit n: PMCn */
	unsigned int counter[PMU_MONT_NUM_COUNTERS]; /* 0: not placed yet */
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
find_l1d_anchor(const struct pfm3_encoder *e, int *anchor)
{
	*anchor = -1;
	for (unsigned int i = 0; i < e->count; i++) {
		if (e->events[i]->group != GROUP_L1D)
			continue;
		if (*anchor >= 0 && e->events[*anchor]->set != e->events[i]->set)
			return PFMLIB_ERR_EVTSET;
		*anchor = (int)i;
	}
	return PFMLIB_SUCCESS;
}

/* The first two sets of the L2D group that the request names; -1 for none. */
static pfm_err_t
find_l2d_sets(const struct pfm3_encoder *e, int sets[2])
{
	sets[0] = sets[1] = -1;
	for (unsigned int i = 0; i < e->count; i++) {
		int set = e->events[i]->set;

		if (e->events[i]->group != GROUP_L2D || set == sets[0] || set == sets[1])
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
place_l2d(const struct pfm3_encoder *e, const int sets[2], struct placement *p)
{
	static const unsigned int home[2][3] = { { 4, 5, 8 }, { 6, 7, 9 } };
	unsigned int placed[2] = { 0, 0 };

	for (unsigned int i = 0; i < e->count; i++) {
		unsigned int which = e->events[i]->set == sets[1];
		pfm_err_t ret;

		if (e->events[i]->group != GROUP_L2D || placed[which] == 3)
			continue;
		ret = take(p, i, home[which][placed[which]++]);
		if (ret != PFMLIB_SUCCESS)
			return ret;
	}
	return PFMLIB_SUCCESS;
}

/* Place the other events: first those that cannot go everywhere. */
static pfm_err_t
place_rest(const struct pfm3_encoder *e, int restricted, struct placement *p)
{
	for (unsigned int i = 0; i < e->count; i++) {
		unsigned int counters = e->events[i]->counters & p->free;

		if (p->counter[i] || (e->events[i]->counters != ALL_COUNTERS) != restricted)
			continue;
		if (!counters)
			return PFMLIB_ERR_NOASSIGN;
		take(p, i, (unsigned int)__builtin_ctz(counters));
	}
	return PFMLIB_SUCCESS;
}

/* All checks of the cache groups come before any counter is looked at. */
static pfm_err_t
place_cache_events(const struct pfm3_encoder *e, struct placement *p)
{
	int anchor, l2d_sets[2];
	pfm_err_t ret = find_l1d_anchor(e, &anchor);

	if (ret == PFMLIB_SUCCESS)
		ret = find_l2d_sets(e, l2d_sets);
	/* Cancel events are of the L2D group. */
	if (ret == PFMLIB_SUCCESS && e->groups >> GROUP_L2D & 1 &&
	    pfm3_count_codes(e, cancel_codes, sizeof(cancel_codes)) > 1)
		ret = PFMLIB_ERR_INVAL;
	if (ret == PFMLIB_SUCCESS && anchor >= 0)
		ret = take(p, (unsigned int)anchor, 5);
	return ret == PFMLIB_SUCCESS ? place_l2d(e, l2d_sets, p) : ret;
}

static pfm_err_t
place_events(const struct pfm3_encoder *e, struct placement *p)
{
	pfm_err_t ret = PFMLIB_SUCCESS;

	*p = (struct placement){ 0 };
	p->free = ALL_COUNTERS & ~(unsigned int)e->request->unavailable_pmcs;
	if (e->groups & (1u << GROUP_L1D | 1u << GROUP_L2D))
		ret = place_cache_events(e, p);
	if (ret == PFMLIB_SUCCESS)
		ret = place_rest(e, 1, p);
	if (ret == PFMLIB_SUCCESS)
		ret = place_rest(e, 0, p);
	return ret;
}

/*
 * A counter has one instruction set, and bits for the cache line states that are given as unit masks: I, S, E, M from
 * bit 27 on.
 */
static pfm_err_t
emit_montecito_counter(const struct pfm3_encoder *e, unsigned int i, unsigned int num)
{
	const struct pfm3_requested *requested = &e->request->events[i];
	uint64_t v = pfm3_counter_value(e, i) | IA64_ISM_IA64 | IA64_MESI(requested->unit_masks);

	if (requested->flags & PFM3_ALL_THREADS)
		return PFMLIB_ERR_NOTSUPP;
	if (pfm3_verbose(e))
		pfm3_trace(e,
			   "[PMC%u(pmc%u)=0x%06llx m=%u e=%u s=%u i=%u thres=%u all=%u es=0x%02x plm=%u"
			   " umask=0x%x pm=%u ism=0x%x oi=%u] %s\n[PMD%u(pmd%u)]\n",
			   num, num, (unsigned long long)v, pfm3_bits(v, 30, 1), pfm3_bits(v, 29, 1),
			   pfm3_bits(v, 28, 1), pfm3_bits(v, 27, 1), pfm3_bits(v, 20, 3), pfm3_bits(v, 26, 1),
			   pfm3_bits(v, 8, 8), pfm3_bits(v, 0, 4), pfm3_bits(v, 16, 4), pfm3_bits(v, 6, 1),
			   pfm3_bits(v, 24, 2), pfm3_bits(v, 5, 1), e->events[i]->name, num, num);
	pfm3_emit_pmds(e, num, num);
	return pfm3_emit_pmc(e, num, v);
}

static pfm_err_t
montecito_counters(struct pfm3_encoder *e)
{
	struct placement p;
	pfm_err_t ret = place_events(e, &p);

	for (unsigned int i = 0; i < e->count && ret == PFMLIB_SUCCESS; i++)
		ret = emit_montecito_counter(e, i, p.counter[i]);
	return ret;
}

/* Prefetches use pair 1; events that see demand fetches, too, need a flag that says which. */
static pfm_err_t
montecito_fetches(const struct pfm3_encoder *e, struct pfm3_fetches *f)
{
	unsigned int prefetch = pfm3_count_codes(e, prefetch_codes, sizeof(prefetch_codes));
	unsigned int dual = pfm3_count_codes(e, dual_codes, sizeof(dual_codes));
	unsigned int flags = e->request->code.flags;
	int demand = dual && flags & PFMLIB_MONT_IRR_DEMAND_FETCH;
	int match = prefetch || (dual && flags & PFMLIB_MONT_IRR_PREFETCH_MATCH);

	if (dual && !(flags & (PFMLIB_MONT_IRR_DEMAND_FETCH | PFMLIB_MONT_IRR_PREFETCH_MATCH)))
		return PFMLIB_ERR_IRRFLAGS;
	f->events = prefetch + dual;
	f->base = match && !demand ? 2 : 0;
	f->both = match && demand;
	/* IBRP1 and CPU_OP_CYCLES_QUAL exclude each other; its ALL sibling suffers too (quirk). */
	if (match && pfm3_count_codes(e, op_cycles_codes, sizeof(op_cycles_codes)))
		return PFMLIB_ERR_FEATCOMB;
	return PFMLIB_SUCCESS;
}

/* PMC32 or PMC34: slots and mask of a matcher. */
static uint64_t
matcher_value(const struct pfm3_matcher *matcher)
{
	/* Of each slot byte only bit 0 counts (quirk). */
	return ia64_field(matcher->mask, 0, 41) | ia64_field(matcher->b, 48, 1) | ia64_field(matcher->f, 49, 1) |
	       ia64_field(matcher->i, 50, 1) | ia64_field(matcher->m, 51, 1);
}

/* Emit the PMC that holds slots and mask of a matcher and, if it is in use, the next one, which holds its pattern. */
static pfm_err_t
emit_montecito_matcher(const struct pfm3_encoder *e, unsigned int num, uint64_t v, const struct pfm3_matcher *matcher)
{
	uint64_t match = ia64_field(matcher->match, 0, 41);
	pfm_err_t ret = pfm3_emit_pmc(e, num, v);

	if (ret == PFMLIB_SUCCESS && matcher->used)
		ret = pfm3_emit_pmc(e, num + 1, match);
	/* Nothing is printed for the first one if there is no second. */
	if (ret != PFMLIB_SUCCESS || !pfm3_verbose(e))
		return ret;
	pfm3_trace(e, "[PMC%u(pmc%u)=0x%llx m=%u i=%u f=%u b=%u mask=0x%llx", num, num, (unsigned long long)v,
		   pfm3_bits(v, 51, 1), pfm3_bits(v, 50, 1), pfm3_bits(v, 49, 1), pfm3_bits(v, 48, 1),
		   (unsigned long long)ia64_field(v, 0, 41));
	if (num == PMC_OPCM1)
		pfm3_trace(e, " inv=%u ig_ad=%u", pfm3_bits(v, 56, 1), pfm3_bits(v, 57, 1));
	pfm3_trace(e, "]\n");
	if (matcher->used)
		pfm3_trace(e, "[PMC%u(pmc%u)=0x%llx match=0x%llx]\n", num + 1, num + 1, (unsigned long long)match,
			   (unsigned long long)match);
	return PFMLIB_SUCCESS;
}

/* PMC32 and PMC33; PMC32 takes part in code ranges, too. */
static pfm_err_t
emit_matcher1(const struct pfm3_encoder *e)
{
	const struct pfm3_matcher *matcher = &e->request->matchers[0];
	const struct pfm3_ranges *code = &e->request->code;
	uint64_t v = matcher->used ? matcher_value(matcher) : 0xf01ffffffffff;

	if (!matcher->used && !(code->used && e->answer->code.count))
		return PFMLIB_SUCCESS;
	v |= ia64_field(code->used && code->flags & PFMLIB_MONT_RR_INV, 56, 1);
	v |= ia64_field(!code->used, 57, 1); /* ig_ad */
	return emit_montecito_matcher(e, PMC_OPCM1, v, matcher);
}

/* PMC34 and PMC35: both or, unlike those of the first matcher, neither. */
static pfm_err_t
emit_matcher2(const struct pfm3_encoder *e)
{
	const struct pfm3_matcher *matcher = &e->request->matchers[1];

	if (!matcher->used)
		return PFMLIB_SUCCESS;
	if (pfm3_unavailable(e, PMC_MATCH2))
		return PFMLIB_ERR_NOASSIGN;
	return emit_montecito_matcher(e, PMC_OPCM2, matcher_value(matcher), matcher);
}

/* PMC36 is never written: its value is the one after reset. */
static pfm_err_t
montecito_opcode_matchers(struct pfm3_encoder *e)
{
	pfm_err_t ret = emit_matcher1(e);

	return ret == PFMLIB_SUCCESS ? emit_matcher2(e) : ret;
}

/* The data registers of the trace buffer, used by branches and by the IP-EAR. */
static void
emit_trace_buffer_pmds(const struct pfm3_encoder *e)
{
	pfm3_trace(e, "[PMD38(pmd38)]\n[PMD39(pmd39)\n");
	pfm3_emit_pmds(e, 38, 39);
	pfm3_emit_shown_pmds(e, 48, 63);
}

static pfm_err_t
execution_trace_buffer(struct pfm3_encoder *e)
{
	int record;
	pfm_err_t ret = pfm3_branch_pmc(e, &record);

	if (ret == PFMLIB_SUCCESS && record)
		emit_trace_buffer_pmds(e);
	return ret;
}

/* The IP-EAR fills the trace buffer with addresses, so branches cannot be in it. */
static pfm_err_t
ip_ear(struct pfm3_encoder *e)
{
	const struct pfm3_ipear *ipear = &e->request->ipear;
	uint64_t v;
	pfm_err_t ret;

	if (!ipear->used)
		return PFMLIB_SUCCESS;
	if (e->request->branches.used || pfm3_first_of_kinds(e, 1u << PFM3_BTB))
		return PFMLIB_ERR_FEATCOMB;
	v = ia64_field(pfm3_plm(e, ipear->plm), 0, 4) | ia64_field(e->request->system_wide, 6, 1) |
	    ia64_field(4, 8, 3) | /* mode */
	    ia64_field(ipear->delay, 11, 8);
	ret = pfm3_emit_pmc(e, PMC_IPEAR, v);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	pfm3_trace(e, "[PMC42(pmc42)=0x%llx plm=%u pm=%u mode=%u delay=%u]\n", (unsigned long long)v,
		   pfm3_bits(v, 0, 4), pfm3_bits(v, 6, 1), pfm3_bits(v, 8, 3), pfm3_bits(v, 11, 8));
	emit_trace_buffer_pmds(e);
	return PFMLIB_SUCCESS;
}

static const pfm3_stage montecito_stages[] = {
	pfm3_check_qualifiers, montecito_counters,        pfm3_instruction_ear,   pfm3_data_ear, pfm3_code_ranges,
	pfm3_data_ranges,      montecito_opcode_matchers, execution_trace_buffer, ip_ear,        NULL,
};

const struct pfm3_model pfm3_montecito = {
	.name = "dual-core Itanium 2",
	.short_names = { "montecito", "mont" },
	.type = PFMLIB_MONTECITO_PMU,
	.family = IA64_MONTECITO,
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
	.code_rules = { .page = 0xffff0000, .addr_shift = 1, .whole_lines = 1, .prefetch_only = 1,
			.fetches = montecito_fetches },
	.stages = montecito_stages,
};

/* The queries of the manual page. */
PFM3_QUERIES_2(mont, pfm3_montecito)
PFM3_QUERY_KIND(pfm_mont_is_etb, pfm3_montecito, 1u << PFM3_BTB)
PFM3_QUERY_FLAG(pfm_mont_support_all, pfm3_montecito, PFM3_ALL)
PFM3_QUERY_MEMBER(pfm_mont_get_event_type, pfm3_montecito, int, type)
