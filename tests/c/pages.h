/*
 * Page faults of a known number, which every kernel counts.
 */
#ifndef TESTS_PAGES_H
#define TESTS_PAGES_H

#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* One page fault a page, at least; what a thread does, too. */
static inline void *
touch(void *count)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE), pages = (size_t)count;
	char *memory = mmap(NULL, pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	madvise(memory, pages * size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		*(volatile char *)(memory + i * size) = 1;
	munmap(memory, pages * size);
	return NULL;
}

#define TOUCH(n) touch((void *)(size_t)(n))

/* At least so many, and not many more: what else there is to fault for. */
static inline bool
about(long long count, long long least)
{
	if (count >= least && (CHECK_ROUGHLY || count < least + 200))
		return true;
	printf("%lld, not %lld\n", count, least);
	return false;
}

/* A thread that touches pages once it is let. */
static pthread_barrier_t touch_barrier;

static inline void *
touch_later(void *count)
{
	pthread_barrier_wait(&touch_barrier);
	return touch(count);
}

#endif /* TESTS_PAGES_H */
