/*
 * The control registers as perfmonctl(2) had them, version 2.0: other defaults, other reserved bits.
 */
#include "machine.h"

#include <errno.h>

#include "perfmon/pfmlib.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

struct old_rules {
	int type;
	const struct pmc_rule *rules;
	size_t count;
	uint64_t pmc0; /* the default of a register that only the kernel writes */
};

static const struct pmc_rule itanium_rules[] = {
	{ 4, 7, 0, 0, PMC_PM6 | PMC_OI },   { 8, 9, 0xf00000003ffffff8, 0, 0 }, { 10, 10, 0, 0, PMC_PM6 },
	{ 11, 11, 0x10000000, 0, PMC_PM6 }, { 12, 12, 0, 0, PMC_PM6 },          { 13, 13, 0x3ffff00000001, 0, 0 },
};

static const struct pmc_rule itanium2_rules[] = {
	{ 4, 4, 0x800000, ~UINT64_C(0xf7fff7f), PMC_PM6 | PMC_OI },
	{ 5, 7, 0, ~UINT64_C(0xfffff7f), PMC_PM6 | PMC_OI },
	{ 8, 8, 0xffffffff3fffffff, ~UINT64_C(0xffffffff3ffffffb), 0 },
	{ 9, 9, 0xffffffff3ffffffc, ~UINT64_C(0xffffffff3ffffffc), 0 },
	{ 10, 10, 0, ~UINT64_C(0xffff), PMC_PM4 },
	{ 11, 11, 0, ~UINT64_C(0x30f01cf), PMC_PM6 },
	{ 12, 12, 0, ~UINT64_C(0xffff), PMC_PM6 },
	{ 13, 13, 0x2078fefefefe, ~UINT64_C(0x1e00018181818), 0 },
	{ 14, 14, 0x0db60db60db60db6, ~UINT64_C(0x2492), 0 },
	{ 15, 15, 0xfffffff0, ~UINT64_C(0xf), 0 },
};

static const struct pmc_rule montecito_rules[] = {
	{ 4, 15, 0x2000000, ~UINT64_C(0x7c7fff7f), PMC_PM6 | PMC_OI },
	{ 32, 32, 0x30f01ffffffffff, ~UINT64_C(0x30f01ffffffffff), 0 },
	{ 33, 33, 0, ~UINT64_C(0x1ffffffffff), 0 },
	{ 34, 34, 0xf01ffffffffff, ~UINT64_C(0xf01ffffffffff), 0 },
	{ 35, 35, 0, ~UINT64_C(0x1ffffffffff), 0 },
	{ 36, 36, 0xfffffff0, ~UINT64_C(0xf), 0 },
	{ 37, 37, 0, ~UINT64_C(0x3fff), PMC_PM4 },
	{ 38, 38, 0xdb6, ~UINT64_C(0x2492), 0 },
	{ 39, 39, 0, ~UINT64_C(0xffcf), PMC_PM6 },
	{ 40, 40, 0x2000000, ~UINT64_C(0xf01cf), PMC_PM6 },
	{ 41, 41, 0x2078fefefefe, ~UINT64_C(0x1e00018181818), 0 },
	{ 42, 42, 0, ~UINT64_C(0x7ff4f), PMC_PM6 },
};

static const struct pmc_rule generic_rules[] = {
	{ 4, 7, 0, 0, PMC_PM6 | PMC_OI },
};

static const struct old_rules machines[] = {
	{ PFMLIB_ITANIUM_PMU, itanium_rules, LENGTH(itanium_rules), 1 },
	{ PFMLIB_ITANIUM2_PMU, itanium2_rules, LENGTH(itanium2_rules), 1 },
	{ PFMLIB_MONTECITO_PMU, montecito_rules, LENGTH(montecito_rules), 0 },
	{ PFMLIB_GEN_IA64_PMU, generic_rules, LENGTH(generic_rules), 1 },
};

static const struct old_rules *
machine_old_find(const struct machine *machine)
{
	size_t i = 0;

	while (machines[i].type != machine->type)
		i++;
	return &machines[i];
}

const struct pmc_rule *
machine_old_pmc(const struct machine *machine, uint64_t number)
{
	const struct old_rules *old = machine_old_find(machine);

	for (size_t i = 0; i < old->count; i++)
		if (number >= old->rules[i].first && number <= old->rules[i].last)
			return &old->rules[i];
	return NULL;
}

int
machine_old_default(const struct machine *machine, uint64_t number, uint64_t *value)
{
	const struct pmc_rule *rule = machine_old_pmc(machine, number);

	if (!rule && number > 3)
		return -EINVAL;
	*value = rule ? rule->init : number == 0 ? machine_old_find(machine)->pmc0 : 0;
	return 0;
}
