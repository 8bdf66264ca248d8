/*
 * An event of every thread of the calling process.
 *
 * Only system calls, no malloc(): a signal handler may count, too.
 */
#include "set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* The program may have closed the descriptor, and have it for a file of its own: the identifier tells. */
struct event {
	int		fd;
	uint64_t	id;
};

struct counting_set {
	size_t		size;	/* bytes */
	size_t		count;
	struct event	events[];
};

enum { STEP = 4096 };

static struct counting_set *
new_set(void)
{
	struct counting_set *set = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (set == MAP_FAILED)
		return NULL;
	set->size = STEP;
	return set;
}

static int
grow(struct counting_set **set)
{
	size_t size = (*set)->size + STEP;
	struct counting_set *grown = mremap(*set, (*set)->size, size, MREMAP_MAYMOVE);

	if (grown == MAP_FAILED)
		return -ENOMEM;
	grown->size = size;
	*set = grown;
	return 0;
}

/* Append the event of a thread; a thread that has just ended needs none. */
static int
add(struct counting_set **set, const struct perf_event_attr *attr, pid_t tid)
{
	struct event event;
	int ret = 0;

	if (sizeof(**set) + ((*set)->count + 1) * sizeof(event) > (*set)->size)
		ret = grow(set);
	if (ret < 0)
		return ret;
	event.fd = counting_open_thread(attr, tid);
	if (event.fd < 0)
		return event.fd == -ESRCH ? 0 : event.fd;
	if (ioctl(event.fd, PERF_EVENT_IOC_ID, &event.id) < 0) {
		ret = -errno;
		counting_close(event.fd);
		return ret;
	}
	(*set)->events[(*set)->count++] = event;
	return 0;
}

/* The threads in a part of the directory. */
static int
add_entries(struct counting_set **set, const struct perf_event_attr *attr, const char *entries, ssize_t size)
{
	int ret = 0;

	for (ssize_t at = 0; ret == 0 && at < size;) {
		const struct dirent64 *entry = (const struct dirent64 *)(entries + at);

		if (entry->d_name[0] != '.')
			ret = add(set, attr, (pid_t)strtol(entry->d_name, NULL, 10));
		at += entry->d_reclen;
	}
	return ret;
}

static int
add_threads(struct counting_set **set, const struct perf_event_attr *attr)
{
	_Alignas(struct dirent64) char entries[2048];
	int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;
	ssize_t got = 0;

	if (tasks < 0)	/* no /proc: the calling thread, and those that it makes */
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : add(set, attr, 0);
	while (ret == 0 && (got = getdents64(tasks, entries, sizeof(entries))) > 0)
		ret = add_entries(set, attr, entries, got);
	if (got < 0)
		ret = -errno;
	close(tasks);
	return ret;
}

static int
open_once(const struct perf_event_attr *attr, struct counting_set **set)
{
	int ret;

	*set = new_set();
	if (!*set)
		return -ENOMEM;
	ret = add_threads(set, attr);
	if (ret < 0) {
		counting_set_close(*set);
		*set = NULL;
	}
	return ret;
}

int
counting_set_open(const struct perf_event_attr *attr, struct counting_set **set)
{
	struct perf_event_attr user = *attr;
	int ret = open_once(attr, set);

	if (ret != -EACCES)
		return ret;
	user.exclude_kernel = user.exclude_hv = 1;
	return open_once(&user, set);
}

static bool
is_open(const struct event *event)
{
	uint64_t id;

	return ioctl(event->fd, PERF_EVENT_IOC_ID, &id) == 0 && id == event->id;
}

int
counting_set_open_own(const struct perf_event_attr *attr, struct counting_set **set)
{
	struct perf_event_attr own = *attr;
	int ret;

	own.inherit = own.inherit_thread = 1;
	ret = counting_set_open(&own, set);
	if (ret == -EINVAL) {	/* before Linux 5.13: the threads of now */
		own.inherit = own.inherit_thread = 0;
		ret = counting_set_open(&own, set);
	}
	return ret;
}

static int
each(const struct counting_set *set, int (*function)(int fd))
{
	int ret = 0;

	for (size_t i = 0; i < set->count; i++) {
		int one = is_open(&set->events[i]) ? function(set->events[i].fd) : -EBADF;

		ret = ret ? ret : one;
	}
	return ret;
}

int
counting_set_enable(const struct counting_set *set)
{
	return each(set, counting_resume);
}

int
counting_set_disable(const struct counting_set *set)
{
	return each(set, counting_stop);
}

int
counting_set_read_times(const struct counting_set *set, struct counting_value *sum)
{
	struct counting_value one;
	int ret;

	*sum = (struct counting_value){ 0, 0, 0 };
	for (size_t i = 0; i < set->count; i++) {
		ret = is_open(&set->events[i]) ? counting_read(set->events[i].fd, &one) : -EBADF;
		if (ret < 0)
			return ret;
		sum->value += one.value;
		sum->time_enabled += one.time_enabled;
		sum->time_running += one.time_running;
	}
	return 0;
}

int
counting_set_read(const struct counting_set *set, uint64_t *value)
{
	struct counting_value sum;
	int ret = counting_set_read_times(set, &sum);

	*value = sum.value;
	return ret;
}

int
counting_set_signal(const struct counting_set *set, int signal)
{
	struct f_owner_ex owner = { F_OWNER_PID, getpid() };

	for (size_t i = 0; i < set->count; i++) {
		int fd = set->events[i].fd, flags = fcntl(fd, F_GETFL);

		if (flags < 0 || fcntl(fd, F_SETOWN_EX, &owner) < 0 || fcntl(fd, F_SETSIG, signal) < 0
		    || fcntl(fd, F_SETFL, flags | O_ASYNC) < 0)
			return -errno;
	}
	return 0;
}

void
counting_set_close(struct counting_set *set)
{
	if (!set)
		return;
	each(set, counting_close);
	munmap(set, set->size);
}
