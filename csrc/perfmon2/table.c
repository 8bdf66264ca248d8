/*
 * The contexts of a process: how they are made, found by a descriptor, and freed when no descriptor is open any more.
 */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../counting/guard.h"

enum { HIGH_NUMBER = 512, MAX_ENTRIES = 1 << 16 };

static struct guard guard = GUARD_INITIALIZER;
static struct entry *entries;
static size_t num_entries;

/* A child has the contexts, and neither the helper thread nor the events. */
static void
forget_parent(void)
{
	helper_forget();
	thread_forget();
	for (size_t i = 0; i < num_entries; i++)
		perf_forget(&entries[i]);
}

/* clone(2) by itself runs no handler of fork(): the lock, too, is as a thread of the parent had it. */
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

/* Before main(): a thread may be inside, although there is no context, when another one forks. */
__attribute__((constructor)) static void
follow_forks(void)
{
	guard_fork(&guard, engine_enter, engine_leave, in_child);	/* if it fails, a creation tries again */
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

/* Whoever was killed inside may have left the context between two states: an unloaded one that is not quite. */
static void
repair(struct entry *e)
{
	struct context *c = e->context;

	sets_repair(c);
	if (c->state == UNLOADED) {
		c->started = false;
		c->can_restart = 0;
		session_drop(e->ino);
	} else if (c->state == MASKED && c->can_restart == 0 && active_set(c)->ovfl_pmds & active_set(c)->ovfl_notify) {
		c->can_restart = 1;	/* the message may be there */
	}
}

static void
take(struct entry *e)
{
	if (shared_lock_take(&e->context->lock))
		repair(e);
}

static struct entry *
locked(struct entry *e)
{
	take(e);
	choice()->backend->update(e);
	if (thread_has_ended(e->context))
		context_ended(e);
	return e;
}

/* The program has closed our end: this process can do nothing with the context any more, others may. */
static void
give_up(struct entry *e)
{
	take(e);
	if (session_is_own(e->ino))
		context_unload(e);
	entry_release(e);
	remove_entry(e);
}

static struct entry *
find(int fd, bool needs_writer)
{
	struct stat st;

	if (num_entries == 0 || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return NULL;
	for (size_t i = 0; i < num_entries; i++) {
		struct entry *e = &entries[i];

		if (e->dev != st.st_dev || e->ino != st.st_ino)
			continue;
		if (!needs_writer || is_ours(e))
			return locked(e);
		give_up(e);	/* without our end the pipe is the program's, of the same number */
		return NULL;
	}
	return NULL;
}

struct entry *
entry_find(int fd)
{
	return find(fd, true);
}

struct entry *
entry_find_registers(int fd)
{
	return find(fd, false);
}

void
entry_release(struct entry *e)
{
	if (!e)
		return;
	choice()->backend->apply(e);
	shared_lock_release(&e->context->lock);
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
	shared_lock_release(&e->context->lock);
	remove_entry(e);
}

/* No process has a descriptor to read from. */
static bool
is_closed(const struct entry *e)
{
	struct pollfd writer = { .fd = e->writer };

	return poll(&writer, 1, 0) == 1 && writer.revents & POLLERR;
}

void
entry_reap(void)
{
	for (size_t i = num_entries; i-- > 0;)
		if (!is_ours(&entries[i])) {
			give_up(&entries[i]);
		} else if (is_closed(&entries[i])) {
			take(&entries[i]);
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

/*
 * Room for as many contexts as there can be, of which only what is used takes memory.  It is not the heap's: a thread may
 * have been interrupted in malloc(), and wait for us in its signal handler.
 */
static int
make_room(void)
{
	void *memory;

	if (entries)
		return num_entries < MAX_ENTRIES ? 0 : -ENOMEM;
	memory = mmap(NULL, MAX_ENTRIES * sizeof(*entries), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	entries = memory;
	return 0;
}

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
	if (guard_fork(&guard, engine_enter, engine_leave, in_child) < 0 || make_room() < 0)
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
	*made = &entries[num_entries++];
	*fd = ends[0];
	shared_lock_take(&c->lock);
	return 0;
}
