/*
 * The ring of an event's records (counting/ring.h) without memory: -ENOMEM, and it is not mapped.
 */
#include "nomem.h"

#include "counting.h"
#include "ring.h"

#include <perfmon/perf_event.h>
#include <sys/mman.h>

void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t size);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t size);

static int fd;
static long mapped; /* bytes */

void *
__wrap_mmap(void *at, size_t size, int protection, int flags, int fd_, off_t offset)
{
	void *memory = nomem_fails() ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd_, offset);

	if (memory != MAP_FAILED)
		mapped += (long)size;
	return memory;
}

int
__wrap_munmap(void *at, size_t size)
{
	mapped -= (long)size;
	return __real_munmap(at, size);
}

static void
open_ring(void)
{
	struct counting_ring ring;
	int ret = counting_ring_open(fd, 2, &ring);

	CHECK_EQ(ret, nomem_failed ? -ENOMEM : 0);
	if (ret == 0)
		counting_ring_close(&ring);
	CHECK_EQ(mapped, 0);
}

int
main(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_PAGE_FAULTS,
					.exclude_kernel = 1 };

	fd = counting_open(&attr);
	if (fd < 0) {
		printf("perf_event_open: %s\n", strerror(-fd));
		return CHECK_SKIPPED;
	}
	CHECK_EQ(nomem_each(open_ring), 1);
	counting_close(fd);
	return check_result();
}
