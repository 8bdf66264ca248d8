/*
 * What the table of functions says of libperfex, tried with events that every kernel counts:
 * functions_perfex csrc/functions.csv all PERF_TABLE COSTS
 */
#include "functions.h"

#include <perfex.h>

#define CALL(name, ...) \
	static int call_##name(struct received *r) \
	{ \
		(void)r; \
		__VA_ARGS__ \
	}

static const char *costs;
static const int fortran[2] = { 0, 26 };
static const long long numbers[2] = { 1, 2 };

/* Another thread may have read the counters, which stops them. */
static int
fails(int ret)
{
	return ret != 0 && errno != ENXIO;
}

CALL(start_counters, return start_counters(0, 26);)
CALL(start_counters_, return start_counters_(&fortran[0], &fortran[1]);)
CALL(read_counters, long long a, b; return fails(read_counters(0, &a, 26, &b));)
CALL(read_counters_, long long a, b; return fails(read_counters_(&fortran[0], &a, &fortran[1], &b));)
CALL(print_counters, return print_counters(0, 1, 26, 2);)
CALL(print_counters_, return print_counters_(&fortran[0], &numbers[0], &fortran[1], &numbers[1]);)
CALL(print_costs, return print_costs(0, 1, 26, 2);)
CALL(print_costs_, return print_costs_(&fortran[0], &numbers[0], &fortran[1], &numbers[1]);)
CALL(load_costs, return load_costs((char *)costs);)
CALL(load_costs_, return load_costs_(costs, strlen(costs));)

#define ONE(name) { #name, call_##name, NULL },

/* clang-format off */
static const struct function all[] = {
	ONE(start_counters) ONE(start_counters_) ONE(read_counters) ONE(read_counters_) ONE(print_counters)
	ONE(print_counters_) ONE(print_costs) ONE(print_costs_) ONE(load_costs) ONE(load_costs_)
};
/* clang-format on */

static void
prepare(void)
{
}

int
main(int argc, char **argv)
{
	const struct library library = {
		.name = "perfex",
		.soname = "libperfex.so.1",
		.functions = all,
		.count = sizeof(all) / sizeof(*all),
		.prepare = prepare,
		.rounds = 4,
	};

	if (argc < 5)
		return 2;
	setenv("PERFEX_PERF_TABLE", argv[3], 1);
	costs = argv[4];
	return functions_main(argc, argv, &library);
}
