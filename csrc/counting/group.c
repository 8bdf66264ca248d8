/*
 * Events that count together.
 */
#include "group.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { RING_PAGES = 8 };

/* As read(2) gives a group. */
struct reading {
	uint64_t	count;
	struct {
		uint64_t	value, id;
	} values[1 + COUNTING_GROUP_MOST];
};

static const struct counting_group_event no_event = { .fd = -1 };

/* An event that counts nothing, which everybody may open. */
static struct perf_event_attr
dummy(void)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.exclude_kernel = attr.exclude_hv = 1;
	attr.disabled = 1;
	return attr;
}

/* Time stamps are those of the clock that a program can read. */
static int
open_event(struct perf_event_attr *attr, const struct counting_target *target, int leader, struct counting_group_event *event)
{
	attr->size = sizeof(*attr);
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	event->fd = perf_event_open(attr, target->tid, target->cpu, leader, PERF_FLAG_FD_CLOEXEC);
	if (event->fd < 0)
		return -errno;
	return ioctl(event->fd, PERF_EVENT_IOC_ID, &event->id) < 0 ? -errno : 0;
}

int
counting_anchor_open(struct counting_anchor *anchor, const struct counting_target *target)
{
	struct perf_event_attr attr = dummy();
	struct counting_group_event event;
	const int ret = open_event(&attr, target, -1, &event);

	*anchor = (struct counting_anchor){ .fd = event.fd };
	if (ret < 0)
		return ret;
	counting_ring_open(event.fd, RING_PAGES, &anchor->ring);
	return 0;
}

void
counting_anchor_close(struct counting_anchor *anchor)
{
	counting_ring_close(&anchor->ring);
	if (anchor->fd >= 0)
		close(anchor->fd);
	anchor->fd = -1;
}

/* One interrupt, then it stops: what the program does about it takes time. */
static int
open_counter(const struct perf_event_attr *wanted, const struct counting_target *target, int leader,
	     const struct counting_anchor *anchor, struct counting_group_event *event)
{
	struct perf_event_attr attr = *wanted;
	int ret = open_event(&attr, target, leader, event);

	if (attr.sample_period && (ret == -EOPNOTSUPP || ret == -EINVAL)) {
		attr.sample_period = 0;
		return open_event(&attr, target, leader, event);
	}
	if (ret == 0 && attr.sample_period) {
		if (anchor->ring.head)
			ioctl(event->fd, PERF_EVENT_IOC_SET_OUTPUT, anchor->fd);
		ret = ioctl(event->fd, PERF_EVENT_IOC_REFRESH, 1) < 0 ? -errno : 0;
	}
	return ret;
}

int
counting_group_open(struct counting_group *group, const struct counting_target *target,
		    const struct perf_event_attr *attrs, unsigned int count, const struct counting_anchor *anchor)
{
	struct perf_event_attr attr = dummy();
	int ret;

	group->count = 0;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	attr.pinned = 1;
	ret = open_event(&attr, target, -1, &group->leader);
	for (unsigned int i = 0; ret == 0 && i < count; i++) {
		group->events[i] = no_event;
		group->count = i + 1;
		ret = open_counter(&attrs[i], target, group->leader.fd, anchor, &group->events[i]);
	}
	if (ret < 0)
		counting_group_close(group);
	return ret;
}

int
counting_group_enable(const struct counting_group *group)
{
	return counting_resume(group->leader.fd);
}

int
counting_group_disable(const struct counting_group *group)
{
	return counting_stop(group->leader.fd);
}

int
counting_group_read(const struct counting_group *group, uint64_t counts[COUNTING_GROUP_MOST])
{
	struct reading reading;
	const size_t size = offsetof(struct reading, values) + (1 + group->count) * sizeof(reading.values[0]);
	ssize_t got;

	do
		got = read(group->leader.fd, &reading, sizeof(reading));
	while (got < 0 && errno == EINTR);
	if (got == 0)
		return -EBUSY;
	if (got != (ssize_t)size || reading.values[0].id != group->leader.id)
		return -EBADF;
	for (unsigned int i = 0; i < group->count; i++)
		counts[i] = reading.values[1 + i].value;
	return 0;
}

int
counting_group_arm(const struct counting_group *group, unsigned int event, uint64_t period)
{
	return ioctl(group->events[event].fd, PERF_EVENT_IOC_PERIOD, &period) < 0 ? -errno : 0;
}

int
counting_group_resume(const struct counting_group *group, unsigned int event)
{
	return ioctl(group->events[event].fd, PERF_EVENT_IOC_REFRESH, 1) < 0 ? -errno : 0;
}

void
counting_group_close(struct counting_group *group)
{
	for (unsigned int i = 0; i < group->count; i++)
		if (group->events[i].fd >= 0)
			close(group->events[i].fd);
	if (group->leader.fd >= 0)
		close(group->leader.fd);
	group->leader = no_event;
	group->count = 0;
}
