/*
 * libpmc where a system has little: the right count, or a documented error.
 */
#include "pages.h"
#include "pmc_check.h"
#include "surroundings.h"

#define PAGE_FAULTS 0x82

enum { PAGES = 1000 };

static void
run(const struct surroundings *there)
{
	const int ret = configure(1, PAGE_FAULTS, 0);
	long long value;

	if (there->is_without_perf) {
		CHECK(ret < 0 && errno == EACCES);
		return;
	}
	CHECK_EQ(ret, 0);
	CHECK_EQ(start(1), 0);
	TOUCH(PAGES);
	value = value_of(1);
	CHECK(value >= PAGES && value < PAGES + PAGES / 5);
	CHECK_EQ(stop(1), 0);
}

int
main(void)
{
	setenv("PMC_MACHINE", "linux", 1);
	run_everywhere(run);
	return check_result();
}
