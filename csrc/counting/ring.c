/*
 * The records that the kernel writes about an event.
 */
#include "ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* As the kernel writes them with the read_format of counting.c. */
struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

struct read_record {
	struct perf_event_header header;
	struct counting_end end;
};

struct sample_record {
	struct perf_event_header header;
	struct counting_sample sample;
};

struct fork_record {
	struct perf_event_header header;
	uint32_t pid, parent_pid, tid, parent_tid;
};

struct name_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[16 + sizeof(uint64_t)]; /* 8 or 16, and the time */
};

union record {
	struct fork_record fork;
	struct name_record name;
	struct perf_event_header header;
	struct sample_record sample;
	struct lost_record lost;
	struct read_record read;
};

int
counting_ring_open(int fd, size_t pages, struct counting_ring *ring)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory;

	do
		memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	while (memory == MAP_FAILED && errno == EPERM && (pages /= 2) > 0);
	if (memory == MAP_FAILED)
		return -errno;
	*ring = (struct counting_ring){ memory, (const unsigned char *)memory + page, page, pages * page };
	return 0;
}

/* Copy from the ring, and continue at its beginning after its end. */
static void
ring_copy(const struct counting_ring *ring, uint64_t at, void *to, size_t size)
{
	const size_t from = (size_t)at & (ring->size - 1);
	const size_t first = size < ring->size - from ? size : ring->size - from;

	memcpy(to, ring->data + from, first);
	memcpy((unsigned char *)to + first, ring->data, size - first);
}

/* Find the next record, copy its beginning, and return its size in the ring; 0: there is none. */
static uint64_t
ring_peek(const struct counting_ring *ring, uint64_t tail, uint64_t head, union record *record)
{
	size_t size;

	if (tail >= head)
		return 0;
	*record = (union record){ .header = { 0 } };
	ring_copy(ring, tail, &record->header, sizeof(record->header));
	size = record->header.size;
	ring_copy(ring, tail, record, size < sizeof(*record) ? size : sizeof(*record));
	return size;
}

int
counting_ring_take(struct counting_ring *ring, struct counting_end *ends, int room, uint64_t *lost)
{
	const uint64_t head = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->head->data_tail, size;
	union record record;
	int taken = 0;

	while (taken < room && (size = ring_peek(ring, tail, head, &record))) {
		if (record.header.type == PERF_RECORD_READ)
			ends[taken++] = record.read.end;
		else if (record.header.type == PERF_RECORD_LOST)
			*lost += record.lost.lost;
		tail += size;
	}
	__atomic_store_n(&ring->head->data_tail, tail, __ATOMIC_RELEASE);
	return taken;
}

/* Read a record about a thread; false: it is another kind of record. */
static bool
life_of(const union record *record, struct counting_life *life)
{
	const uint16_t size = record->header.size;

	*life = (struct counting_life){ 0 };
	if (size < sizeof(life->time) || size > sizeof(*record))
		return false;
	memcpy(&life->time, (const char *)record + size - sizeof(life->time), sizeof(life->time));
	if (record->header.type == PERF_RECORD_FORK) {
		life->pid = record->fork.pid;
		life->tid = record->fork.tid;
		life->parent = record->fork.parent_tid;
		return true;
	}
	if (record->header.type != PERF_RECORD_COMM)
		return false;
	life->pid = record->name.pid;
	life->tid = record->name.tid;
	memcpy(life->name, record->name.name, sizeof(life->name) - 1);
	life->name[strnlen(life->name, size - offsetof(struct name_record, name) - sizeof(life->time))] = '\0';
	return true;
}

int
counting_ring_lives(struct counting_ring *ring, struct counting_life *lives, int room)
{
	const uint64_t head = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->head->data_tail, size;
	union record record;
	int taken = 0;

	while (taken < room && (size = ring_peek(ring, tail, head, &record))) {
		taken += life_of(&record, &lives[taken]);
		tail += size;
	}
	__atomic_store_n(&ring->head->data_tail, tail, __ATOMIC_RELEASE);
	return taken;
}

uint64_t
counting_ring_end(const struct counting_ring *ring)
{
	return ring->head ? __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE) : 0;
}

bool
counting_ring_sample(struct counting_ring *ring, uint64_t end, struct counting_sample *sample)
{
	union record record;
	uint64_t tail, size;
	bool found = false;

	if (!ring->head)
		return false;
	tail = ring->head->data_tail;
	while (!found && (size = ring_peek(ring, tail, end, &record))) {
		found = record.header.type == PERF_RECORD_SAMPLE;
		if (found)
			*sample = record.sample.sample;
		tail += size;
	}
	__atomic_store_n(&ring->head->data_tail, tail, __ATOMIC_RELEASE);
	return found;
}

void
counting_ring_close(struct counting_ring *ring)
{
	if (ring->head)
		munmap(ring->head, ring->page + ring->size);
	ring->head = NULL;
}
