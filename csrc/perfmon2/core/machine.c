/*
 * The registers of each IA-64 PMU: their defaults, reserved bits, checks and dependencies.
 */
#include "machine.h"

#include <errno.h>

#include "perfmon/pfmlib.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define COUNTER (PMC_PM6 | PMC_NO_EMUL64)

/* Debug registers are PMCs, too: the upper bits of an odd one say what it matches, and are the kernel's. */
/* clang-format off */
#define DEBUG_PAIR(n)									\
	{ PERFMON2_IBR0 + 2 * (n), PERFMON2_IBR0 + 2 * (n), 0, 0, 0 },			\
	{ PERFMON2_IBR0 + 2 * (n) + 1, PERFMON2_IBR0 + 2 * (n) + 1, 0, UINT64_C(1) << 63, 0 },	\
	{ PERFMON2_DBR0 + 2 * (n), PERFMON2_DBR0 + 2 * (n), 0, 0, 0 },			\
	{ PERFMON2_DBR0 + 2 * (n) + 1, PERFMON2_DBR0 + 2 * (n) + 1, 0, UINT64_C(3) << 62, 0 }
#define DEBUG_REGISTERS	DEBUG_PAIR(0), DEBUG_PAIR(1), DEBUG_PAIR(2), DEBUG_PAIR(3)
/* clang-format on */

static const struct pmc_rule itanium_rules[] = {
	{ 4, 7, 0x20, 0xfffffffffc8000a0, COUNTER },
	{ 8, 9, 0xfffffffe3ffffff8, 0xfff00000001c0000, 0 },
	{ 10, 10, 0, 0xfffffffff3f0ff30, PMC_PM6 },
	{ 11, 11, 0x10000000, 0xffffffffecf0ff30, PMC_PM6 },
	{ 12, 12, 0, 0xffffffffffff0030, PMC_PM6 },
	{ 13, 13, 0x3ffff00000001, 0xfffffffffffffffe, 0 },
	DEBUG_REGISTERS,
};

static const struct pmc_rule itanium2_rules[] = {
	{ 4, 4, 0x800020, 0xfffffffffc8000a0, COUNTER },
	{ 5, 7, 0x20, 0xfffffffffc8000a0, COUNTER },
	{ 8, 8, 0xffffffff3fffffff, 0xc0000004, 0 },
	{ 9, 9, 0xffffffff3ffffffc, 0xc0000004, 0 },
	{ 10, 10, 0, 0xffffffffffff0000, PMC_PM4 },
	{ 11, 11, 0, 0xfffffffffcf0fe30, PMC_PM6 },
	{ 12, 12, 0, 0xffffffffffff0000, PMC_PM6 },
	{ 13, 13, 0x2078fefefefe, 0xfffe1fffe7e7e7e7, 0 },
	{ 14, 14, 0x0db60db60db60db6, 0xffffffffffffdb6d, 0 },
	{ 15, 15, 0xfffffff0, 0xfffffffffffffff0, 0 },
	DEBUG_REGISTERS,
};

/* The mask of PMC35 is the complement of what one would expect, and PMC42's has the low half only: as in the kernel. */
static const struct pmc_rule montecito_rules[] = {
	{ 4, 15, 0x2000020, 0xffffffff838000a0, COUNTER },
	{ 32, 32, 0x30f01ffffffffff, 0xfcf0fe0000000000, 0 },
	{ 33, 33, 0, 0xfffffe0000000000, 0 },
	{ 34, 34, 0xf01ffffffffff, 0xfff0fe0000000000, 0 },
	{ 35, 35, 0, 0x1ffffffffff, 0 },
	{ 36, 36, 0xfffffff0, 0xfffffffffffffff0, 0 },
	{ 37, 37, 0, 0xffffffffffffc000, PMC_PM4 },
	{ 38, 38, 0xdb6, 0xffffffffffffdb6d, 0 },
	{ 39, 39, 0, 0xffffffffffff0030, PMC_PM6 },
	{ 40, 40, 0x2000000, 0xfffffffffff0fe30, PMC_PM6 },
	{ 41, 41, 0x2078fefefefe, 0xfffe1fffe7e7e7e7, 0 },
	{ 42, 42, 0, 0xfff800b0, PMC_PM6 },
	DEBUG_REGISTERS,
};

static const struct pmc_rule generic_rules[] = {
	{ 4, 7, 0, 0xffffffffffff0080, PMC_PM6 | PMC_OI },
};

static const struct pmd_needs itanium_needs[] = {
	{ 0x3, 1 << 10 },
	{ 0xc | 1 << 17, 1 << 11 },
	{ 0x1ff00, 1 << 12 },
};

static const struct pmd_needs montecito_needs[] = {
	{ UINT64_C(0x13) << 32, UINT64_C(1) << 40 },
	{ UINT64_C(0xc) << 32, UINT64_C(1) << 37 },
	{ UINT64_C(0xffff00c0) << 32, UINT64_C(1) << 39 | UINT64_C(1) << 42 },
};

/* clang-format off */
static const struct machine machines[] = {
	{ "Itanium", PFMLIB_ITANIUM_PMU, 32, 7, 0xf0, 0x3ffff, 18, itanium_rules, LENGTH(itanium_rules), itanium_needs,
	  LENGTH(itanium_needs), { 0, 0, 0, 0 } },
	{ "Itanium 2", PFMLIB_ITANIUM2_PMU, 47, 8, 0xf0, 0x3ffff, 18, itanium2_rules, LENGTH(itanium2_rules), itanium_needs,
	  LENGTH(itanium_needs), { 8, 13, 14, 0 } },
	{ "Montecito", PFMLIB_MONTECITO_PMU, 47, 8, 0xfff0, UINT64_C(0xffff00df0000fff0), 35, montecito_rules,
	  LENGTH(montecito_rules), montecito_needs, LENGTH(montecito_needs), { 32, 41, 38, 57 } },
	{ "Generic IA-64", PFMLIB_GEN_IA64_PMU, 47, 8, 0xf0, 0xf0, 4, generic_rules, LENGTH(generic_rules), NULL, 0,
	  { 0, 0, 0, 0 } },
};
/* clang-format on */

const struct machine *
machine_by_type(int type)
{
	for (size_t i = 0; i < LENGTH(machines); i++)
		if (machines[i].type == type)
			return &machines[i];
	return NULL;
}

const struct pmc_rule *
machine_pmc(const struct machine *machine, uint64_t number)
{
	for (size_t i = 0; i < machine->num_rules; i++)
		if (number >= machine->rules[i].first && number <= machine->rules[i].last)
			return &machine->rules[i];
	return NULL;
}

void
machine_pmcs(const struct machine *machine, uint64_t words[PERFMON2_PMC_WORDS])
{
	for (unsigned int i = 0; i < PERFMON2_PMC_WORDS; i++)
		words[i] = 0;
	for (size_t i = 0; i < machine->num_rules; i++)
		for (unsigned int n = machine->rules[i].first; n <= machine->rules[i].last; n++)
			words[n / 64] |= UINT64_C(1) << n % 64;
}

static void
put(uint64_t *value, unsigned int bit, bool set)
{
	*value = (*value & ~(UINT64_C(1) << bit)) | (uint64_t)set << bit;
}

/* An opcode matcher must not look at address ranges if data ranges are on and two code ranges are not. */
static bool
ranges_conflict(const struct range_rule *rule, unsigned int number, uint64_t value, const uint64_t *pmcs)
{
	const uint64_t opcode = number == rule->opcode ? value : pmcs[rule->opcode];
	const uint64_t data = number == rule->data ? value : pmcs[rule->data];
	const uint64_t code = number == rule->code ? value : pmcs[rule->code];
	const uint64_t first = code >> 1 & 3, second = code >> 4 & 3;

	if (number != rule->opcode && number != rule->data && number != rule->code)
		return false;
	return (data >> 45 & 0xf) == 0 && (opcode >> rule->inverse & 1) == 0 &&
	       (first == 0 || first == 2 || second == 0 || second == 2);
}

int
machine_check_pmc(const struct machine *machine, const struct pmc_rule *rule, unsigned int number, bool is_system,
		  const uint64_t pmcs[PERFMON2_PMCS], uint64_t *value)
{
	if (rule->flags & PMC_PM6)
		put(value, 6, is_system);
	if (rule->flags & PMC_PM4)
		put(value, 4, is_system);
	if (rule->flags & PMC_OI)
		put(value, 5, true);
	return machine->range.opcode && ranges_conflict(&machine->range, number, *value, pmcs) ? -EINVAL : 0;
}

uint64_t
machine_pmds_of_pmc(const struct machine *machine, unsigned int number)
{
	uint64_t found = 0;

	if (number >= PERFMON2_PMDS)
		return 0;
	for (size_t i = 0; i < machine->num_needs; i++)
		if (machine->needs[i].pmcs >> number & 1)
			found |= machine->needs[i].pmds;
	return found | (machine->counters & UINT64_C(1) << number);
}

uint64_t
machine_pmd_group(const struct machine *machine, uint64_t pmds)
{
	for (size_t i = 0; i < machine->num_needs; i++)
		if (machine->needs[i].pmds & pmds)
			pmds |= machine->needs[i].pmds;
	return pmds;
}
