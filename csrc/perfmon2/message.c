/*
 * The message queue: packets in the context's pipe.
 *
 * All signals are blocked meanwhile: a handler of SIGIO runs when the engine is left.
 */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x8 /* Linux 4.14 */
#endif

enum { QUEUE_LENGTH = 8, CTL_QUEUE_LENGTH = 31, QUEUE_BYTES = 1 << 16 }; /* messages; more bytes than any queue has */

/* The layout of kernels 2.0 to 2.4, for a program that defines PFMLIB_OLD_PFMV2. */
struct old_overflow {
	uint32_t type, pid;
	uint64_t pmds[4];
	uint16_t set, cpu;
	uint32_t tid;
	uint64_t ip;
};

_Static_assert(sizeof(struct old_overflow) == 56, "message of kernels 2.0 to 2.4");
_Static_assert(sizeof(pfarg_msg_t) == 64, "message");
_Static_assert(sizeof(pfm_msg_t) == 56, "message of perfmonctl()");

static size_t
message_size(const struct context *c)
{
	return c->old_messages || c->is_ctl ? sizeof(struct old_overflow) : sizeof(pfarg_msg_t);
}

/* Writing to a pipe that nobody reads raises SIGPIPE, which is not meant for the program: it is taken back. */
static void
take_back_sigpipe(bool was_pending)
{
	const struct timespec now = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	if (!was_pending)
		while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
			;
}

/* Send a message.  False: the queue is full, or nobody can read it. */
static bool
message_post(struct context *c, const void *message)
{
	const size_t size = message_size(c), most = c->is_ctl ? CTL_QUEUE_LENGTH : QUEUE_LENGTH;
	sigset_t pending;
	bool was_pending;
	int waiting = 0;
	ssize_t sent;

	if (!context_has_writer(c) || ioctl(c->writer, FIONREAD, &waiting) < 0 || (size_t)waiting / size >= most)
		return false;
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE) == 1;
	sent = write(c->writer, message, size);
	if (sent < 0 && errno == EPIPE)
		take_back_sigpipe(was_pending);
	return sent == (ssize_t)size;
}

/* Open a reader of the engine's own for a moment, if the program's number is not known. */
static int
open_reader(const struct context *c)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->writer);
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

/* Before Linux 6.5, reading a pipe may block, but its packets can be moved to another pipe without blocking. */
static ssize_t
move_away(int fd)
{
	int ends[2], error;
	ssize_t moved;

	if (pipe(ends) < 0)
		return -1;
	moved = splice(fd, NULL, ends[1], NULL, QUEUE_BYTES, SPLICE_F_NONBLOCK);
	error = errno;
	close(ends[0]);
	close(ends[1]);
	errno = error;
	return moved;
}

static ssize_t
read_waiting(int fd)
{
	char message[sizeof(pfarg_msg_t)];
	const struct iovec room = { message, sizeof(message) };
	const ssize_t got = syscall(SYS_preadv2, fd, &room, 1L, -1L, -1L, RWF_NOWAIT);

	return got >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS) ? got : move_away(fd);
}

/* Empty the queue; -EMFILE, for example: it cannot be read. */
int
message_drain(struct context *c)
{
	const bool has_reader = context_has_reader(c);
	int waiting = 0, reader, ret;

	if (!context_has_writer(c) || (ioctl(c->writer, FIONREAD, &waiting) == 0 && waiting == 0))
		return 0;
	reader = has_reader ? c->reader : open_reader(c);
	if (reader < 0)
		return -errno;
	while (read_waiting(reader) > 0)
		;
	ret = errno == EAGAIN ? 0 : -errno;
	if (!has_reader)
		close(reader);
	return ret;
}

bool
message_overflow(struct context *c, const struct notice *notice)
{
	const struct where *where = &notice->where;
	/* The names of these members are exchanged, as in the kernel. */
	const pfarg_ovfl_msg_t message = {
		.msg_type = PFM_MSG_OVFL,
		.msg_ovfl_pid = (uint32_t)where->tid,
		.msg_ovfl_tid = (uint32_t)where->pid,
		.msg_active_set = notice->set,
		.msg_ovfl_cpu = (uint16_t)where->cpu,
		.msg_ovfl_ip = where->ip,
		.msg_ovfl_pmds = { notice->pmds },
	};
	const struct old_overflow old = {
		.type = PFM_MSG_OVFL,
		.pid = (uint32_t)where->tid,
		.pmds = { notice->pmds },
		.set = notice->set,
		.cpu = (uint16_t)where->cpu,
		.tid = (uint32_t)where->pid,
		.ip = where->ip,
	};
	const pfm_msg_t ctl = {
		.pfm_ovfl_msg = { .msg_type = PFM_MSG_OVFL, .msg_ctx_fd = c->ctl_fd, .msg_ovfl_pmds = { notice->pmds } }
	};
	const bool sent = message_post(c, c->is_ctl         ? (const void *)&ctl
					  : c->old_messages ? (const void *)&old
							    : &message);

	if (!(c->flags & PFM_FL_OVFL_NO_MSG))
		return sent;
	message_drain(c); /* the signal has been sent; no message must remain if it can be read */
	return true;
}

void
message_end(struct context *c)
{
	const pfarg_msg_t message = { .type = PFM_MSG_END };
	const pfm_msg_t ctl = { .pfm_end_msg = { .msg_type = PFM_MSG_END, .msg_ctx_fd = c->ctl_fd } };

	message_post(c, c->is_ctl ? (const void *)&ctl : &message);
}

/* A packet takes a page of the pipe; if there are fewer pages, the queue is as long as the pipe. */
void
message_make_long_queue(struct context *c)
{
	fcntl(c->writer, F_SETPIPE_SZ, (CTL_QUEUE_LENGTH + 1) * (int)sysconf(_SC_PAGESIZE));
}

/*
 * F_SETOWN with the number of a thread sends signals to its process.  A real overflow interrupts the running thread, so
 * that this thread gets the signal; here other threads run meanwhile and would take it, as this thread blocks it in a
 * call.  So the thread becomes the owner, unless it has blocked the signal, which another one may wait for.  For a
 * thread that is not its process's first F_GETOWN_EX says 0: it is assumed to be this one.
 */
void
message_owner(const struct context *c)
{
	struct f_owner_ex owner;
	int signal;

	if (!c->is_self || fcntl(c->reader, F_GETOWN_EX, &owner) < 0 || owner.type != F_OWNER_PID)
		return;
	if (owner.pid != c->tid && (owner.pid != 0 || c->tid == c->pid))
		return;
	signal = fcntl(c->reader, F_GETSIG);
	if (signal < 0 || engine_found_blocked(signal ? signal : SIGIO))
		return;
	owner = (struct f_owner_ex){ F_OWNER_TID, c->tid };
	fcntl(c->reader, F_SETOWN_EX, &owner);
}
