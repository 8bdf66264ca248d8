/*
 * The records that the kernel writes about an event.
 */
#include "ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct counting_ring {
	struct perf_event_mmap_page	*head;
	const unsigned char		*data;
	size_t				page, size;	/* of the data, a power of 2 */
};

/* As the kernel writes them with the read_format of counting.c. */
struct lost_record {
	struct perf_event_header	header;
	uint64_t			id, lost;
};

struct read_record {
	struct perf_event_header	header;
	struct counting_end		end;
};

union record {
	struct perf_event_header	header;
	struct lost_record		lost;
	struct read_record		read;
};

int
counting_ring_open(int fd, size_t pages, struct counting_ring **ring)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory;

	do
		memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	while (memory == MAP_FAILED && errno == EPERM && (pages /= 2) > 0);
	if (memory == MAP_FAILED)
		return -errno;
	*ring = malloc(sizeof(**ring));
	if (!*ring) {
		munmap(memory, (pages + 1) * page);
		return -ENOMEM;
	}
	**ring = (struct counting_ring){ memory, (const unsigned char *)memory + page, page, pages * page };
	return 0;
}

/* Copy from the ring, which begins anew at its end. */
static void
ring_copy(const struct counting_ring *ring, uint64_t at, void *to, size_t size)
{
	const size_t from = (size_t)at & (ring->size - 1);
	const size_t first = size < ring->size - from ? size : ring->size - from;

	memcpy(to, ring->data + from, first);
	memcpy((unsigned char *)to + first, ring->data, size - first);
}

int
counting_ring_take(struct counting_ring *ring, struct counting_end *ends, int room, uint64_t *lost)
{
	const uint64_t head = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->head->data_tail;
	int taken = 0;

	while (tail < head && taken < room) {
		union record record = { .header = { 0 } };

		ring_copy(ring, tail, &record.header, sizeof(record.header));
		ring_copy(ring, tail, &record, record.header.size < sizeof(record) ? record.header.size : sizeof(record));
		if (record.header.type == PERF_RECORD_READ)
			ends[taken++] = record.read.end;
		else if (record.header.type == PERF_RECORD_LOST)
			*lost += record.lost.lost;
		tail += record.header.size;
	}
	__atomic_store_n(&ring->head->data_tail, tail, __ATOMIC_RELEASE);
	return taken;
}

void
counting_ring_close(struct counting_ring *ring)
{
	if (ring)
		munmap(ring->head, ring->page + ring->size);
	free(ring);
}
