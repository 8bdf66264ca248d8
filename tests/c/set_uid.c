/*
 * What the libraries make of the environment: the rights of the user, or of the owner.
 * Run by tests/package/test_set_uid.py, at first with the rights of its user, then with more.
 *
 *     set_uid LIBPFM3 LIBPFM4 LIBPMC LIBPERFEX DIRECTORY
 *
 * Each variable that a library reads changes something of what is printed, on stdout or stderr.
 * The directory is what XDG_RUNTIME_DIR names, if it is set.
 */
#include "function_of.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define FIND(function, path) (*(void **)&(function) = function_of((path), #function, NULL))

static const char *
outcome(int ret)
{
	return ret < 0 ? strerror(errno) : "done";
}

static int
libpfm3(const char *path)
{
	int (*pfm_initialize)(void), (*pfm_set_options)(unsigned int *), (*pfm_force_pmu)(int),
		(*pfm_create)(int, void *, ...);
	int (*pfm_get_num_counters)(unsigned int *);
	unsigned int options[2] = { 3, 0 }, counters = 0; /* bits: verbose, debug */

	if (!FIND(pfm_initialize, path) || !FIND(pfm_set_options, path) || !FIND(pfm_force_pmu, path) ||
	    !FIND(pfm_create, path) || !FIND(pfm_get_num_counters, path))
		return 2;
	printf("pfm3: initialize %d\n", pfm_initialize());
	printf("pfm3: get_num_counters %d, ", pfm_get_num_counters(&counters));
	printf("%u\n", counters);
	pfm_set_options(options);
	printf("pfm3: initialize %d\n", pfm_initialize());
	errno = 0;
	printf("pfm3: force %d, ", pfm_force_pmu(3));
	printf("create %s\n", outcome(pfm_create(0, NULL)));
	return 0;
}

static int
libpfm4(const char *path)
{
	int (*pfm_initialize)(void), (*pfm_find_event)(const char *);
	int (*pfm_get_event_encoding)(const char *, int, char **, int *, unsigned long long **, int *);
	static const char *const strings[] = { "glm::UNHALTED_CORE_CYCLES", "perf::CPU-CLOCK", "gen_ia64::CPU_CYCLES",
					       "mont::CPU_OP_CYCLES_ALL" };

	if (!FIND(pfm_initialize, path) || !FIND(pfm_find_event, path) || !FIND(pfm_get_event_encoding, path))
		return 2;
	printf("pfm4: initialize %d\n", pfm_initialize());
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		unsigned long long *codes = NULL;
		int count = 0;

		printf("pfm4: %s: find %s, ", strings[i], pfm_find_event(strings[i]) < 0 ? "fails" : "succeeds");
		printf("encode %d\n", pfm_get_event_encoding(strings[i], 8, NULL, NULL, &codes, &count));
	}
	return 0;
}

static int
libpmc(const char *path, const char *runtime)
{
	int (*pmc_get_info)(int, int, void *),
		(*pmc_configure_counter)(int, const char *, unsigned long long, unsigned int);
	int (*pmc_start_counter)(int), class_id = 0;
	char directory[4096];
	struct stat st;

	if (!FIND(pmc_get_info, path) || !FIND(pmc_configure_counter, path) || !FIND(pmc_start_counter, path))
		return 2;
	printf("pmc: get_info %d, ", pmc_get_info(-1, 2, &class_id));
	printf("class 0x%x\n", (unsigned int)class_id);
	if (pmc_configure_counter(1, "insfetch-miss", 0, 0) == 0 || /* of xscale */
	    pmc_configure_counter(1, "task-clock", 0, 0) == 0)      /* of linux */
		pmc_start_counter(1);
	snprintf(directory, sizeof(directory), "%s/pypfm-pmc", runtime);
	printf("pmc: locks are %s\n", stat(directory, &st) == 0 ? "there" : "elsewhere");
	return 0;
}

static int
libperfex(const char *path)
{
	int (*print_counters)(int, long long, int, long long), (*print_costs)(int, long long, int, long long);

	if (!FIND(print_counters, path) || !FIND(print_costs, path))
		return 2;
	printf("perfex: print_counters %s\n", outcome(print_counters(0, 1, 16, 1)));
	printf("perfex: print_costs %s\n", outcome(print_costs(0, 1, 16, 1)));
	return 0;
}

int
main(int argc, char **argv)
{
	setbuf(stdout, NULL); /* in the order of what is printed on stderr */
	if (argc != 6)
		return 2;
	fprintf(stderr, "%s rights\n", getauxval(AT_SECURE) ? "more" : "the user's");
	if (libpfm3(argv[1]) || libpfm4(argv[2]) || libpmc(argv[3], argv[5]) || libperfex(argv[4]))
		return 2;
	return 0;
}
