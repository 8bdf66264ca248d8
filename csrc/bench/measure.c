/*
 * Timing the subjects of a measure in turns, and printing what came out.
 */
#include "bench.h"

#include <dlfcn.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One timing lasts at least this long: reading the clock must not count. */
#define TIMING_NS 20000.0

static double
time_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

struct bench_names bench_names;

void
candidate_load(struct candidate *c, void *functions, const struct bench_function *wanted, size_t count)
{
	c->functions = functions;
	for (size_t i = 0; i < count; i++) {
		void *found = dlsym(c->handle, wanted[i].name);

		memcpy(wanted[i].to, &found, sizeof(found));
		if (!found && !c->absent[0])
			snprintf(c->absent, sizeof(c->absent), "the library has no %s()", wanted[i].name);
	}
}

int
candidate_is_usable(const struct candidate *c)
{
	return !c->absent[0] && !c->no_pmu[0];
}

void
measure_start(struct measure *m, const struct bench *b, const char *name, const char *pmu, bench_run run,
	      unsigned int calls)
{
	static const char *const subjects[MAX_LIBRARIES] = { "library", "other" };

	*m = (struct measure){ .name = name, .pmu = pmu, .calls = calls };
	for (unsigned int i = 0; i < b->count; i++) {
		const struct candidate *c = &b->libraries[i];
		struct subject *s = &m->subjects[i];

		*s = (struct subject){ .name = subjects[i], .run = run, .argument = c->functions };
		memcpy(s->reason, c->absent[0] || !pmu ? c->absent : c->no_pmu, sizeof(s->reason));
	}
}

void
measure_floor(struct measure *m, const char *name, bench_run run, void *argument)
{
	m->subjects[FLOOR] = (struct subject){ .name = name, .run = run, .argument = argument };
}

void
subject_fails(struct subject *s, const char *format, ...)
{
	va_list args;

	if (s->reason[0])
		return;
	va_start(args, format);
	vsnprintf(s->reason, sizeof(s->reason), format, args);
	va_end(args);
}

/* Run a subject for the first time, checked; how many runs one timing needs. */
static unsigned int
warm_up(struct subject *s)
{
	double start, time;
	int ret = s->run(s->argument);

	if (ret) {
		subject_fails(s, "the call returns %d", ret);
		return 0;
	}
	start = time_now();
	s->run(s->argument);
	time = time_now() - start;
	return time >= TIMING_NS ? 1 : 1 + (unsigned int)(TIMING_NS / (time > 10 ? time : 10));
}

static int
compare_times(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
print_subject(const struct subject *s, double *times, unsigned int rounds)
{
	printf("\"%s\": ", s->name);
	if (s->reason[0]) {
		printf("{\"missing\": \"%s\"}", s->reason);
		return;
	}
	qsort(times, rounds, sizeof(*times), compare_times);
	printf("{\"min_ns\": %.2f, \"median_ns\": %.2f}", times[0], times[rounds / 2]);
}

void
measure_print(struct bench *b, struct measure *m)
{
	unsigned int runs[SUBJECTS] = { 0 }, printed = 0;

	for (unsigned int i = 0; i < SUBJECTS; i++)
		if (m->subjects[i].name && !m->subjects[i].reason[0])
			runs[i] = warm_up(&m->subjects[i]);
	for (unsigned int round = 0; round < b->rounds; round++)
		for (unsigned int i = 0; i < SUBJECTS; i++) {
			struct subject *s = &m->subjects[i];
			double start = time_now();

			for (unsigned int n = 0; n < runs[i]; n++)
				s->run(s->argument);
			if (runs[i])
				b->times[(size_t)i * b->rounds + round] = (time_now() - start) / runs[i] / m->calls;
		}
	printf("%s\n  {\"name\": \"%s\", \"pmu\": ", b->printed++ ? "," : "", m->name);
	printf(m->pmu ? "\"%s\"" : "null", m->pmu);
	printf(", \"calls\": %u, \"subjects\": {", m->calls);
	for (unsigned int i = 0; i < SUBJECTS; i++)
		if (m->subjects[i].name) {
			printf(printed++ ? ",\n   " : "\n   ");
			print_subject(&m->subjects[i], b->times + (size_t)i * b->rounds, b->rounds);
		}
	printf("}}");
}

/* ---- names ---- */

static struct hsearch_data hash;

void
bench_add_name(const char *name)
{
	if (bench_names.count < MAX_NAMES)
		snprintf(bench_names.names[bench_names.count++], NAME_SIZE, "%s", name);
}

static int
look_up_names(void *unused)
{
	(void)unused;
	for (unsigned int i = 0; i < bench_names.count; i++) {
		ENTRY entry = { .key = bench_names.names[i] }, *found;

		if (!hsearch_r(entry, FIND, &found, &hash))
			return -1;
		use(found);
	}
	return 0;
}

void
measure_hash_floor(struct measure *m)
{
	hdestroy_r(&hash);
	memset(&hash, 0, sizeof(hash));
	if (!hcreate_r(2 * (size_t)bench_names.count + 1, &hash)) {
		perror("pfmtime: hcreate_r");
		exit(1);
	}
	for (unsigned int i = 0; i < bench_names.count; i++) {
		ENTRY entry = { .key = bench_names.names[i], .data = bench_names.names[i] }, *found;

		hsearch_r(entry, ENTER, &found, &hash);
	}
	measure_floor(m, "hash", look_up_names, NULL);
}

void
measure_names(struct bench *b, const char *pmu, bench_run find, const char *information_name, bench_run information)
{
	struct measure found, informed;

	measure_start(&found, b, "find_event", pmu, find, bench_names.count);
	measure_start(&informed, b, information_name, pmu, information, bench_names.count);
	for (unsigned int i = 0; i < b->count && bench_names.count == 0; i++) {
		subject_fails(&found.subjects[i], "the library names no event");
		subject_fails(&informed.subjects[i], "the library names no event");
	}
	if (bench_names.count)
		measure_hash_floor(&found);
	measure_print(b, &found);
	measure_print(b, &informed);
}
