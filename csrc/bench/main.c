/*
 * pfmtime ROUNDS pfm3|pfm3-manual|pfm4 LIBRARY [OTHER]
 *
 * Prints JSON: for each measure the time of one call in nanoseconds, shortest
 * and median of the rounds, of the library, of another one, and of the floor.
 */
#include "bench.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 1000000 };

static const struct {
	const char *name;
	void (*run)(struct bench *b);
} apis[] = {
	{ "pfm3", bench_pfm3 },
	{ "pfm3-manual", bench_pfm3_manual },
	{ "pfm4", bench_pfm4 },
	{ NULL, NULL },
};

int
main(int argc, char **argv)
{
	const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	struct bench b = { .rounds = (unsigned int)rounds };
	unsigned int api = 0;

	while (argc > 2 && apis[api].name && strcmp(argv[2], apis[api].name) != 0)
		api++;
	if (argc < 4 || argc > 3 + MAX_LIBRARIES || rounds < 1 || rounds > MOST_ROUNDS || !apis[api].name) {
		fprintf(stderr, "usage: pfmtime ROUNDS pfm3|pfm3-manual|pfm4 LIBRARY [OTHER]; rounds are 1 to %d\n",
			MOST_ROUNDS);
		return 2;
	}
	for (int i = 3; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);

		if (!library) {
			fprintf(stderr, "pfmtime: %s\n", dlerror());
			return 1;
		}
		b.libraries[b.count++].handle = library;
	}
	b.times = calloc((size_t)SUBJECTS * b.rounds, sizeof(*b.times));
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
