/*
 * Private: counters that are events of perf_event_open(2), of the back ends "host" and "raw": perf_events.c opens and closes
 * them, perf_backend.c lets them count.
 */
#ifndef PYPFM_PERFMON2_PERF_H
#define PYPFM_PERFMON2_PERF_H

#include "engine.h"

/*
 * The state of a counter's event while its set runs.  Its overflow, counting_group_pause() and so on lead from one
 * state to another: see perf_backend.c.  counting_group_stop_once() leads from COUNTS and STOPPED to COUNTS_ONCE.
 */
enum counter_state {
	COUNTS,      /* on and on */
	COUNTS_ONCE, /* until its next overflow, which masks */
	STOPPED,
	PAUSED, /* and will count until its next overflow */
};

struct counter {
	uint8_t number;
	enum counter_state state;
	uint64_t seen;   /* this much of its event's count has been added to its value, or dropped */
	uint64_t period; /* of its event */
	uint64_t aimed;  /* the value with which it overflows when its event does: it moves with seen */
};

struct set_events {
	struct counting_group group;                  /* without an event: it is not open */
	uint64_t pending;                             /* counters whose overflows are handled when the set runs again */
	struct counter counters[COUNTING_GROUP_MOST]; /* by the group's events */
};

/* A context's, in the process that has loaded it. */
struct perf {
	struct counting_target target;
	struct counting_anchor anchor;
	unsigned int found;  /* overflows in this look */
	uint64_t timer_seen; /* until then, in the thread's time; NEVER: no timer runs */
	struct set_events *running;
	unsigned int num_sets;
	struct set_events sets[]; /* as in the context's list, which stays while it is loaded */
};

/* Most events that can be told apart in a period of perf_event_open(2): then a counter does not overflow. */
#define NO_PERIOD ((uint64_t)INT64_MAX)

int perf_open_set(struct context *c, const struct set *set,
		  struct set_events *events); /* closed by the caller after errors */
void perf_close_set(struct set_events *events);

#endif /* PYPFM_PERFMON2_PERF_H */
