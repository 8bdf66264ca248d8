/*
 * The model with a rate: each event happens this many times in a millisecond that a thread
 * runs.
 *
 * Time between two looks is arithmetic.  It is counted in units: a nanosecond has as many
 * units as the rate, and an event takes NS_PER_MS of them, so that nothing is rounded.  Each
 * set has its own phase, the elapsed part of its next event.  An overflow or a timeout that
 * can be seen from outside is a step of its own; rounds of sets that only wait for their
 * timeouts are done at once; if sets switch at every few events, a part is done step by
 * step, and the rest in the same proportions.
 */
#include "context.h"

#define NS_PER_MS UINT64_C(1000000)
#define MOST_TIME UINT64_C(1000000000) /* ns: units of more would not fit */

enum { MOST_STEPS = 10000 }; /* in one look: signals are blocked meanwhile */

static const struct happening everything = { .everything = true, .plm = PFM_PLM3 };

/* The counters of a set that move. */
static uint64_t
moving(const struct context *c, const struct set *set)
{
	return events_move(c, set, &everything);
}

/* Counting does not stop, and the overflow causes no notice and no sample: it cannot be seen. */
static bool
is_seen(const struct context *c, const struct set *set, unsigned int counter)
{
	return pmd_interrupts(set, counter) && (!c->is_ctl || c->buffer || set->ovfl_notify >> counter & 1);
}

/* And the counter only restarts, with the same period each time. */
static bool
rate_is_regular(const struct context *c, const struct set *set, unsigned int counter)
{
	const struct pmd *pmd = &set->pmds[counter];

	return !is_seen(c, set, counter) && !(pmd->flags & PFM_REGFL_RANDOM) &&
	       !(pmd->reset_pmds & ~(UINT64_C(1) << counter));
}

/* ---- one step: in the active set, to its next overflow or timeout at most ------------------------ */

/* Units until a counter of a set overflows, regular ones left out. */
static uint64_t
units_to_overflow(const struct context *c, const struct set *set, uint64_t counters)
{
	uint64_t events = NEVER;

	for (EACH_BIT(rest, counters)) {
		const unsigned int i = first_bit(rest);

		if (pmd_interrupts(set, i) && !rate_is_regular(c, set, i) && -set->pmds[i].value - 1 < events)
			events = -set->pmds[i].value - 1;
	}
	return events >= NEVER / NS_PER_MS - 1 ? NEVER : (events + 1) * NS_PER_MS - set->phase;
}

static uint64_t
units_to_timeout(const struct context *c)
{
	const uint64_t ns = c->active->remaining;

	return !timer_runs(c) || ns >= 2 * MOST_TIME ? NEVER : ns ? ns * c->rate - c->fraction : 0;
}

/* It may have restarted many times. */
static void
count_regular(struct pmd *pmd, uint64_t events)
{
	const uint64_t period = -pmd->short_reset;

	pmd->value += events;
	if (pmd->value >= events)
		return;
	if (period)
		pmd->value %= period;
	pmd->value += pmd->short_reset;
	pmd->lval = pmd->short_reset;
}

/* Move the counters of a set, all but the last event before an overflow. */
static void
add_events(struct context *c, struct set *set, uint64_t counters, uint64_t units, bool overflows)
{
	const uint64_t events = (set->phase + units) / NS_PER_MS - overflows;

	set->phase = (set->phase + units) % NS_PER_MS;
	for (EACH_BIT(rest, counters)) {
		const unsigned int i = first_bit(rest);

		if (pmd_interrupts(set, i) && rate_is_regular(c, set, i))
			count_regular(&set->pmds[i], events);
		else
			count_pmd(c, set, i, events);
	}
}

/* Find the counters that the next event makes overflow. */
static uint64_t
full_counters(const struct set *set, uint64_t counters)
{
	uint64_t full = 0;

	for (EACH_BIT(rest, counters))
		if (pmd_interrupts(set, first_bit(rest)) && set->pmds[first_bit(rest)].value == UINT64_MAX)
			full |= rest & -rest;
	return full;
}

/* Let the timer of the set that was active run; an overflow comes before its end. */
static uint64_t
step(struct context *c, uint64_t left, const struct where *where)
{
	struct set *set = c->active;
	const uint64_t counters = moving(c, set);
	const uint64_t overflow = units_to_overflow(c, set, counters), timeout = units_to_timeout(c);
	const uint64_t first = overflow < timeout ? overflow : timeout, units = first < left ? first : left;
	const uint64_t ns = (c->fraction + units) / c->rate;

	add_events(c, set, counters, units, units == overflow);
	set->walked += units;
	c->fraction = (c->fraction + units) % c->rate;
	c->now += ns;
	if (timer_runs(c))
		set->remaining -= ns;
	if (units == overflow) {
		set->walked_wraps |= full_counters(set, counters);
		events_step(c, &everything, 1, where);
	}
	if (c->active == set && units == timeout)
		timer_pass(c, 0);
	return left - units;
}

/* ---- rounds of sets with timeouts ------------------------------------------------------------- */

/* Return how many rounds of all sets pass before a counter overflows; 0: some set is not of that kind. */
static uint64_t
rounds(const struct context *c, uint64_t left)
{
	const uint64_t ns = round_time(c);
	uint64_t most = ns && ns <= MOST_TIME ? left / (ns * c->rate) : 0;

	for (unsigned int i = 0; most && i < c->num_sets; i++) {
		const struct set *set = c->sets[i];
		const uint64_t before = (units_to_overflow(c, set, moving(c, set)) - 1) / (set->timeout * c->rate);

		most = before < most ? before : most;
	}
	return most;
}

/* Give each set its part; the active one is as before. */
static uint64_t
make_rounds(struct context *c, uint64_t left)
{
	const uint64_t n = rounds(c, left);

	for (unsigned int i = 0; n && i < c->num_sets; i++) {
		struct set *set = c->sets[i];
		const uint64_t units = n * set->timeout * c->rate;

		add_events(c, set, moving(c, set), units, false);
		left -= units;
	}
	round_pass(c, n);
	return left;
}

/* ---- shares of what is too much to do step by step ---------------------------------------------- */

static void
begin_shares(struct context *c)
{
	for (unsigned int i = 0; i < c->num_sets; i++) {
		c->sets[i]->walked = c->sets[i]->walked_wraps = 0;
		c->sets[i]->walked_runs = c->sets[i]->runs;
	}
}

/* Do a part of the rest in the proportions of the first part: up to an overflow that the proportions do not include. */
static double
part_to_overflow(const struct context *c, double factor)
{
	double part = 1;

	for (unsigned int i = 0; i < c->num_sets; i++) {
		const struct set *set = c->sets[i];
		const uint64_t counters = moving(c, set) & ~set->walked_wraps;
		const double units = (double)set->walked * factor,
			     most = (double)units_to_overflow(c, set, counters) * 0.999;

		if (units > 0 && most / units < part)
			part = most / units;
	}
	return part;
}

static uint64_t
make_shares(struct context *c, uint64_t left, bool is_last)
{
	double walked = 0, factor;
	uint64_t units, ns;

	for (unsigned int i = 0; i < c->num_sets; i++)
		walked += (double)c->sets[i]->walked;
	if (walked == 0)
		return left;
	factor = (double)left / walked;
	if (!is_last)
		factor *= part_to_overflow(c, factor);
	units = (uint64_t)(factor * walked);
	units = units < left ? units : left;
	ns = (c->fraction + units) / c->rate;
	duration_update(c);
	for (unsigned int i = 0; i < c->num_sets; i++) {
		struct set *set = c->sets[i];
		const uint64_t share = (uint64_t)((double)set->walked * factor);

		add_events(c, set, moving(c, set) & ~set->walked_wraps, share, false);
		set->runs += (uint64_t)((double)(set->runs - set->walked_runs) * factor);
		set->duration += share / c->rate;
	}
	c->fraction = (c->fraction + units) % c->rate;
	c->now += ns;
	c->active->since = c->now;
	return is_last ? 0 : left - units;
}

/* ---- a look ----------------------------------------------------------------------------------- */

/* Do as much as a look may do; return what is left. */
static uint64_t
walk(struct context *c, uint64_t left, bool is_last, const struct where *where)
{
	begin_shares(c);
	for (int steps = 0; steps < MOST_STEPS && left && context_counts(c); steps++) {
		if (steps == MOST_STEPS / 2)
			begin_shares(c);
		if (steps % c->num_sets == 0)
			left = make_rounds(c, left);
		if (left)
			left = step(c, left, where);
	}
	if (!left || !context_counts(c) || (c->buffer && !is_last)) /* samples are taken one by one */
		return left;
	return make_shares(c, left, is_last);
}

bool
rate_run(struct context *c, uint64_t until, bool is_last, const struct where *where)
{
	uint64_t left = 0;

	while (!left && until > c->now && context_counts(c)) {
		const uint64_t ns = until - c->now;

		left = walk(c, (ns < MOST_TIME ? ns : MOST_TIME) * c->rate - c->fraction, is_last, where);
	}
	if (left && context_counts(c))
		return true;
	c->now = until > c->now ? until : c->now;
	c->fraction = 0;
	return false;
}

void
rate_begin(struct context *c)
{
	c->fraction = 0;
	for (unsigned int i = 0; i < c->num_sets; i++)
		c->sets[i]->phase = 0;
}

/* Tell whether an overflow sends a message, or writes a sample. */
static bool
tells(const struct context *c, const struct set *set)
{
	const uint64_t counters = moving(c, set);

	for (EACH_BIT(rest, c->buffer ? counters : counters & set->ovfl_notify))
		if (pmd_interrupts(set, first_bit(rest)))
			return true;
	return false;
}

static uint64_t
later(uint64_t ns, uint64_t more)
{
	return more < NEVER - ns ? ns + more : NEVER;
}

/* Return the ns from its activation on until a set may overflow, and until the next one is active. */
static uint64_t
time_to_overflow(const struct context *c, const struct set *set)
{
	const uint64_t units = units_to_overflow(c, set, moving(c, set));

	return units < NEVER ? units / c->rate + 1 : NEVER;
}

static uint64_t
time_to_switch(const struct context *c, const struct set *set, uint64_t overflow)
{
	if (set->flags & PFM_SETFL_TIME_SWITCH)
		return set == c->active ? set->remaining : set->timeout;
	return set->flags & PFM_SETFL_OVFL_SWITCH ? overflow : NEVER;
}

/*
 * Go through the sets in turn: find the first overflow, or the first switch that resets counters, which may then
 * overflow sooner.
 */
uint64_t
rate_time_to_next(const struct context *c)
{
	const struct set *set = c->active;
	uint64_t ns = NEVER, begin = 0;
	bool is_told = false;

	if (!context_counts(c))
		return NEVER;
	do {
		const uint64_t overflow = time_to_overflow(c, set);

		is_told |= tells(c, set);
		ns = later(begin, overflow) < ns ? later(begin, overflow) : ns;
		begin = later(begin, time_to_switch(c, set, overflow));
		set = set_after(c, set);
		if (set->pending_reset && begin < ns)
			ns = begin;
	} while (begin < ns && set != c->active);
	while (!is_told && set != c->active && begin < NEVER) { /* one whose turn comes later may exist */
		is_told = tells(c, set);
		set = set_after(c, set);
	}
	return is_told ? ns : NEVER;
}
