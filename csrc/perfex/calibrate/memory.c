/*
 * Memory to measure in: huge pages or small ones, and cycles of addresses through it.
 */
#include "calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* How much of the mapping that begins there is in huge pages, in kB; -1: the kernel does not say. */
static long
huge_kilobytes(const char *at)
{
	FILE *maps = fopen("/proc/self/smaps", "re");
	char line[512];
	unsigned long long begin, end;
	bool here = false;
	long found = -1;

	while (maps && found < 0 && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx ", &begin, &end) == 2)
			here = begin <= (uintptr_t)at && (uintptr_t)at < end;
		else if (here && strncmp(line, "AnonHugePages:", 14) == 0)
			found = strtol(line + 14, NULL, 10);
	}
	if (maps)
		fclose(maps);
	return found;
}

bool
memory_map(struct memory *memory, size_t size, bool huge)
{
	const size_t alignment = (size_t)1 << 21;
	char *got = mmap(NULL, size + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	long kilobytes;

	if (got == MAP_FAILED)
		return false;
	memory->at = got + (alignment - (uintptr_t)got % alignment) % alignment;
	memory->size = size;
	(void)madvise(memory->at, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(memory->at, 1, size);
	kilobytes = huge_kilobytes(memory->at);
	memory->huge = kilobytes < 0 ? -1 : (double)kilobytes * 1024 / (double)size;
	return true;
}

/* The next of a sequence of numbers without a pattern (xorshift64), the same in each run. */
static uint64_t
next_number(void)
{
	static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void **
place_of(char *at, size_t number, size_t apart, size_t line, bool jitter)
{
	const size_t places = apart / line;

	return (void **)(void *)(at + number * apart + (jitter ? number * 7 % places * line : 0));
}

bool
cycle_make(struct cycle *cycle, char *at, size_t lines, size_t apart, size_t line, bool jitter)
{
	uint32_t *order = malloc(lines * sizeof(*order));

	if (!order || lines < CHAINS) {
		free(order);
		return false;
	}
	for (size_t i = 0; i < lines; i++)
		order[i] = (uint32_t)i;
	for (size_t i = lines - 1; i > 0; i--) {
		const size_t other = (size_t)(next_number() >> 11) % (i + 1);
		const uint32_t number = order[i];

		order[i] = order[other];
		order[other] = number;
	}
	for (size_t i = 0; i < lines; i++)
		*place_of(at, order[i], apart, line, jitter) = place_of(at, order[(i + 1) % lines], apart, line, jitter);
	for (size_t i = 0; i < CHAINS; i++)
		cycle->starts[i] = place_of(at, order[lines / CHAINS * i], apart, line, jitter);
	cycle->lines = lines;
	free(order);
	return true;
}
