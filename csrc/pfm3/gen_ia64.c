/*
 * The generic IA-64 PMU: the counters that the architecture demands of every processor.
 *
 * The registers, the width of the counters and the codes of the two events are the
 * processor's; the kernel lists them in a file.  The constant model here is the one before
 * initialisation, with empty tables.
 */
#include "encoder.h"

#include <stdlib.h>
#include <string.h>

/* Counters are these four, whatever the processor has. */
#define COUNTERS 0xf0ul

/* A PMU with tables of its own, as the constant model has them. */
static void
start_pmu(struct pfm3_gen_ia64 *pmu)
{
	memset(pmu, 0, sizeof(*pmu));
	pmu->model = pfm3_gen_ia64;
	pmu->table = pfm3_gen_ia64_table;
	memcpy(pmu->events, pfm3_gen_ia64_table.events, sizeof(pmu->events));
}

/* Let the parts of a PMU point to each other: it must not move from here on. */
static void
link_pmu(struct pfm3_gen_ia64 *pmu)
{
	for (int i = 0; i < IA64_NUM_EVENTS; i++)
		pmu->events[i].counters = (unsigned short)(pmu->capable[i].bits[0] & COUNTERS);
	pmu->table.events = pmu->events;
	pmu->model.table = &pmu->table;
}

/* The contents if the PMU is forced: nothing is read then. */
static void
set_forced(struct pfm3_gen_ia64 *pmu)
{
	static const pfmlib_regmask_t four = { { COUNTERS } };

	pmu->model.counter_width = 47;
	pmu->pairs = PMU_GEN_IA64_NUM_COUNTERS;
	pmu->model.impl_pmcs.bits[0] = 0xff;
	pmu->model.impl_pmds = four;
	pmu->events[IA64_CYCLES].code = IA64_CYCLES_CODE;
	pmu->events[IA64_RETIRED].code = IA64_RETIRED_CODE;
	pmu->capable[IA64_CYCLES] = pmu->capable[IA64_RETIRED] = four;
}

static unsigned int
weight_of(const pfmlib_regmask_t *set)
{
	unsigned int count = 0;

	pfm_regmask_weight((pfmlib_regmask_t *)set, &count);
	return count;
}

static pfmlib_regmask_t
regmask(const struct ia64_registers *registers)
{
	pfmlib_regmask_t set;

	_Static_assert(sizeof(set.bits) == sizeof(registers->bits), "both have 512 registers");
	memcpy(set.bits, registers->bits, sizeof(set.bits));
	return set;
}

/* Take over the contents of the file. */
static void
set_described(struct pfm3_gen_ia64 *pmu, const struct ia64_pal *pal)
{
	pmu->model.counter_width = pal->width;
	pmu->pairs = pal->pairs;
	pmu->model.impl_pmcs = regmask(&pal->pmcs);
	pmu->model.impl_pmds = regmask(&pal->pmds);
	pmu->model.num_pmcs = weight_of(&pmu->model.impl_pmcs);
	pmu->model.num_pmds = weight_of(&pmu->model.impl_pmds);
	for (int i = 0; i < IA64_NUM_EVENTS; i++) {
		pmu->events[i].code = pal->codes[i];
		pmu->capable[i] = regmask(&pal->capable[i]);
	}
}

pfm_err_t
pfm3_gen_ia64_init(struct pfm3_gen_ia64 *pmu, const char *path, FILE *notices)
{
	struct pfm3_gen_ia64 new;
	struct ia64_pal pal;

	if (path && !ia64_pal_read(path, &pal, notices))
		return PFMLIB_ERR_NOTSUPP;
	start_pmu(&new);
	if (path)
		set_described(&new, &pal);
	else
		set_forced(&new);
	*pmu = new;
	link_pmu(pmu);
	return PFMLIB_SUCCESS;
}

/* The reference tests only as many registers as there are pairs, from register 0 on, and so
 * misses the counters (quirk).  Before initialisation nothing is set. */
static void
capable_counters(const struct pfm3_model *model, unsigned int idx, pfmlib_regmask_t *counters)
{
	const struct pfm3_gen_ia64 *pmu = (const struct pfm3_gen_ia64 *)model;

	memset(counters, 0, sizeof(*counters));
	if (model == &pfm3_gen_ia64)
		return;
	for (unsigned int n = 0; n < pmu->pairs && n < PFMLIB_REG_MAX; n++)
		if (pfm_regmask_isset((pfmlib_regmask_t *)&pmu->capable[idx], n))
			pfm_regmask_set(counters, n);
}

static pfm_err_t
gen_ia64_counters(struct pfm3_encoder *e)
{
	struct pfm3_assignment a;
	pfm_err_t ret = pfm3_assign(e, NULL, &a);

	for (unsigned int i = 0; i < e->count && ret == PFMLIB_SUCCESS; i++) {
		unsigned int num = a.counter[i];
		uint64_t value = pfm3_counter_value(e, i) | IA64_OI;

		/* The address is the place of the event, and the second one stays 0 (quirk). */
		ret = pfm3_emit_pmc_at(e, num, value, (struct pfm3_addresses){ i, 0 });
		if (ret != PFMLIB_SUCCESS)
			break;
		/* Commas between some, blanks between others, as in the reference. */
		pfm3_trace(e, "[PMC%u(pmc%u)=0x%llx,es=0x%02x,plm=%u pm=%u] %s\n[PMD%u(pmd%u)]\n", num, num,
			   (unsigned long long)value, e->events[i]->code, pfm3_bits(value, 0, 4),
			   pfm3_bits(value, 6, 1), e->events[i]->name, num, num);
		pfm3_emit_pmd_at(e, num, (struct pfm3_addresses){ num, 0 });
	}
	return ret;
}

static const pfm3_stage gen_ia64_stages[] = { gen_ia64_counters, NULL };

/* As before initialisation. */
const struct pfm3_model pfm3_gen_ia64 = {
	.name = "IA-64",
	.short_names = { "gen_ia64", "ia64" },
	.type = PFMLIB_GEN_IA64_PMU,
	.family = PFM3_ANY_FAMILY,
	.num_pmcs = PMU_GEN_IA64_NUM_PMCS,
	.num_pmds = PMU_GEN_IA64_NUM_PMDS,
	.num_counters = PMU_GEN_IA64_NUM_COUNTERS,
	.impl_counters = COUNTERS,
	.table = &pfm3_gen_ia64_table,
	.cycle_event = IA64_CYCLES,
	.inst_retired_event = IA64_RETIRED,
	.stages = gen_ia64_stages,
	.event_counters = capable_counters,
};
