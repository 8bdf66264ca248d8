/*
 * An event of every thread of the calling process.
 */
#include "set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "threads.h"

/* The program may have closed the descriptor and reused its number for a file of its own: the identifier tells. */
struct event {
	int fd;
	uint64_t id;
};

struct counting_set {
	size_t count;
	struct event events[];
};

/* Translate an errno value to one that the functions of set.h return; all others become: it cannot be counted here. */
static int
set_error(int ret)
{
	switch (ret) {
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
		return -ENOMEM;
	case -EPERM:
	case -EACCES:
		return -EACCES;
	case -EAGAIN:
	case -EBADF:
	case -EBUSY:
		return ret;
	default:
		return ret < 0 ? -ENODEV : ret;
	}
}

/* How often the threads are listed before giving up because they are made too fast. */
enum { MOST_TRIES = 200 };

/* Append the event of a thread; a thread that has just ended needs none. */
static int
add_event(struct counting_set *set, const struct perf_event_attr *attr, pid_t tid)
{
	struct event event = { .fd = counting_open_thread(attr, tid) };
	int ret;

	if (event.fd < 0)
		return event.fd == -ESRCH ? 0 : event.fd;
	if (counting_control(event.fd, PERF_EVENT_IOC_ID, &event.id) < 0) {
		ret = -errno;
		counting_close(event.fd);
		return ret;
	}
	set->events[set->count++] = event;
	return 0;
}

static int
set_open_threads(const struct perf_event_attr *attr, const struct counting_threads *threads, struct counting_set **set)
{
	int ret = 0;

	*set = malloc(sizeof(**set) + threads->count * sizeof((*set)->events[0]));
	if (!*set)
		return -ENOMEM;
	(*set)->count = 0;
	for (size_t i = 0; ret == 0 && i < threads->count; i++)
		ret = add_event(*set, attr, threads->ids[i]);
	if (ret == 0 && (*set)->count == 0)
		ret = -ESRCH; /* no thread could be counted, and one is calling */
	if (ret < 0) {
		counting_set_close(*set);
		*set = NULL;
	}
	return ret;
}

/*
 * A thread that is being made when its maker's event is opened has not inherited it, and appears
 * later: the kernel is given time to finish it.  One that takes longer is not counted, nor are those
 * that it makes: clone() takes a copy of its maker's events long before /proc or a record of the
 * kernel shows the new thread, and nothing shows which events it has.
 */
static void
wait_for_threads_under_way(const struct counting_threads *threads)
{
	const struct timespec pause = { 0, 1000000 };

	if (threads->count > 1) /* else no thread can make one */
		nanosleep(&pause, NULL);
}

/*
 * A thread that appears meanwhile may have inherited the event of the thread that made it, or may
 * have been made before that had one: opened, it could count twice, left out, not at all.  Nothing
 * tells which.  So a set is kept only if no thread has appeared while it was opened.
 */
static int
set_open_once(const struct perf_event_attr *attr, struct counting_set **set)
{
	struct counting_threads before = { 0 }, after = { 0 };
	int ret = counting_threads_list(&before);

	*set = NULL;
	if (ret == 0)
		ret = set_open_threads(attr, &before, set);
	if (ret == 0) {
		wait_for_threads_under_way(&before);
		ret = counting_threads_list(&after);
	}
	if (ret == 0 && !counting_threads_within(&after, &before))
		ret = -EAGAIN;
	if (ret < 0) {
		counting_set_close(*set);
		*set = NULL;
	}
	counting_threads_free(&before);
	counting_threads_free(&after);
	return ret;
}

static int
set_open_steady(const struct perf_event_attr *attr, struct counting_set **set)
{
	int ret = -EAGAIN;

	for (int tries = 0; ret == -EAGAIN && tries < MOST_TRIES; tries++)
		ret = set_open_once(attr, set);
	return ret;
}

/* The errors are still the kernel's. */
static int
set_open(const struct perf_event_attr *attr, struct counting_set **set)
{
	struct perf_event_attr user = *attr;
	int ret = set_open_steady(attr, set);

	if (ret != -EACCES)
		return ret;
	user.exclude_kernel = user.exclude_hv = 1;
	return set_open_steady(&user, set);
}

int
counting_set_open(const struct perf_event_attr *attr, struct counting_set **set)
{
	return set_error(set_open(attr, set));
}

int
counting_set_open_own(const struct perf_event_attr *attr, struct counting_set **set)
{
	struct perf_event_attr own = *attr;
	int ret;

	own.inherit = own.inherit_thread = 1;
	ret = set_open(&own, set);
	if (ret == -EINVAL) { /* before Linux 5.13: the threads that exist now */
		own.inherit = own.inherit_thread = 0;
		ret = set_open(&own, set);
	}
	return set_error(ret);
}

static bool
is_own_event(const struct event *event)
{
	uint64_t id;

	return counting_control(event->fd, PERF_EVENT_IOC_ID, &id) == 0 && id == event->id;
}

static int
for_each_event(const struct counting_set *set, int (*function)(int fd))
{
	int ret = 0;

	for (size_t i = 0; i < set->count; i++) {
		int one = is_own_event(&set->events[i]) ? function(set->events[i].fd) : -EBADF;

		ret = ret ? ret : one;
	}
	return set_error(ret);
}

int
counting_set_enable(const struct counting_set *set)
{
	return for_each_event(set, counting_resume);
}

int
counting_set_disable(const struct counting_set *set)
{
	return for_each_event(set, counting_stop);
}

int
counting_set_read(const struct counting_set *set, uint64_t *count)
{
	struct counting_value one, sum = { 0, 0, 0 };
	int ret;

	*count = 0;
	for (size_t i = 0; i < set->count; i++) {
		ret = is_own_event(&set->events[i]) ? counting_read(set->events[i].fd, &one) : -EBADF;
		if (ret < 0)
			return set_error(ret);
		sum.value += one.value;
		sum.time_enabled += one.time_enabled;
		sum.time_running += one.time_running;
	}
	return counting_scale(&sum, count);
}

int
counting_set_signal(const struct counting_set *set, int signal)
{
	struct f_owner_ex owner = { F_OWNER_PID, getpid() };

	for (size_t i = 0; i < set->count; i++) {
		int fd = set->events[i].fd, flags = fcntl(fd, F_GETFL);

		if (flags < 0 || fcntl(fd, F_SETOWN_EX, &owner) < 0 || fcntl(fd, F_SETSIG, signal) < 0 ||
		    fcntl(fd, F_SETFL, flags | O_ASYNC) < 0)
			return set_error(-errno);
	}
	return 0;
}

void
counting_set_close(struct counting_set *set)
{
	if (!set)
		return;
	for_each_event(set, counting_close);
	free(set);
}
