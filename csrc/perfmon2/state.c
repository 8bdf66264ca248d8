/*
 * What a context does: loaded and unloaded, started, stopped, restarted.
 */
#include "engine.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "../base/process.h"

/* A thread that ends unloads what is loaded on it. */
static pthread_key_t ending;
static pthread_once_t ending_once = PTHREAD_ONCE_INIT;
static bool ending_is_made;

/* It stops. */
static void
finish(struct context *c)
{
	if (choice()->backend->finish)
		choice()->backend->finish(c);
	duration_update(c);
}

/* A thread is gone: its context is unloaded, and who may wait for that is told. */
static void
ended(struct context *c)
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
			ended(c);
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
	if (c->state != UNLOADED && task_has_ended(c)) {
		choice()->backend->update(c);	/* it may have run since */
		ended(c);
	}
}

void
context_settle(struct context *c)
{
	if (c->state == UNLOADED || c->is_copy)
		return;
	choice()->backend->apply(c);
	helper_plan(context_time_to_next(c));
}

uint64_t
context_time_to_next(struct context *c)
{
	const uint64_t ns = choice()->backend->time_to_next(c);

	return timer_runs(c) && c->active->remaining < ns ? c->active->remaining : ns;
}

/* Until now the active set has counted. */
void
duration_update(struct context *c)
{
	struct set *set = c->active;
	const uint64_t now = choice()->backend->clock(c);

	if (c->state == LOADED && c->started && now > set->since)
		set->duration += now - set->since;
	set->since = now;
}

/* A thread has one context; per-thread and system-wide ones exclude each other, but where the kernel counts, which can do both. */
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
			context_catch_up(c);	/* another thread may have the number by now */
			context_settle(c);
			if (c->state != UNLOADED)
				return wanted->is_system ? -EBUSY : -EEXIST;
		} else if (wanted->is_system != c->is_system && !are_both) {
			context_catch_up(c);
			context_settle(c);
			ret = c->state != UNLOADED ? -EBUSY : ret;
		}
	}
	return ret;
}

/* The target comes before the context's state. */
static int
check_load(struct context *c, pid_t target, unsigned int set)
{
	const int ret = c->is_system || target == own_thread() ? 0 : check_thread(target);

	if (ret < 0)
		return ret;
	if (c->state != UNLOADED || c->is_copy)
		return -EBUSY;
	if (c->flags & PFM_FL_NOTIFY_BLOCK && !c->is_system && target == own_thread())
		return -EINVAL;
	if (c->is_system && (choice()->np ? target < 0 || target >= sysconf(_SC_NPROCESSORS_CONF) : target != sched_getcpu()))
		return -EINVAL;
	if (!c->is_system && check_sessions(c, target, -1) == -EEXIST)
		return -EEXIST;
	return set_find(c, set) ? 0 : -EINVAL;
}

static void
forget_overflows(struct context *c)
{
	for (unsigned int i = 0; i < c->num_sets; i++) {
		c->sets[i]->ovfl_pmds = 0;
		c->sets[i]->switch_at_restart = false;
	}
}

int
context_load(struct context *c, pid_t target, unsigned int id)
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
	forget_overflows(c);
	c->active = set;
	c->can_restart = 0;
	set->runs++;
	set_reload_counts(c, set);
	c->state = LOADED;
	c->started = false;
	pthread_once(&ending_once, make_ending);
	if (c->is_self && ending_is_made)
		pthread_setspecific(ending, c);	/* anything that is not NULL */
	return 0;
}

void
context_unload(struct context *c)
{
	if (c->state == UNLOADED || c->is_copy)
		return;
	finish(c);
	c->started = false;
	c->can_restart = 0;
	c->state = UNLOADED;
	choice()->backend->unload(c);
	task_forget(c);
	helper_wake();
}

int
context_start(struct context *c, const unsigned int *id)
{
	struct set *set = c->active;

	if (c->state == UNLOADED)
		return -EINVAL;
	if (id && !(set = set_find(c, *id)))
		return -EINVAL;
	if (set != c->active) {
		if (c->is_system || c->tid == own_thread())
			set_switch(c, set, true);
		else {
			duration_update(c);
			c->active = set;
		}
	}
	c->started = true;
	set->since = choice()->backend->clock(c);
	if (set->flags & PFM_SETFL_TIME_SWITCH)
		set->remaining = set->timeout;
	return 0;
}

int
context_stop(struct context *c)
{
	if (c->state == UNLOADED)
		return -EINVAL;
	finish(c);
	c->started = false;
	return 0;
}

int
context_restart(struct context *c)
{
	if (c->state == UNLOADED || c->is_copy || (c->state == LOADED && !c->buffer) || c->can_restart == 0)
		return -EBUSY;
	c->can_restart--;
	context_resume(c);
	return 0;
}
