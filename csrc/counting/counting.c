/*
 * Counting on Linux through perf_event_open(2).
 */
#include "counting.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "control.h"

/* PERF_FORMAT_LOST, which perfmon/perf_event.h is older than: since Linux 6.0. */
#define FORMAT_LOST (1u << 4)

/* The result of read(2); lost is last, and missing without FORMAT_LOST. */
struct reading {
	struct counting_value value;
	uint64_t lost;
};

int
counting_open_cpu(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct perf_event_attr own = *attr;
	int fd;

	own.size = sizeof(own);
	own.disabled = 1;
	own.read_format = cpu >= 0 ? times | FORMAT_LOST : times;
	fd = perf_event_open(&own, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && errno == EINVAL && own.read_format != times) {
		own.read_format = times;
		fd = perf_event_open(&own, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

int
counting_open_thread(const struct perf_event_attr *attr, pid_t tid)
{
	return counting_open_cpu(attr, tid, -1);
}

int
counting_open(const struct perf_event_attr *attr)
{
	return counting_open_thread(attr, 0);
}

static int
event_control(int fd, unsigned long request)
{
	return counting_control(fd, request, NULL) < 0 ? -errno : 0;
}

int
counting_resume(int fd)
{
	return event_control(fd, PERF_EVENT_IOC_ENABLE);
}

int
counting_start(int fd)
{
	int ret = event_control(fd, PERF_EVENT_IOC_RESET);

	return ret < 0 ? ret : counting_resume(fd);
}

int
counting_stop(int fd)
{
	return event_control(fd, PERF_EVENT_IOC_DISABLE);
}

static int
read_reading(int fd, struct reading *reading)
{
	ssize_t got;

	reading->lost = 0;
	do
		got = read(fd, reading, sizeof(*reading));
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	return got == sizeof(*reading) || got == offsetof(struct reading, lost) ? 0 : -EIO;
}

int
counting_read(int fd, struct counting_value *value)
{
	struct reading reading;
	int ret = read_reading(fd, &reading);

	if (ret == 0)
		*value = reading.value;
	return ret;
}

/* (a * b + c / 2) / c, the lower 64 bits: not every processor has a type for the product. */
static uint64_t
scaled(uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t half = UINT32_MAX;
	const uint64_t first = (a >> 32) * (b & half) + (((a & half) * (b & half)) >> 32);
	const uint64_t second = (a & half) * (b >> 32) + (first & half);
	uint64_t low = a * b + c / 2, rest = 0;
	uint64_t high = (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32) + (low < c / 2);

	/* By hand: move a bit of the product to the rest, and put one of the quotient in its place. */
	for (int bit = 0; bit < 128; bit++) {
		const bool over = rest >> 63;

		rest = rest << 1 | high >> 63;
		high = high << 1 | low >> 63;
		low <<= 1;
		if (over || rest >= c) {
			rest -= c;
			low |= 1;
		}
	}
	return low;
}

int
counting_scale(const struct counting_value *value, uint64_t *count)
{
	*count = value->value;
	if (value->time_enabled && !value->time_running)
		return -EBUSY;
	if (value->time_enabled != value->time_running)
		*count = scaled(value->value, value->time_enabled, value->time_running);
	return 0;
}

int
counting_lost(int fd, uint64_t *lost)
{
	struct reading reading;
	int ret = read_reading(fd, &reading);

	if (ret == 0)
		*lost = reading.lost;
	return ret;
}

int
counting_close(int fd)
{
	return close(fd) < 0 ? -errno : 0;
}
