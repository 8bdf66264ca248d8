/*
 * What the libraries make of the environment, a line each: the rights of the user, or of the owner.
 * Run twice by tests/package/test_set_uid.py; the second time it is set-uid.
 */
#include "function_of.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int
main(int argc, char **argv)
{
	int (*initialize3)(void), (*initialize4)(void), (*find4)(const char *), (*info)(int, int, void *);
	int (*print)(int, long long, int, long long), (*force3)(int), (*create)(int, void *, ...), class_id = 0, ret;

	if (argc != 5)
		return 2;
	*(void **)&initialize3 = function_of(argv[1], "pfm_initialize", NULL);
	*(void **)&force3 = function_of(argv[1], "pfm_force_pmu", NULL);
	*(void **)&create = function_of(argv[1], "pfm_create", NULL);
	*(void **)&initialize4 = function_of(argv[2], "pfm_initialize", NULL);
	*(void **)&find4 = function_of(argv[2], "pfm_find_event", NULL);
	*(void **)&info = function_of(argv[3], "pmc_get_info", NULL);
	*(void **)&print = function_of(argv[4], "print_counters", NULL);
	if (!initialize3 || !force3 || !create || !initialize4 || !find4 || !info || !print)
		return 2;
	printf("pfm3: %s\n", initialize3() == 0 ? "forced" : "not forced");
	printf("pfm4: %s\n", initialize4() == 0 && find4("glm::UNHALTED_CORE_CYCLES") >= 0 ? "forced" : "not forced");
	ret = info(-1, 2, &class_id);
	printf("pmc: %s\n", ret == 0 && class_id == 0x10000 ? "xscale" : ret == 0 && class_id == 0x40000 ? "linux" : "?");
	errno = 0;
	ret = print(0, 1, 16, 1);
	printf("perfex: %s\n", ret < 0 ? strerror(errno) : "printed");
	errno = 0;
	ret = force3(3) == 0 ? create(0, NULL) : -1;
	printf("perfmon: %s\n", ret < 0 ? strerror(errno) : "made");
	return 0;
}
