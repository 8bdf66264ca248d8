/*
 * What a context does: loaded and unloaded, started, stopped, restarted.
 */
#include "engine.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

/* A thread that ends unloads what is loaded on it. */
static pthread_key_t ending;
static pthread_once_t ending_once = PTHREAD_ONCE_INIT;
static bool ending_is_made;

static void
thread_ends(void *unused)
{
	const pid_t self = own_thread();
	size_t at = 0;
	struct entry *e;

	(void)unused;
	engine_enter();
	while ((e = entry_next(&at))) {
		if (e->context->state != UNLOADED && !e->context->is_system && e->context->tid == self)
			context_ended(e);
		entry_release(e);
	}
	engine_leave();
}

static void
make_ending(void)
{
	ending_is_made = pthread_key_create(&ending, thread_ends) == 0;
}

/* Until now the active set has counted. */
void
duration_update(struct context *c)
{
	struct set *set = active_set(c);
	const uint64_t now = engine_clock();

	if (c->state == LOADED && c->started && now > set->since)	/* another process may have another clock */
		set->duration += now - set->since;
	set->since = now;
}

/* The other thread is there, is no kernel thread, and has been stopped by the caller. */
static int
check_target(const struct context *c, pid_t target, struct thread_state *found)
{
	int ret;

	*found = (struct thread_state){ .pid = getpid() };
	if (c->is_system || target == own_thread())
		return 0;
	ret = thread_look(target, found);
	if (ret < 0)
		return ret;
	return found->has_memory ? thread_check(target, choice()->np) : -EPERM;
}

/* The target comes before the context's state. */
static int
check_load(struct context *c, pid_t target, unsigned int set)
{
	struct thread_state found;
	const int ret = check_target(c, target, &found);

	if (ret < 0)
		return ret;
	if (c->state != UNLOADED)
		return -EBUSY;
	if (c->flags & PFM_FL_NOTIFY_BLOCK && !c->is_system && target == own_thread())
		return -EINVAL;
	if (c->is_system && (choice()->np ? target < 0 || target >= sysconf(_SC_NPROCESSORS_CONF) : target != sched_getcpu()))
		return -EINVAL;
	if (!c->is_system && session_of_thread(target))
		return -EEXIST;
	if (!set_find(c, set))
		return -EINVAL;
	c->pid = found.pid;
	c->birth = found.birth;
	return 0;
}

static void
forget_overflows(struct context *c)
{
	for (unsigned int i = 0; i < c->num_sets; i++) {
		c->sets[c->order[i]].ovfl_pmds = 0;
		c->sets[c->order[i]].switch_at_restart = false;
	}
}

int
context_load(struct entry *e, pid_t target, unsigned int id)
{
	struct context *c = e->context;
	int ret = check_load(c, target, id);

	if (ret < 0)
		return ret;
	return context_bind(e, c->is_system ? own_thread() : target, c->is_system ? (int)target : -1, set_find(c, id));
}

int
context_bind(struct entry *e, pid_t tid, int cpu, struct set *set)
{
	struct context *c = e->context;
	int ret;

	c->is_self = !c->is_system && tid == own_thread();
	c->tid = tid;
	c->cpu = cpu;
	ret = session_take(c, e->ino);
	if (ret < 0)
		return ret;
	c->owner = getpid();
	ret = message_drain(e);
	if (ret == 0)
		ret = choice()->backend->load(e);
	choice_tell(ret);
	if (ret < 0) {
		session_drop(e->ino);
		return ret;
	}
	forget_overflows(c);
	c->active = (uint16_t)(set - c->sets);
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
context_unload(struct entry *e)
{
	struct context *c = e->context;

	if (c->state == UNLOADED)
		return;
	duration_update(c);
	c->started = false;
	c->can_restart = 0;
	c->state = UNLOADED;
	choice()->backend->unload(e);
	session_drop(e->ino);
}

void
context_ended(struct entry *e)
{
	const bool tell = !e->context->is_self || e->context->is_ctl;

	if (choice()->backend->ended)
		choice()->backend->ended(e);
	context_unload(e);
	if (tell)
		message_end(e);
}

int
context_start(struct context *c, const unsigned int *id)
{
	struct set *set = active_set(c);

	if (c->state == UNLOADED)
		return -EINVAL;
	if (id && !(set = set_find(c, *id)))
		return -EINVAL;
	if (set != active_set(c)) {
		if (c->is_system || c->tid == own_thread())
			set_switch(c, set, true);
		else {
			duration_update(c);
			c->active = (uint16_t)(set - c->sets);
		}
	}
	c->started = true;
	set->since = engine_clock();
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
context_restart(struct entry *e)
{
	struct context *c = e->context;

	if (c->state == UNLOADED || (c->state == LOADED && !e->buffer) || c->can_restart == 0)
		return -EBUSY;
	c->can_restart--;
	context_resume(e);
	return 0;
}
