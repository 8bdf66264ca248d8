/*
 * Timeouts of event sets: they run while the thread runs, or, system-wide, by the clock.
 */
#include "engine.h"

#include <time.h>

uint64_t
monotonic_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool
timer_runs(struct context *c)
{
	return c->state == LOADED && c->started && c->active->flags & PFM_SETFL_TIME_SWITCH;
}

void
timer_pass(struct context *c, uint64_t ns)
{
	struct set *set = c->active;

	if (!timer_runs(c))
		return;
	set->remaining -= ns < set->remaining ? ns : set->remaining;
	if (set->remaining == 0)
		set_switch(c, set_next(c), false);
}
