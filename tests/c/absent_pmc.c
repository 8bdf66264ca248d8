/*
 * libpmc on a system that cannot count: its own counters are no devices; the models of other machines count as everywhere.
 */
#include "pmc_check.h"

static void
own_counters(void)
{
	CHECK_ERRNO(configure(0, 0x82, 0), ENODEV);
	CHECK_ERRNO(start(0), ENXIO);
}

static void
model(void)
{
	CHECK_EQ(configure(1, DCACHE_MISS, 0), 0);
	CHECK_EQ(start(1), 0);
	CHECK_EQ(pmc_model_advance(DCACHE_MISS, 7), 0);
	CHECK_EQ(value_of(1), 7);
	IN_CHILD(CHECK_EQ(pmc_model_advance(DCACHE_MISS, 3), 0););
	CHECK_EQ(accumulated(1), 3);
}

int
main(int argc, char **argv)
{
	check_begin(argc > 1 ? argv[1] : "linux");
	if (argc > 1)
		model();
	else
		own_counters();
	return check_result();
}
