/*
 * The model: counters that move when the program says that events have happened, or, with a rate, with the time that a
 * thread runs.
 */
#include "engine.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

/* The process's own: a child starts with a copy. */
static uint64_t model_ns, model_ip;

static uint64_t
model_clock(struct context *c)
{
	return choice()->rate ? c->now : model_ns;
}

/* ---- contexts and time of the calling thread ------------------------------------------------ */

/* Tell whether a context counts on a thread: it is loaded on it or, for the calling thread, on its CPU. */
static struct context *
find_counting(pid_t tid)
{
	const int cpu = tid == own_thread() ? sched_getcpu() : -1;
	struct cursor at = { 0 };
	struct context *c;

	while ((c = context_next(&at))) {
		if (c->state == UNLOADED || c->is_copy || (c->is_system ? c->cpu != cpu : c->tid != tid))
			continue;
		context_catch_up(c);
		if (c->state != UNLOADED)
			return c;
	}
	return NULL;
}

static struct where
here(const struct context *c, pid_t tid)
{
	return (struct where){ .ip = __atomic_load_n(&model_ip, __ATOMIC_RELAXED),
			       .time = choice()->rate ? monotonic_time() : model_ns,
			       .cpu = sched_getcpu(),
			       .tid = tid,
			       .pid = c->is_system ? getpid() : c->pid };
}

/* Take all steps that notify nobody: a notification masks the context. */
static uint64_t
steps(struct context *c, const struct happening *h, uint64_t count, const struct where *where)
{
	enum { MOST = 64 }; /* signals are blocked meanwhile */
	uint64_t done = events_step(c, h, count, where);

	for (int i = 1; i < MOST && done < count && c->state == LOADED; i++)
		done += events_step(c, h, count - done, where);
	context_tell(c);
	return done;
}

/* After a notification the engine is left before the next step, so that the thread's signal handlers run. */
static void
model_advance(pid_t tid, const struct happening *h, uint64_t count)
{
	while (count) {
		struct context *c;

		engine_enter();
		contexts_reap();
		c = find_counting(tid);
		if (c) {
			const struct where where = here(c, tid);

			count -= steps(c, h, count, &where);
		} else {
			count = 0;
		}
		engine_leave();
	}
}

/* -ENXIO: these functions are the model's. */
static int
check_model(unsigned int plm)
{
	int ret;

	engine_enter();
	ret = choice()->backend != &model_backend || !choice_machine() ? -ENXIO : plm == 0 || plm > 0xf ? -EINVAL : 0;
	engine_leave();
	return ret;
}

static int
model_answer(int ret)
{
	if (ret == 0)
		return 0;
	errno = -ret;
	return -1;
}

static int
advance_event(pid_t tid, unsigned int event, unsigned int plm, uint64_t count)
{
	struct happening h = { .plm = plm };
	int ret = check_model(plm);
	struct context *c;

	if (ret < 0)
		return model_answer(ret);
	engine_enter();
	c = find_counting(tid);
	if (!pfm3_event_code(c ? c->machine->type : -1, event, &h.es, &h.umask))
		ret = -EINVAL;
	engine_leave();
	if (ret == 0)
		model_advance(tid, &h, count);
	return model_answer(ret);
}

int
pfm_model_advance(unsigned int event, unsigned int plm, uint64_t count)
{
	return advance_event(own_thread(), event, plm, count);
}

int
pfm_model_advance_task(pid_t tid, unsigned int event, unsigned int plm, uint64_t count)
{
	return advance_event(tid, event, plm, count);
}

int
pfm_model_advance_code(unsigned int es, unsigned int umask, unsigned int plm, uint64_t count)
{
	const struct happening h = { .es = es, .umask = umask, .plm = plm };
	const int ret = check_model(plm);

	if (ret == 0)
		model_advance(own_thread(), &h, count);
	return model_answer(ret);
}

int
pfm_model_set_ip(uint64_t ip)
{
	const int ret = check_model(1);

	engine_enter();
	if (ret == 0)
		__atomic_store_n(&model_ip, ip, __ATOMIC_RELAXED);
	engine_leave();
	return model_answer(ret);
}

int
pfm_model_set_pmd(unsigned int pmd, uint64_t value)
{
	const struct machine *machine;
	struct context *c;
	int ret = check_model(1);

	if (ret < 0)
		return model_answer(ret);
	engine_enter();
	c = find_counting(own_thread());
	machine = c ? c->machine : choice_machine();
	if (pmd >= PERFMON2_PMDS || !((machine->pmds & ~machine->counters) >> pmd & 1))
		ret = -EINVAL;
	else if (c)
		c->active->pmds[pmd].value = value;
	engine_leave();
	return model_answer(ret);
}

/* ---- time ----------------------------------------------------------------------------------- */

/* Time passes for a thread: timers of the contexts loaded on it run, and those of CPUs. */
static struct context *
next_with_time(struct cursor *at, pid_t tid)
{
	struct context *c;

	while ((c = context_next(at)) && (c->state == UNLOADED || c->is_copy || (!c->is_system && c->tid != tid)))
		;
	return c;
}

static int
pass_time(pid_t tid, uint64_t ns)
{
	struct cursor at = { 0 };
	struct context *c;
	int ret = check_model(1);

	if (ret < 0)
		return model_answer(ret);
	engine_enter();
	while ((c = next_with_time(&at, tid))) {
		context_catch_up(c);
		time_pass(c, ns);
	}
	model_ns += ns;
	engine_leave();
	return 0;
}

int
pfm_model_time(uint64_t ns)
{
	return pass_time(own_thread(), ns);
}

int
pfm_model_time_task(pid_t tid, uint64_t ns)
{
	return pass_time(tid, ns);
}

/* ---- the back end --------------------------------------------------------------------------- */

static int
model_load(struct context *c)
{
	const bool needs_helper = choice()->rate || (!c->is_system && !c->is_self);
	const int ret = needs_helper ? helper_start() : 0;

	c->rate = choice()->rate;
	c->now = model_ns;
	c->is_behind = false;
	task_begin(c, c->rate != 0);
	if (ret < 0 || !c->rate)
		return ret;
	rate_begin(c);
	if (!task_time(c, &c->time_read))
		return -EPERM;
	c->now = c->time_read;
	return 0;
}

static void
model_update(struct context *c)
{
	struct where where;

	if (!c->rate) {
		c->now = model_ns;
		return;
	}
	if (!task_time(c, &c->time_read)) {
		c->is_unknown = c->started;
		return;
	}
	where = here(c, c->tid);
	c->is_behind = rate_run(c, c->time_read, false, &where);
}

/* The time that the rest takes is not counted. */
static void
model_finish(struct context *c)
{
	struct where where;

	if (!c->rate)
		return;
	where = here(c, c->tid);
	c->is_behind = rate_run(c, c->time_read, true, &where);
}

static uint64_t
model_time_to_next(struct context *c)
{
	return !c->rate ? NEVER : c->is_behind ? 0 : rate_time_to_next(c);
}

static void
model_nothing(struct context *c)
{
	(void)c;
}

/* Any value counts an event, or none. */
static int
model_take_pmc(struct context *c, struct set *set)
{
	(void)c;
	(void)set;
	return 0;
}

const struct backend model_backend = {
	"model",       model_clock,        model_load,     model_nothing, model_update, model_finish,
	model_nothing, model_time_to_next, model_take_pmc, NULL,          NULL,
};
