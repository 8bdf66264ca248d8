/*
 * The contexts of a process: how they are made, found by a descriptor, and freed when no descriptor is open any more.
 *
 * A descriptor is the reading end of a pipe; its inode, which dup() and other numbers do not change, is the context's key.
 */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/guard.h"

enum { HIGH_NUMBER = 512, BUCKETS = 256 };

static struct guard guard = GUARD_INITIALIZER;
static struct context *buckets[BUCKETS];
static int closings = -1; /* an epoll set of our ends of the pipes, which report when nobody reads any more */

struct context *
context_next(struct cursor *at)
{
	struct context *c = at->next;

	while (!c && at->bucket < BUCKETS)
		c = buckets[at->bucket++];
	at->next = c ? c->next : NULL;
	return c;
}

/* ---- found ---------------------------------------------------------------------------------- */

static struct context **
bucket_of(ino_t ino)
{
	return &buckets[ino % BUCKETS];
}

/* The program may have closed our end of the pipe, and reused its number for a file of its own. */
static bool
is_pipe_of(const struct context *c, int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && st.st_dev == c->dev && st.st_ino == c->ino;
}

bool
context_has_writer(const struct context *c)
{
	return is_pipe_of(c, c->writer);
}

bool
context_has_reader(const struct context *c)
{
	return is_pipe_of(c, c->reader);
}

struct context *
context_find(int fd)
{
	struct stat st;
	struct context *c;

	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return NULL;
	for (c = *bucket_of(st.st_ino); c && (c->ino != st.st_ino || c->dev != st.st_dev); c = c->next)
		;
	if (c)
		c->reader = fd;
	return c;
}

/* ---- freed ---------------------------------------------------------------------------------- */

static bool
control_closings(const struct context *c, int operation)
{
	struct epoll_event event = { .data.u64 = c->ino };

	return closings >= 0 && epoll_ctl(closings, operation, c->writer, &event) == 0;
}

static void
close_writer(struct context *c)
{
	if (context_has_writer(c)) {
		control_closings(c, EPOLL_CTL_DEL);
		close(c->writer);
	}
	c->writer = -1;
}

void
context_free(struct context *c)
{
	struct context **at = bucket_of(c->ino);

	context_unload(c);
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	close_writer(c);
	buffer_free(c);
	while (c->num_sets)
		set_free(c, c->sets[0]);
	munmap(c, sizeof(*c));
}

/* If nobody can read it any more, or our end is gone, the number may be a pipe of the program's own. */
static bool
is_closed(const struct context *c)
{
	struct pollfd writer = { .fd = c->writer };

	return !context_has_writer(c) || (poll(&writer, 1, 0) == 1 && writer.revents & POLLERR);
}

static void
reap_all(void)
{
	struct cursor at = { 0 };
	struct context *c;

	while ((c = context_next(&at)))
		if (!c->is_copy && is_closed(c))
			context_free(c);
}

static struct context *
find_by_number(ino_t ino)
{
	struct context *c = *bucket_of(ino);

	while (c && c->ino != ino)
		c = c->next;
	return c;
}

/* Return some context that is in the set, or NULL. */
static const struct context *
any_watched(void)
{
	struct cursor at = { 0 };
	const struct context *c;

	while ((c = context_next(&at)) && (c->is_copy || !context_has_writer(c)))
		;
	return c;
}

/* The program has closed the set: the next context makes another one. */
static void
forget_closings(void)
{
	helper_forget_fd(closings);
	closings = -1;
	reap_all();
}

/* Another set with that number is the program's: its events must not be taken. */
void
contexts_reap(void)
{
	struct epoll_event closed[16];
	const struct context *watched = any_watched();
	int count = 0;

	if (!watched)
		reap_all();
	else if (!control_closings(watched, EPOLL_CTL_MOD))
		forget_closings();
	else
		while ((count = epoll_wait(closings, closed, sizeof(closed) / sizeof(*closed), 0)) > 0)
			for (int i = 0; i < count; i++) {
				struct context *c = find_by_number((ino_t)closed[i].data.u64);

				if (c)
					context_free(c);
			}
}

/* Make one for all existing contexts. */
static void
open_closings(void)
{
	struct cursor at = { 0 };
	const struct context *c;

	closings = epoll_create1(EPOLL_CLOEXEC);
	if (closings < 0)
		return;
	closings = descriptor_move_up(closings);
	while ((c = context_next(&at)))
		if (!c->is_copy)
			control_closings(c, EPOLL_CTL_ADD);
	helper_watch(closings);
}

int
contexts_closings(void)
{
	return closings;
}

size_t
contexts_buffers(void)
{
	struct cursor at = { 0 };
	const struct context *c;
	size_t sum = 0;

	while ((c = context_next(&at)))
		sum += c->is_copy ? 0 : c->buffer_size;
	return sum;
}

/* ---- entered ------------------------------------------------------------------------------- */

/*
 * A child has copies of the contexts, except those that nobody can read any more.  It has neither the helper thread nor
 * the events, and of the pipes only the reading ends, so that it does not wait for itself when its parent is gone.
 */
static void
forget_parent(void)
{
	struct cursor at = { 0 };
	bool is_ours = false;
	struct context *c;

	helper_forget();
	thread_forget();
	while ((c = context_next(&at))) {
		const bool is_left = is_closed(c);

		is_ours |= control_closings(c, EPOLL_CTL_MOD);
		c->is_copy = true;
		perf_forget(c);
		task_forget(c);
		if (context_has_writer(c))
			close(c->writer);
		c->writer = -1;
		if (is_left)
			context_free(c);
	}
	if (is_ours)
		close(closings);
	closings = -1;
}

/* clone(2) without the C library runs no handler of fork(): the lock, too, is in the state of the parent's thread. */
void
engine_enter(void)
{
	const bool is_new_child = thread_is_in_child();

	if (is_new_child)
		guard_renew(&guard);
	guard_enter(&guard);
	if (is_new_child)
		forget_parent();
}

void
engine_leave(void)
{
	guard_leave(&guard);
}

bool
engine_found_blocked(int signal)
{
	return sigismember(&guard.signals, signal) == 1;
}

static void
in_child(void)
{
	forget_parent();
	guard_leave(&guard);
}

/* Before main(): when a thread forks, another one may be inside even without a context. */
__attribute__((constructor)) static void
follow_forks(void)
{
	guard_fork(&guard, engine_enter, engine_leave, in_child); /* if it fails, a creation tries again */
}

/* ---- made ----------------------------------------------------------------------------------- */

int
descriptor_move_up(int fd)
{
	const int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_NUMBER);

	if (high < 0) {
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		return fd;
	}
	close(fd);
	return high;
}

static void
close_ends(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

static int
make_pipe(int ends[2])
{
	int ret = 0;

	if (pipe(ends) < 0)
		return -errno;
	ends[1] = descriptor_move_up(ends[1]);
	if (fcntl(ends[1], F_SETFL, O_DIRECT | O_NONBLOCK) < 0)
		ret = -errno;
	if (ret < 0)
		close_ends(ends);
	return ret;
}

static struct context *
table_make_context(const struct machine *machine, uint32_t flags)
{
	struct context *c = private_memory(sizeof(*c));

	if (!c)
		return NULL;
	c->writer = c->buffer_fd = -1;
	c->task = no_task;
	if (context_begin(c, machine, flags) == 0)
		return c;
	munmap(c, sizeof(*c));
	return NULL;
}

int
context_create(const struct machine *machine, uint32_t flags, struct context **made, int *fd)
{
	struct context *c;
	struct stat st;
	int ends[2], ret;

	contexts_reap();
	if (guard_fork(&guard, engine_enter, engine_leave, in_child) < 0)
		return -ENOMEM;
	ret = make_pipe(ends);
	if (ret < 0)
		return ret;
	c = fstat(ends[0], &st) < 0 ? NULL : table_make_context(machine, flags);
	if (!c) {
		close_ends(ends);
		return -ENOMEM;
	}
	c->reader = ends[0];
	c->writer = ends[1];
	c->dev = st.st_dev;
	c->ino = st.st_ino;
	c->next = *bucket_of(c->ino);
	*bucket_of(c->ino) = c;
	if (!control_closings(c, EPOLL_CTL_ADD))
		open_closings();
	*made = c;
	*fd = ends[0];
	return 0;
}
