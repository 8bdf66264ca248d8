/*
 * Private: counts of this process that perfex's valgrind tool simulates (tool/tool.h), which the program may ask for.
 */
#ifndef PYPFM_PERFEX_SIMULATED_H
#define PYPFM_PERFEX_SIMULATED_H

#include "library.h"
#include "tool/r10k.h"

/* The counts at one moment, or between two. */
struct simulated {
	uint64_t	counts[R10K_NUM_COUNTS];
	bool		fine;	/* each thread has a processor */
	bool		never;	/* between two: counting was off, perfex -s */
};

/* What has been counted so far.  -ENODEV: nobody counts. */
int simulated_read(struct simulated *now);

/* What was counted from one moment to another, less what an empty region has; never less than nothing. */
struct simulated simulated_since(const struct simulated *begin, const struct simulated *end, const struct simulated *empty);

/* A counter that was stopped has counted that. */
void perfex_counter_between(struct perfex_counter *counter, const struct simulated *begin, const struct simulated *end,
			    const struct simulated *empty);

/* An event's count.  -ENODEV: it is not counted; -EBUSY: nothing has been counted at all (perfex -s). */
int simulated_value(const struct simulated *simulated, const struct perfex_cpu *cpu, int event, double clock,
		    uint64_t *value);

#endif /* PYPFM_PERFEX_SIMULATED_H */
