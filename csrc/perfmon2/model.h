/*
 * Private: the two halves of the model: events that are told (model_backend.c), and events by the time that a thread runs
 * (model_rate.c).
 */
#ifndef PYPFM_PERFMON2_MODEL_H
#define PYPFM_PERFMON2_MODEL_H

#include "engine.h"

/* What happens, at which privilege levels. */
struct happening {
	bool		everything;	/* each event */
	unsigned int	es, umask, plm;
};

/* The counters of a set that move, if it counts. */
uint64_t model_moving(const struct context *c, const struct set *set, const struct happening *h);
struct where model_here(const struct context *c, pid_t tid);

int rate_begin(struct context *c);	/* it is loaded: -EPERM: the time of its thread may not be read */
void rate_update(struct context *c);	/* what has happened until now; if it is too much a part waits for the next time, */
void rate_finish(struct context *c);	/* or for the end */
uint64_t rate_time_to_next(struct context *c);

#endif /* PYPFM_PERFMON2_MODEL_H */
