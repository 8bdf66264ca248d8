/*
 * Event sets: made, changed, deleted, which one is active, and their timeouts.
 *
 * Timeouts run while the thread runs, or, system-wide, by the clock.
 */
#include "context.h"

#include <errno.h>
#include <sys/mman.h>

void *
private_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void
default_pmcs(const struct context *c, struct set *set)
{
	for (size_t i = 0; i < c->machine->num_rules; i++)
		for (unsigned int n = c->machine->rules[i].first; n <= c->machine->rules[i].last; n++)
			set->pmcs[n] = c->machine->rules[i].init;
}

struct set *
set_make(struct context *c, unsigned int id)
{
	struct set *set = c->num_sets < MAX_SETS ? private_memory(sizeof(*set)) : NULL;
	unsigned int at = c->num_sets;

	if (!set)
		return NULL;
	set->id = (uint16_t)id;
	default_pmcs(c, set);
	for (; at > 0 && c->sets[at - 1]->id > id; at--) {
		c->sets[at] = c->sets[at - 1];
		c->sets[at]->at++;
	}
	c->sets[at] = set;
	set->at = (uint16_t)at;
	c->num_sets++;
	if (!c->active)
		c->active = set;
	return set;
}

void
set_free(struct context *c, struct set *set)
{
	c->num_sets--;
	for (unsigned int at = set->at; at < c->num_sets; at++) {
		c->sets[at] = c->sets[at + 1];
		c->sets[at]->at--;
	}
	if (c->active == set)
		c->active = c->num_sets ? c->sets[0] : NULL;
	munmap(set, sizeof(*set));
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

/* A new set that is refused remains, with no flags, as in the kernel. */
int
set_change(struct context *c, struct request *r)
{
	const uint32_t flags = (uint32_t)r->flags;
	struct set *set = set_find(c, r->set);
	int ret;

	if (!set)
		set = set_make(c, (unsigned int)r->set);
	if (!set)
		return -ENOMEM;
	ret = check_flags(c, flags, r->timeout);
	if (ret < 0)
		return ret;
	set->flags = flags;
	set->timeout = flags & PFM_SETFL_TIME_SWITCH ? r->timeout : 0;
	set->runs = set->duration = 0;
	default_pmcs(c, set);
	return 0;
}

int
set_delete(struct context *c, struct request *r)
{
	struct set *set = set_find(c, r->set);

	if (!set)
		return -EINVAL;
	set_free(c, set);
	return 0;
}

int
set_tell(struct context *c, struct request *r)
{
	const struct set *set = set_find(c, r->set);

	if (!set)
		return -EINVAL;
	r->flags = set->flags;
	r->runs = set->runs;
	r->timeout = set->remaining;
	r->duration = set->duration;
	if (c->is_system && set == c->active && context_counts(c) && c->now > set->since)
		r->duration += c->now - set->since;
	r->ovfl_pmds[0] = set->ovfl_pmds;
	r->pmds[0] = c->machine->pmds;
	machine_pmcs(c->machine, r->pmcs);
	return 0;
}

struct set *
set_after(const struct context *c, const struct set *set)
{
	const unsigned int at = set->at + 1u;

	return c->sets[at < c->num_sets ? at : 0];
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
	if (to != c->active) { /* a set that goes on has no duration before it stops */
		duration_update(c);
		to->since = c->active->since; /* no time is lost between them */
	}
	to->runs++;
	set_reload_counts(c, to);
	reset_pmds(c, to, long_reset);
	c->active = to;
	if (to->flags & PFM_SETFL_TIME_SWITCH)
		to->remaining = to->timeout;
}

bool
timer_runs(const struct context *c)
{
	return context_counts(c) && c->active->flags & PFM_SETFL_TIME_SWITCH;
}

void
timer_pass(struct context *c, uint64_t ns)
{
	struct set *set = c->active;

	if (!timer_runs(c))
		return;
	set->remaining -= ns < set->remaining ? ns : set->remaining;
	if (set->remaining == 0)
		set_switch(c, set_after(c, c->active), false);
}

uint64_t
round_time(const struct context *c)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < c->num_sets; i++) {
		const struct set *set = c->sets[i];

		if (!(set->flags & PFM_SETFL_TIME_SWITCH) || set->pending_reset || set->timeout > INT64_MAX - ns)
			return 0;
		ns += set->timeout;
	}
	return timer_runs(c) ? ns : 0;
}

void
round_pass(struct context *c, uint64_t n)
{
	struct set *active = c->active;
	const uint64_t since_switch = active->timeout - active->remaining;

	if (n == 0)
		return;
	if (c->num_sets > 1) /* a set that goes on has no duration before it stops */
		duration_update(c);
	for (unsigned int i = 0; i < c->num_sets; i++) {
		struct set *set = c->sets[i];

		set->runs += n;
		set->remaining = set == active ? set->remaining : 0;
		set->duration += c->num_sets > 1 ? n * set->timeout : 0;
		c->now += n * set->timeout;
	}
	if (c->num_sets > 1) {
		active->since = c->now - since_switch;
		active->duration -= since_switch;
	}
}
