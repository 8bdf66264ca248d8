/*
 * Counting (csrc/counting): answers to descriptors that are none, and a ring of records, which a file
 * stands for here, as the kernel writes it.
 */
#include "check.h"

#include "counting.h"
#include "ring.h"
#include "set.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void
descriptors(void)
{
	const uint64_t reading[4] = { 7, 8, 9, 5 };
	struct counting_value value;
	char bytes[4] = "abc";
	uint64_t lost = 1;
	int ends[2];

	CHECK_EQ(counting_start(-1), -EBADF);
	CHECK_EQ(counting_resume(-1), -EBADF);
	CHECK_EQ(counting_stop(-1), -EBADF);
	CHECK_EQ(counting_read(-1, &value), -EBADF);
	CHECK_EQ(counting_lost(-1, &lost), -EBADF);
	CHECK_EQ(lost, 1);
	CHECK_EQ(counting_close(-1), -EBADF);
	if (pipe(ends) < 0 || write(ends[1], bytes, sizeof(bytes)) != sizeof(bytes))
		exit(2);
	CHECK_EQ(counting_read(ends[0], &value), -EIO); /* too few bytes */
	/* As the kernel answers; before Linux 6.0 without what was lost. */
	for (size_t words = 3; words <= 4; words++) {
		const size_t size = words * sizeof(*reading);

		CHECK(write(ends[1], reading, size) == (ssize_t)size && counting_read(ends[0], &value) == 0);
		CHECK(value.value == 7 && value.time_enabled == 8 && value.time_running == 9);
		CHECK(write(ends[1], reading, size) == (ssize_t)size && counting_lost(ends[0], &lost) == 0);
		CHECK_EQ(lost, words == 3 ? 0 : 5);
	}
	close(ends[0]);
	close(ends[1]);
	counting_set_close(NULL);
}

/* Counters of a PMU that were shared. */
static void
scaling(void)
{
	static const struct {
		struct counting_value value;
		int ret;
		uint64_t count;
	} cases[] = {
		{ { 0, 0, 0 }, 0, 0 },
		{ { 7, 9, 9 }, 0, 7 },
		{ { 7, 10, 5 }, 0, 14 },
		{ { 1, 3, 2 }, 0, 2 },
		{ { 1, 5, 4 }, 0, 1 },
		{ { 0, 10, 0 }, -EBUSY, 0 },
		{ { UINT64_MAX / 2, UINT64_C(1) << 62, UINT64_C(1) << 61 }, 0, UINT64_MAX - 1 },
		{ { UINT64_MAX, 3, 2 }, 0, UINT64_MAX >> 1 },
		{ { UINT64_MAX, UINT64_MAX, UINT64_MAX - 1 }, 0, 0 }, /* 65 bits: the lower 64 */
		{ { UINT64_MAX / 3, UINT64_MAX - 5, (UINT64_C(1) << 63) + 1 }, 0, UINT64_C(0xaaaaaaaaaaaaaaa5) },
		{ { UINT64_C(0x123456789abcdef0), UINT64_C(0xfedcba987654321), UINT64_C(0x1111111111111) },
		  0,
		  UINT64_C(0xda60a2a059defdb9) },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t count = 1;

		CHECK_EQ(counting_scale(&cases[i].value, &count), cases[i].ret);
		CHECK_EQ(count, cases[i].count);
	}
}

/* An event that no kernel has. */
static void
no_event(void)
{
	struct perf_event_attr attr = { .type = 12345, .exclude_kernel = 1 };
	struct counting_set *set = (struct counting_set *)&attr;

	CHECK(counting_open(&attr) < 0);
	CHECK(counting_set_open(&attr, &set) < 0 && !set);
	CHECK(counting_set_open_own(&attr, &set) < 0 && !set);
}

static void
set_of_this_process(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_PAGE_FAULTS,
					.exclude_kernel = 1 };
	struct counting_set *set;
	uint64_t value;
	int fd, ret = counting_set_open(&attr, &set);

	if (ret < 0) {
		printf("perf_event_open: %s: a set is not tried\n", strerror(-ret));
		return;
	}
	CHECK_EQ(counting_set_enable(set), 0);
	CHECK_EQ(counting_set_read(set, &value), 0);
	CHECK_EQ(counting_set_signal(set, SIGUSR1), 0);
	/* The program closes the descriptor, and has it for a file of its own. */
	fd = dup(0) - 1;
	close(fd + 1);
	close(fd);
	CHECK_EQ(counting_set_signal(set, SIGUSR1), -EBADF);
	CHECK_EQ(dup2(0, fd), fd);
	CHECK_EQ(counting_set_read(set, &value), -EBADF);
	CHECK_EQ(counting_set_enable(set), -EBADF);
	CHECK_EQ(counting_set_disable(set), -EBADF);
	counting_set_close(set);
	CHECK_EQ(close(fd), 0); /* and it is still its own */
}

/* ---- the ring --------------------------------------------------------------------- */

struct ended {
	struct perf_event_header header;
	struct counting_end end;
};

struct lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

static struct perf_event_mmap_page *head;
static unsigned char *data;
static size_t page;

/* Append a record, around the end of the ring if it must be. */
static void
put(const void *record, size_t size)
{
	const unsigned char *bytes = record;

	for (size_t i = 0; i < size; i++)
		data[head->data_head++ % page] = bytes[i];
}

static void
put_ended(uint32_t tid)
{
	struct ended record = { { .type = PERF_RECORD_READ, .size = sizeof(record) },
				{ .pid = 1, .tid = tid, .value = { tid, 2, 3 } } };

	put(&record, sizeof(record));
}

static void
put_lost(uint64_t count)
{
	struct lost record = { { .type = PERF_RECORD_LOST, .size = sizeof(record) }, 0, count };

	put(&record, sizeof(record));
}

static void
ring_of_records(void)
{
	struct {
		struct perf_event_header header;
		char text[200];
	} other = { { .type = PERF_RECORD_COMM, .size = sizeof(other) }, "" };
	struct counting_ring ring;
	struct counting_end ends[4];
	uint64_t lost = 0;
	int fd = (int)syscall(SYS_memfd_create, "ring", 0UL);

	page = (size_t)sysconf(_SC_PAGESIZE);
	if (fd < 0 || ftruncate(fd, (off_t)(2 * page)) < 0)
		exit(2);
	head = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	data = (unsigned char *)head + page;
	CHECK_EQ(counting_ring_open(fd, 1, &ring), 0);
	CHECK_EQ(counting_ring_take(&ring, ends, 4, &lost), 0);
	for (uint32_t round = 0; round < 100; round++) { /* several times around */
		put_ended(2 * round);
		put(&other, sizeof(other)); /* bigger than what is known */
		put_lost(5);
		put_ended(2 * round + 1);
		CHECK_EQ(counting_ring_take(&ring, ends, 1, &lost), 1); /* there is room for one */
		CHECK(ends[0].tid == 2 * round && ends[0].value.value == 2 * round && ends[0].value.time_running == 3);
		CHECK_EQ(counting_ring_take(&ring, ends, 4, &lost), 1);
		CHECK_EQ(ends[0].tid, 2 * round + 1);
		CHECK_EQ(lost, 5 * (round + 1));
		CHECK_EQ(head->data_tail, head->data_head);
	}
	counting_ring_close(&ring);
	munmap(head, 2 * page);
	CHECK_EQ(counting_ring_open(-1, 1, &ring), -EBADF);
	close(fd);
}

int
main(void)
{
	descriptors();
	scaling();
	no_event();
	set_of_this_process();
	ring_of_records();
	return check_result();
}
