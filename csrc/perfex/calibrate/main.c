/*
 * perfex-calibrate: what loads, misses, branches and instructions cost on this host, as JSON.
 *
 *	perfex-calibrate LINE L1 L2 LAST-CACHE MEMORY ROUNDS
 *
 * Sizes are in bytes; 0: not known, and what needs it is not measured.  MEMORY is how much may be used, twice half
 * of it.  Lines of standard output before the last are progress: a dot and text.
 */
#include "calibrate.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ROUNDS = 99, PAGES = 16384 };
#define MEASURE_NS 4000000.0

enum given { LINE, L1, L2, LLC, MEMORY, ROUNDS, GIVEN };

/* Where steps are done: those from IN_MEMORY to IN_DENSE share the huge memory, one after the other. */
enum where { NOWHERE, IN_MEMORY, IN_LLC, IN_L2, IN_L1, IN_DENSE, IN_PAGES, PLACES };

/* The measurements, by the names that Python knows (pypfm/perfex/calibration.py). */
static const struct measure {
	const char *name;
	step_block *block;
	enum where where;
	size_t detail; /* bytes from a load or store to the next, 0: a line; of branches: by chance */
} measures[] = {
	{ "dependent-add", step_add_dependent, NOWHERE, 0 },
	{ "add", step_add, NOWHERE, 0 },
	{ "load", step_load, IN_L1, sizeof(uint64_t) },
	{ "store", step_store, IN_L1, sizeof(uint64_t) },
	{ "l1-chase", step_chase, IN_L1, 0 },
	{ "l2-chase", step_chase, IN_L2, 0 },
	{ "llc-chase", step_chase, IN_LLC, 0 },
	{ "memory-chase", step_chase, IN_MEMORY, 0 },
	{ "l2-chases", step_chases, IN_L2, 0 },
	{ "llc-chases", step_chases, IN_LLC, 0 },
	{ "memory-chases", step_chases, IN_MEMORY, 0 },
	{ "l1-lines", step_load, IN_L1, 0 },
	{ "l2-lines", step_load, IN_L2, 0 },
	{ "memory-lines", step_load, IN_MEMORY, 0 },
	{ "l1-stores", step_store, IN_L1, 0 },
	{ "l2-stores", step_store, IN_L2, 0 },
	{ "memory-stores", step_store, IN_MEMORY, 0 },
	{ "pages-chase", step_chase, IN_PAGES, 0 },
	{ "pages-chases", step_chases, IN_PAGES, 0 },
	{ "dense-chase", step_chase, IN_DENSE, 0 },
	{ "dense-chases", step_chases, IN_DENSE, 0 },
	{ "branches", step_branch, NOWHERE, false },
	{ "random-branches", step_branch, NOWHERE, true },
	{ "fp-add", step_fp_add, NOWHERE, 0 },
	{ "fp-dependent-add", step_fp_add_dependent, NOWHERE, 0 },
	{ "fp-reciprocal-root", step_fp_root, NOWHERE, 0 },
};
enum { MEASURES = sizeof(measures) / sizeof(*measures) };

static struct place places[PLACES];
static char *scratch; /* stores would destroy a cycle */
static size_t huge_size;
static double values[MEASURES][MOST_ROUNDS];

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Choose how much of each level is used: so much that it is not in the level before, and fits. */
static void
choose_sizes(const size_t given[GIVEN])
{
	const size_t l1 = given[L1], l2 = given[L2], llc = given[LLC], outer = llc ? llc : l2,
		     whole = CHAINS * given[LINE];
	size_t memory = smaller((outer > (size_t)128 << 20 ? 4 : 8) * outer, given[MEMORY] / 2) / whole * whole;

	places[IN_L1].size = l1 / 2 / whole * whole;
	places[IN_L2].size = l1 && l2 >= 4 * l1 ? l2 / 2 / whole * whole : 0;
	places[IN_LLC].size = l2 && llc >= 4 * l2 ? smaller(4 * l2, llc / 2) / whole * whole : 0;
	places[IN_MEMORY].size = memory < 3 * outer ? 0 : memory;
	places[IN_DENSE].size = PAGES * given[LINE];
	places[IN_PAGES].size = PAGES * (size_t)sysconf(_SC_PAGESIZE);
}

/* Map all memory and make the cycles; false: there is not enough. */
static bool
make_places(size_t line)
{
	char *at;

	for (int where = IN_MEMORY; where <= IN_DENSE; where++)
		huge_size += places[where].size;
	at = memory_map(huge_size, true);
	scratch = memory_map(huge_size, true);
	places[IN_PAGES].at = memory_map(places[IN_PAGES].size, false);
	if (!at || !scratch || !places[IN_PAGES].at)
		return false;
	for (int where = IN_MEMORY; where <= IN_DENSE; where++) {
		places[where].at = at;
		at += places[where].size;
		if (places[where].size && !memory_link(&places[where], line, line, false))
			return false;
	}
	return memory_link(&places[IN_PAGES], places[IN_PAGES].size / PAGES, line, true);
}

/* Return the time of this thread: what others do meanwhile is not in it. */
static double
now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Do blocks, twice as many as before, until that takes MEASURE_NS: ns of a step; below 0: not measured. */
static double
measure(const struct measure *m, size_t line)
{
	struct place *place = &places[m->where];
	struct work work = { .at = m->block == step_store ? scratch : place->at,
			     .size = place->size,
			     .apart = m->detail ? m->detail : line,
			     .value = UINT64_C(0x2545f4914f6cdd1d),
			     .number = 1.25,
			     .by_chance = m->detail ? UINT64_MAX : 0,
			     .in_turns = m->detail ? 0 : UINT64_MAX };
	double took = 0;
	size_t blocks = 1;

	if (m->where != NOWHERE && place->size == 0)
		return -1;
	memcpy(work.starts, place->starts, sizeof(work.starts));
	for (; took < MEASURE_NS; blocks *= 2) {
		const double begin = now_ns();

		for (size_t i = 0; i < blocks; i++)
			m->block(&work);
		took = now_ns() - begin;
	}
	memcpy(place->starts, work.starts, sizeof(work.starts));
	return took / ((double)blocks / 2 * (double)BLOCK);
}

static void
print_all(size_t rounds)
{
	printf("{\"page\": %ld, \"huge\": %.3f, \"bytes\": {\"l1\": %zu, \"l2\": %zu, \"llc\": %zu, \"memory\": %zu}, "
	       "\"measures\": {",
	       sysconf(_SC_PAGESIZE), memory_huge(places[IN_MEMORY].at, huge_size), places[IN_L1].size,
	       places[IN_L2].size, places[IN_LLC].size, places[IN_MEMORY].size);
	for (int what = 0, printed = 0; what < MEASURES; what++) {
		if (values[what][0] < 0)
			continue;
		printf("%s\"%s\": [", printed++ ? ", " : "", measures[what].name);
		for (size_t i = 0; i < rounds; i++)
			printf("%s%.5f", i ? ", " : "", values[what][i]);
		printf("]");
	}
	printf("}}\n");
}

/* Stay on one processor, which has the memory in its caches. */
static void
stay_here(void)
{
	const int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu >= 0 && cpu < CPU_SETSIZE) {
		CPU_SET((size_t)cpu, &set);
		(void)sched_setaffinity(0, sizeof(set), &set);
	}
}

int
main(int argc, char **argv)
{
	size_t given[GIVEN] = { 0 };

	for (int i = 1; i < argc && i <= GIVEN; i++)
		given[i - 1] = strtoul(argv[i], NULL, 10);
	if (argc != GIVEN + 1 || given[ROUNDS] < 1 || given[ROUNDS] > MOST_ROUNDS || given[LINE] < sizeof(void *) ||
	    given[LINE] > 4096 || (given[LINE] & (given[LINE] - 1)) != 0) {
		fprintf(stderr, "usage: perfex-calibrate LINE L1 L2 LAST-CACHE MEMORY ROUNDS\n");
		return 2;
	}
	choose_sizes(given);
	stay_here();
	printf(".preparing memory\n");
	fflush(stdout);
	if (!make_places(given[LINE])) {
		fprintf(stderr, "perfex-calibrate: not enough memory\n");
		return 1;
	}
	for (size_t round = 0; round < given[ROUNDS]; round++) {
		printf(".round %zu of %zu\n", round + 1, given[ROUNDS]);
		fflush(stdout);
		for (int what = 0; what < MEASURES; what++)
			values[what][round] = measure(&measures[what], given[LINE]);
	}
	print_all(given[ROUNDS]);
	return 0;
}
