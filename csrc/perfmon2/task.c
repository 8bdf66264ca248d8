/*
 * The thread that a context is loaded on: whether it still exists, and how long it has run.
 *
 * A thread that has loaded a context on itself unloads it when it ends.  The end of another
 * one is noticed by a pidfd, or by an event on it that hangs up; without both it is checked
 * by its number, not more than a hundred times a second.
 */
#include "engine.h"

#include <time.h>

#include "../base/process.h"

#define ALARM_LEAST 50000 /* ns: the thread is interrupted */

uint64_t
monotonic_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- its time ------------------------------------------------------------------------------- */

/*
 * The clock of a thread of this process, or of a process's first thread: Linux derives the clock's number from the
 * thread's.
 */
static bool
read_clock(clockid_t clock, uint64_t *ns)
{
	struct timespec now;

	if (clock_gettime(clock, &now) < 0)
		return false;
	*ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return true;
}

bool
task_time(struct context *c, uint64_t *ns)
{
	enum { OF_PROCESS = 2, OF_THREAD = 6 };
	const unsigned int number = ~(unsigned int)c->tid << 3;

	if (c->is_system) {
		*ns = monotonic_time();
		return true;
	}
	if (c->tid == own_thread())
		return read_clock(CLOCK_THREAD_CPUTIME_ID, ns);
	if (c->task.clock.fd >= 0)
		return counting_clock_read(&c->task.clock, ns) == 0;
	return read_clock((clockid_t)(number | OF_THREAD), ns) || read_clock((clockid_t)(number | OF_PROCESS), ns);
}

const struct task no_task = {
	.watched = -1, .anchor.event.fd = -1, .clock.fd = -1, .alarm.event.fd = -1, .alarm_at = NEVER
};

/* ---- an alarm after some run time ------------------------------------------------------------------ */

static void
open_alarm(struct context *c)
{
	if (c->task.is_tried)
		return;
	c->task.is_tried = true;
	if (counting_alarm_open(&c->task.alarm, c->tid, &c->task.is_coarse) == 0)
		helper_watch(c->task.alarm.event.fd);
}

bool
task_alarm(struct context *c, uint64_t ns)
{
	struct task *task = &c->task;
	const uint64_t at = ns < NEVER - c->now ? c->now + ns : NEVER;

	if (at == NEVER) {
		if (task->alarm_at != NEVER)
			counting_alarm_stop(&task->alarm);
		task->alarm_at = NEVER;
		return true;
	}
	open_alarm(c);
	if (task->alarm.event.fd < 0)
		return false;
	if (task->alarm_at <= at && task->alarm_at > c->now && !counting_alarm_has_rung(&task->alarm))
		return true;
	if (task->is_coarse && ns > BETWEEN_LOOKS)
		ns = BETWEEN_LOOKS;
	if (counting_alarm_set(&task->alarm, ns < ALARM_LEAST ? ALARM_LEAST : ns) < 0)
		return false;
	task->alarm_at = at;
	return true;
}

/* ---- its end -------------------------------------------------------------------------------- */

void
task_begin(struct context *c, bool takes_time)
{
	const struct counting_target target = { c->tid, -1 };

	c->task = no_task;
	if (c->is_system || c->is_self)
		return;
	c->task.watched = process_watch(c->tid);
	if (c->task.watched >= 0)
		c->task.watched = descriptor_move_up(c->task.watched);
	else if (counting_anchor_open(&c->task.anchor, &target, 1) == 0 && !c->task.anchor.ring.head)
		counting_anchor_close(&c->task.anchor); /* without a ring it always hangs up */
	if (takes_time)
		counting_clock_open(&c->task.clock, c->tid);
	helper_watch(c->task.watched >= 0 ? c->task.watched : c->task.anchor.event.fd);
}

void
task_forget(struct context *c)
{
	if (c->is_copy) /* in a child they are gone: the numbers may be other files by now */
		c->task.anchor.ring.head = c->task.alarm.ring.head = NULL;
	helper_forget_fd(c->task.watched >= 0 ? c->task.watched : c->task.anchor.event.fd);
	process_unwatch(c->task.watched);
	counting_anchor_close(&c->task.anchor);
	counting_clock_close(&c->task.clock);
	helper_forget_fd(c->task.alarm.event.fd);
	counting_anchor_close(&c->task.alarm);
	c->task = no_task;
}

bool
task_is_watched(const struct context *c)
{
	return c->task.watched >= 0 || c->task.anchor.event.fd >= 0;
}

bool
task_has_ended(struct context *c)
{
	uint64_t now;

	if (c->state == UNLOADED || c->is_system || c->tid == own_thread())
		return false;
	if (c->task.anchor.event.fd >= 0)
		return counting_anchor_has_ended(&c->task.anchor);
	if (c->task.watched < 0) {
		now = monotonic_time();
		if (now - c->task.asked < BETWEEN_LOOKS)
			return false;
		c->task.asked = now;
	}
	return process_has_ended(c->tid, c->task.watched);
}
