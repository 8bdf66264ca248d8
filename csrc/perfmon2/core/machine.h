/*
 * Private: the registers of each IA-64 PMU, as perfmon2's kernel module has them.
 */
#ifndef PYPFM_PERFMON2_MACHINE_H
#define PYPFM_PERFMON2_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PERFMON2_PMC_WORDS = 5, PERFMON2_IBR0 = 256, PERFMON2_DBR0 = 264, PERFMON2_PMCS = 272, PERFMON2_PMDS = 64 };

/* Further properties of a PMC. */
enum {
	PMC_PM6 = 1,      /* bit 6: privileged monitor; it must match the context */
	PMC_PM4 = 2,      /* bit 4: likewise */
	PMC_OI = 4,       /* bit 5, the overflow interrupt, is always set */
	PMC_NO_EMUL64 = 8 /* a write may ask for no 64-bit emulation */
};

/* Some PMCs that are alike: reserved bits are set to the default. */
struct pmc_rule {
	uint16_t first, last;
	uint64_t init, reserved;
	unsigned int flags;
};

/* A write of one of these PMDs makes these PMCs used. */
struct pmd_needs {
	uint64_t pmds, pmcs;
};

/* Three PMCs some of whose values are forbidden together. */
struct range_rule {
	uint16_t opcode, data, code; /* 0: there is no such rule */
	unsigned int inverse;        /* bit of the opcode matcher: ignore instruction address ranges */
};

struct machine {
	const char *name;
	int type;               /* PFMLIB_*_PMU */
	unsigned int width;     /* of a counter, in bits */
	unsigned int code_bits; /* of an event's code */
	uint64_t counters, pmds;
	unsigned int num_pmds;
	const struct pmc_rule *rules;
	size_t num_rules;
	const struct pmd_needs *needs;
	size_t num_needs;
	struct range_rule range;
};

/* The event that a counter's PMC selects: code and unit mask. */
static inline unsigned int
pmc_es(const struct machine *machine, uint64_t pmc)
{
	return (unsigned int)(pmc >> 8) & ((1U << machine->code_bits) - 1);
}

static inline unsigned int
pmc_umask(uint64_t pmc)
{
	return (unsigned int)(pmc >> 16) & 0xf;
}

/* The machine of a libpfm PMU; NULL: it has none. */
const struct machine *machine_by_type(int type);

/* NULL: there is no such PMC. */
const struct pmc_rule *machine_pmc(const struct machine *machine, uint64_t number);

/* Bit vectors of the existing PMCs. */
void machine_pmcs(const struct machine *machine, uint64_t words[PERFMON2_PMC_WORDS]);

/*
 * Compute the value that a write of a PMC stores, given the other values of the set: -EINVAL if the processor must not
 * have them.
 */
int machine_check_pmc(const struct machine *machine, const struct pmc_rule *rule, unsigned int number, bool is_system,
		      const uint64_t pmcs[PERFMON2_PMCS], uint64_t *value);

/* machine_old.c: for perfmonctl(2): its rule for a PMC, or NULL, and a default, also of PMC0 to PMC3. */
const struct pmc_rule *machine_old_pmc(const struct machine *machine, uint64_t number);
int machine_old_default(const struct machine *machine, uint64_t number, uint64_t *value);

/* The PMDs that a PMC makes used, and those that are used together with some PMDs. */
uint64_t machine_pmds_of_pmc(const struct machine *machine, unsigned int number);
uint64_t machine_pmd_group(const struct machine *machine, uint64_t pmds);

#endif /* PYPFM_PERFMON2_MACHINE_H */
