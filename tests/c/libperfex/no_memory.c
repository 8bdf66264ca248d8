/*
 * The library, compiled together with this file and -Dmalloc=test_malloc
 * -Drealloc=test_realloc -Dmmap=test_mmap: each call without memory gives -1 with ENOMEM and works afterwards.
 */
#include <perfex.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#undef malloc
#undef realloc
#undef mmap

extern void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);

static long left = -1;	/* allocations until one fails; below 0: none does */

static int
out_of_memory(void)
{
	if (left != 0)
		return left -= left > 0, 0;
	left = -1;
	errno = ENOMEM;
	return 1;
}

void *
test_malloc(size_t size)
{
	return out_of_memory() ? NULL : malloc(size);
}

void *
test_realloc(void *memory, size_t size)
{
	return out_of_memory() ? NULL : realloc(memory, size);
}

void *
test_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return out_of_memory() ? MAP_FAILED : mmap(at, size, protection, flags, fd, offset);
}

static char *cost_file;
static long long a, b;

static int start(void) { return start_counters(0, 26); }
static int start_and_read(void) { return start_counters(0, 26) ? -1 : read_counters(0, &a, 26, &b); }
static int print(void) { return print_counters(0, 1, 26, 2); }
static int costs(void) { return print_costs(0, 1, 26, 2); }
static int load(void) { return load_costs(cost_file); }

/* Let the first, the second ... allocation of a call fail, until none is left to fail. */
static int
each_fails(const char *name, int (*call)(void), int at_least)
{
	int times = 0;

	for (;; times++) {
		int ret;

		left = times;
		errno = 0;
		ret = call();
		if (left >= 0) {	/* it needs no more than that */
			left = -1;
			if (ret == 0)
				break;
		}
		if (ret != -1 || errno != ENOMEM) {
			printf("%s, allocation %d: %d, errno %d\n", name, times, ret, errno);
			return 1;
		}
		if (call() != 0) {
			printf("%s does not recover from allocation %d\n", name, times);
			return 1;
		}
	}
	printf("%s: %d allocations\n", name, times);
	return times < at_least;
}

int
main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	setenv("PERFEX_PERF_TABLE", argv[1], 1);
	setenv("PERFEX_COSTS", argv[2], 1);
	cost_file = argv[2];
	/* the table and its rows, two counters with their sets */
	return each_fails("start", start, 6) | each_fails("start and read", start_and_read, 6)
		| each_fails("print_counters", print, 6) | each_fails("print_costs", costs, 7)
		| each_fails("load_costs", load, 1);
}
