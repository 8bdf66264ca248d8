/*
 * Reserved bits of perfmon2's registers that look wrong and are the kernel's: no call returns what a control register got.
 */
#include "check.h"

#include <perfmon/pfmlib.h>

#include "core/machine.h"

/* What a write of all ones stores. */
static uint64_t
stored(unsigned int number)
{
	const struct machine *montecito = machine_by_type(PFMLIB_MONTECITO_PMU);
	const struct pmc_rule *rule = machine_pmc(montecito, number);

	return (~rule->reserved) | (rule->init & rule->reserved);
}

int
main(void)
{
	/* Opcode matchers: of PMC33 the address bits are stored, of PMC35 all others. */
	CHECK_EQ(stored(33), UINT64_C(0x1ffffffffff));
	CHECK_EQ(stored(35), ~UINT64_C(0x1ffffffffff));
	/* The execution trace buffer's second register: only reserved bits of the low half are taken off. */
	CHECK_EQ(stored(42), ~UINT64_C(0xfff800b0));
	return check_result();
}
