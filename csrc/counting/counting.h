/*
 * Private: counting on Linux through perf_event_open(2).
 *
 * One event of one thread on any processor.  Failures are negative errno values: -ENOENT, no such counter on this
 * machine; -EACCES, perf_event_paranoid forbids it.
 */
#ifndef PYPFM_COUNTING_H
#define PYPFM_COUNTING_H

#ifndef PFM_OWN_PERF_EVENT
#define PFM_OWN_PERF_EVENT /* the same structures on every machine */
#endif
#include <perfmon/perf_event.h>

/* The value of a counter, and how long it was on the PMU of the time for which it was enabled. */
struct counting_value {
	uint64_t value;
	uint64_t time_enabled; /* nanoseconds */
	uint64_t time_running; /* nanoseconds */
};

/* Open an event of the calling thread, switched off: a descriptor. */
int counting_open(const struct perf_event_attr *attr);

/* The same for another thread, or the process whose main thread it is; 0: the calling one. */
int counting_open_thread(const struct perf_event_attr *attr, pid_t tid);

/* The same on one processor only; its threads' counts can be had one by one (ring.h). */
int counting_open_cpu(const struct perf_event_attr *attr, pid_t tid, int cpu);

/* Set the counter to 0 and switch it on. */
int counting_start(int fd);

/* Switch the counter on where it was. */
int counting_resume(int fd);

/* Switch the counter off. */
int counting_stop(int fd);

/* Read the counter. */
int counting_read(int fd, struct counting_value *value);

/* Scale the count to the whole time; -EBUSY: it was never on the PMU. */
int counting_scale(const struct counting_value *value, uint64_t *count);

/*
 * How many of its records found no place in its ring (ring.h): those of counting_open_cpu(),
 * since Linux 6.0, else 0.
 */
int counting_lost(int fd, uint64_t *lost);

/* Close the event. */
int counting_close(int fd);

#endif /* PYPFM_COUNTING_H */
