/*
 * May the caller do this to the context now: its state, its thread, its CPU.
 */
#include "engine.h"

#include <errno.h>
#include <sched.h>

int
check_task(struct context *c, enum need need)
{
	if (c->state == UNLOADED || need == NEEDS_ANYTHING)
		return 0;
	if (need == NEEDS_UNLOADED)
		return -EBUSY;
	if (c->is_system)
		return choice()->np || sched_getcpu() == c->cpu ? 0 : -EBUSY;
	if (c->tid == own_thread() || need == NEEDS_NOTHING)
		return 0;
	if (c->state == MASKED && need != NEEDS_STOPPED_EVEN_MASKED)
		return 0;
	return thread_check(c->tid, choice()->np);
}
