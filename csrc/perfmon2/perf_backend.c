/*
 * Counters that are events of perf_event_open(2): their counts and overflows, and how they
 * reach the state that the context wants.
 */
#include "perf.h"

#include <errno.h>
#include <sched.h>

/* The transitions from one state of a counter to another. */
static const struct {
	enum counter_state overflow, pause, resume;
} after[] = {
	[COUNTS] = { COUNTS, STOPPED, COUNTS },
	[COUNTS_ONCE] = { STOPPED, PAUSED, COUNTS_ONCE },
	[STOPPED] = { STOPPED, STOPPED, COUNTS },
	[PAUSED] = { PAUSED, PAUSED, COUNTS_ONCE },
};

static struct set *
set_of(const struct context *c, const struct set_events *events)
{
	return c->sets[events - c->perf->sets];
}

static uint64_t
bit_of(const struct counter *counter)
{
	return UINT64_C(1) << counter->number;
}

uint64_t
perf_clock(struct context *c)
{
	uint64_t ns;

	return task_time(c, &ns) ? ns : c->active->since;
}

/* ---- counts --------------------------------------------------------------------------------- */

/* Return what an event has counted since the last reading. */
static uint64_t
take_new(struct counter *counter, uint64_t count)
{
	const uint64_t events = count > counter->seen ? count - counter->seen : 0;

	counter->seen += events;
	counter->aimed += events;
	return events;
}

/* Add the events' counts at a reading to the counters; return those that overflow. */
static uint64_t
add_counts(const struct context *c, struct set_events *events, const struct counting_reading *reading)
{
	struct set *set = set_of(c, events);
	uint64_t wrapped = 0;

	for (unsigned int i = 0; i < events->group.count; i++) {
		struct counter *counter = &events->counters[i];

		if (count_pmd(c, set, counter->number, take_new(counter, reading->values[1 + i].value)))
			wrapped |= bit_of(counter);
	}
	return wrapped;
}

/*
 * A look must end: it handles at most this many overflows; beyond that only those that the kernel has announced.
 */
enum { MOST_AT_ONCE = 1 << 14 };

/*
 * Restart a counter whose event has gone on: the events since its overflow belong to its new value, with which it may
 * overflow again.  Its next overflow comes after the same number of events as before, if the program wants that.
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
		counter->aimed = *value;
	return again;
}

/* Tell whether the running set is to go on: the context was not masked, and no other set was made active. */
static bool
is_wanted(const struct context *c, const struct set_events *events)
{
	return c->state == LOADED && c->active == set_of(c, events);
}

/* Counters have overflowed as often as their events say: restart them, until something else has to be done. */
static void
perf_overflow(struct context *c, struct set_events *events, uint64_t wrapped, const struct where *where)
{
	struct set *set = set_of(c, events);
	uint64_t since[COUNTING_GROUP_MOST], started_anew;

	while (wrapped) {
		for (unsigned int i = 0; i < events->group.count; i++)
			since[i] = set->pmds[events->counters[i].number].value;
		c->now = perf_clock(c);
		context_overflow(c, wrapped, where);
		if (!is_wanted(c, events))
			return;
		started_anew = wrapped & ~set->pending_reset;
		wrapped = 0;
		c->perf->found++;
		for (unsigned int i = 0; i < events->group.count; i++)
			if (started_anew & bit_of(&events->counters[i]) &&
			    go_on(c, set, &events->counters[i], since[i], c->perf->found >= MOST_AT_ONCE))
				wrapped |= bit_of(&events->counters[i]);
	}
}

/* Where unannounced overflows happened is not known. */
static void
take_pending(struct context *c, struct set_events *events)
{
	const uint64_t wrapped = events->pending;

	events->pending = 0;
	if (wrapped)
		perf_overflow(c, events, wrapped,
			      &(struct where){ 0, monotonic_time(), c->pid, c->is_system ? own_thread() : c->tid,
					       sched_getcpu() });
}

/* Find the event of a group that a sample belongs to; NULL: none. */
static struct counter *
find_counter(struct set_events *events, uint64_t id)
{
	for (unsigned int i = 0; i < events->group.count; i++)
		if (events->group.events[i].id == id)
			return &events->counters[i];
	return NULL;
}

/*
 * Handle the overflows that the kernel has announced, in its order; those after the end of the counting only stop their
 * events.
 */
static void
take_samples(struct context *c, struct set_events *events, bool takes_overflows)
{
	struct counting_ring *ring = &c->perf->anchor.ring;
	const uint64_t end = counting_ring_end(ring);
	struct counting_sample sample;

	while (counting_ring_sample(ring, end, &sample)) {
		struct counter *counter = find_counter(events, sample.id);
		uint64_t wrapped;

		if (!counter)
			continue;
		counter->state = after[counter->state].overflow;
		if (!takes_overflows || !is_wanted(c, events) || sample.reading.count != 1 + events->group.count)
			continue;
		wrapped = add_counts(c, events, &sample.reading);
		if (wrapped)
			perf_overflow(c, events, wrapped,
				      &(struct where){ sample.ip, sample.time, (pid_t)sample.pid, (pid_t)sample.tid,
						       (int)sample.cpu });
	}
}

/* Tell whether the kernel announces no overflow of an event. */
static bool
is_silent(const struct set_events *events, unsigned int i)
{
	return events->group.silent >> i & 1;
}

/*
 * Tell whether an event has passed its overflow without an announcement so far: another processor may be about to make
 * it.
 */
static bool
is_told_soon(const struct context *c, const struct set_events *events, const struct counting_reading *reading)
{
	const struct set *set = set_of(c, events);

	for (unsigned int i = 0; i < events->group.count; i++) {
		const struct counter *counter = &events->counters[i];
		const uint64_t value = set->pmds[counter->number].value, count = reading->values[1 + i].value;

		if (!is_silent(events, i) && count > counter->seen && value + (count - counter->seen) < value &&
		    pmd_interrupts(set, counter->number))
			return true;
	}
	return false;
}

/* An overflow has ended the counting: drop what the events have counted since. */
static void
end_run(struct context *c)
{
	struct set_events *events = c->perf->running;
	struct counting_reading reading;

	counting_group_disable(&events->group);
	take_samples(c, events, false);
	if (counting_group_read(&events->group, &reading) == 0)
		for (unsigned int i = 0; i < events->group.count; i++)
			take_new(&events->counters[i], reading.values[1 + i].value);
	c->perf->running = NULL;
}

/*
 * Bring the counters of the running set up to date.  Overflows are handled if the set is still active, else when it
 * runs again.  If nothing announces one, because the PMU has no interrupt or the ring no room, the count shows it.
 */
static void
perf_collect(struct context *c)
{
	enum { PATIENCE = 1000 };
	struct set_events *events = c->perf->running;
	const bool takes_overflows = is_wanted(c, events);
	struct counting_reading reading;
	const int ret = counting_group_read(&events->group, &reading);

	c->perf->found = 0;
	if (takes_overflows)
		take_pending(c, events);
	take_samples(c, events, takes_overflows); /* with those that came after the reading: they are newer */
	if (ret < 0) {
		set_of(c, events)->is_refused = true;
		c->perf->running = NULL;
		if (ret == -EBADF) /* the program has closed descriptors of the group */
			perf_close_set(events);
		return;
	}
	for (int i = 0; takes_overflows && i < PATIENCE && is_wanted(c, events) && is_told_soon(c, events, &reading);
	     i++)
		take_samples(c, events, true);
	if (!takes_overflows || is_wanted(c, events))
		events->pending |= add_counts(c, events, &reading);
	if (!takes_overflows)
		return;
	if (is_wanted(c, events))
		take_pending(c, events);
	if (!is_wanted(c, events))
		end_run(c);
}

static void
stop_running(struct context *c)
{
	counting_group_disable(&c->perf->running->group);
	perf_collect(c);
	c->perf->running = NULL;
}

void
perf_update(struct context *c)
{
	struct perf *p = c->perf;
	uint64_t now;

	if (p->running)
		perf_collect(c);
	if (p->timer_seen == NEVER || !task_time(c, &now) || now <= p->timer_seen)
		return;
	c->now = now;
	timer_pass(c, now - p->timer_seen);
	p->timer_seen = now;
}

/* Silent events are looked at; and an overflow that came while its counter was stopped is handled soon. */
uint64_t
perf_time_to_next(struct context *c)
{
	const struct perf *p = c->perf;

	if (!p->running)
		return NEVER;
	return p->running->pending ? 0 : p->running->group.silent ? BETWEEN_LOOKS : NEVER;
}

/* ---- the state that the context wants ------------------------------------------------------- */

/* Tell whether an overflow of this counter masks: nothing may be counted after it. */
static bool
should_stop(const struct context *c, const struct set_events *events, unsigned int i)
{
	return !is_silent(events, i) && !c->buffer &&
	       (!c->is_ctl || set_of(c, events)->ovfl_notify >> events->counters[i].number & 1);
}

/* Let the event of a counter overflow at the same moment as the counter. */
static void
perf_aim(const struct context *c, struct set_events *events, unsigned int i)
{
	const struct set *set = set_of(c, events);
	struct counter *counter = &events->counters[i];
	const uint64_t value = set->pmds[counter->number].value;
	const uint64_t left = pmd_interrupts(set, counter->number) && value ? -value : NO_PERIOD;
	const bool stops = left < NO_PERIOD && should_stop(c, events, i);

	if (value != counter->aimed || counter->state == STOPPED) {
		/* A running software event overflows at once: that must not stop it. */
		if (c->perf->running == events &&
		    (counter->state == COUNTS_ONCE || (counter->state == COUNTS && stops))) {
			counting_group_pause(&events->group, i);
			counter->state = after[counter->state].pause;
		}
		counter->period = left < NO_PERIOD ? left : NO_PERIOD;
		counting_group_arm(&events->group, i, counter->period);
	}
	if (value != counter->aimed) /* a period of the program's, or of a reset */
		events->pending &= ~bit_of(counter);
	counter->aimed = value;
	if (stops && after[counter->state].resume == COUNTS && counting_group_stop_once(&events->group, i) == 0) {
		counter->state = COUNTS_ONCE;
	} else if (counter->state == STOPPED || counter->state == PAUSED) {
		counting_group_resume(&events->group, i);
		counter->state = after[counter->state].resume;
	}
}

void
perf_apply(struct context *c)
{
	struct perf *p = c->perf;
	struct set_events *wanted =
		context_counts(c) && p->sets[c->active->at].group.count ? &p->sets[c->active->at] : NULL;

	if (p->running && p->running != wanted)
		stop_running(c);
	if (!timer_runs(c))
		p->timer_seen = NEVER;
	else if (p->timer_seen == NEVER)
		task_time(c, &p->timer_seen);
	for (unsigned int i = 0; wanted && i < wanted->group.count; i++)
		perf_aim(c, wanted, i);
	if (wanted && p->running != wanted && counting_group_enable(&wanted->group) == 0)
		p->running = wanted;
}

void
perf_unload(struct context *c)
{
	if (c->perf->running)
		stop_running(c);
	perf_forget(c);
}

/* Open the events that the PMCs select now; if that fails, the old ones stay. */
int
perf_take_pmc(struct context *c, struct set *set)
{
	struct set_events opened, *events = &c->perf->sets[set->at];
	int ret;

	if (c->perf->running) /* it would take their room; it goes on when the context is released */
		stop_running(c);
	ret = perf_open_set(c, set, &opened);
	if (ret < 0) {
		perf_close_set(&opened);
		return ret;
	}
	perf_close_set(events);
	opened.pending = events->pending;
	*events = opened;
	set->is_refused = false;
	return 0;
}
