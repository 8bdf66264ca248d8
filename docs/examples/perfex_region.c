/*
 * libperfex: count two events in one part of a program, twice, and add them up.
 */
#include <perfex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 64

enum { ICACHE2_MISSES = 10, DCACHE2_MISSES = 26 };

/* One page fault a page, each time: the memory is new. */
static void
work(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	volatile char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	madvise((void *)p, PAGES * page, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES; i++)
		p[i * page] = 1;
}

int
main(void)
{
	long long c0, c1, total0 = 0, total1 = 0;

	for (int i = 0; i < 2; i++) {
		if (start_counters(ICACHE2_MISSES, DCACHE2_MISSES) < 0) {
			perror("start_counters");
			return 1;
		}
		work();
		if (read_counters(ICACHE2_MISSES, &c0, DCACHE2_MISSES, &c1) < 0) {
			perror("read_counters");
			return 1;
		}
		total0 += c0;
		total1 += c1;
	}
	printf("event %d: at least %d: %s\n", ICACHE2_MISSES, 2 * PAGES, total0 >= 2 * PAGES ? "yes" : "no");
	printf("event %d: at least %d: %s\n", DCACHE2_MISSES, 2 * PAGES, total1 >= 2 * PAGES ? "yes" : "no");
	return 0;
}
