/*
 * The life of a context outside of the core: its thread or CPU, its back end, other users of
 * the same counters, its messages.
 */
#include "engine.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "../base/process.h"

/* A thread that ends unloads the context that is loaded on it. */
static pthread_key_t ending;
static pthread_once_t ending_once = PTHREAD_ONCE_INIT;
static bool ending_is_made;

void
state_look_at_clock(struct context *c)
{
	if (c->state != UNLOADED && !c->is_copy)
		c->now = choice()->backend->clock(c);
}

/* It is about to stop. */
static void
state_finish(struct context *c)
{
	if (choice()->backend->finish)
		choice()->backend->finish(c);
	context_tell(c);
	state_look_at_clock(c);
}

void
context_tell(struct context *c)
{
	if (c->notice.is_there && message_overflow(c, &c->notice))
		c->can_restart++;
	c->notice.is_there = false;
}

/* A thread has ended: unload its context, and notify a program that may be waiting for that. */
static void
state_ended(struct context *c)
{
	const bool tell = !c->is_self || c->is_ctl;

	context_unload(c);
	if (tell)
		message_end(c);
}

static void
thread_ends(void *unused)
{
	const pid_t self = own_thread();
	struct cursor at = { 0 };
	struct context *c;

	(void)unused;
	engine_enter();
	while ((c = context_next(&at)))
		if (c->state != UNLOADED && !c->is_system && !c->is_copy && c->tid == self) {
			context_catch_up(c);
			state_ended(c);
		}
	engine_leave();
}

static void
make_ending(void)
{
	ending_is_made = pthread_key_create(&ending, thread_ends) == 0;
}

void
context_catch_up(struct context *c)
{
	if (c->state == UNLOADED || c->is_copy)
		return;
	choice()->backend->update(c);
	context_tell(c);
	if (c->state != UNLOADED && task_has_ended(c)) {
		choice()->backend->update(c); /* it may have run since */
		state_ended(c);
	}
}

/*
 * The model's timers can be caught up with later.  The time of a thread that does not run does not pass: an alarm
 * tells, or the thread is checked from time to time.  What its events have counted is there even if it waits from now on.
 */
static uint64_t
time_to_look(struct context *c)
{
	const bool is_model = choice()->backend == &model_backend;
	const uint64_t next = choice()->backend->time_to_next(c);
	const uint64_t run = is_model ? next : timer_runs(c) ? c->active->remaining : NEVER;
	const uint64_t first = next < run ? next : run;
	uint64_t ns;

	if (first == 0 || c->is_system)
		return first;
	ns = task_alarm(c, run) ? NEVER : run < BETWEEN_LOOKS ? BETWEEN_LOOKS : run;
	return is_model || ns < next ? ns : next;
}

uint64_t
context_settle(struct context *c)
{
	if (c->state == UNLOADED || c->is_copy)
		return NEVER;
	choice()->backend->apply(c);
	context_tell(c);
	return time_to_look(c);
}

/*
 * A thread has one context; per-thread and system-wide contexts exclude each other, unless the kernel counts, which can
 * do both.
 */
static int
check_sessions(const struct context *wanted, pid_t tid, int cpu)
{
	const bool are_both = choice()->backend != &model_backend;
	struct cursor at = { 0 };
	struct context *c;
	int ret = 0;

	while ((c = context_next(&at))) {
		if (c->state == UNLOADED || c->is_copy)
			continue;
		if (wanted->is_system == c->is_system && (wanted->is_system ? c->cpu == cpu : c->tid == tid)) {
			context_catch_up(c); /* another thread may have the number by now */
			helper_plan(context_settle(c));
			if (c->state != UNLOADED)
				return wanted->is_system ? -EBUSY : -EEXIST;
		} else if (wanted->is_system != c->is_system && !are_both) {
			context_catch_up(c);
			helper_plan(context_settle(c));
			ret = c->state != UNLOADED ? -EBUSY : ret;
		}
	}
	return ret;
}

/* The target is checked before the context's state. */
static int
check_load(struct context *c, pid_t target, uint64_t set)
{
	const int ret = c->is_system || target == own_thread() ? 0 : check_thread(target);

	if (ret < 0)
		return ret;
	if (c->state != UNLOADED || c->is_copy)
		return -EBUSY;
	if (c->flags & PFM_FL_NOTIFY_BLOCK && !c->is_system && target == own_thread())
		return -EINVAL;
	if (c->is_system &&
	    (choice()->np ? target < 0 || target >= sysconf(_SC_NPROCESSORS_CONF) : target != sched_getcpu()))
		return -EINVAL;
	if (!c->is_system && check_sessions(c, target, -1) == -EEXIST)
		return -EEXIST;
	return set_find(c, set) ? 0 : -EINVAL;
}

static int
load_context(struct context *c, pid_t target, uint64_t id)
{
	int ret = check_load(c, target, id);

	if (ret < 0)
		return ret;
	return context_bind(c, c->is_system ? own_thread() : target, c->is_system ? (int)target : -1, set_find(c, id));
}

int
context_bind(struct context *c, pid_t tid, int cpu, struct set *set)
{
	int ret;

	ret = check_sessions(c, tid, cpu);
	if (ret < 0)
		return ret;
	c->is_self = !c->is_system && tid == own_thread();
	c->tid = tid;
	c->pid = c->is_system ? getpid() : process_of(tid);
	c->cpu = cpu;
	c->is_unknown = false;
	ret = message_drain(c);
	if (ret == 0)
		ret = choice()->backend->load(c);
	choice_tell(ret);
	if (ret < 0) {
		task_forget(c);
		return ret;
	}
	context_loaded(c, set);
	pthread_once(&ending_once, make_ending);
	if (c->is_self && ending_is_made)
		pthread_setspecific(ending, c); /* anything but NULL */
	return 0;
}

void
context_unload(struct context *c)
{
	if (c->state == UNLOADED || c->is_copy)
		return;
	state_finish(c);
	context_unloaded(c);
	choice()->backend->unload(c);
	task_forget(c);
	helper_wake();
}

/* Tell whether the caller is the thread that it counts; system-wide, any thread will do. */
static bool
is_here(const struct context *c)
{
	return c->is_system || c->tid == own_thread();
}

static int
start_context(struct context *c, const uint64_t *set)
{
	int ret;

	state_look_at_clock(c);
	ret = context_start(c, set, is_here(c));
	if (ret == 0)
		message_owner(c);
	return ret;
}

int
state_start(struct context *c, struct request *r)
{
	(void)r;
	return start_context(c, NULL);
}

int
state_start_set(struct context *c, struct request *r)
{
	return start_context(c, &r->set);
}

int
state_stop(struct context *c, struct request *r)
{
	(void)r;
	if (c->state != UNLOADED)
		state_finish(c);
	return context_stop(c);
}

int
state_restart(struct context *c, struct request *r)
{
	(void)r;
	state_look_at_clock(c);
	return c->is_copy ? -EBUSY : context_restart(c);
}

int
state_restart_ctl(struct context *c, struct request *r)
{
	(void)r;
	state_look_at_clock(c);
	return ctl_restart(c, is_here(c));
}

int
state_load(struct context *c, struct request *r)
{
	return load_context(c, (pid_t)r->number, r->set);
}

int
state_unload(struct context *c, struct request *r)
{
	(void)r;
	context_unload(c);
	return 0;
}

int
state_detach(struct context *c, struct request *r)
{
	return c->state == UNLOADED ? -EINVAL : state_unload(c, r);
}

int
state_tell_set(struct context *c, struct request *r)
{
	state_look_at_clock(c);
	return set_tell(c, r);
}

int
state_set_pmc(struct context *c, struct set *set, unsigned int number, uint64_t value)
{
	const uint64_t before = set->pmcs[number], used = set->used_pmcs[number / 64];
	int ret;

	set_pmc(set, number, value);
	ret = c->state == UNLOADED || c->is_copy ? 0 : choice()->backend->take_pmc(c, set);
	if (ret < 0) {
		set->pmcs[number] = before;
		set->used_pmcs[number / 64] = used;
	}
	return ret;
}

int
state_write_pmc(struct context *c, struct request *r)
{
	struct set *set = set_find(c, r->set);
	uint64_t value;
	const int ret = set ? check_pmc(c, set, r, &value) : -EINVAL;

	return ret < 0 ? ret : state_set_pmc(c, set, (unsigned int)r->number, value);
}

int
state_write_ctl_pmc(struct context *c, struct request *r)
{
	uint64_t value;
	int ret = ctl_check_pmc(c, r, &value);

	if (ret == 0)
		ret = state_set_pmc(c, ctl_set(c), (unsigned int)r->number, value);
	if (ret == 0)
		ctl_write_attributes(c, r);
	return ret;
}
