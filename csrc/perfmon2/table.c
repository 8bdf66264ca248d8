/*
 * The contexts of a process: how they are made, found by a descriptor, and freed when no descriptor is open any more.
 */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../counting/guard.h"

enum { HIGH_NUMBER = 512 };

static struct guard guard = GUARD_INITIALIZER;
static struct entry *entries;
static size_t num_entries, room;
static _Atomic pid_t process;	/* whose all this is; 0: nobody's yet */

/* A child has the contexts, and neither the helper thread nor the events. */
static void
forget_parent(void)
{
	process = getpid();
	helper_forget();
	for (size_t i = 0; i < num_entries; i++)
		perf_forget(&entries[i]);
}

/* clone(2) by itself runs no handler of fork(): the lock, too, is as a thread of the parent had it. */
void
engine_enter(void)
{
	const bool is_new_child = process && process != getpid();

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

static bool
is_pipe(int fd, dev_t dev, ino_t ino)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && st.st_dev == dev && st.st_ino == ino;
}

/* The program may have closed our end of the pipe, and have its number for a file of its own. */
static bool
is_ours(const struct entry *e)
{
	return is_pipe(e->writer, e->dev, e->ino);
}

static void
remove_entry(struct entry *e)
{
	perf_forget(e);
	if (is_ours(e))
		close(e->writer);
	if (e->buffer_fd >= 0)
		close(e->buffer_fd);
	if (e->buffer)
		munmap(e->buffer, e->context->buffer_size);
	munmap(e->context, sizeof(*e->context));
	*e = entries[--num_entries];
}

/* Whether the thread on which it is loaded has ended: another's number may be the same by now. */
static bool
thread_has_ended(const struct context *c)
{
	struct thread_state now;
	int ret;

	if (c->state == UNLOADED || c->is_system || c->tid == own_thread())
		return false;
	ret = thread_look(c->tid, &now);
	if (ret < 0)
		return ret == -ESRCH;
	return now.state == 'Z' || now.state == 'X' || (c->birth && now.birth && now.birth != c->birth);
}

static struct entry *
locked(struct entry *e)
{
	shared_lock_take(&e->context->lock);
	choice()->backend->update(e);
	if (thread_has_ended(e->context))
		context_ended(e);
	return e;
}

struct entry *
entry_find(int fd)
{
	struct stat st;

	if (num_entries == 0 || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return NULL;
	for (size_t i = 0; i < num_entries; i++) {
		struct entry *e = &entries[i];

		if (e->dev != st.st_dev || e->ino != st.st_ino)
			continue;
		if (is_ours(e))
			return locked(e);
		remove_entry(e);	/* without our end the pipe is the program's, of the same number */
		return NULL;
	}
	return NULL;
}

void
entry_release(struct entry *e)
{
	if (!e)
		return;
	choice()->backend->apply(e);
	pthread_mutex_unlock(&e->context->lock);
}

struct entry *
entry_next(size_t *at)
{
	return *at < num_entries ? locked(&entries[(*at)++]) : NULL;
}

void
entry_destroy(struct entry *e)
{
	context_unload(e);
	pthread_mutex_unlock(&e->context->lock);
	remove_entry(e);
}

/* No process has a descriptor to read from. */
static bool
is_closed(const struct entry *e)
{
	struct pollfd writer = { .fd = e->writer };

	return !is_ours(e) || (poll(&writer, 1, 0) == 1 && writer.revents & POLLERR);
}

void
entry_reap(void)
{
	for (size_t i = num_entries; i-- > 0;)
		if (is_closed(&entries[i])) {
			shared_lock_take(&entries[i].context->lock);
			entry_destroy(&entries[i]);
		}
}

size_t
entry_buffers(void)
{
	size_t sum = 0;

	for (size_t i = 0; i < num_entries; i++)
		sum += entries[i].context->buffer_size;
	return sum;
}

static int
grow(void)
{
	size_t more = room ? 2 * room : 8;
	struct entry *grown;

	if (num_entries < room)
		return 0;
	grown = realloc(entries, more * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	entries = grown;
	room = more;
	return 0;
}

static void
close_ends(const int ends[2])
{
	close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
}

/* The end that is written to gets a number that a program hardly uses; where there is none so high, any. */
static int
make_pipe(int ends[2])
{
	int low, ret = 0;

	if (pipe(ends) < 0)
		return -errno;
	low = ends[1];
	ends[1] = fcntl(low, F_DUPFD_CLOEXEC, HIGH_NUMBER);
	if (ends[1] < 0)
		ends[1] = fcntl(low, F_DUPFD_CLOEXEC, 0);
	if (ends[1] < 0 || fcntl(ends[1], F_SETFL, O_DIRECT | O_NONBLOCK) < 0)
		ret = -errno;
	close(low);
	if (ret < 0)
		close_ends(ends);
	return ret;
}

static struct context *
make_context(const struct machine *machine, uint32_t flags)
{
	struct context *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (c == MAP_FAILED)
		return NULL;
	shared_lock_make(&c->lock);
	c->machine = machine;
	c->flags = flags;
	c->is_system = (flags & PFM_FL_SYSTEM_WIDE) != 0;
	c->random = 0x2545f4914f6cdd1d;
	set_make(c, 0);
	return c;
}

int
entry_create(const struct machine *machine, uint32_t flags, struct entry **made, int *fd)
{
	struct context *c;
	struct stat st;
	int ends[2], ret;

	entry_reap();
	if (guard_fork(&guard, engine_enter, engine_leave, in_child) < 0 || grow() < 0)
		return -ENOMEM;
	ret = make_pipe(ends);
	if (ret < 0)
		return ret;
	c = fstat(ends[0], &st) < 0 ? NULL : make_context(machine, flags);
	if (!c) {
		close_ends(ends);
		return -ENOMEM;
	}
	entries[num_entries] = (struct entry){ .context = c, .writer = ends[1], .buffer_fd = -1, .dev = st.st_dev, .ino = st.st_ino };
	process = getpid();
	*made = &entries[num_entries++];
	*fd = ends[0];
	shared_lock_take(&c->lock);
	return 0;
}
