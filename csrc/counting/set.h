/*
 * Private: an event of all threads of the calling process (see counting.h).
 */
#ifndef PYPFM_COUNTING_SET_H
#define PYPFM_COUNTING_SET_H

#include "counting.h"

/* An event of every thread of the process, those to come included if it is inherited. */
struct counting_set;

/*
 * Open it, switched off.  Where perf_event_paranoid forbids the kernel, only user mode
 * is counted.
 */
int counting_set_open(const struct perf_event_attr *attr, struct counting_set **set);

/* The same of this process only: threads to come are counted, child processes are not. */
int counting_set_open_own(const struct perf_event_attr *attr, struct counting_set **set);

/* Switch it on and off; it keeps its count. */
int counting_set_enable(const struct counting_set *set);
int counting_set_disable(const struct counting_set *set);

/* The sum over the threads. */
int counting_set_read(const struct counting_set *set, uint64_t *value);

/* The same with the times: of a set that shared a counter of the PMU they differ. */
int counting_set_read_times(const struct counting_set *set, struct counting_value *sum);

/* Send the process a signal at each overflow. */
int counting_set_signal(const struct counting_set *set, int signal);

/* Close it; NULL is no set. */
void counting_set_close(struct counting_set *set);

#endif /* PYPFM_COUNTING_SET_H */
