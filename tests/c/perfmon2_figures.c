/*
 * What calls of the back end "host" cost, against system calls of the same program that do as much: ratios of medians, with
 * software events.  An argument: the number of rounds.
 */
#include "perfmon2_events.h"

#include <sys/ioctl.h>

enum { MOST = 1001, EACH = 200 };

static int group, fd, rounds = 201;

static uint64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
open_group(void)
{
	for (int i = 0; i < 4; i++) {
		struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
						.size = sizeof(attr),
						.exclude_kernel = 1,
						.exclude_hv = 1,
						.config = PERF_COUNT_SW_PAGE_FAULTS,
						.read_format = PERF_FORMAT_GROUP };
		const int made = (int)syscall(SYS_perf_event_open, &attr, 0, -1, i ? group : -1, 0);

		CHECK(made >= 0);
		group = i ? group : made;
	}
}

static void
read_group(void)
{
	uint64_t values[5];

	CHECK_EQ(read(group, values, sizeof(values)), sizeof(values));
}

static void
read_four(void)
{
	pfarg_pmd_t pmds[4] = { { .reg_num = 4 }, { .reg_num = 5 }, { .reg_num = 6 }, { .reg_num = 7 } };

	CHECK_EQ(pfm_read_pmds(fd, pmds, 4), 0);
}

static void
toggle_group(void)
{
	CHECK_EQ(ioctl(group, PERF_EVENT_IOC_DISABLE, 0), 0);
	CHECK_EQ(ioctl(group, PERF_EVENT_IOC_ENABLE, 0), 0);
}

static void
start_stop(void)
{
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
}

static int
compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void
ratio(const char *name, void (*ours)(void), void (*theirs)(void))
{
	void (*const calls[2])(void) = { ours, theirs };
	static uint64_t ns[2][MOST];

	for (int round = 0; round < rounds; round++) /* by turns: what else the machine does hits both */
		for (int which = 0; which < 2; which++) {
			const uint64_t begin = now();

			for (int i = 0; i < EACH; i++)
				calls[which]();
			ns[which][round] = (now() - begin) / EACH;
		}
	for (int which = 0; which < 2; which++)
		qsort(ns[which], (size_t)rounds, sizeof(uint64_t), compare);
	printf("%s: %llu ns against %llu ns: %.2f\n", name, (unsigned long long)ns[0][rounds / 2],
	       (unsigned long long)ns[1][rounds / 2], (double)ns[0][rounds / 2] / (double)ns[1][rounds / 2]);
}

int
main(int argc, char **argv)
{
	if (argc > 1 && atoi(argv[1]) > 0 && atoi(argv[1]) <= MOST)
		rounds = atoi(argv[1]);
	begin_with_events();
	fd = create(0);
	for (uint16_t i = 4; i < 8; i++) {
		CHECK_EQ(write_pmc(fd, i, CYCLES_PMC), 0);
		CHECK_EQ(write_pmd(fd, i, 0, 0), 0);
	}
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	open_group();
	ratio("read of four counters, read(2) of a group of four", read_four, read_group);
	ratio("stop and start, ioctls that disable and enable a group", start_stop, toggle_group);
	return check_result();
}
