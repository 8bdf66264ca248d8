/*
 * The life of a context: it begins, is loaded and unloaded, started, stopped, restarted.
 */
#include "context.h"

#include <errno.h>

int
context_begin(struct context *c, const struct machine *machine, uint32_t flags)
{
	c->machine = machine;
	c->flags = flags;
	c->is_system = (flags & PFM_FL_SYSTEM_WIDE) != 0;
	c->random = 0x2545f4914f6cdd1d;
	return set_make(c, 0) ? 0 : -ENOMEM;
}

bool
context_counts(const struct context *c)
{
	return c->state == LOADED && c->started;
}

void
duration_update(struct context *c)
{
	struct set *set = c->active;

	if (context_counts(c) && c->now > set->since)
		set->duration += c->now - set->since;
	set->since = c->now;
}

void
context_loaded(struct context *c, struct set *set)
{
	for (unsigned int i = 0; i < c->num_sets; i++) {
		c->sets[i]->ovfl_pmds = 0;
		c->sets[i]->switch_at_restart = false;
	}
	c->active = set;
	c->can_restart = 0;
	set->runs++;
	set_reload_counts(c, set);
	c->state = LOADED;
	c->started = false;
}

void
context_unloaded(struct context *c)
{
	duration_update(c);
	c->started = false;
	c->can_restart = 0;
	c->state = UNLOADED;
}

/* Starting a started context must not count the time since its last start. */
int
context_start(struct context *c, const uint64_t *id, bool is_here)
{
	struct set *set = id ? set_find(c, *id) : c->active;

	if (c->state == UNLOADED || !set)
		return -EINVAL;
	if (set != c->active && is_here)
		set_switch(c, set, true);
	else if (set != c->active)
		duration_update(c);
	c->active = set;
	c->started = true;
	set->since = c->now;
	if (set->flags & PFM_SETFL_TIME_SWITCH)
		set->remaining = set->timeout;
	return 0;
}

int
context_stop(struct context *c)
{
	if (c->state == UNLOADED)
		return -EINVAL;
	duration_update(c);
	c->started = false;
	return 0;
}

int
context_restart(struct context *c)
{
	if (c->state == UNLOADED || (c->state == LOADED && !c->buffer) || c->can_restart == 0)
		return -EBUSY;
	c->can_restart--;
	context_resume(c);
	return 0;
}

/* Restart the counters that have overflowed, and those that they reset, from their long reset values. */
static void
reset_or_switch(struct context *c)
{
	struct set *set = c->active;

	if (!set->switch_at_restart) {
		reset_pmds(c, set, true);
		return;
	}
	set->switch_at_restart = false;
	set_switch(c, set_after(c, c->active), true);
}

void
context_resume(struct context *c)
{
	struct set *set;

	if (c->buffer)
		sample_restart(c);
	reset_or_switch(c);
	if (c->state != MASKED)
		return;
	set = c->active;
	c->state = LOADED;
	set->since = c->now;
	if (c->started && set->flags & PFM_SETFL_TIME_SWITCH && set->remaining == 0)
		set_switch(c, set_after(c, c->active), false);
}
