/*
 * libperfex where a system has little: the right count, or a documented error.  The argument is a map in which event 26 is page
 * faults.
 */
#include "../pages.h"
#include "../surroundings.h"

#include <perfex.h>

#include <fcntl.h>
#include <sys/stat.h>

enum { PAGES = 1000 };

static void
run(const struct surroundings *there)
{
	long long time, faults;
	const int ret = start_counters(0, 26);

	if (there->enter == empty_root) { /* the map cannot be read there */
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

/* Where every user may read it. */
static void
copy_map(const char *from, char *to)
{
	const int in = open(from, O_RDONLY), out = mkstemp(to);
	char text[4096];
	ssize_t got;

	CHECK(in >= 0 && out >= 0 && fchmod(out, 0644) == 0);
	while ((got = read(in, text, sizeof(text))) > 0)
		CHECK_EQ(write(out, text, (size_t)got), got);
	close(in);
	close(out);
}

int
main(int argc, char **argv)
{
	char map[] = "/tmp/perfex-map-XXXXXX";

	if (argc > 1) {
		copy_map(argv[1], map);
		setenv("PERFEX_PERF_TABLE", map, 1);
	}
	run_everywhere(run);
	unlink(map);
	return check_result();
}
