/*
 * perfex-calibrate: what loads, misses, branches and instructions cost on this host, as JSON.
 *
 *	perfex-calibrate --line=64 --l1=49152 --l2=1048576 --llc=33554432 --memory=1073741824 --rounds=15
 *
 * Sizes are in bytes; 0, or none given: not known, and what needs it is not measured.  --memory is how much may be
 * used, twice half of it.  Lines of standard output before the last are progress: a dot and text.
 */
#include "calibrate.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ROUNDS = 99, PAGES = 16384 };

enum option { LINE, L1, L2, LLC, MEMORY, ROUNDS, OPTIONS };

static const char *const option_names[OPTIONS] = { "--line=", "--l1=", "--l2=", "--llc=", "--memory=", "--rounds=" };

/* What is measured: names as Python knows them (pypfm/perfex/calibration.py). */
enum what {
	CLOCK, ADD, LOAD, STORE,
	L1_CHASE, L2_CHASE, LLC_CHASE, MEMORY_CHASE, L2_CHASES, LLC_CHASES, MEMORY_CHASES,
	L1_LINES, L2_LINES, MEMORY_LINES, L1_STORES, L2_STORES, MEMORY_STORES,
	PAGES_CHASE, PAGES_CHASES, DENSE_CHASE, DENSE_CHASES,
	BRANCHES, RANDOM_BRANCHES, FP_ADD, FP_DEPENDENT, FP_ROOT, MEASURES
};

static const char *const names[MEASURES] = {
	"dependent-add", "add", "load", "store",
	"l1-chase", "l2-chase", "llc-chase", "memory-chase", "l2-chases", "llc-chases", "memory-chases",
	"l1-lines", "l2-lines", "memory-lines", "l1-stores", "l2-stores", "memory-stores",
	"pages-chase", "pages-chases", "dense-chase", "dense-chases",
	"branches", "random-branches", "fp-add", "fp-dependent-add", "fp-reciprocal-root",
};

/* Where it is measured. */
struct places {
	size_t line, l1, l2, llc, memory; /* bytes in use; 0: not measured */
	struct memory huge, small, scratch; /* stores would destroy a cycle */
	struct cycle l1_cycle, l2_cycle, llc_cycle, memory_cycle, pages_cycle, dense_cycle;
};

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How much of each level is used: so much that it is not in the level before, and fits. */
static void
choose_sizes(const size_t given[OPTIONS], struct places *places)
{
	const size_t l1 = given[L1], l2 = given[L2], llc = given[LLC], outer = llc ? llc : l2;

	const size_t whole = SWEEP * given[LINE];

	places->line = given[LINE];
	places->l1 = l1 / 2 / whole * whole;
	places->l2 = l1 && l2 >= 4 * l1 ? l2 / 2 / whole * whole : 0;
	places->llc = l2 && llc >= 4 * l2 ? smaller(4 * l2, llc / 2) / whole * whole : 0;
	places->memory = outer ? smaller((outer > (size_t)128 << 20 ? 4 : 8) * outer, given[MEMORY] / 2) / whole * whole : 0;
	if (places->memory < 3 * outer)
		places->memory = 0;
}

/* Cycles that share the huge memory: one after the other. */
static bool
make_places(struct places *places)
{
	const size_t line = places->line, page = (size_t)sysconf(_SC_PAGESIZE), dense = PAGES * line;
	const size_t size = places->l1 + places->l2 + places->llc + places->memory + dense;
	char *at;

	if (!memory_map(&places->huge, size, true) || !memory_map(&places->small, PAGES * page, false)
	    || !memory_map(&places->scratch, size, true))
		return false;
	at = places->huge.at;
	if (places->memory && !cycle_make(&places->memory_cycle, at, places->memory / line, line, line, false))
		return false;
	at += places->memory;
	if (places->llc && !cycle_make(&places->llc_cycle, at, places->llc / line, line, line, false))
		return false;
	at += places->llc;
	if (places->l2 && !cycle_make(&places->l2_cycle, at, places->l2 / line, line, line, false))
		return false;
	at += places->l2;
	if (places->l1 && !cycle_make(&places->l1_cycle, at, places->l1 / line, line, line, false))
		return false;
	at += places->l1;
	return cycle_make(&places->dense_cycle, at, PAGES, line, line, false)
	       && cycle_make(&places->pages_cycle, places->small.at, PAGES, page, line, true);
}

static double
measure_chase(enum what what, struct places *places)
{
	switch (what) {
	case L1_CHASE: return places->l1 ? pace_chase(&places->l1_cycle) : -1;
	case L2_CHASE: return places->l2 ? pace_chase(&places->l2_cycle) : -1;
	case LLC_CHASE: return places->llc ? pace_chase(&places->llc_cycle) : -1;
	case MEMORY_CHASE: return places->memory ? pace_chase(&places->memory_cycle) : -1;
	case L2_CHASES: return places->l2 ? pace_chases(&places->l2_cycle) : -1;
	case LLC_CHASES: return places->llc ? pace_chases(&places->llc_cycle) : -1;
	case MEMORY_CHASES: return places->memory ? pace_chases(&places->memory_cycle) : -1;
	case PAGES_CHASE: return pace_chase(&places->pages_cycle);
	case PAGES_CHASES: return pace_chases(&places->pages_cycle);
	case DENSE_CHASE: return pace_chase(&places->dense_cycle);
	default: return pace_chases(&places->dense_cycle);
	}
}

/* ns of a step; below 0: not measured. */
static double
measure(enum what what, struct places *places)
{
	const size_t line = places->line;
	char *l2 = places->huge.at + places->memory + places->llc, *l1 = l2 + places->l2;

	switch (what) {
	case CLOCK: return pace_dependent_adds();
	case ADD: return pace_adds();
	case LOAD: return places->l1 ? pace_loads(l1, places->l1, sizeof(uint64_t)) : -1;
	case STORE: return places->l1 ? pace_stores(places->scratch.at, places->l1, sizeof(uint64_t)) : -1;
	case L1_LINES: return places->l1 ? pace_loads(l1, places->l1, line) : -1;
	case L2_LINES: return places->l2 ? pace_loads(l2, places->l2, line) : -1;
	case MEMORY_LINES: return places->memory ? pace_loads(places->huge.at, places->memory, line) : -1;
	case L1_STORES: return places->l1 ? pace_stores(places->scratch.at, places->l1, line) : -1;
	case L2_STORES: return places->l2 ? pace_stores(places->scratch.at, places->l2, line) : -1;
	case MEMORY_STORES: return places->memory ? pace_stores(places->scratch.at, places->memory, line) : -1;
	case BRANCHES: return pace_branches(false);
	case RANDOM_BRANCHES: return pace_branches(true);
	case FP_ADD: return pace_fp_adds();
	case FP_DEPENDENT: return pace_dependent_fp_adds();
	case FP_ROOT: return pace_reciprocal_roots();
	default: return measure_chase(what, places);
	}
}

static void
print_all(const struct places *places, double values[MEASURES][MOST_ROUNDS], size_t rounds)
{
	printf("{\"page\": %ld, \"huge\": %.3f, \"bytes\": {\"l1\": %zu, \"l2\": %zu, \"llc\": %zu, \"memory\": %zu}, "
	       "\"measures\": {", sysconf(_SC_PAGESIZE), places->huge.huge, places->l1, places->l2, places->llc,
	       places->memory);
	for (int what = 0, printed = 0; what < MEASURES; what++) {
		if (values[what][0] < 0)
			continue;
		printf("%s\"%s\": [", printed++ ? ", " : "", names[what]);
		for (size_t i = 0; i < rounds; i++)
			printf("%s%.5f", i ? ", " : "", values[what][i]);
		printf("]");
	}
	printf("}}\n");
}

static bool
read_options(int count, char **words, size_t given[OPTIONS])
{
	for (int i = 1; i < count; i++) {
		int option = 0;
		char *end;

		while (option < OPTIONS && strncmp(words[i], option_names[option], strlen(option_names[option])) != 0)
			option++;
		if (option == OPTIONS)
			return false;
		given[option] = strtoul(words[i] + strlen(option_names[option]), &end, 10);
		if (*end || end == words[i] + strlen(option_names[option]))
			return false;
	}
	return given[ROUNDS] >= 1 && given[ROUNDS] <= MOST_ROUNDS && given[LINE] >= sizeof(void *) && given[LINE] <= 4096
	       && (given[LINE] & (given[LINE] - 1)) == 0;
}

/* On one processor, which has the memory in its caches. */
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
	static double values[MEASURES][MOST_ROUNDS];
	static struct places places;
	size_t given[OPTIONS] = { [LINE] = 64, [ROUNDS] = 15 };

	if (!read_options(argc, argv, given)) {
		fprintf(stderr, "perfex-calibrate: a wrong option\n");
		return 2;
	}
	choose_sizes(given, &places);
	stay_here();
	printf(".preparing memory\n");
	fflush(stdout);
	if (!make_places(&places)) {
		fprintf(stderr, "perfex-calibrate: not enough memory\n");
		return 1;
	}
	for (size_t round = 0; round < given[ROUNDS]; round++) {
		printf(".round %zu of %zu\n", round + 1, given[ROUNDS]);
		fflush(stdout);
		for (int what = 0; what < MEASURES; what++)
			values[what][round] = measure((enum what)what, &places);
	}
	print_all(&places, values, given[ROUNDS]);
	return 0;
}
