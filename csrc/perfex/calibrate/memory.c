/*
 * Memory to measure in: huge pages or small ones, and cycles of addresses through it.
 */
#include "calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

double
memory_huge(const char *at, size_t size)
{
	FILE *maps = fopen("/proc/self/smaps", "re");
	char line[512];
	unsigned long long begin, end;
	bool here = false;
	double found = -1;

	while (maps && found < 0 && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx ", &begin, &end) == 2)
			here = begin <= (uintptr_t)at && (uintptr_t)at < end;
		else if (here && strncmp(line, "AnonHugePages:", 14) == 0)
			found = (double)strtol(line + 14, NULL, 10) * 1024 / (double)size;
	}
	if (maps)
		fclose(maps);
	return found;
}

char *
memory_map(size_t size, bool huge)
{
	const size_t alignment = (size_t)1 << 21;
	char *at = mmap(NULL, size + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			0);

	if (at == MAP_FAILED)
		return NULL;
	at += (alignment - (uintptr_t)at % alignment) % alignment;
	(void)madvise(at, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(at, 1, size);
	return at;
}

bool
memory_link(struct place *place, size_t apart, size_t line, bool jitter)
{
	const size_t lines = place->size / apart;
	void ***order = calloc(lines, sizeof(*order));

	if (!order)
		return false;
	for (size_t i = 0; i < lines; i++)
		order[i] = (void **)(void *)(place->at + i * apart + (jitter ? i * 7 % (apart / line) * line : 0));
	for (size_t i = lines - 1; i > 0; i--) {
		const size_t other = (size_t)random() % (i + 1); /* the same in each run */
		void **const moved = order[i];

		order[i] = order[other];
		order[other] = moved;
	}
	for (size_t i = 0; i < lines; i++)
		*order[i] = order[(i + 1) % lines];
	for (size_t i = 0; i < CHAINS; i++)
		place->starts[i] = order[lines / CHAINS * i];
	free(order);
	return true;
}
