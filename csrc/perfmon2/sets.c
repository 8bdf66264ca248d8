/*
 * Event sets: made, changed, deleted, and which one is active.
 */
#include "engine.h"

#include <errno.h>
#include <string.h>

static void
default_pmcs(const struct context *c, struct set *set)
{
	for (size_t i = 0; i < c->machine->num_rules; i++)
		for (unsigned int n = c->machine->rules[i].first; n <= c->machine->rules[i].last; n++)
			set->pmcs[n] = c->machine->rules[i].init;
}

static void
put_in_order(struct context *c, uint16_t place)
{
	unsigned int at = c->num_sets;

	for (; at > 0 && c->sets[c->order[at - 1]].id > c->sets[place].id; at--)
		c->order[at] = c->order[at - 1];
	c->order[at] = place;
	c->num_sets++;
}

/* Which places are used is never half true: the rest follows from it. */
void
sets_repair(struct context *c)
{
	c->num_sets = 0;
	for (uint16_t i = 0; i < c->places; i++)
		if (c->sets[i].used)
			put_in_order(c, i);
	if (!c->sets[c->active].used)
		c->active = c->order[0];
}

struct set *
set_make(struct context *c, unsigned int id)
{
	uint16_t place = 0;

	if (c->num_sets == MAX_SETS)
		return NULL;
	while (c->sets[place].used)
		place++;
	if (place >= c->places)
		c->places = place + 1;
	memset(&c->sets[place], 0, sizeof(c->sets[place]));
	c->sets[place].id = (uint16_t)id;
	default_pmcs(c, &c->sets[place]);
	__atomic_store_n(&c->sets[place].used, true, __ATOMIC_RELEASE);	/* it is whole now, and belongs to the context */
	put_in_order(c, place);
	return &c->sets[place];
}

static int
check_flags(const struct context *c, uint32_t flags, uint64_t timeout)
{
	const uint32_t interrupts = PFM_ITA_SETFL_EXCL_INTR | PFM_ITA_SETFL_INTR_ONLY;
	const uint32_t switches = PFM_SETFL_OVFL_SWITCH | PFM_SETFL_TIME_SWITCH;

	if (flags & ~(interrupts | switches | PFM_ITA_SETFL_IDLE_EXCL) || (flags & interrupts) == interrupts ||
	    (flags & PFM_ITA_SETFL_IDLE_EXCL && !c->is_system) || (flags & switches) == switches)
		return -EINVAL;
	return flags & PFM_SETFL_TIME_SWITCH && timeout == 0 ? -EINVAL : 0;
}

/* A new set that is refused stays, with no flags: the kernel's does. */
int
set_change(struct context *c, unsigned int id, uint32_t flags, uint64_t timeout)
{
	struct set *set = set_find(c, id);
	int ret;

	if (!set)
		set = set_make(c, id);
	if (!set)
		return -ENOMEM;
	ret = check_flags(c, flags, timeout);
	if (ret < 0)
		return ret;
	set->flags = flags;
	set->timeout = flags & PFM_SETFL_TIME_SWITCH ? timeout : 0;
	set->runs = set->duration = 0;
	default_pmcs(c, set);
	return 0;
}

int
set_delete(struct context *c, unsigned int id)
{
	const struct set *set = set_find(c, id);
	unsigned int at = 0;

	if (!set)
		return -EINVAL;
	while (&c->sets[c->order[at]] != set)
		at++;
	c->sets[c->order[at]].used = false;
	c->num_sets--;
	memmove(&c->order[at], &c->order[at + 1], (c->num_sets - at) * sizeof(c->order[0]));
	return 0;
}

struct set *
set_next(struct context *c)
{
	for (unsigned int i = 0; i + 1 < c->num_sets; i++)
		if (c->order[i] == c->active)
			return &c->sets[c->order[i + 1]];
	return &c->sets[c->order[0]];
}

void
set_reload_counts(struct context *c, struct set *set)
{
	if (set->flags & PFM_SETFL_OVFL_SWITCH)
		for (unsigned int i = 0; i < PERFMON2_PMDS; i++)
			if (set->used_pmds & c->machine->counters & UINT64_C(1) << i)
				set->pmds[i].swcnt = set->pmds[i].swref;
}

void
set_switch(struct context *c, struct set *to, bool long_reset)
{
	duration_update(c);
	to->runs++;
	set_reload_counts(c, to);
	reset_pmds(c, to, long_reset);
	c->active = (uint16_t)(to - c->sets);
	to->since = engine_clock();
	if (to->flags & PFM_SETFL_TIME_SWITCH)
		to->remaining = to->timeout;
}
