/*
 * Registers and restarts as perfmonctl(2) has them, version 2.0: attributes of a counter come with its PMC, and there is one set.
 */
#include "context.h"

#include <errno.h>

struct set *
ctl_set(const struct context *c)
{
	return c->num_sets ? c->sets[0] : NULL;
}

static bool
is_privilege_wrong(const struct context *c, const struct pmc_rule *rule, uint64_t value)
{
	const unsigned int bit = rule->flags & PMC_PM6 ? 6 : 4;

	return rule->flags & (PMC_PM6 | PMC_PM4) && value != rule->init && (value >> bit & 1) != c->is_system;
}

int
ctl_check_pmc(const struct context *c, const struct request *r, uint64_t *value)
{
	const struct pmc_rule *rule = machine_old_pmc(c->machine, r->number);
	const bool is_counter = rule && rule->flags & PMC_OI;
	const struct set *set = ctl_set(c);

	if (!rule || !set || is_privilege_wrong(c, rule, r->value))
		return -EINVAL;
	if (is_counter ? (r->smpl_pmds[0] | r->reset_pmds[0]) & ~c->machine->pmds
		       : r->flags & (PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM))
		return -EINVAL;
	*value = (r->value & ~rule->reserved) | (rule->init & rule->reserved);
	return machine_check_pmc(c->machine, &(struct pmc_rule){ .flags = rule->flags & PMC_OI },
				 (unsigned int)r->number, c->is_system, set->pmcs, value);
}

void
ctl_write_attributes(struct context *c, const struct request *r)
{
	const uint64_t bit = UINT64_C(1) << r->number % 64;
	struct set *set = ctl_set(c);
	struct pmd *pmd = &set->pmds[r->number % PERFMON2_PMDS];

	use_pmds(c, set, machine_pmds_of_pmc(c->machine, (unsigned int)r->number));
	if (r->number >= PERFMON2_PMDS || !(c->machine->counters & bit))
		return;
	use_pmds(c, set, bit | r->smpl_pmds[0] | r->reset_pmds[0]);
	pmd->flags = (uint32_t)r->flags & (PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM);
	pmd->smpl_pmds = r->smpl_pmds[0];
	pmd->reset_pmds = r->reset_pmds[0];
	pmd->eventid = r->eventid;
	set->ovfl_notify = pmd->flags & PFM_REGFL_OVFL_NOTIFY ? set->ovfl_notify | bit : set->ovfl_notify & ~bit;
}

int
ctl_write_pmd(struct context *c, struct request *r)
{
	const uint64_t bit = UINT64_C(1) << r->number % 64;
	struct set *set = ctl_set(c);
	struct pmd *pmd;

	if (!set || r->number >= PERFMON2_PMDS || !(c->machine->pmds & bit))
		return -EINVAL;
	use_pmds(c, set, machine_pmd_group(c->machine, bit));
	pmd = &set->pmds[r->number];
	pmd->value = pmd->lval = r->value;
	pmd->long_reset = r->long_reset;
	pmd->short_reset = r->short_reset;
	pmd->seed = r->seed;
	pmd->random_mask = r->random_mask;
	set->ovfl_pmds &= ~bit;
	return 0;
}

int
ctl_read_pmd(struct context *c, struct request *r)
{
	const struct set *set = ctl_set(c);

	r->set = set ? set->id : UINT64_MAX;
	return read_pmd(c, r);
}

int
ctl_restart(struct context *c, bool is_here)
{
	if (c->state == UNLOADED || (c->state == LOADED && !c->buffer))
		return -EBUSY;
	if (!is_here && c->state == MASKED && c->can_restart == 0)
		return -EINVAL;
	if (c->can_restart)
		c->can_restart--;
	context_resume(c);
	return 0;
}
