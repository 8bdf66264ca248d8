/*
 * The model: counters that move when the program says that events have happened, or, with a rate, with the time that a
 * thread runs.
 */
#include "engine.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS	UINT64_C(1000000)

/* What happens, at which privilege levels. */
struct happening {
	bool		everything;	/* each event */
	unsigned int	es, umask, plm;
};

/* The process's own: a child starts with a copy. */
static uint64_t model_ns, model_ip;

static uint64_t
model_clock(void)
{
	return choice()->rate ? monotonic_time() : model_ns;
}

/* ---- events --------------------------------------------------------------------------------- */

static bool
counts(const struct machine *machine, uint64_t pmc, const struct happening *h)
{
	enum { IA32_ONLY = 1 };

	return (pmc & h->plm) && (pmc >> 20 & 7) == 0 && (pmc >> 24 & 3) != IA32_ONLY &&
	       (h->everything || (pmc_es(machine, pmc) == h->es && pmc_umask(pmc) == h->umask));
}

/* The counters of the active set that move. */
static uint64_t
moving(struct context *c, const struct happening *h)
{
	const struct set *set = active_set(c);
	uint64_t found = 0;

	if (c->state != LOADED || !c->started)
		return 0;
	for (unsigned int i = 0; i < PERFMON2_PMDS; i++)
		if (c->machine->counters & set->used_pmds & UINT64_C(1) << i && counts(c->machine, set->pmcs[i], h))
			found |= UINT64_C(1) << i;
	return found;
}

/* Let events happen, up to the first overflow; how many did. */
static uint64_t
step(struct entry *e, const struct happening *h, uint64_t count, const struct where *where)
{
	struct context *c = e->context;
	struct set *set = active_set(c);
	const uint64_t counters = moving(c, h);
	uint64_t wrapped = 0;

	for (unsigned int i = 0; i < PERFMON2_PMDS; i++)
		if (counters >> i & 1 && pmd_interrupts(set, i) && set->pmds[i].value && -set->pmds[i].value < count)
			count = -set->pmds[i].value;
	for (unsigned int i = 0; i < PERFMON2_PMDS; i++) {
		if (!(counters >> i & 1))
			continue;
		if (count_pmd(c, set, i, count))
			wrapped |= UINT64_C(1) << i;
	}
	if (wrapped)
		context_overflow(e, wrapped, where);
	return count;
}

/* ---- whose events, whose time --------------------------------------------------------------- */

/* What counts on a thread: what is loaded on it, or, if it is the calling one, on its CPU. */
static struct entry *
find_counting(pid_t tid)
{
	const bool is_self = tid == own_thread();
	struct entry *e;
	size_t at = 0;

	while ((e = entry_next(&at))) {
		const struct context *c = e->context;

		if (c->state != UNLOADED && (c->is_system ? is_self && c->cpu == sched_getcpu() : c->tid == tid))
			return e;
		entry_release(e);
	}
	return NULL;
}

static struct where
here(const struct context *c, pid_t tid)
{
	return (struct where){ .ip = __atomic_load_n(&model_ip, __ATOMIC_RELAXED), .time = model_clock(), .cpu = sched_getcpu(), .tid = tid,
			       .pid = c->is_system ? getpid() : c->pid };
}

/* As many steps as nobody is told of: what notifies masks the context. */
static uint64_t
steps(struct entry *e, const struct happening *h, uint64_t count, const struct where *where)
{
	enum { MOST = 64 };	/* signals are blocked meanwhile */
	uint64_t done = step(e, h, count, where);

	for (int i = 1; i < MOST && done < count && e->context->state == LOADED; i++)
		done += step(e, h, count - done, where);
	return done;
}

/* After a notification the engine is left before the next step: then the thread's signal handlers run. */
static void
advance(pid_t tid, const struct happening *h, uint64_t count)
{
	while (count) {
		struct entry *e;

		engine_enter();
		entry_reap();
		e = find_counting(tid);
		if (e) {
			const struct where where = here(e->context, tid);

			count -= steps(e, h, count, &where);
			entry_release(e);
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
answer(int ret)
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
	struct entry *e;

	if (ret < 0)
		return answer(ret);
	engine_enter();
	e = find_counting(tid);
	if (!pfm3_event_code(e ? e->context->machine->type : -1, event, &h.es, &h.umask))
		ret = -EINVAL;
	entry_release(e);
	engine_leave();
	if (ret == 0)
		advance(tid, &h, count);
	return answer(ret);
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
		advance(own_thread(), &h, count);
	return answer(ret);
}

int
pfm_model_set_ip(uint64_t ip)
{
	const int ret = check_model(1);

	engine_enter();
	if (ret == 0)
		__atomic_store_n(&model_ip, ip, __ATOMIC_RELAXED);
	engine_leave();
	return answer(ret);
}

int
pfm_model_set_pmd(unsigned int pmd, uint64_t value)
{
	const struct machine *machine;
	struct entry *e;
	int ret = check_model(1);

	if (ret < 0)
		return answer(ret);
	engine_enter();
	e = find_counting(own_thread());
	machine = e ? e->context->machine : choice_machine();
	if (pmd >= PERFMON2_PMDS || !((machine->pmds & ~machine->counters) >> pmd & 1))
		ret = -EINVAL;
	else if (e)
		active_set(e->context)->pmds[pmd].value = value;
	entry_release(e);
	engine_leave();
	return answer(ret);
}

/* ---- time ----------------------------------------------------------------------------------- */

/* The time that passes is that of a thread: timers of what is loaded on it run, and those of CPUs. */
static bool
has_time_of(const struct context *c, pid_t tid)
{
	return c->is_system || c->tid == tid;
}

/* The time to the next end of a timer. */
static uint64_t
next_timeout(pid_t tid, uint64_t ns)
{
	struct entry *e;
	size_t at = 0;

	while ((e = entry_next(&at))) {
		if (has_time_of(e->context, tid) && timer_runs(e->context) && active_set(e->context)->remaining < ns)
			ns = active_set(e->context)->remaining;
		entry_release(e);
	}
	return ns;
}

static int
pass_time(pid_t tid, uint64_t ns)
{
	const int ret = check_model(1);

	if (ret < 0)
		return answer(ret);
	engine_enter();
	while (ns) {
		const uint64_t some = next_timeout(tid, ns);
		struct entry *e;
		size_t at = 0;

		model_ns += some;
		ns -= some;
		while ((e = entry_next(&at))) {
			if (has_time_of(e->context, tid))
				timer_pass(e->context, some);
			entry_release(e);
		}
	}
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

/* ---- with a rate ---------------------------------------------------------------------------- */

/* As many of every event as a rate gives in some time; until something stops the context. */
static void
run_events(struct entry *e, uint64_t ns)
{
	static const struct happening everything = { .everything = true, .plm = PFM_PLM3 };
	struct context *c = e->context;
	const uint64_t rate = choice()->rate, rest = ns % NS_PER_MS * rate + c->fraction;
	uint64_t count = ns / NS_PER_MS * rate + rest / NS_PER_MS;
	const struct where where = here(c, c->tid);

	c->fraction = rest % NS_PER_MS;
	while (count && c->state == LOADED && c->started)
		count -= step(e, &everything, count, &where);
}

/* Time of children that have ended and been waited for. */
static uint64_t
time_of_children(void)
{
	struct rusage used;

	if (getrusage(RUSAGE_CHILDREN, &used) < 0)
		return 0;
	return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}

static int
model_load(struct entry *e)
{
	struct context *c = e->context;

	if (choice()->rate) {
		c->fraction = 0;
		c->time_seen = timer_time(c);
		c->looked = monotonic_time();
		c->children = time_of_children();
	}
	return choice()->rate || (!c->is_system && !c->is_self) ? helper_start() : 0;
}

static void
run_time(struct entry *e, uint64_t ns)
{
	struct context *c = e->context;

	while (ns && c->state == LOADED && c->started) {
		const uint64_t left = timer_runs(c) ? active_set(c)->remaining : ns, some = left < ns ? left : ns;

		run_events(e, some);
		timer_pass(c, some);
		ns -= some;
	}
}

static void
model_update(struct entry *e)
{
	struct context *c = e->context;
	uint64_t now, ns;

	if (!choice()->rate || c->state == UNLOADED)
		return;
	now = timer_time(c);
	if (now < c->time_seen)
		return;
	ns = now - c->time_seen;
	c->time_seen = now;
	c->looked = monotonic_time();
	run_time(e, ns);
}

/*
 * A thread that is gone has no account any more.  If the process has waited for it, the account of all children has what
 * it did since it was looked at, which was no longer than that.
 */
static void
model_ended(struct entry *e)
{
	const struct context *c = e->context;
	uint64_t all, since;

	if (!choice()->rate || c->is_self || c->is_system)
		return;
	all = time_of_children();
	since = monotonic_time() - c->looked;
	if (all <= c->children + c->time_seen)
		return;
	all -= c->children + c->time_seen;
	run_time(e, all < since ? all : since);
}

static void
model_nothing(struct entry *e)
{
	(void)e;
}

/* Any value counts, or leaves its counter where it is. */
static int
model_take_pmc(struct entry *e, struct set *set)
{
	(void)e;
	(void)set;
	return 0;
}

const struct backend model_backend = {
	"model", model_clock, model_load, model_nothing, model_update, model_ended, model_nothing, model_take_pmc, NULL, NULL,
};
