/*
 * The part of libpfm 3 that counts, where there is no Linux: nothing to measure.
 */
#include "bench.h"

void
bench_perfmon2(struct bench *b, const struct measure *usable)
{
	(void)b, (void)usable;
}
