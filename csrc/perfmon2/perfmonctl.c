/*
 * perfmonctl(2), which is not there yet.
 */
#include "engine.h"

#include <errno.h>

int
perfmonctl(int fd, int cmd, void *arg, int narg)
{
	(void)fd;
	(void)cmd;
	(void)arg;
	(void)narg;
	errno = ENOSYS;
	return -1;
}
