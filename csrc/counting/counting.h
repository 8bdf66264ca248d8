/*
 * Private: counting on Linux through perf_event_open(2).
 *
 * One event of one thread, or of all threads of the calling process, on any
 * processor.  Failures are negative errno values: -ENOENT, no such counter on this
 * machine; -EACCES, perf_event_paranoid forbids it.
 */
#ifndef PYPFM_COUNTING_H
#define PYPFM_COUNTING_H

#include <perfmon/perf_event.h>

/* What a counter holds, and for how much of its time it was on the PMU. */
struct counting_value {
	uint64_t	value;
	uint64_t	time_enabled;	/* nanoseconds */
	uint64_t	time_running;	/* nanoseconds */
};

/* Open an event of the calling thread, switched off: a descriptor. */
int counting_open(const struct perf_event_attr *attr);

/* The same for another thread, or the process whose main thread it is; 0: the calling one. */
int counting_open_thread(const struct perf_event_attr *attr, pid_t tid);

/* Set the counter to 0 and switch it on. */
int counting_start(int fd);

/* Switch the counter on where it was. */
int counting_resume(int fd);

/* Switch the counter off. */
int counting_stop(int fd);

/* Read the counter. */
int counting_read(int fd, struct counting_value *value);

/* Close the event. */
int counting_close(int fd);

/* An event of every thread of the process, those to come included if it is inherited. */
struct counting_set;

/*
 * Open it, switched off.  Where perf_event_paranoid forbids the kernel, only user mode
 * is counted.
 */
int counting_set_open(const struct perf_event_attr *attr, struct counting_set **set);

/* Switch it on and off; it keeps its count. */
int counting_set_enable(const struct counting_set *set);
int counting_set_disable(const struct counting_set *set);

/* The sum over the threads. */
int counting_set_read(const struct counting_set *set, uint64_t *value);

/* Send the process a signal at each overflow. */
int counting_set_signal(const struct counting_set *set, int signal);

/* Close it; NULL is no set. */
void counting_set_close(struct counting_set *set);

#endif /* PYPFM_COUNTING_H */
