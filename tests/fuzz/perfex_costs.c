/*
 * The cost files of libperfex and perfex: the input is the file.
 */
#include "fuzz.h"

#include "library.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fd;
static char path[64];

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fd = (int)syscall(SYS_memfd_create, "costs", 0UL);
	HOLDS(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfex_cost found[PERFEX_NUM_EVENTS], again[PERFEX_NUM_EVENTS];
	int ret;

	HOLDS(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	memset(found, 0xa5, sizeof(found));
	ret = perfex_costs_read(path, found);
	HOLDS(ret == 0 || ret == -EINVAL || ret == -EFBIG);
	for (int i = 0; i < PERFEX_NUM_EVENTS; i++) {
		HOLDS(found[i].unit == PERFEX_NO_COST || found[i].unit == PERFEX_CLKS || found[i].unit == PERFEX_NSEC);
		HOLDS(found[i].unit == PERFEX_NO_COST ||
		      (found[i].minimum >= 0 && found[i].minimum <= found[i].typical &&
		       found[i].typical <= found[i].maximum));
	}
	if (ret == 0 && size < PERFEX_LARGEST) { /* an empty line more says nothing more */
		HOLDS(pwrite(fd, "\n", 1, (off_t)size) == 1);
		HOLDS(perfex_costs_read(path, again) == 0);
		for (int i = 0; i < PERFEX_NUM_EVENTS; i++)
			HOLDS(found[i].unit == again[i].unit && found[i].typical == again[i].typical);
	}
	return 0;
}
