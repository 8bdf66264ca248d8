/*
 * Counters that are events of perf_event_open(2): what the back ends "host" and "raw" have in common.
 */
#include "engine.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../counting/group.h"

/* A counter that has an event. */
struct counter {
	uint8_t		number;
	bool		is_armed;
	bool		stops_once;	/* at its next overflow it stops itself; */
	bool		is_stopped;	/* it has */
	uint64_t	period;		/* events between two overflows, as the kernel has it */
	uint64_t	seen;		/* count of the event then, */
	uint64_t	known;		/* and value of the counter: another one is the program's */
};

struct set_events {
	struct counting_group	group;
	bool			is_open;
	uint64_t		pending;	/* counters that have overflowed while they were stopped: taken when they run again */
	struct counter		counters[COUNTING_GROUP_MOST];	/* by the group's events */
};

/* A context's, in the process that has loaded it. */
struct perf {
	size_t			size;		/* of all this */
	struct counting_target	target;
	struct counting_anchor	anchor;
	bool			is_past;	/* what the events counted since the last sample is nobody's: it has masked */
	unsigned int		found;		/* overflows in this look */
	bool			timer_runs;
	uint64_t		timer_seen;	/* until then, of the thread's time */
	struct set_events	*running;
	struct set_events	sets[];		/* as in the context's list, which stays while it is loaded */
};

/* Pages of the ring: an overflow that masks stops its event, so that few are told; samples are taken many at a time. */
enum { OVERFLOWS = 2, SAMPLES = 64 };

/* Most events that can be told apart in a period of perf_event_open(2): then a counter does not overflow. */
#define NO_PERIOD	((uint64_t)INT64_MAX)

static struct set *
set_of(const struct context *c, const struct set_events *events)
{
	return c->sets[events - c->perf->sets];
}

/* ---- opened and closed ---------------------------------------------------------------------- */

/* Errors as the calls give them; of a group's later events some say that there are too many. */
static int
open_error(int ret, bool is_later)
{
	switch (ret) {
	case -EACCES:
	case -EPERM:
		return -EPERM;
	case -EINVAL:
	case -ENOSPC:
	case -EBUSY:
		return is_later ? -EBUSY : -ENODEV;
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
	case -ESRCH:
		return ret;
	default:
		return ret < 0 ? -ENODEV : ret;
	}
}

/* The kernel begins each period like the first one: another one has to be told to it. */
static bool
is_regular(const struct pmd *pmd)
{
	return !(pmd->flags & PFM_REGFL_RANDOM) && pmd->value == pmd->short_reset;
}

/* The event of a counter, which tells of its overflows: at once, or, of many samples alike, when there are some. */
static int
make_attr(const struct context *c, const struct set *set, unsigned int counter, struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->sample_period = NO_PERIOD;
	attr->sample_type = COUNTING_SAMPLE_TYPE;
	attr->watermark = c->buffer && c->perf && is_regular(&set->pmds[counter]);
	if (attr->watermark)
		attr->wakeup_watermark = (uint32_t)(c->perf->anchor.ring.size / 2);
	else
		attr->wakeup_events = 1;
	return choice()->backend->event(c, set->pmcs[counter], attr);
}

/* The counters of a set that count at some level, in the order in which their events are opened: how many, or an error. */
static int
choose_counters(const struct context *c, const struct set *set, uint8_t *counters)
{
	int count = 0, ret;

	for (unsigned int i = 0; i < PERFMON2_PMDS; i++)
		if (c->machine->counters & set->used_pmcs[0] & UINT64_C(1) << i && set->pmcs[i] & 0xf)
			counters[count++] = (uint8_t)i;
	ret = choice()->backend->place ? choice()->backend->place(c, set, counters, (unsigned int)count) : 0;
	return ret < 0 ? ret : count;
}

/* Control registers of what cannot be had keep their defaults. */
static int
check_others(const struct context *c, const struct set *set)
{
	for (unsigned int i = 0; i < PERFMON2_PMCS; i++) {
		const struct pmc_rule *rule = machine_pmc(c->machine, i);
		const uint64_t privileged = rule && rule->flags & PMC_PM4 ? 1 << 4 : 1 << 6;
		uint64_t init;

		if (!rule || !(set->used_pmcs[i / 64] >> i % 64 & 1) || (i < 64 && c->machine->counters >> i & 1))
			continue;
		if (!c->is_ctl || machine_old_default(c->machine, i, &init) < 0)
			init = rule->init;
		if ((set->pmcs[i] ^ init) & ~privileged)
			return -ENOTSUP;
	}
	return 0;
}

/* What the events hold now; a group that the PMU has no room for says so when it is read. */
static int
read_first(const struct context *c, struct set_events *events)
{
	struct counting_reading reading;
	int ret = c->is_self ? counting_group_enable(&events->group) : 0;

	if (ret == 0)
		ret = counting_group_read(&events->group, &reading);
	if (c->is_self)
		counting_group_disable(&events->group);
	if (ret == 0)
		ret = counting_group_read(&events->group, &reading);
	for (unsigned int i = 0; ret == 0 && i < events->group.count; i++)
		events->counters[i].seen = reading.values[1 + i].value;
	return ret;
}

/* The counters of a set and their events: how many, or an error. */
static int
describe_set(const struct context *c, const struct set *set, uint8_t *numbers, struct perf_event_attr *attrs)
{
	const int ret = check_others(c, set);
	const int count = ret < 0 ? ret : choose_counters(c, set, numbers);

	for (int i = 0; i < count; i++) {
		const int refused = make_attr(c, set, numbers[i], &attrs[i]);

		if (refused < 0)
			return refused;
	}
	return count;
}

static int
open_set(struct context *c, const struct set *set, struct set_events *events)
{
	struct perf_event_attr attrs[COUNTING_GROUP_MOST];
	uint8_t numbers[COUNTING_GROUP_MOST];
	struct perf *p = c->perf;
	int count = describe_set(c, set, numbers, attrs), ret;

	*events = (struct set_events){ .group.leader.fd = -1 };
	if (count <= 0)
		return count;
	for (int i = 0; i < count; i++)
		events->counters[i].number = numbers[i];
	ret = counting_group_open(&events->group, &p->target, attrs, (unsigned int)count, &p->anchor);
	if (ret < 0)
		return open_error(ret, count > 1);
	events->is_open = true;
	return read_first(c, events);
}

static void
close_set(struct set_events *events)
{
	if (events->is_open)
		counting_group_close(&events->group);
	events->is_open = false;
}

void
perf_forget(struct context *c)
{
	struct perf *p = c->perf;

	if (!p)
		return;
	c->perf = NULL;
	if (c->is_copy)
		p->anchor.ring.head = NULL;	/* a child does not have it: what is there by now is another's */
	helper_forget_fd(p->anchor.event.fd);
	for (size_t i = 0; i < (p->size - sizeof(*p)) / sizeof(p->sets[0]); i++)
		close_set(&p->sets[i]);
	counting_anchor_close(&p->anchor);
	munmap(p, p->size);
}

static struct perf *
make_perf(const struct context *c)
{
	const size_t size = sizeof(struct perf) + c->num_sets * sizeof(struct set_events);
	struct perf *p = private_memory(size);

	if (!p)
		return NULL;
	p->size = size;
	p->anchor.event.fd = -1;
	p->target = (struct counting_target){ c->is_system ? -1 : c->is_self ? 0 : c->tid, c->is_system ? c->cpu : -1 };
	return p;
}

uint64_t
perf_clock(struct context *c)
{
	uint64_t ns;

	return task_time(c, &ns) ? ns : c->active->since;
}

int
perf_load(struct context *c)
{
	int ret;

	c->perf = make_perf(c);
	if (!c->perf)
		return -ENOMEM;
	ret = open_error(counting_anchor_open(&c->perf->anchor, &c->perf->target, c->buffer ? SAMPLES : OVERFLOWS), false);
	for (unsigned int i = 0; ret == 0 && i < c->num_sets; i++) {
		c->sets[i]->is_refused = false;
		ret = open_set(c, c->sets[i], &c->perf->sets[i]);
	}
	if (ret == 0)
		ret = helper_start();
	if (ret < 0) {
		perf_forget(c);
		return ret;
	}
	task_begin(c, true);
	if (c->perf->anchor.ring.head)
		helper_watch(c->perf->anchor.event.fd);
	return 0;
}

/* ---- counts --------------------------------------------------------------------------------- */

/* The program has closed the events' descriptors: their numbers may be others' by now. */
static void
abandon(struct context *c, struct set_events *events, int error)
{
	set_of(c, events)->is_refused = true;
	if (error == -EBADF) {
		events->is_open = false;
		events->group.count = 0;
	}
	if (c->perf->running == events)
		c->perf->running = NULL;
}

/* Add what the events had counted at a reading to the counters; those that overflow. */
static uint64_t
add_counts(struct context *c, struct set_events *events, const struct counting_reading *reading)
{
	struct set *set = set_of(c, events);
	uint64_t wrapped = 0;

	for (unsigned int i = 0; i < events->group.count; i++) {
		struct counter *counter = &events->counters[i];
		const uint64_t count = reading->values[1 + i].value;

		if (count <= counter->seen)
			continue;
		if (set->used_pmds >> counter->number & 1 && count_pmd(c, set, counter->number, count - counter->seen))
			wrapped |= UINT64_C(1) << counter->number;
		counter->seen = count;
		counter->known = set->pmds[counter->number].value;
	}
	return wrapped;
}

/*
 * A look does not last for ever: so many overflows it finds; of the rest only those that the kernel has told of are
 * taken.
 */
enum { MOST_AT_ONCE = 1 << 14 };

/*
 * A counter has started anew from its reset value, and its event has gone on: what that has counted since is the new value's,
 * with which it may overflow again.  The next overflow comes after as many events as before, if that is what the program
 * wants.
 */
static bool
go_on(const struct context *c, struct set *set, struct counter *counter, uint64_t since, bool is_last)
{
	uint64_t *value = &set->pmds[counter->number].value;
	const uint64_t period = -*value;
	bool again;

	if (is_last && period)
		since %= period;
	again = count_pmd(c, set, counter->number, since);
	if (period == counter->period)
		counter->known = *value;
	return again;
}

/* Counters have overflowed, as often as their events ask for: those that start anew, until something else has to be done. */
static void
overflow(struct context *c, struct set_events *events, uint64_t wrapped, const struct where *where)
{
	struct set *set = set_of(c, events);
	uint64_t since[COUNTING_GROUP_MOST], started_anew;

	while (wrapped) {
		for (unsigned int i = 0; i < events->group.count; i++)
			since[i] = set->pmds[events->counters[i].number].value;
		c->now = perf_clock(c);
		context_overflow(c, wrapped, where);
		c->perf->is_past = c->state != LOADED || c->active != set;
		if (c->perf->is_past)
			return;
		started_anew = wrapped & ~set->pending_reset;
		wrapped = 0;
		c->perf->found++;
		for (unsigned int i = 0; i < events->group.count; i++)
			if (started_anew >> events->counters[i].number & 1 &&
			    go_on(c, set, &events->counters[i], since[i], c->perf->found >= MOST_AT_ONCE))
				wrapped |= UINT64_C(1) << events->counters[i].number;
	}
}

/* Which of a group's events a sample is of; -1: none. */
static int
find_event(const struct set_events *events, uint64_t id)
{
	for (unsigned int i = 0; events && i < events->group.count; i++)
		if (events->group.events[i].id == id)
			return (int)i;
	return -1;
}

/* What the kernel has told of overflows until now, in its order. */
static void
take_samples(struct context *c, bool takes_overflows)
{
	struct perf *p = c->perf;
	struct counting_sample sample;
	const uint64_t end = counting_ring_end(&p->anchor.ring);

	while (counting_ring_sample(&p->anchor.ring, end, &sample)) {
		const int event = find_event(p->running, sample.id);
		uint64_t wrapped;

		if (event < 0)
			continue;
		if (p->running->counters[event].stops_once)
			p->running->counters[event].is_stopped = true;
		p->running->counters[event].stops_once = false;
		if (!takes_overflows || p->is_past || sample.reading.count != 1 + p->running->group.count)
			continue;
		wrapped = add_counts(c, p->running, &sample.reading);
		if (wrapped)
			overflow(c, p->running, wrapped, &(struct where){ sample.ip, sample.time, (pid_t)sample.pid,
									  (pid_t)sample.tid, (int)sample.cpu });
	}
}

/* Whether an event has passed its overflow, which the kernel has not told yet: another processor may be about to. */
static bool
is_told_soon(const struct context *c, const struct counting_reading *reading)
{
	const struct set_events *events = c->perf->running;
	const struct set *set = set_of(c, events);

	for (unsigned int i = 0; c->perf->anchor.ring.head && i < events->group.count; i++) {
		const struct counter *counter = &events->counters[i];
		const uint64_t value = set->pmds[counter->number].value, count = reading->values[1 + i].value;

		if (count > counter->seen && value + (count - counter->seen) < value && pmd_interrupts(set, counter->number))
			return true;
	}
	return false;
}

/*
 * The counters of the set that runs, up to now.  An overflow that nobody tells of, because the PMU has no interrupt or the
 * ring no place, is found by its count.
 */
static void
collect(struct context *c, bool takes_overflows)
{
	enum { PATIENCE = 1000 };
	struct perf *p = c->perf;
	struct set_events *events = p->running;
	struct counting_reading reading;
	const int ret = counting_group_read(&events->group, &reading);
	uint64_t wrapped;

	p->found = 0;
	take_samples(c, takes_overflows);	/* those that came after the reading, too: they are newer */
	for (int i = 0; ret == 0 && takes_overflows && !p->is_past && i < PATIENCE && is_told_soon(c, &reading); i++)
		take_samples(c, true);
	if (ret < 0) {
		abandon(c, events, ret);
		return;
	}
	if (p->is_past) {
		for (unsigned int i = 0; i < events->group.count; i++) {
			events->counters[i].is_armed = false;	/* its next overflow is not where the kernel has it */
			if (reading.values[1 + i].value > events->counters[i].seen)
				events->counters[i].seen = reading.values[1 + i].value;
		}
		return;
	}
	wrapped = add_counts(c, events, &reading) | events->pending;
	events->pending = wrapped;
	if (!wrapped || !takes_overflows)
		return;
	events->pending = 0;
	overflow(c, events, wrapped,
		 &(struct where){ 0, monotonic_time(), c->pid, c->is_system ? own_thread() : c->tid, sched_getcpu() });
}

/* Without a ring the kernel tells of no overflow; and one that came while its counter was stopped is taken soon. */
uint64_t
perf_time_to_next(struct context *c)
{
	const struct perf *p = c->perf;

	if (!p->running)
		return NEVER;
	return p->running->pending ? 0 : p->anchor.ring.head ? NEVER : BETWEEN_LOOKS;
}

static void
run_timer(struct context *c)
{
	uint64_t now;

	if (!task_time(c, &now) || now <= c->perf->timer_seen)
		return;
	c->now = now;
	timer_pass(c, now - c->perf->timer_seen);
	c->perf->timer_seen = now;
}

/* ---- what the context wants ----------------------------------------------------------------- */

/* An overflow of this counter masks: nothing is to be counted after it. */
static bool
should_stop(const struct context *c, const struct set *set, unsigned int counter)
{
	return c->perf->anchor.ring.head && !c->buffer && (!c->is_ctl || set->ovfl_notify >> counter & 1);
}

static void
arm_event(const struct context *c, struct set_events *events, unsigned int i)
{
	const struct set *set = set_of(c, events);
	struct counter *counter = &events->counters[i];
	const uint64_t value = set->pmds[counter->number].value;
	const uint64_t left = pmd_interrupts(set, counter->number) && value ? -value : NO_PERIOD;

	if (!counter->is_armed || value != counter->known || counter->is_stopped) {
		/* A software event that runs overflows at once: that is not to stop it. */
		if (c->perf->running == events && !counter->is_stopped && should_stop(c, set, counter->number)) {
			counting_group_pause(&events->group, i);
			counter->is_stopped = true;
		}
		counter->period = left < NO_PERIOD ? left : NO_PERIOD;
		counting_group_arm(&events->group, i, counter->period);
		if (value != counter->known)	/* the program's, or a reset's */
			events->pending &= ~(UINT64_C(1) << counter->number);
		counter->known = value;
		counter->is_armed = true;
	}
	if (counter->is_stopped)
		counting_group_resume(&events->group, i);
	if (should_stop(c, set, counter->number) && !counter->stops_once) {
		counting_group_stop_once(&events->group, i);
		counter->stops_once = true;
	}
	counter->is_stopped = false;
}

/* What overflows at a stop has done so before it; what does at a switch, when its set runs again. */
static void
stop_running(struct context *c)
{
	counting_group_disable(&c->perf->running->group);
	collect(c, c->state == LOADED && !c->started && c->active == set_of(c, c->perf->running));
	c->perf->running = NULL;
}

void
perf_apply(struct context *c)
{
	struct perf *p = c->perf;
	struct set_events *wanted = NULL;
	bool timer;

	if (!p)
		return;
	if (c->state == LOADED && c->started && p->sets[c->active->at].is_open)
		wanted = &p->sets[c->active->at];
	if (p->running && p->running != wanted)
		stop_running(c);
	timer = timer_runs(c);
	if (timer && !p->timer_runs && !task_time(c, &p->timer_seen))
		timer = false;
	p->timer_runs = timer;
	if (!wanted)
		return;
	p->is_past = false;
	for (unsigned int i = 0; i < wanted->group.count; i++)
		arm_event(c, wanted, i);
	if (p->running != wanted && counting_group_enable(&wanted->group) == 0)
		p->running = wanted;
}

void
perf_unload(struct context *c)
{
	if (c->perf && c->perf->running)
		stop_running(c);
	perf_forget(c);
}

/* Events as the PMCs want them now; if they cannot be had the old ones stay. */
int
perf_take_pmc(struct context *c, struct set *set)
{
	struct set_events opened, *events = &c->perf->sets[set->at];
	int ret;

	if (c->perf->running)	/* it would take the place of what is tried; it goes on when the context is released */
		stop_running(c);
	ret = open_set(c, set, &opened);
	if (ret < 0) {
		close_set(&opened);
		return ret;
	}
	close_set(events);
	opened.pending = events->pending;
	*events = opened;
	set->is_refused = false;
	return 0;
}

void
perf_update(struct context *c)
{
	if (c->perf->running)
		collect(c, true);
	if (c->perf->timer_runs)
		run_timer(c);
}
