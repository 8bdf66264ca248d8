/*
 * libpfm 4 on a kernel without perf_event_open(2): its interfaces are PFM_ERR_NOTSUPP, raw codes are not.
 * Linked with the library's objects and --wrap: what is asked for in /proc is what this program says.
 */
#include "check.h"

#include <perfmon/pfmlib_perf_event.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int __wrap_access(const char *path, int mode);

static const char *there = ""; /* the one file that is */

int
__wrap_access(const char *path, int mode)
{
	(void)mode;
	errno = ENOENT;
	return strcmp(path, there) == 0 ? 0 : -1;
}

static int
perf_is_present(void)
{
	pfm_pmu_info_t info = { .size = 0 };

	CHECK_EQ(pfm_get_pmu_info(PFM_PMU_PERF_EVENT, &info), PFM_SUCCESS);
	return info.is_present;
}

int
main(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_event_attr_info_t attribute = { .size = 0 };
	pfm_event_info_t info = { .size = 0 };
	uint64_t *codes = NULL;
	int count = 0, idx;

	setenv("LIBPFM_X86_CPUID", "6:92", 1);
	CHECK_EQ(pfm_initialize(), PFM_SUCCESS);
	CHECK(!perf_is_present());
	idx = pfm_find_event("glm::UNHALTED_CORE_CYCLES");
	CHECK(idx >= 0);
	CHECK_EQ(pfm_get_event_info(idx, PFM_OS_NONE, &info), PFM_SUCCESS);
	CHECK_EQ(pfm_get_event_info(idx, PFM_OS_PERF_EVENT, &info), PFM_ERR_NOTSUPP);
	CHECK_EQ(pfm_get_event_attr_info(idx, 0, PFM_OS_NONE, &attribute), PFM_SUCCESS);
	CHECK_EQ(pfm_get_event_attr_info(idx, 0, PFM_OS_PERF_EVENT_EXT, &attribute), PFM_ERR_NOTSUPP);
	CHECK_EQ(pfm_get_perf_event_encoding("UNHALTED_CORE_CYCLES", PFM_PLM3, &attr, NULL, NULL), PFM_ERR_NOTSUPP);
	CHECK_EQ(pfm_get_event_encoding("UNHALTED_CORE_CYCLES", PFM_PLM3, NULL, NULL, &codes, &count), PFM_SUCCESS);
	free(codes);

	/* Before Linux 2.6.32 the file had another name: there are perf's events, and no interface yet. */
	there = "/proc/sys/kernel/perf_counter_paranoid";
	pfm_terminate();
	CHECK_EQ(pfm_initialize(), PFM_SUCCESS);
	CHECK(perf_is_present());
	CHECK_EQ(pfm_get_event_info(idx, PFM_OS_PERF_EVENT, &info), PFM_ERR_NOTSUPP);
	return check_result();
}
