/*
 * libperfex where a system has little: the right count, or a documented error.  The argument is a map in which event 26 is page
 * faults.
 */
#include "../pages.h"
#include "../surroundings.h"

#include <perfex.h>

enum { PAGES = 1000 };

static void
run(const struct surroundings *there)
{
	long long time, faults;
	const int ret = start_counters(0, 26);

	if (there->enter == empty_root) {	/* the map cannot be read there */
		CHECK(ret < 0 && errno == ENOENT);
		return;
	}
	if (there->is_without_perf) {
		CHECK(ret < 0 && errno == EACCES);
		return;
	}
	CHECK_EQ(ret < 0 ? errno : 0, 0);
	TOUCH(PAGES);
	CHECK_EQ(read_counters(0, &time, 26, &faults) < 0 ? errno : 0, 0);
	CHECK(faults >= PAGES && faults < PAGES + PAGES / 5 && time > 0);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		setenv("PERFEX_PERF_TABLE", argv[1], 1);
	run_everywhere(run);
	return check_result();
}
