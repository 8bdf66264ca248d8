/*
 * How long a function takes, for the programs that print times.
 */
#ifndef TIMING_H
#define TIMING_H

#include <time.h>

#define REPETITIONS	400

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Nanoseconds of one call, in the shortest of many runs of so many calls. */
static double
shortest(void (*f)(void), unsigned int calls)
{
	double best = 1e18;

	for (unsigned int r = 0; r < REPETITIONS; r++) {
		double start = now(), time;

		for (unsigned int i = 0; i < calls; i++)
			f();
		time = (now() - start) / calls;
		if (time < best)
			best = time;
	}
	return best;
}

#endif
