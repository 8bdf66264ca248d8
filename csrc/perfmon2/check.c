/*
 * May the caller do this to the context now: its state, its thread, its CPU.
 */
#include "engine.h"

#include <errno.h>
#include <sched.h>

#include "../base/process.h"

int
check_thread(pid_t tid)
{
	const int ret = process_may_trace(tid);

	return ret == 0 && !choice()->np && !process_is_stopped_here(tid) ? -ESRCH : ret;
}

int
check_task(struct context *c, enum need need)
{
	if (c->state == UNLOADED || need == NEEDS_ANYTHING)
		return 0;
	if (need == NEEDS_UNLOADED)
		return -EBUSY;
	if (c->is_copy)
		return need == NEEDS_NOTHING ? 0 : -ESRCH;
	if (c->is_system)
		return choice()->np || sched_getcpu() == c->cpu ? 0 : -EBUSY;
	if (c->tid == own_thread() || need == NEEDS_NOTHING)
		return 0;
	if (c->state == MASKED && need != NEEDS_STOPPED_EVEN_MASKED)
		return 0;
	return check_thread(c->tid);
}
