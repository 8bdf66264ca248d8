/*
 * Private: counts of this process that perfex's valgrind tool simulates (tool/tool.h), which the program may ask for.
 */
#ifndef PYPFM_PERFEX_SIMULATED_H
#define PYPFM_PERFEX_SIMULATED_H

#include "library.h"
#include "tool/r10k.h"

/* The counts at one moment, or between two. */
struct simulated {
	uint64_t counts[R10K_NUM_COUNTS];
	bool fine;  /* each thread has a processor */
	bool never; /* between two: counting was off, perfex -s */
};

/* Read the counts so far.  -ENODEV: no tool counts. */
int simulated_read(struct simulated *now);

/*
 * Begin and end a region, outside of which nothing is counted with perfex --regions; region: whether this process is in
 * one, also after fork(), when the pair is the parent's.
 */
void simulated_begin(bool *region);
void simulated_end(bool *region);

/* Subtract two moments, and what an empty region costs; never less than 0. */
struct simulated simulated_since(const struct simulated *begin, const struct simulated *end,
				 const struct simulated *empty);

/* Add the difference to a counter that was stopped. */
void perfex_counter_between(struct perfex_counter *counter, const struct simulated *begin, const struct simulated *end,
			    const struct simulated *empty);

/* Return an event's count.  -ENODEV: it is not counted; -EBUSY: nothing has been counted at all (perfex -s). */
int simulated_value(const struct simulated *simulated, const struct perfex_cpu *cpu, int event, double clock,
		    uint64_t *value);

#endif /* PYPFM_PERFEX_SIMULATED_H */
