/*
 * Private: the operations of a back end, and the functions that the back ends on
 * perf_event_open(2) share.
 */
#ifndef PYPFM_PERFMON2_BACKEND_H
#define PYPFM_PERFMON2_BACKEND_H

#include "core/context.h"

struct perf_event_attr;

#define BETWEEN_LOOKS 10000000 /* ns: between two looks at events that nothing announces */

/*
 * A back end, which makes the counters of a context move.
 *
 * The engine changes the context in memory, and the back end follows: it brings the registers up to date before a call
 * looks at them, and after it gives the counters the state that the context has then.  So the engine does not know
 * which of its changes concern a counter.
 */
struct backend {
	const char *name;
	uint64_t (*clock)(struct context *c); /* ns, of durations: the time of its thread or CPU */
	int (*load)(struct context *c);       /* its thread or CPU is known; it is UNLOADED still */
	void (*unload)(struct context *c);    /* it is UNLOADED now */
	void (*update)(struct context *c);
	void (*finish)(struct context *c); /* before it stops: apply what an update has postponed */
	void (*apply)(struct context *c);
	uint64_t (*time_to_next)(struct context *c); /* ns, to the next unannounced overflow; NEVER */
	/*
	 * Called when a PMC of a loaded context has got another value: can it be counted?  If not, it gets the old one
	 * back.
	 */
	int (*take_pmc)(struct context *c, struct set *set);
	/* Translate further fields of a counter's PMC for perf_event_open(2); the model has no such function. */
	int (*event)(const struct context *c, uint64_t pmc, struct perf_event_attr *attr);
	/* The order in which a set's counters are opened, if it matters; -EBUSY: they cannot count together. */
	int (*place)(const struct context *c, const struct set *set, uint8_t *counters, unsigned int count);
};

extern const struct backend model_backend, host_backend, raw_backend;

/* ---- perf_events.c, perf_backend.c: counters are events of perf_event_open(2) ---------------------------------- */

int perf_load(struct context *c);
void perf_unload(struct context *c);
void perf_update(struct context *c);
uint64_t perf_clock(struct context *c);
uint64_t perf_time_to_next(struct context *c);
void perf_apply(struct context *c);
int perf_take_pmc(struct context *c, struct set *set);
void perf_forget(struct context *c); /* in a child: forget its parent's events */

/* 0: it can be counted at these levels; -ENOTSUP: a level or a field has no counterpart. */
int perf_levels(uint64_t pmc, struct perf_event_attr *attr);

/* raw.c: translate a PMC for the driver of Linux for IA-64. */
int raw_event(const struct context *c, uint64_t pmc, struct perf_event_attr *attr);
int raw_place(const struct context *c, const struct set *set, uint8_t *counters, unsigned int count);

#endif /* PYPFM_PERFMON2_BACKEND_H */
