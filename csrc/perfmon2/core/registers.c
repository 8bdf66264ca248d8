/*
 * Control and data registers of a set: written and read, element by element.
 */
#include "context.h"

#include <errno.h>

struct set *
set_find(const struct context *c, unsigned int id)
{
	unsigned int low = 0, high = c->num_sets;

	while (low < high) {
		const unsigned int middle = (low + high) / 2;

		if (c->sets[middle]->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->num_sets && c->sets[low]->id == id ? c->sets[low] : NULL;
}

static void
use_pmcs(struct set *set, uint64_t first)
{
	set->used_pmcs[0] |= first;
}

void
set_pmc(struct set *set, unsigned int number, uint64_t value)
{
	set->pmcs[number] = value;
	set->used_pmcs[number / 64] |= UINT64_C(1) << number % 64;
}

int
check_pmc(const struct context *c, const struct set *set, unsigned int number, uint32_t flags, uint64_t *value)
{
	const struct pmc_rule *rule = machine_pmc(c->machine, number);

	if (!rule || flags & ~(uint32_t)PFM_REGFL_NO_EMUL64)
		return -EINVAL;
	*value = (*value & ~rule->reserved) | (rule->init & rule->reserved);
	if (flags & PFM_REGFL_NO_EMUL64) {
		if (!(rule->flags & PMC_NO_EMUL64))
			return -EINVAL;
		*value &= ~(UINT64_C(1) << 5);
	}
	return machine_check_pmc(c->machine, rule, number, c->is_system, set->pmcs, value);
}

static bool
has_pmd(const struct machine *machine, unsigned int number)
{
	return number < PERFMON2_PMDS && machine->pmds >> number & 1;
}

/* A bit vector of all PMDs that may be: those that the machine has are in its first word. */
static int
one_word(const struct machine *machine, const uint64_t *words, uint64_t *word)
{
	for (size_t i = 1; i < PFM_PMD_BV; i++)
		if (words[i])
			return -EINVAL;
	*word = words[0];
	return words[0] & ~machine->pmds ? -EINVAL : 0;
}

/* Registers that are used for the first time have the value 0 and no attributes. */
void
use_pmds(struct context *c, struct set *set, uint64_t pmds)
{
	for (unsigned int i = 0; i < PERFMON2_PMDS; i++)
		if (pmds >> i & 1 && !(set->used_pmds >> i & 1))
			set->pmds[i] = (struct pmd){ 0 };
	set->used_pmds |= pmds;
	use_pmcs(set, pmds & c->machine->counters);
	for (size_t i = 0; i < c->machine->num_needs; i++)
		if (c->machine->needs[i].pmds & pmds)
			use_pmcs(set, c->machine->needs[i].pmcs);
}

int
write_pmd(struct context *c, const pfarg_pmd_t *from, bool value_only)
{
	const uint64_t bit = UINT64_C(1) << from->reg_num % 64;
	uint64_t smpl = 0, reset = 0;
	struct set *set;
	struct pmd *pmd;

	if (!has_pmd(c->machine, from->reg_num) || from->reg_flags & ~(uint32_t)(PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM))
		return -EINVAL;
	if (!value_only && (one_word(c->machine, from->reg_smpl_pmds, &smpl) < 0 ||
			    one_word(c->machine, from->reg_reset_pmds, &reset) < 0))
		return -EINVAL;
	set = set_find(c, from->reg_set);
	if (!set)
		return -EINVAL;
	use_pmds(c, set, smpl | reset | bit);
	pmd = &set->pmds[from->reg_num];
	pmd->value = pmd->lval = from->reg_value;
	pmd->flags = from->reg_flags;
	set->ovfl_notify = from->reg_flags & PFM_REGFL_OVFL_NOTIFY ? set->ovfl_notify | bit : set->ovfl_notify & ~bit;
	set->ovfl_pmds &= ~bit;
	if (value_only)
		return 0;
	pmd->smpl_pmds = smpl;
	pmd->reset_pmds = reset;
	pmd->swcnt = pmd->swref = from->reg_ovfl_switch_cnt;
	pmd->long_reset = from->reg_long_reset;
	pmd->short_reset = from->reg_short_reset;
	pmd->random_mask = from->reg_random_mask;
	pmd->eventid = from->reg_smpl_eventid;
	return 0;
}

bool
pmd_interrupts(const struct set *set, unsigned int counter)
{
	return set->pmcs[counter] >> 5 & 1;
}

/* A counter that does not interrupt has its own width, and what is above stays. */
bool
count_pmd(const struct context *c, struct set *set, unsigned int counter, uint64_t events)
{
	const uint64_t low = (UINT64_C(1) << c->machine->width) - 1;
	uint64_t *value = &set->pmds[counter].value;

	if (pmd_interrupts(set, counter)) {
		*value += events;
		return *value < events;
	}
	*value = (*value & ~low) | ((*value + events) & low);
	return false;
}

int
read_pmd(const struct context *c, unsigned int number, unsigned int id, const struct pmd **found)
{
	const struct set *set;

	if (!has_pmd(c->machine, number))
		return -EINVAL;
	set = set_find(c, id);
	if (!set || !(set->used_pmds >> number & 1))
		return -EINVAL;
	if (c->is_unknown && c->machine->counters >> number & 1)
		return -ESRCH;
	*found = &set->pmds[number];
	return set->is_refused && c->machine->counters >> number & 1 ? -EBUSY : 0;
}
