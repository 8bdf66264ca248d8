/*
 * Events that count together.
 */
#include "group.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control.h"

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
open_event(struct perf_event_attr *attr, const struct counting_target *target, int leader,
	   struct counting_group_event *event)
{
	attr->size = sizeof(*attr);
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	event->fd = perf_event_open(attr, target->tid, target->cpu, leader, PERF_FLAG_FD_CLOEXEC);
	if (event->fd < 0)
		return -errno;
	return counting_control(event->fd, PERF_EVENT_IOC_ID, &event->id) < 0 ? -errno : 0; /* Linux 3.12 */
}

int
counting_anchor_open(struct counting_anchor *anchor, const struct counting_target *target, size_t pages)
{
	struct perf_event_attr attr = dummy();
	int ret;

	anchor->ring.head = NULL;
	ret = open_event(&attr, target, -1, &anchor->event);
	if (ret < 0)
		return ret;
	counting_ring_open(anchor->event.fd, pages, &anchor->ring);
	return 0;
}

/* The number may by now be a file of the program's own: reading it would take the program's data, or block. */
static bool
is_ours(const struct counting_group_event *event)
{
	uint64_t id;

	return event->fd >= 0 && counting_control(event->fd, PERF_EVENT_IOC_ID, &id) == 0 && id == event->id;
}

static void
close_event(struct counting_group_event *event)
{
	if (is_ours(event))
		close(event->fd);
	event->fd = -1;
}

void
counting_anchor_close(struct counting_anchor *anchor)
{
	counting_ring_close(&anchor->ring);
	close_event(&anchor->event);
}

bool
counting_anchor_has_ended(const struct counting_anchor *anchor)
{
	struct pollfd event = { .fd = anchor->event.fd };

	return poll(&event, 1, 0) == 1 && event.revents & POLLHUP && is_ours(&anchor->event);
}

int
counting_clock_open(struct counting_group_event *clock, pid_t tid)
{
	struct perf_event_attr attr = dummy();
	int ret;

	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.disabled = 0;
	ret = open_event(&attr, &(struct counting_target){ tid, -1 }, -1, clock);
	if (ret < 0)
		counting_clock_close(clock);
	return ret;
}

int
counting_clock_read(const struct counting_group_event *clock, uint64_t *ns)
{
	if (!is_ours(clock))
		return -EBADF;
	return read(clock->fd, ns, sizeof(*ns)) == (ssize_t)sizeof(*ns) ? 0 : -EIO;
}

void
counting_clock_close(struct counting_group_event *clock)
{
	close_event(clock);
}

int
counting_alarm_open(struct counting_anchor *alarm, pid_t tid, bool *is_coarse)
{
	struct perf_event_attr attr = dummy();
	int ret;

	alarm->ring.head = NULL;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = INT64_MAX;
	attr.wakeup_events = 1;
	attr.exclude_kernel = attr.exclude_hv = 0;
	ret = open_event(&attr, &(struct counting_target){ tid, -1 }, -1, &alarm->event);
	*is_coarse = ret == -EACCES || ret == -EPERM;
	if (*is_coarse) {
		attr.exclude_kernel = attr.exclude_hv = 1;
		ret = open_event(&attr, &(struct counting_target){ tid, -1 }, -1, &alarm->event);
	}
	if (ret == 0)
		ret = counting_ring_open(alarm->event.fd, 1, &alarm->ring);
	if (ret < 0)
		counting_anchor_close(alarm);
	return ret;
}

bool
counting_alarm_has_rung(const struct counting_anchor *alarm)
{
	const struct perf_event_mmap_page *head = alarm->ring.head;

	return head && __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE) != head->data_tail;
}

int
counting_alarm_set(const struct counting_anchor *alarm, uint64_t ns)
{
	struct perf_event_mmap_page *head = alarm->ring.head;

	if (!is_ours(&alarm->event))
		return -EBADF;
	head->data_tail = __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE); /* a full ring tells nothing */
	if (counting_control(alarm->event.fd, PERF_EVENT_IOC_PERIOD, &ns) < 0 ||
	    counting_control(alarm->event.fd, PERF_EVENT_IOC_ENABLE, NULL) < 0)
		return -errno;
	return 0;
}

void
counting_alarm_stop(const struct counting_anchor *alarm)
{
	if (is_ours(&alarm->event))
		counting_control(alarm->event.fd, PERF_EVENT_IOC_DISABLE, NULL);
}

/* If the PMU cannot interrupt, it can at least count. */
static int
open_counter(const struct perf_event_attr *wanted, const struct counting_target *target,
	     const struct counting_anchor *anchor, struct counting_group *group, unsigned int i)
{
	struct counting_group_event *event = &group->events[i];
	const int leader = group->leader.fd;
	struct perf_event_attr attr = *wanted;
	int ret;

	attr.read_format = COUNTING_GROUP_FORMAT;
	ret = open_event(&attr, target, leader, event);
	if (attr.sample_period && ret == -EOPNOTSUPP) {
		attr.sample_period = 0;
		ret = open_event(&attr, target, leader, event);
	}
	if (!attr.sample_period || !anchor->ring.head)
		group->silent |= UINT64_C(1) << i;
	else if (ret == 0 &&
		 counting_control(event->fd, PERF_EVENT_IOC_SET_OUTPUT, (void *)(intptr_t)anchor->event.fd) < 0)
		ret = -errno;
	return ret;
}

int
counting_group_open(struct counting_group *group, const struct counting_target *target,
		    const struct perf_event_attr *attrs, unsigned int count, const struct counting_anchor *anchor)
{
	struct perf_event_attr attr = dummy();
	int ret;

	group->count = 0;
	group->silent = 0;
	attr.read_format = COUNTING_GROUP_FORMAT;
	attr.pinned = 1;
	ret = open_event(&attr, target, -1, &group->leader);
	for (unsigned int i = 0; ret == 0 && i < count; i++) {
		group->count = i + 1;
		ret = open_counter(&attrs[i], target, anchor, group, i);
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
counting_group_read(const struct counting_group *group, struct counting_reading *reading)
{
	const size_t size = offsetof(struct counting_reading, values) + (1 + group->count) * sizeof(reading->values[0]);
	ssize_t got;

	if (!is_ours(&group->leader))
		return -EBADF;
	do
		got = read(group->leader.fd, reading, sizeof(*reading));
	while (got < 0 && errno == EINTR);
	if (got == 0)
		return -EBUSY;
	return got == (ssize_t)size && reading->values[0].id == group->leader.id ? 0 : -EBADF;
}

int
counting_group_arm(const struct counting_group *group, unsigned int event, uint64_t period)
{
	return counting_control(group->events[event].fd, PERF_EVENT_IOC_PERIOD, &period) < 0 ? -errno : 0;
}

int
counting_group_pause(const struct counting_group *group, unsigned int event)
{
	return counting_stop(group->events[event].fd);
}

int
counting_group_resume(const struct counting_group *group, unsigned int event)
{
	return counting_resume(group->events[event].fd);
}

int
counting_group_stop_once(const struct counting_group *group, unsigned int event)
{
	return counting_control(group->events[event].fd, PERF_EVENT_IOC_REFRESH, (void *)(intptr_t)1) < 0 ? -errno : 0;
}

void
counting_group_close(struct counting_group *group)
{
	for (unsigned int i = 0; i < group->count; i++)
		close_event(&group->events[i]);
	close_event(&group->leader);
	group->count = 0;
}
