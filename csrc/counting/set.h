/*
 * Private: an event of all threads of the calling process (see counting.h).
 */
#ifndef PYPFM_COUNTING_SET_H
#define PYPFM_COUNTING_SET_H

#include "counting.h"

/*
 * An event of every thread of the process, those to come included if it is inherited.  One may be
 * missing: a thread whose clone() began before the set was opened, and took a millisecond longer.
 */
struct counting_set;

/*
 * The functions return 0 or, in the words of libpmc and libperfex, -ENOMEM (or no descriptor is left), -EACCES
 * (forbidden), -EAGAIN, -EBADF (the program has closed a descriptor), -EBUSY, and -ENODEV for all else: it cannot be
 * counted here.
 */

/*
 * Open it, switched off.  Where perf_event_paranoid forbids the kernel, only user mode
 * is counted.  -EAGAIN: the process makes threads faster than they can be opened;
 * -ENODEV: it has several, and no /proc lists them (threads.h).
 */
int counting_set_open(const struct perf_event_attr *attr, struct counting_set **set);

/* The same of this process only: threads to come are counted, child processes are not. */
int counting_set_open_own(const struct perf_event_attr *attr, struct counting_set **set);

/* Switch it on and off; it keeps its count. */
int counting_set_enable(const struct counting_set *set);
int counting_set_disable(const struct counting_set *set);

/* The sum over the threads, scaled to the whole time; -EBUSY: others had the counter of the PMU all the time. */
int counting_set_read(const struct counting_set *set, uint64_t *count);

/* Send the process a signal at each overflow. */
int counting_set_signal(const struct counting_set *set, int signal);

/* Close it; NULL is no set. */
void counting_set_close(struct counting_set *set);

#endif /* PYPFM_COUNTING_SET_H */
