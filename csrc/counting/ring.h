/*
 * Private: the records that the kernel writes about an event (see counting.h).
 */
#ifndef PYPFM_COUNTING_RING_H
#define PYPFM_COUNTING_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "counting.h"

/* The memory that the kernel writes records to. */
struct counting_ring {
	struct perf_event_mmap_page *head; /* NULL: there is none */
	const unsigned char *data;
	size_t page, size; /* of the data, a power of 2 */
};

/* The value of an inherited event when its thread ended (PERF_RECORD_READ). */
struct counting_end {
	uint32_t pid, tid;
	struct counting_value value;
};

/*
 * An overflow of an event of a group (group.h): members as the kernel writes them for these values of sample_type and
 * read_format.
 */
#define COUNTING_SAMPLE_TYPE \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_READ)
#define COUNTING_GROUP_FORMAT (PERF_FORMAT_GROUP | PERF_FORMAT_ID)

enum { COUNTING_GROUP_MOST = 16 };

/* The counts of the group's events; the first one is the leader, which counts nothing. */
struct counting_reading {
	uint64_t count;
	struct {
		uint64_t value, id;
	} values[1 + COUNTING_GROUP_MOST];
};

struct counting_sample {
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time; /* ns */
	uint64_t id;   /* of the event */
	uint32_t cpu, reserved;
	struct counting_reading reading;
};

/*
 * Have an event write its records to a ring of that many pages, a power of 2, or of
 * fewer where memory may not be locked.
 */
int counting_ring_open(int fd, size_t pages, struct counting_ring *ring);

/*
 * Take the records of ended threads, as many as there is room for: their number.  lost
 * is increased by the number of records that found no place in the ring, as far as the
 * kernel has said: it does with the next record that finds one (else: counting_lost()).
 */
int counting_ring_take(struct counting_ring *ring, struct counting_end *ends, int room, uint64_t *lost);

/*
 * A thread begins, or has another name: from an event whose attr has task, comm and sample_id_all set, and
 * PERF_SAMPLE_TIME as sample_type.
 */
struct counting_life {
	uint64_t time; /* ns */
	uint32_t pid, tid;
	uint32_t parent; /* the thread that made it; 0: no new thread */
	char name[16];
};

/* Take such records, as many as there is room for: their number. */
int counting_ring_lives(struct counting_ring *ring, struct counting_life *lives, int room);

/* The present end of the records: more may follow meanwhile. */
uint64_t counting_ring_end(const struct counting_ring *ring);

/* Take the record of one overflow: false if there is no more until there. */
bool counting_ring_sample(struct counting_ring *ring, uint64_t end, struct counting_sample *sample);

/* Close it. */
void counting_ring_close(struct counting_ring *ring);

#endif /* PYPFM_COUNTING_RING_H */
