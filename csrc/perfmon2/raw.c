/*
 * The back end "raw": the processor's own events, through the driver of perf events that Linux for IA-64 has.
 */
#include "engine.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "../counting/counting.h"

#define EVENT_FIELDS UINT64_C(0x7fff00)       /* es, umask, threshold */
#define MONTECITO_FIELDS UINT64_C(0x7c000000) /* all, mesi */
#define ITANIUM_LOST UINT64_C(0x80000)        /* the driver cuts off the upper bit of the unit mask */

int
raw_event(const struct context *c, uint64_t pmc, struct perf_event_attr *attr)
{
	const int type = c->machine->type;
	uint64_t counters;
	bool is_normal;

	if (type == PFMLIB_ITANIUM_PMU && pmc & ITANIUM_LOST)
		return -ENOTSUP;
	pfm3_event_of_code(type, pmc_es(c->machine, pmc), pmc_umask(pmc), &counters, &is_normal);
	if (!is_normal)
		return -ENOTSUP;
	attr->type = PERF_TYPE_RAW;
	attr->config = pmc & (EVENT_FIELDS | (type == PFMLIB_MONTECITO_PMU ? MONTECITO_FIELDS : 0));
	return perf_levels(pmc, attr);
}

/* The events on the first counters, and the counters that each can use. */
struct places {
	unsigned int count, first;
	uint64_t able[PERFMON2_PMDS]; /* of each event */
	int event[PERFMON2_PMDS];     /* on each counter, or -1 */
};

/* Find a counter for an event; another event makes room if it can move. */
static bool
find_place(struct places *p, int event, uint64_t *tried)
{
	for (unsigned int at = 0; at < p->count; at++) {
		const uint64_t bit = UINT64_C(1) << (p->first + at);

		if (!(p->able[event] & bit) || *tried & bit)
			continue;
		*tried |= bit;
		if (p->event[at] < 0 || find_place(p, p->event[at], tried)) {
			p->event[at] = event;
			return true;
		}
	}
	return false;
}

/* The driver gives each event the lowest free counter, whether the event can be counted there or not. */
int
raw_place(const struct context *c, const struct set *set, uint8_t *counters, unsigned int count)
{
	struct places p = { .count = count, .first = (unsigned int)__builtin_ctzll(c->machine->counters) };
	uint8_t wanted[PERFMON2_PMDS];
	bool is_normal;

	memcpy(wanted, counters, count);
	for (unsigned int i = 0; i < count; i++) {
		const uint64_t pmc = set->pmcs[wanted[i]];

		p.event[i] = -1;
		if (!pfm3_event_of_code(c->machine->type, pmc_es(c->machine, pmc), pmc_umask(pmc), &p.able[i],
					&is_normal))
			p.able[i] = c->machine->counters; /* a code that is in no table can use any counter */
	}
	for (unsigned int i = 0; i < count; i++) {
		uint64_t tried = 0;

		if (!find_place(&p, (int)i, &tried))
			return -EBUSY;
	}
	for (unsigned int at = 0; at < count; at++)
		counters[at] = wanted[p.event[at]];
	return 0;
}

/* On another processor the codes would mean other events. */
static int
raw_load(struct context *c)
{
	struct utsname system;

	return uname(&system) == 0 && strcmp(system.machine, "ia64") == 0 ? perf_load(c) : -ENODEV;
}

const struct backend raw_backend = {
	"raw",      perf_clock,        raw_load,      perf_unload, perf_update, NULL,
	perf_apply, perf_time_to_next, perf_take_pmc, raw_event,   raw_place,
};
