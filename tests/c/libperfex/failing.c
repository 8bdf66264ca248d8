/*
 * libperfex when system calls fail: -1 with errno, or success; no descriptor is kept, and the next call
 * works.  failing PERF_TABLE COST_FILE
 */
#include "../failing.h"
#include "operations.h"

#include <stdlib.h>

static int before; /* descriptors */
static int (*operation)(void);

static void
try_operation(void)
{
	int ret, code;

	errno = 0;
	ret = operation();
	code = errno;
	failing_end();
	CHECK(ret == 0 || (ret == -1 && code != 0));
	CHECK_EQ(start_and_read(), 0);
	CHECK_EQ(failing_descriptors(), before);
}

static void
each_fails(int (*call)(void))
{
	operation = call;
	CHECK(failing_each(try_operation) > 0);
}

int
main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	setenv("PERFEX_PERF_TABLE", argv[1], 1);
	setenv("PERFEX_COSTS", argv[2], 1);
	cost_file = argv[2];
	before = failing_descriptors();
	for (size_t i = 0; i < sizeof(failing_codes) / sizeof(failing_codes[0]); i++) {
		failing_code = failing_codes[i];
		each_fails(start_and_read);
		each_fails(print);
		each_fails(costs);
		each_fails(load);
	}
	/* The system's file need not be there. */
	unsetenv("PERFEX_COSTS");
	CHECK(costs() == 0 || access("/etc/perfex.costs", F_OK) == 0);
	return check_result();
}
