/*
 * pfmtime [-r ROUNDS] pfm3|pfm3-manual|pfm4 LIBRARY [OTHER]
 *
 * Prints JSON: for each measure the time of one call in nanoseconds, shortest
 * and median of the rounds, of the library, of another one, and of the floors.
 */
#include "bench.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_ROUNDS	500
#define MOST_ROUNDS	1000000

static const struct {
	const char *name;
	void (*run)(struct bench *b);
} apis[] = {
	{ "pfm3", bench_pfm3 },
	{ "pfm3-manual", bench_pfm3_manual },
	{ "pfm4", bench_pfm4 },
};

__attribute__((noreturn)) static void
usage(const char *problem, const char *argument)
{
	fprintf(stderr, "pfmtime: %s%s (usage: pfmtime [-r ROUNDS] pfm3|pfm3-manual|pfm4 LIBRARY [OTHER])\n",
		problem, argument);
	exit(2);
}

static unsigned int
rounds_of(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < 1 || value > MOST_ROUNDS)
		usage("rounds are 1 to 1000000, not ", text);
	return (unsigned int)value;
}

/* Variables that would change what a library does, or make it print. */
extern char **environ;

static void
clean_environment(void)
{
	for (char **entry = environ; *entry; ) {
		char name[64];
		size_t len = strcspn(*entry, "=");

		if (strncmp(*entry, "LIBPFM_", 7) == 0 && len < sizeof(name)) {
			memcpy(name, *entry, len);
			name[len] = '\0';
			unsetenv(name);		/* moves the rest up */
		} else
			entry++;
	}
}

static void
load_library(struct bench *b, const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		fprintf(stderr, "pfmtime: %s\n", dlerror());
		exit(1);
	}
	b->libraries[b->count++] = library;
}

int
main(int argc, char **argv)
{
	struct bench b = { .rounds = DEFAULT_ROUNDS };
	unsigned int api = 0;
	int option;

	opterr = 0;
	while ((option = getopt(argc, argv, "+r:")) != -1) {
		if (option != 'r')
			usage("no such option, or one without its value: ", optopt == '-' ? argv[optind] : argv[optind - 1]);
		b.rounds = rounds_of(optarg);
	}
	if (argc - optind < 2 || argc - optind > 3)
		usage(argc - optind < 2 ? "an argument is missing" : "too many arguments", "");
	while (api < sizeof(apis) / sizeof(*apis) && strcmp(argv[optind], apis[api].name) != 0)
		api++;
	if (api == sizeof(apis) / sizeof(*apis))
		usage("no such API: ", argv[optind]);
	clean_environment();
	for (int i = optind + 1; i < argc; i++)
		load_library(&b, argv[i]);
	b.times = calloc((size_t)(MAX_LIBRARIES + MAX_FLOORS) * b.rounds, sizeof(*b.times));
	if (!b.times) {
		perror("pfmtime");
		return 1;
	}
	printf("{\"api\": \"%s\", \"rounds\": %u, \"measures\": [", apis[api].name, b.rounds);
	apis[api].run(&b);
	printf("]}\n");
	free(b.times);
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
