/*
 * The Itanium 2 PMU: its constants, its event queries, its encoding.
 *
 * The stages stand in the order in which they run, which is also the order of the registers in the output.  Register layouts:
 * perfmon/pfmlib_itanium2.h.
 */
#include "encoder.h"
#include "queries.h"

enum { GROUP_L1 = PFMLIB_ITA2_EVT_L1_CACHE_GRP, GROUP_L2 = PFMLIB_ITA2_EVT_L2_CACHE_GRP };

/* Event codes that the rules name. */
static const unsigned char prefetch_codes[] = { 0x44, 0x5f, 0x45 }; /* L1I, L1I streaming, L2 */
static const unsigned char cancel_codes[] = { 0xa0, 0xac, 0xa8 };   /* L2_OZQ_CANCELS0, 1, 2 */

/* Event indices that the rules name. */
enum { CPU_CYCLES = 179, IA64_INST_RETIRED = 270, TAGGED_IBRP0 = 272 /* to IBRP3 = 275 */ };

/* Registers of the output. */
enum {
	PMC_OPCM8 = 8,
	PMC_OPCM9 = 9,
	PMC_IEAR = 10,
	PMC_DEAR = 11,
	PMC_BTB = 12,
	PMC_DRANGE = 13,
	PMC_IRANGE = 14,
	PMC_OPCM_ROUTE = 15
};

/* In sets 1 and 2 of the L2 group each event brings a unit mask of its own. */
static int
l2_set_shares_umask(const struct pfm3_event *event)
{
	return event->group == GROUP_L2 && event->set != 1 && event->set != 2;
}

/* Events of one group must be of one set; of most L2 sets, of one unit mask. */
static pfm_err_t
check_cache_groups(const struct pfm3_encoder *e)
{
	for (unsigned int i = 0; i < e->count; i++) {
		const struct pfm3_event *a = e->events[i];

		for (unsigned int j = i + 1; a->group && j < e->count; j++) {
			const struct pfm3_event *b = e->events[j];

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
	if (e->groups >> GROUP_L2 & 1 && pfm3_count_codes(e, cancel_codes, sizeof(cancel_codes)) > 1)
		return PFMLIB_ERR_INVAL;
	return PFMLIB_SUCCESS;
}

/* The rules that look at the whole assignment: L2 events need one on PMC4 (whose
 * unit mask holds for all), L1 events need one on PMC5. */
static int
cache_groups_hold(const struct pfm3_encoder *e, const struct pfm3_assignment *a)
{
	const struct pfm3_event *on4 = NULL, *on5 = NULL;
	unsigned int l1 = e->groups >> GROUP_L1 & 1, l2 = e->groups >> GROUP_L2 & 1;

	for (unsigned int i = 0; i < e->count; i++)
		if (a->counter[i] == 4)
			on4 = e->events[i];
		else if (a->counter[i] == 5)
			on5 = e->events[i];
	if (l2 && !(on4 && on4->group == GROUP_L2))
		return 0;
	if (l1 && !(on5 && on5->group == GROUP_L1))
		return 0;
	for (unsigned int i = 0; l2 && l2_set_shares_umask(on4) && i < e->count; i++) {
		const struct pfm3_event *event = e->events[i];

		if (event->group == GROUP_L2 && event->umask && event->umask != on4->umask)
			return 0;
	}
	return 1;
}

static pfm_err_t
itanium2_counters(struct pfm3_encoder *e)
{
	static const struct pfm3_assignment_rules cache_rules = {
		.kept = { [GROUP_L2] = 1u << 4, [GROUP_L1] = 1u << 5 },
		.holds = cache_groups_hold,
	};
	const struct pfm3_assignment_rules *rules = e->groups & (1u << GROUP_L1 | 1u << GROUP_L2) ? &cache_rules : NULL;
	struct pfm3_assignment a;
	pfm_err_t ret = rules ? check_cache_groups(e) : PFMLIB_SUCCESS;

	if (ret == PFMLIB_SUCCESS)
		ret = pfm3_assign(e, rules, &a);
	return ret == PFMLIB_SUCCESS ? pfm3_emit_counters(e, &a) : ret;
}

/* Events that see prefetches want pair 1. */
static pfm_err_t
itanium2_fetches(const struct pfm3_encoder *e, struct pfm3_fetches *f)
{
	unsigned int prefetches = pfm3_count_codes(e, prefetch_codes, sizeof(prefetch_codes));

	*f = (struct pfm3_fetches){ .events = prefetches, .base = prefetches ? 2 : 0 };
	return PFMLIB_SUCCESS;
}

/* Pairs 0 and 2 go through PMC8, so a range in them cannot be used with PMC9; and so on. */
static pfm_err_t
check_matcher_pairs(const struct pfm3_encoder *e)
{
	const struct pfm3_debug_regs *code = &e->answer->code;

	for (unsigned int i = 0; i < code->count; i++) {
		unsigned int num = code->regs[i].reg_num;

		if ((num == 0 || num == 4) && e->request->matchers[1].used)
			return PFMLIB_ERR_FEATCOMB;
		if ((num == 2 || num == 6) && e->request->matchers[0].used)
			return PFMLIB_ERR_FEATCOMB;
	}
	return PFMLIB_SUCCESS;
}

static int
has_event(const struct pfm3_encoder *e, unsigned int idx)
{
	for (unsigned int i = 0; i < e->count; i++)
		if (e->request->events[i].event == idx)
			return 1;
	return 0;
}

/* A matcher routed to two pairs is cut off from the pair whose tagged event is not measured. */
static void
route_matcher(const struct pfm3_encoder *e, unsigned int pair, uint64_t *route)
{
	int first = has_event(e, TAGGED_IBRP0 + pair), second = has_event(e, TAGGED_IBRP0 + pair + 2);

	if (first || !second)
		*route &= ~((uint64_t)1 << pair);
	if (second || !first)
		*route &= ~((uint64_t)1 << (pair + 2));
}

/* Emit a matcher; the caller cannot set its lowest bits: ig_ad, inv, and one that is always set. */
static pfm_err_t
emit_itanium2_matcher(const struct pfm3_encoder *e, unsigned int num, uint64_t value, unsigned int ig_ad,
		      unsigned int inv)
{
	uint64_t v = (value & ~(uint64_t)7) | ia64_field(ig_ad, 0, 1) | ia64_field(inv, 1, 1) | ia64_field(1, 2, 1);
	pfm_err_t ret = pfm3_emit_pmc(e, num, v);

	if (ret != PFMLIB_SUCCESS || !pfm3_verbose(e))
		return ret;
	pfm3_trace(e, "[PMC%u(pmc%u)=0x%llx m=%u i=%u f=%u b=%u match=0x%x mask=0x%x", num, num, (unsigned long long)v,
		   pfm3_bits(v, 63, 1), pfm3_bits(v, 62, 1), pfm3_bits(v, 61, 1), pfm3_bits(v, 60, 1),
		   pfm3_bits(v, 33, 27), pfm3_bits(v, 3, 27));
	if (num == PMC_OPCM8)
		pfm3_trace(e, " inv=%u ig_ad=%u", pfm3_bits(v, 1, 1), pfm3_bits(v, 0, 1));
	pfm3_trace(e, "]\n");
	return PFMLIB_SUCCESS;
}

/* PMC8 takes part in opcode matching and, for inversion, in code ranges. */
static pfm_err_t
emit_matcher8(const struct pfm3_encoder *e, uint64_t *route)
{
	const struct pfm3_matcher *matcher = &e->request->matchers[0];
	const struct pfm3_ranges *code = &e->request->code;
	unsigned int inv = code->used && code->flags & PFMLIB_ITA2_RR_INV;

	if (!matcher->used && !(code->used && e->answer->code.count))
		return PFMLIB_SUCCESS;
	if (matcher->used)
		route_matcher(e, 0, route);
	return emit_itanium2_matcher(e, PMC_OPCM8, matcher->used ? matcher->value : 0xffffffff3fffffff, !code->used,
				     inv);
}

/* PMC9 only works for retired instructions. */
static pfm_err_t
emit_matcher9(const struct pfm3_encoder *e, uint64_t *route)
{
	const struct pfm3_matcher *matcher = &e->request->matchers[1];

	if (!matcher->used)
		return PFMLIB_SUCCESS;
	if (pfm3_count_retired(e) != e->count)
		return PFMLIB_ERR_FEATCOMB;
	route_matcher(e, 1, route);
	return emit_itanium2_matcher(e, PMC_OPCM9, matcher->value, 1, 0);
}

static pfm_err_t
itanium2_opcode_matchers(struct pfm3_encoder *e)
{
	uint64_t route = 0xffffffff;
	pfm_err_t ret;

	if (!e->request->has_input)
		return PFMLIB_SUCCESS;
	ret = emit_matcher8(e, &route);
	if (ret == PFMLIB_SUCCESS)
		ret = emit_matcher9(e, &route);
	if (ret == PFMLIB_SUCCESS) /* even if nothing is matched (quirk) */
		ret = pfm3_emit_pmc(e, PMC_OPCM_ROUTE, route);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	pfm3_trace(e, "[PMC15(pmc15)=0x%llx ibrp0_pmc8=%u ibrp1_pmc9=%u ibrp2_pmc8=%u ibrp3_pmc9=%u]\n",
		   (unsigned long long)route, pfm3_bits(route, 0, 1), pfm3_bits(route, 1, 1), pfm3_bits(route, 2, 1),
		   pfm3_bits(route, 3, 1));
	return PFMLIB_SUCCESS;
}

static pfm_err_t
itanium2_branches(struct pfm3_encoder *e)
{
	int record;
	pfm_err_t ret = pfm3_branch_pmc(e, &record);

	if (ret == PFMLIB_SUCCESS && record)
		pfm3_emit_shown_pmds(e, 8, 16);
	return ret;
}

static const pfm3_stage itanium2_stages[] = {
	pfm3_check_qualifiers, itanium2_counters,        pfm3_instruction_ear, pfm3_data_ear, pfm3_code_ranges,
	pfm3_data_ranges,      itanium2_opcode_matchers, itanium2_branches,    NULL,
};

const struct pfm3_model pfm3_itanium2 = {
	.name = "itanium2",
	.short_names = { "itanium2", "ita2" },
	.type = PFMLIB_ITANIUM2_PMU,
	.family = IA64_ITANIUM2,
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
	.code_rules = { .page = 0xfffff000, .fetches = itanium2_fetches, .check_matchers = check_matcher_pairs },
	.stages = itanium2_stages,
};

/* The queries of the manual page. */
PFM3_QUERIES_2(ita2, pfm3_itanium2)
PFM3_QUERY_KIND(pfm_ita2_is_btb, pfm3_itanium2, 1u << PFM3_BTB)
