/*
 * Private: events that count together, on one thread or one processor (see counting.h).
 *
 * Nothing is allocated: a signal handler may call all of it.
 */
#ifndef PYPFM_COUNTING_GROUP_H
#define PYPFM_COUNTING_GROUP_H

#include <stdbool.h>

#include "ring.h"

/* The target: a thread (0: the calling one) on any processor, or all threads on one processor. */
struct counting_target {
	pid_t tid; /* -1: of a processor */
	int cpu;   /* -1: any */
};

/*
 * The parts that the groups of one target share: the ring for their overflows, and a descriptor to wait for them with
 * poll(2).
 */
struct counting_group_event {
	int fd;
	uint64_t id; /* the program may close the descriptor, and have its number for a file of its own */
};

struct counting_anchor {
	struct counting_group_event
		event; /* its descriptor: POLLIN: there is an overflow; POLLHUP: the thread has ended */
	struct counting_ring ring;
};

/* Without memory for the ring there are no samples: overflows must be searched for. */
int counting_anchor_open(struct counting_anchor *anchor, const struct counting_target *target, size_t pages);
void counting_anchor_close(struct counting_anchor *anchor);
bool counting_anchor_has_ended(const struct counting_anchor *anchor); /* with a ring: its thread has ended */

/*
 * Measure the time that a thread runs, in ns, from now on: it can be read after the thread has ended, too.  -EBADF: as
 * below.
 */
int counting_clock_open(struct counting_group_event *clock, pid_t tid);
int counting_clock_read(const struct counting_group_event *clock, uint64_t *ns);
void counting_clock_close(struct counting_group_event *clock);

/*
 * Open an event whose descriptor becomes readable when a thread has run for this many ns more: from 10,000 on, and some
 * 400,000 late, or a bit early, as its clock includes the time of interrupts.  It fires again after as many, until it
 * is stopped.  is_coarse: it may not look into the kernel, and does not fire if the thread is in the kernel then.
 */
int counting_alarm_open(struct counting_anchor *alarm, pid_t tid, bool *is_coarse); /* to be closed as an anchor */
bool counting_alarm_has_rung(const struct counting_anchor *alarm);                  /* since it was set */
int counting_alarm_set(const struct counting_anchor *alarm, uint64_t ns);
void counting_alarm_stop(const struct counting_anchor *alarm);

struct counting_group {
	struct counting_group_event leader; /* counts nothing, and switches the whole group */
	struct counting_group_event events[COUNTING_GROUP_MOST];
	unsigned int count;
	uint64_t silent; /* bit i: nothing announces an overflow of event i: no interrupt, or no ring */
};

/*
 * Open a group, switched off.  Its events are on the PMU together or not at all.  An event with a sample_period tells of
 * overflows; where the PMU cannot, the event counts only, and is one of the silent.
 */
int counting_group_open(struct counting_group *group, const struct counting_target *target,
			const struct perf_event_attr *attrs, unsigned int count, const struct counting_anchor *anchor);

int counting_group_enable(const struct counting_group *group);
int counting_group_disable(const struct counting_group *group);

/* -EBUSY: there was no place for it on the PMU; -EBADF: the program has closed its descriptors. */
int counting_group_read(const struct counting_group *group, struct counting_reading *reading);

/* Let an event overflow after this many more, and again after as many. */
int counting_group_arm(const struct counting_group *group, unsigned int event, uint64_t period);

/* Let one event stop, and count again; or let it stop itself at its next overflow. */
int counting_group_pause(const struct counting_group *group, unsigned int event);
int counting_group_resume(const struct counting_group *group, unsigned int event);
int counting_group_stop_once(const struct counting_group *group, unsigned int event);

/* Close the group; in a child, too, whose copies of the descriptors do not matter for the parent's counting. */
void counting_group_close(struct counting_group *group);

#endif /* PYPFM_COUNTING_GROUP_H */
