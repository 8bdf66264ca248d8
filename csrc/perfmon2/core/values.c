/*
 * Control and data registers of a set: written and read, element by element.
 */
#include "context.h"

#include <errno.h>

struct set *
set_find(const struct context *c, uint64_t id)
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
check_pmc(const struct context *c, const struct set *set, const struct request *r, uint64_t *value)
{
	const struct pmc_rule *rule = machine_pmc(c->machine, r->number);

	if (!rule || r->flags & ~(uint64_t)PFM_REGFL_NO_EMUL64)
		return -EINVAL;
	*value = (r->value & ~rule->reserved) | (rule->init & rule->reserved);
	if (r->flags & PFM_REGFL_NO_EMUL64) {
		if (!(rule->flags & PMC_NO_EMUL64))
			return -EINVAL;
		*value &= ~(UINT64_C(1) << 5);
	}
	return machine_check_pmc(c->machine, rule, (unsigned int)r->number, c->is_system, set->pmcs, value);
}

static bool
has_pmd(const struct context *c, const struct request *r)
{
	return r->number < PERFMON2_PMDS && c->machine->pmds >> r->number & 1;
}

/* A bit vector of PMDs that the machine has: they are in its first word. */
static bool
is_vector(const struct context *c, const uint64_t *words)
{
	for (size_t i = 1; i < PFM_PMD_BV; i++)
		if (words[i])
			return false;
	return !(words[0] & ~c->machine->pmds);
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

/* Do the common part of both kinds of writes: find the register, or NULL. */
static struct pmd *
begin_write(struct context *c, const struct request *r, uint64_t others)
{
	const uint64_t bit = UINT64_C(1) << r->number % 64;
	struct set *set = set_find(c, r->set);
	struct pmd *pmd;

	if (!has_pmd(c, r) || r->flags & ~(uint64_t)(PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM) || !set)
		return NULL;
	use_pmds(c, set, others | bit);
	pmd = &set->pmds[r->number];
	pmd->value = pmd->lval = r->value;
	pmd->flags = (uint32_t)r->flags;
	set->ovfl_notify = r->flags & PFM_REGFL_OVFL_NOTIFY ? set->ovfl_notify | bit : set->ovfl_notify & ~bit;
	set->ovfl_pmds &= ~bit;
	return pmd;
}

int
write_pmd_value(struct context *c, struct request *r)
{
	return begin_write(c, r, 0) ? 0 : -EINVAL;
}

int
write_pmd(struct context *c, struct request *r)
{
	struct pmd *pmd;

	if (!is_vector(c, r->smpl_pmds) || !is_vector(c, r->reset_pmds))
		return -EINVAL;
	pmd = begin_write(c, r, r->smpl_pmds[0] | r->reset_pmds[0]);
	if (!pmd)
		return -EINVAL;
	pmd->smpl_pmds = r->smpl_pmds[0];
	pmd->reset_pmds = r->reset_pmds[0];
	pmd->swcnt = pmd->swref = r->swcnt;
	pmd->long_reset = r->long_reset;
	pmd->short_reset = r->short_reset;
	pmd->random_mask = r->random_mask;
	pmd->eventid = r->eventid;
	return 0;
}

bool
pmd_interrupts(const struct set *set, unsigned int counter)
{
	return set->pmcs[counter] >> 5 & 1;
}

/* A counter that does not interrupt has its own width; the bits above do not change. */
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
read_pmd(struct context *c, struct request *r)
{
	const struct set *set = set_find(c, r->set);
	const struct pmd *pmd;

	if (!has_pmd(c, r) || !set || !(set->used_pmds >> r->number & 1))
		return -EINVAL;
	if (c->is_unknown && c->machine->counters >> r->number & 1)
		return -ESRCH;
	pmd = &set->pmds[r->number];
	r->value = pmd->value;
	r->last = pmd->lval;
	r->swcnt = pmd->swcnt;
	return set->is_refused && c->machine->counters >> r->number & 1 ? -EBUSY : 0;
}
