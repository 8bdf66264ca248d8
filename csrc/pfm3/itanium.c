/*
 * The Itanium PMU (Merced): its constants, its event queries, its encoding.
 *
 * The stages stand in the order in which they run, which is
 * also the order of the registers in the output.  Register layouts:
 * perfmon/pfmlib_itanium.h.
 */
#include "encoder.h"
#include "queries.h"

/* Event indices that the rules name. */
enum { CPU_CYCLES = 113, IA64_INST_RETIRED = 142 };

/* Registers of the output. */
enum { PMC_OPCM8 = 8, PMC_OPCM9 = 9, PMC_IEAR = 10, PMC_DEAR = 11, PMC_BTB = 12, PMC_IRANGE = 13 };

static pfm_err_t
itanium_counters(struct pfm3_encoder *e)
{
	struct pfm3_assignment a;
	pfm_err_t ret = pfm3_assign(e, NULL, &a);

	return ret == PFMLIB_SUCCESS ? pfm3_emit_counters(e, &a) : ret;
}

static void
trace_itanium_ear(const struct pfm3_encoder *e, unsigned int num, uint64_t v)
{
	pfm3_trace(e, "[PMC%u(pmc%u)=0x%llx tlb=%s plm=%u pm=%u ism=0x%x umask=0x%x", num, num, (unsigned long long)v,
		   pfm3_bits(v, 7, 1) ? "Yes" : "No", pfm3_bits(v, 0, 4), pfm3_bits(v, 6, 1), pfm3_bits(v, 24, 2),
		   pfm3_bits(v, 16, 4));
	if (num == PMC_DEAR)
		pfm3_trace(e, " pt=%u", pfm3_bits(v, 28, 1));
	pfm3_trace(e, "]\n");
}

/* PMC10 or PMC11, which differ in one bit: pt, no data range restricts. */
static pfm_err_t
emit_itanium_ear(const struct pfm3_encoder *e, unsigned int num, const struct pfm3_ear *ear, unsigned int pt,
		 struct pfm3_addresses at)
{
	uint64_t value = ia64_field(pfm3_plm(e, ear->plm), 0, 4) | ia64_field(e->request->system_wide, 6, 1) |
			 ia64_field(ear->mode, 7, 1) | ia64_field(ear->umask, 16, 4) | ia64_field(ear->ism, 24, 2) |
			 ia64_field(pt, 28, 1);
	pfm_err_t ret;

	if (ear->mode > 2) /* there are 0 and 1; 2 passes, and counts as 0 (quirk) */
		return PFMLIB_ERR_INVAL;
	ret = pfm3_emit_pmc_at(e, num, value, at);
	if (ret == PFMLIB_SUCCESS && pfm3_verbose(e))
		trace_itanium_ear(e, num, value);
	return ret;
}

static pfm_err_t
itanium_instruction_ear(struct pfm3_encoder *e)
{
	struct pfm3_ear ear;
	pfm_err_t ret;

	if (!pfm3_ear_settings(e, &e->request->iear, PFM3_IEAR_KINDS, &ear))
		return PFMLIB_SUCCESS;
	ret = emit_itanium_ear(e, PMC_IEAR, &ear, 0, (struct pfm3_addresses){ PMC_IEAR, PMC_IEAR });
	if (ret != PFMLIB_SUCCESS)
		return ret;
	/* As on Itanium 2, where the reference lacks the bracket. */
	pfm3_trace(e, "[PMD0(pmd0)]\n[PMD1(pmd1)\n");
	pfm3_emit_pmds(e, 0, 1);
	return PFMLIB_SUCCESS;
}

static pfm_err_t
itanium_data_ear(struct pfm3_encoder *e)
{
	/* An EAR that an event implies is never restricted, whatever the data ranges (quirk). */
	unsigned int pt = !(e->request->dear.used && e->request->data.used);
	struct pfm3_ear ear;
	pfm_err_t ret;

	if (!pfm3_ear_settings(e, &e->request->dear, PFM3_DEAR_KINDS, &ear))
		return PFMLIB_SUCCESS;
	/* The second address stays 0 (quirk). */
	ret = emit_itanium_ear(e, PMC_DEAR, &ear, pt, (struct pfm3_addresses){ PMC_DEAR, 0 });
	if (ret != PFMLIB_SUCCESS)
		return ret;
	/* Brackets are missing in the reference, too. */
	pfm3_trace(e, "[PMD2(pmd2)]\n[PMD3(pmd3)\nPMD17(pmd17)\n");
	pfm3_emit_pmds(e, 2, 3);
	pfm3_emit_pmds(e, 17, 17);
	return PFMLIB_SUCCESS;
}

static pfm_err_t
itanium_opcode_matchers(struct pfm3_encoder *e)
{
	for (unsigned int i = 0; i < 2; i++) {
		const struct pfm3_matcher *matcher = &e->request->matchers[i];
		unsigned int num = PMC_OPCM8 + i;
		uint64_t v = matcher->value;

		if (!matcher->used)
			continue;
		if (pfm3_emit_pmc(e, num, v) != PFMLIB_SUCCESS)
			return PFMLIB_ERR_NOASSIGN;
		if (pfm3_verbose(e))
			pfm3_trace(e, "[PMC%u(pmc%u)=0x%llx m=%u i=%u f=%u b=%u match=0x%x mask=0x%x]\n", num, num,
				   (unsigned long long)v, pfm3_bits(v, 63, 1), pfm3_bits(v, 62, 1), pfm3_bits(v, 61, 1),
				   pfm3_bits(v, 60, 1), pfm3_bits(v, 33, 27), pfm3_bits(v, 3, 27));
	}
	return PFMLIB_SUCCESS;
}

static pfm_err_t
itanium_branches(struct pfm3_encoder *e)
{
	static const struct pfm3_branches all = { .ds = 1, .tm = 3, .ptm = 3, .ppm = 3, .brt = 3 };
	const struct pfm3_branches *given = &e->request->branches;
	uint64_t v = pfm3_branch_value(e, given->used ? given : &all);
	pfm_err_t ret;

	if (!given->used && !pfm3_first_of_kinds(e, 1u << PFM3_BTB))
		return PFMLIB_SUCCESS;
	/* The reference computes and prints the value, then writes the register's number over it, and leaves
	 * the addresses at 0 (quirk): no setting counts. */
	ret = pfm3_emit_pmc_at(e, PMC_BTB, PMC_BTB, (struct pfm3_addresses){ 0, 0 });
	if (ret != PFMLIB_SUCCESS)
		return ret;
	pfm3_trace(e, "[PMC%u(pmc%u)=0x%llx plm=%u pm=%u tar=%u tm=%u ptm=%u ppm=%u bpt=%u bac=%u]\n", PMC_BTB, PMC_BTB,
		   (unsigned long long)v, pfm3_bits(v, 0, 4), pfm3_bits(v, 6, 1), pfm3_bits(v, 7, 1),
		   pfm3_bits(v, 8, 2), pfm3_bits(v, 10, 2), pfm3_bits(v, 12, 2), pfm3_bits(v, 14, 1),
		   pfm3_bits(v, 15, 1));
	pfm3_emit_shown_pmds(e, 8, 16);
	return PFMLIB_SUCCESS;
}

/*
 * Cover ranges of this model.  Registers are written from the first place on, whatever count the caller left behind; if
 * it fails, the count is meaningless.
 */
static pfm_err_t
cover_from_start(const struct pfm3_encoder *e, struct pfm3_debug_regs *regs,
		 pfm_err_t (*cover)(const struct pfm3_encoder *e))
{
	uint32_t before = regs->count;
	pfm_err_t ret;

	if (!e->request->has_output)
		return PFMLIB_ERR_INVAL;
	regs->count = 0;
	ret = cover(e);
	if (ret != PFMLIB_SUCCESS)
		regs->count = before;
	return ret;
}

static pfm_err_t
itanium_code_ranges(struct pfm3_encoder *e)
{
	pfm_err_t ret;

	if (!e->request->code.used)
		return PFMLIB_SUCCESS;
	ret = cover_from_start(e, &e->answer->code, pfm3_cover_coarse_code);
	if (ret == PFMLIB_SUCCESS)
		ret = pfm3_emit_pmc(e, PMC_IRANGE, 0); /* ta = 0: the ranges restrict */
	if (ret == PFMLIB_SUCCESS)
		pfm3_trace(e, "[PMC%u(pmc%u)=0x0 ta=0]\n", PMC_IRANGE, PMC_IRANGE);
	return ret;
}

static pfm_err_t
itanium_data_ranges(struct pfm3_encoder *e)
{
	uint64_t v = ia64_field(pfm3_plm(e, 0), 0, 4);
	pfm_err_t ret;

	if (!e->request->data.used)
		return PFMLIB_SUCCESS;
	ret = cover_from_start(e, &e->answer->data, pfm3_cover_data);
	if (ret != PFMLIB_SUCCESS || pfm3_first_of_kinds(e, PFM3_DEAR_KINDS))
		return ret;
	/* Also if a free-running EAR has written PMC11 before, with another value (quirk).  The
	 * systemwide bit is not set here. */
	ret = pfm3_emit_pmc(e, PMC_DEAR, v);
	if (ret == PFMLIB_SUCCESS && pfm3_verbose(e))
		trace_itanium_ear(e, PMC_DEAR, v);
	return ret;
}

static const pfm3_stage itanium_stages[] = {
	pfm3_check_qualifiers, itanium_counters,        itanium_instruction_ear,
	itanium_data_ear,      itanium_opcode_matchers, itanium_branches,
	itanium_code_ranges,   itanium_data_ranges,     NULL,
};

const struct pfm3_model pfm3_itanium = {
	.name = "itanium",
	.short_names = { "itanium", "ita" },
	.type = PFMLIB_ITANIUM_PMU,
	.family = IA64_ITANIUM,
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
	.registers = { .iear = PMC_IEAR,
		       .dear = PMC_DEAR,
		       .irange = PMC_IRANGE,
		       .branches = PMC_BTB,
		       .has_ism = 1,
		       .last_ear = 1 },
	.stages = itanium_stages,
};

/* The queries.  The EAR mode of an index that is no event is an error; the reference reads past
 * its table (a quirk that is not kept). */
PFM3_QUERIES(ita, pfm3_itanium)
PFM3_QUERY_KIND(pfm_ita_is_btb, pfm3_itanium, 1u << PFM3_BTB)
