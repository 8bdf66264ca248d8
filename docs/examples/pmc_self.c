/*
 * NetBSD: count an event of this program with libpmc.  The event is one that every
 * machine has: a page fault.
 */
#include <sys/mman.h>
#include <err.h>
#include <inttypes.h>
#include <pmc.h>
#include <stdio.h>
#include <unistd.h>

#define PAGES 64

static void
work(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	volatile char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(1, "mmap");
	madvise((void *)p, PAGES * page, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES; i++)
		p[i * page] = 1;
}

int
main(void)
{
	uint64_t value;
	int ctr, n;

	/* Counters are not alike: look for one that takes the event. */
	n = pmc_get_num_counters();
	for (ctr = 0; ctr < n; ctr++)
		if (pmc_configure_counter(ctr, "page-faults", 0, 0) == 0)
			break;
	if (ctr == n)
		err(1, "no counter for page-faults");
	if (pmc_start_counter(ctr) < 0)
		err(1, "start");
	work();
	if (pmc_stop_counter(ctr) < 0)
		err(1, "stop");
	if (pmc_get_counter_value(ctr, &value) < 0)
		err(1, "value");
	printf("class %s\n", pmc_get_counter_class_name(pmc_get_counter_class()));
	printf("%d pages, at least %d page faults: %s\n", PAGES, PAGES, value >= PAGES ? "yes" : "no");
	return 0;
}
