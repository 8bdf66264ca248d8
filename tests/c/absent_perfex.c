/*
 * libperfex on a system that cannot count.
 */
#include "check.h"

#include <perfex.h>

int
main(void)
{
	long long counts[2];

	CHECK_ERRNO(start_counters(15, 19), ENOSYS);
	CHECK_ERRNO(read_counters(15, &counts[0], 19, &counts[1]), ENXIO);
	return check_result();
}
