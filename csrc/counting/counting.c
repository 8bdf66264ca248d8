/*
 * Counting on Linux through perf_event_open(2).
 */
#include "counting.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "control.h"

/* PERF_FORMAT_LOST, which perfmon/perf_event.h is older than: since Linux 6.0. */
#define FORMAT_LOST	(1u << 4)

/* What read(2) gives; lost is last, and not there without FORMAT_LOST. */
struct reading {
	struct counting_value	value;
	uint64_t		lost;
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

int
counting_scale(const struct counting_value *value, uint64_t *count)
{
	*count = value->value;
	if (value->time_enabled && !value->time_running)
		return -EBUSY;
	if (value->time_enabled != value->time_running)
		*count = (uint64_t)(((unsigned __int128)value->value * value->time_enabled + value->time_running / 2)
				    / value->time_running);
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
