/*
 * perfmon2 system calls, which no current Linux has: they fail with ENOSYS.
 */
#include "public.h"

#include <errno.h>

int
pfm_start(int fd, pfarg_start_t *start)
{
	(void)fd;
	(void)start;
	errno = ENOSYS;
	return -1;
}

int
pfm_stop(int fd)
{
	(void)fd;
	errno = ENOSYS;
	return -1;
}
