/*
 * The calls of libperfex that the programs make fail: each of no arguments, 0 or -1 with errno.
 */
#ifndef TESTS_LIBPERFEX_OPERATIONS_H
#define TESTS_LIBPERFEX_OPERATIONS_H

#include <perfex.h>

static char *cost_file;

static int
start_and_read(void)
{
	long long a, b;

	return start_counters(0, 26) ? -1 : read_counters(0, &a, 26, &b);
}

static int
print(void)
{
	return print_counters(0, 1, 26, 2);
}

static int
costs(void)
{
	return print_costs(0, 1, 26, 2);
}

static int
load(void)
{
	return load_costs(cost_file);
}

#endif /* TESTS_LIBPERFEX_OPERATIONS_H */
