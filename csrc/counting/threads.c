/*
 * The threads of the calling process, from /proc.
 *
 * A /proc belongs to a process namespace, which need not be the caller's: `unshare --pid --fork` leaves the
 * old one mounted, and here its numbers belong to other threads, or to none.  A thread's status file has its
 * numbers in all namespaces from that of /proc to its own; system calls take the last one.
 */
#include "threads.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/process.h"

enum { MOST_LISTS = 20 };

/* Whether a number is that of a thread of this process; false if the thread has ended. */
static bool
is_own_thread(pid_t id)
{
	return syscall(SYS_tgkill, getpid(), id, 0) == 0;
}

static int
add_thread(struct counting_threads *threads, pid_t id)
{
	if (threads->count == threads->room) {
		size_t room = threads->room ? 2 * threads->room : 16;
		pid_t *grown = realloc(threads->ids, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		threads->ids = grown;
		threads->room = room;
	}
	threads->ids[threads->count++] = id;
	return 0;
}

static int
add_task(struct counting_threads *threads, const char *name, bool translate)
{
	char path[64];
	pid_t id = (pid_t)strtol(name, NULL, 10);
	int ret;

	if (translate) {
		snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", name);
		ret = process_own_number(path, &id);
		if (ret <= 0) /* it has ended */
			return ret == -ENOENT || ret == -ESRCH || ret == 0 ? 0 : ret;
	}
	return is_own_thread(id) ? add_thread(threads, id) : 0;
}

static int
add_tasks(struct counting_threads *threads, DIR *tasks, bool translate)
{
	const struct dirent *entry;
	int ret = 0;

	while (ret == 0 && (errno = 0, entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			ret = add_task(threads, entry->d_name, translate);
	return ret == 0 && errno ? -errno : ret;
}

/* Whether the calling thread is the only one, as the kernel itself checks it; nothing is unshared then. */
static bool
is_alone(void)
{
	return unshare(CLONE_THREAD) == 0;
}

static bool
holds_thread(const struct counting_threads *threads, pid_t id)
{
	for (size_t i = 0; i < threads->count; i++)
		if (threads->ids[i] == id)
			return true;
	return false;
}

/* A thread that ends while the directory is read can make it skip another: the number of threads tells. */
static bool
is_complete_list(const struct counting_threads *threads, DIR *tasks)
{
	struct stat st;

	return fstat(dirfd(tasks), &st) < 0 || threads->count + 2 >= st.st_nlink;
}

/* 1: again. */
static int
list_tasks_once(struct counting_threads *threads, bool translate)
{
	DIR *tasks = opendir("/proc/self/task");
	int ret;

	threads->count = 0;
	if (!tasks)
		return -errno;
	ret = add_tasks(threads, tasks, translate);
	if (ret == 0)
		ret = !is_complete_list(threads, tasks);
	closedir(tasks);
	return ret;
}

int
counting_threads_list(struct counting_threads *threads)
{
	const pid_t self = (pid_t)syscall(SYS_gettid);
	pid_t number;
	int ret = process_own_number("/proc/self/status", &number);
	const bool translate = ret > 1;

	if (ret >= 0)
		ret = 1;
	for (int tries = 0; ret == 1 && tries < MOST_LISTS; tries++)
		ret = list_tasks_once(threads, translate);
	if (ret == 1)
		return -EAGAIN;
	if (ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM || (ret == 0 && holds_thread(threads, self)))
		return ret;
	threads->count = 0; /* no /proc, or not a true one */
	return is_alone() ? add_thread(threads, self) : -ENODEV;
}

bool
counting_threads_within(const struct counting_threads *some, const struct counting_threads *others)
{
	size_t at = 0;

	/* /proc lists threads in the order in which they were made: mostly the next one is it. */
	for (size_t i = 0; i < some->count; i++, at++) {
		while (at < others->count && others->ids[at] != some->ids[i])
			at++;
		if (at == others->count)
			return false;
	}
	return true;
}

void
counting_threads_free(struct counting_threads *threads)
{
	free(threads->ids);
	*threads = (struct counting_threads){ 0 };
}
