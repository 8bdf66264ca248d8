/*
 * Counting on Linux through perf_event_open(2).
 */
#include "counting.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

int
counting_open_cpu(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	struct perf_event_attr own = *attr;
	int fd;

	own.size = sizeof(own);
	own.disabled = 1;
	own.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = perf_event_open(&own, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
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
control(int fd, unsigned long request)
{
	return ioctl(fd, request, 0) < 0 ? -errno : 0;
}

int
counting_resume(int fd)
{
	return control(fd, PERF_EVENT_IOC_ENABLE);
}

int
counting_start(int fd)
{
	int ret = control(fd, PERF_EVENT_IOC_RESET);

	return ret < 0 ? ret : counting_resume(fd);
}

int
counting_stop(int fd)
{
	return control(fd, PERF_EVENT_IOC_DISABLE);
}

int
counting_read(int fd, struct counting_value *value)
{
	ssize_t got;

	do
		got = read(fd, value, sizeof(*value));
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	return got == sizeof(*value) ? 0 : -EIO;
}

int
counting_close(int fd)
{
	return close(fd) < 0 ? -errno : 0;
}
