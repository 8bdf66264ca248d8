/*
 * The PMUs of IA-64 processors: gen_ia64, ita, ita2, mont.
 *
 * Their events are the rows of libpfm 3's tables, and a code is the value that libpfm 3 computes for the PMC of
 * a counter.  Linux's driver for them takes that value as attr.config, drives counters and nothing else, and
 * sets the rest of the PMC itself (since August 2026).
 */
#include "request.h"

#include "../base/processor.h"

/* States of a cache line, in the order of their bits in the PMC, and all of them. */
enum { I, S, E, M, MESI };
static const unsigned char all_states[] = { I, S, E, M };

const struct pfm4_umask pfm4_mesi_umasks[] = {
	[I] = { .name = "I", .desc = "invalid", .code = 1 << I },
	[S] = { .name = "S", .desc = "shared", .code = 1 << S },
	[E] = { .name = "E", .desc = "exclusive", .code = 1 << E },
	[M] = { .name = "M", .desc = "modified", .code = 1 << M },
	[MESI] = { .name = "MESI",
		   .desc = "any state of the line",
		   .equiv = "I:S:E:M",
		   .code = 0xf,
		   .members = all_states,
		   .num_members = sizeof(all_states),
		   .flags = PFM4_DFL },
};
_Static_assert(sizeof(pfm4_mesi_umasks) / sizeof(*pfm4_mesi_umasks) == PFM4_NUM_MESI, "the generator counts them");

static const struct pfm4_modifier ia64_modifiers[] = {
	{ "k", "count in the kernel (privilege level 0)", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PMU, PFM4_K },
	{ "u", "count in user programs (privilege level 3)", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PMU, PFM4_U },
	{ "thres", "count cycles with more than this many occurrences", PFM_ATTR_MOD_INTEGER, PFM_ATTR_CTRL_PMU,
	  PFM4_THRES },
	{ "all", "count in both threads of the core", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PMU, PFM4_ALL },
	{ .name = NULL },
};

/* Take the value of one of the modifiers above. */
static pfm_err_t
ia64_select_modifier(const struct pfm4_request *r, const struct pfm4_entry *entry, uint64_t *values, int *levels_given)
{
	int code = entry->modifier->code;

	if (entry->modifier->ctrl != PFM_ATTR_CTRL_PMU)
		return PFM_SUCCESS; /* the operating system's */
	if (code == PFM4_THRES && entry->value > r->event->max_threshold)
		return PFM_ERR_ATTR_VAL;
	if (code == PFM4_K || code == PFM4_U)
		*levels_given = 1;
	values[code] = code == PFM4_THRES ? entry->value : entry->value != 0;
	return PFM_SUCCESS;
}

/* Read the entries: bits of the cache line states, values of the modifiers. */
static pfm_err_t
ia64_read_entries(struct pfm4_request *r, uint64_t *states, uint64_t *values)
{
	pfm_err_t ret = PFM_SUCCESS;
	int levels_given = 0;

	for (int i = 0; i < r->num_entries && ret == PFM_SUCCESS; i++) {
		if (r->entries[i].umask)
			*states |= r->entries[i].umask->code;
		else
			ret = ia64_select_modifier(r, &r->entries[i], values, &levels_given);
	}
	if (!levels_given) {
		values[PFM4_K] = (r->dfl_plm & PFM_PLM0) != 0;
		values[PFM4_U] = (r->dfl_plm & PFM_PLM3) != 0;
	}
	if (ret == PFM_SUCCESS && r->event->num_umasks && !*states) { /* none of them would count nothing */
		*states = pfm4_mesi_umasks[MESI].code;
		for (size_t i = 0; i < sizeof(all_states); i++) /* as a string with MESI has them */
			pfm4_add_default(r, all_states[i]);
	}
	return ret;
}

/* Tell whether the driver counts the event: it uses no register beside the counter's, and cuts config. */
static int
ia64_is_driven(const struct pfm4_request *r)
{
	uint64_t event = ia64_counter_value((struct ia64_counter){ .umask = r->event->umask });

	return !(r->event->flags & PFM4_OTHER_REGISTERS) && !(event & r->pmu->not_in_config);
}

static pfm_err_t
ia64_encode(struct pfm4_request *r)
{
	uint64_t states = 0, values[PFM4_NUM_HW_MODIFIERS] = { 0 };
	pfm_err_t ret = ia64_read_entries(r, &states, values);

	if (ret == PFM_SUCCESS && r->os != PFM_OS_NONE && !ia64_is_driven(r))
		ret = PFM_ERR_NOTSUPP;
	if (ret != PFM_SUCCESS)
		return ret;
	r->num_codes = 1;
	r->codes[0] = r->pmu->always | IA64_MESI(states) | (values[PFM4_ALL] ? IA64_ALL : 0) |
		      ia64_counter_value((struct ia64_counter){
			      .plm = (values[PFM4_K] ? PFM_PLM0 : 0) | (values[PFM4_U] ? PFM_PLM3 : 0),
			      .code = (unsigned int)r->code,
			      .umask = r->event->umask,
			      .threshold = (unsigned int)values[PFM4_THRES],
		      });
	pfm4_append(r, r->event->name);
	pfm4_append_umasks(r);
	pfm4_append_hw_modifiers(r, values);
	return PFM_SUCCESS;
}

static unsigned int
ia64_lacks(const struct pfm4_event *event)
{
	(void)event;
	return 1u << PFM4_OS_HW_SMPL | 1u << PFM4_OS_PRECISE;
}

static int
ia64_detect(const struct pfm4_pmu *pmu, struct pfm4_context *context)
{
	unsigned long cpuid3;

	(void)context;
	return ia64_cpuid3(&cpuid3) && ia64_family(cpuid3) == pmu->family;
}

/* The architected PMU is for processors that no other PMU is for, and the kernel describes it. */
static int
gen_ia64_detect(const struct pfm4_pmu *pmu, struct pfm4_context *context)
{
	unsigned long cpuid3;
	struct ia64_pal pal;

	(void)pmu;
	if (!ia64_cpuid3(&cpuid3))
		return 0;
	switch (ia64_family(cpuid3)) {
	case IA64_ITANIUM:
	case IA64_ITANIUM2:
	case IA64_MONTECITO:
		return 0;
	default:
		if (!ia64_pal_read(ia64_pal_path(), &pal, stderr))
			return 0;
	}
	context->cycles_code = pal.codes[IA64_CYCLES];
	context->retired_code = pal.codes[IA64_RETIRED];
	return 1;
}

/* The code of an architected event is the processor's. */
static uint64_t
gen_ia64_code(const struct pfm4_context *context, const struct pfm4_event *event)
{
	if (event == &pfm4_gen_ia64_table.events[IA64_CYCLES])
		return context->cycles_code ? context->cycles_code : IA64_CYCLES_CODE;
	return context->retired_code ? context->retired_code : IA64_RETIRED_CODE;
}

/* The common part of all IA-64 PMUs; config is the part of the PMC's value that their driver takes. */
#define IA64_PMU(config) \
	.type = PFM_PMU_TYPE_CORE, .max_encoding = 1, .levels = PFM_PLM0 | PFM_PLM3, .retired = 1, \
	.shows_defaults = 1, .hw_modifiers = ia64_modifiers, .not_in_config = ~UINT64_C(config), .lacks = ia64_lacks, \
	.match = pfm4_match, .encode = ia64_encode, .is_driven = ia64_is_driven

const struct pfm4_pmu pfm4_gen_ia64 = {
	.name = "gen_ia64",
	.desc = "IA-64 architected PMU",
	.id = PFM_PMU_GEN_IA64,
	.table = &pfm4_gen_ia64_table,
	.num_cntrs = 4,
	.always = IA64_OI,
	.code = gen_ia64_code,
	.detect = gen_ia64_detect,
	IA64_PMU(0x0000ff00),
};

const struct pfm4_pmu pfm4_ita = {
	.name = "ita",
	.desc = "Intel Itanium",
	.id = PFM_PMU_ITANIUM,
	.table = &pfm4_ita_table,
	.num_cntrs = 4,
	.always = IA64_OI,
	.family = IA64_ITANIUM,
	.detect = ia64_detect,
	IA64_PMU(0x0077ff00), /* bit 19, the highest of the unit mask, is not in it */
};

const struct pfm4_pmu pfm4_ita2 = {
	.name = "ita2",
	.desc = "Intel Itanium 2",
	.id = PFM_PMU_ITANIUM2,
	.table = &pfm4_ita2_table,
	.num_cntrs = 4,
	.always = IA64_OI,
	.family = IA64_ITANIUM2,
	.detect = ia64_detect,
	IA64_PMU(0x007fff00),
};

const struct pfm4_pmu pfm4_mont = {
	.name = "mont",
	.desc = "Intel Dual-Core Itanium 2 (Montecito, Montvale)",
	.id = PFM_PMU_MONTECITO,
	.table = &pfm4_mont_table,
	.num_cntrs = 12,
	.always = IA64_ISM_IA64,
	.family = IA64_MONTECITO,
	.detect = ia64_detect,
	IA64_PMU(0x7c7fff00),
};
