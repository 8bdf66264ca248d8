/*
 * An event of every thread of the calling process.
 */
#include "set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct counting_set {
	size_t	count, room;
	int	fds[];
};

/* Append the event of a thread; a thread that has just ended needs none. */
static int
add(struct counting_set **set, const struct perf_event_attr *attr, pid_t tid)
{
	struct counting_set *grown;
	int fd;

	if ((*set)->count == (*set)->room) {
		grown = realloc(*set, sizeof(**set) + 2 * (*set)->room * sizeof((*set)->fds[0]));
		if (!grown)
			return -ENOMEM;
		*set = grown;
		grown->room *= 2;
	}
	fd = counting_open_thread(attr, tid);
	if (fd < 0)
		return fd == -ESRCH ? 0 : fd;
	(*set)->fds[(*set)->count++] = fd;
	return 0;
}

static int
add_threads(struct counting_set **set, const struct perf_event_attr *attr)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	int ret = 0;

	if (!tasks)	/* no /proc: the calling thread, and those that it makes */
		return add(set, attr, 0);
	while (ret == 0 && (entry = readdir(tasks)) != NULL)
		if (entry->d_name[0] != '.')
			ret = add(set, attr, (pid_t)strtol(entry->d_name, NULL, 10));
	closedir(tasks);
	return ret;
}

static int
open_once(const struct perf_event_attr *attr, struct counting_set **set)
{
	enum { ROOM = 4 };
	int ret;

	*set = malloc(sizeof(**set) + ROOM * sizeof((*set)->fds[0]));
	if (!*set)
		return -ENOMEM;
	(*set)->count = 0;
	(*set)->room = ROOM;
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
		int one = function(set->fds[i]);

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
		ret = counting_read(set->fds[i], &one);
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
		int flags = fcntl(set->fds[i], F_GETFL);

		if (flags < 0 || fcntl(set->fds[i], F_SETOWN_EX, &owner) < 0 || fcntl(set->fds[i], F_SETSIG, signal) < 0
		    || fcntl(set->fds[i], F_SETFL, flags | O_ASYNC) < 0)
			return -errno;
	}
	return 0;
}

void
counting_set_close(struct counting_set *set)
{
	if (set)
		each(set, counting_close);
	free(set);
}
