/*
 * Timing the subjects of a measure in turns, and printing what came out.
 */
#include "bench.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One timing lasts at least this long: reading the clock must not count. */
#define TIMING_NS	20000.0

static double
time_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

const char *
bench_symbol(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	memcpy(function, &found, sizeof(found));
	return found ? NULL : name;
}

const char *
bench_symbols(void *library, const struct bench_function *wanted, size_t count)
{
	const char *first = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *absent = bench_symbol(library, wanted[i].name, wanted[i].to);

		if (absent && !first)
			first = absent;
	}
	return first;
}

void
measure_init(struct measure *m, const struct bench *b, const char *name, const char *pmu, unsigned int calls)
{
	static const char *const subjects[MAX_LIBRARIES] = { "library", "other" };

	*m = (struct measure){ .name = name, .pmu = pmu, .calls = calls, .count = b->count };
	for (unsigned int i = 0; i < b->count && i < MAX_LIBRARIES; i++)
		m->subjects[i].name = subjects[i];
}

void
measure_floor(struct measure *m, const char *name, bench_run run, void *argument)
{
	m->subjects[m->count++] = (struct subject){ .name = name, .run = run, .argument = argument };
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
	unsigned int runs[MAX_LIBRARIES + MAX_FLOORS] = { 0 };

	for (unsigned int i = 0; i < m->count; i++)
		if (!m->subjects[i].reason[0])
			runs[i] = warm_up(&m->subjects[i]);
	for (unsigned int round = 0; round < b->rounds; round++)
		for (unsigned int i = 0; i < m->count; i++) {
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
	for (unsigned int i = 0; i < m->count; i++) {
		printf(i ? ",\n   " : "\n   ");
		print_subject(&m->subjects[i], b->times + (size_t)i * b->rounds, b->rounds);
	}
	printf("}}");
}
