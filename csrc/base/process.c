/*
 * Other threads.
 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424 /* as on every machine but alpha */
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef __WALL
#define __WALL 0x40000000
#endif

#define PIDFD_OF_THREAD O_EXCL /* PIDFD_THREAD, Linux 6.9 */

/* ---- system calls --------------------------------------------------------------------------- */

int
process_look(pid_t tid)
{
	return tid <= 0 || (syscall(SYS_tkill, tid, 0) < 0 && errno == ESRCH) ? -ESRCH : 0;
}

static bool
is_of(pid_t pid, pid_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno == EPERM;
}

int
process_watch(pid_t tid)
{
	long fd = syscall(SYS_pidfd_open, tid, PIDFD_OF_THREAD);

	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_pidfd_open, tid, 0);
	return fd < 0 ? -errno : (int)fd;
}

/* A signal cannot be sent through another file with its number. */
static bool
is_watch(int fd)
{
	return fd >= 0 && (syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0 || errno == ESRCH || errno == EPERM);
}

void
process_unwatch(int watched)
{
	if (is_watch(watched))
		close(watched);
}

/* A child that nobody has waited for has ended; of other processes' children this cannot be asked. */
static bool
is_zombie(pid_t tid)
{
	siginfo_t ended = { .si_pid = 0 };

	return waitid(P_PID, (id_t)tid, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 && ended.si_pid == tid;
}

bool
process_has_ended(pid_t tid, int watched)
{
	struct pollfd fd = { .fd = watched, .events = POLLIN };

	if (watched >= 0 && poll(&fd, 1, 0) == 0)
		return false;
	return is_watch(watched) || process_look(tid) < 0 || is_zombie(tid);
}

bool
process_is_stopped_here(pid_t tid)
{
	unsigned long message;

	return ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message) == 0;
}

/* ---- /proc ---------------------------------------------------------------------------------- */

/*
 * Keep the part of a text that begins with a word or, if it is not there, the end, which may be the word's beginning.
 * Returns the number of bytes, or -1 if that is all of the text.  A NUL follows the text.
 */
static ssize_t
keep_from(char *text, size_t held, const char *word)
{
	const char *at = strstr(text, word);
	const size_t most = at ? held : strlen(word), kept = at            ? held - (size_t)(at - text)
							     : held < most ? held
									   : most;

	memmove(text, text + held - kept, kept + 1);
	return at && strchr(text + 1, '\n') ? -1 : (ssize_t)kept;
}

/*
 * Read a file of /proc up to the line that a word with the end of the line before it begins, which can come after
 * many kilobytes of other lines (Groups); without such a line the text is short.  0 or a negative errno value.
 */
static int
read_from(const char *path, const char *word, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;
	ssize_t got = 0, held = 0;

	if (fd < 0)
		return -errno;
	*text = '\0';
	while (held >= 0 && (got = read(fd, text + held, size - 1 - (size_t)held)) > 0) {
		text[held + got] = '\0';
		held = keep_from(text, (size_t)(held + got), word);
	}
	ret = got < 0 ? -errno : 0;
	close(fd);
	return ret;
}

int
process_own_number(const char *status, pid_t *number)
{
	static const char word[] = "\nNSpid:";
	char text[2048], *at, *end;
	int count = 0, ret = read_from(status, word, text, sizeof(text));

	if (ret < 0)
		return ret;
	at = strstr(text, word);
	for (at = at ? at + strlen(word) : text + strlen(text); *at == '\t' || *at == ' '; at = end) {
		long value = strtol(at, &end, 10);

		if (end == at)
			break;
		*number = (pid_t)value;
		count++;
	}
	return count;
}

/* Find the word after a key in the status file of a thread, if /proc knows the thread by the same number. */
static bool
read_status(pid_t tid, const char *key, char *word, size_t size)
{
	char path[64], text[2048];
	const char *at;
	pid_t number;
	int spaces = process_own_number("/proc/self/status", &number);

	if (spaces < 0 || spaces > 1)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (read_from(path, key, text, sizeof(text)) < 0 || !(at = strstr(text, key)))
		return false;
	snprintf(word, size, "%s", at + strlen(key));
	return true;
}

pid_t
process_of(pid_t tid)
{
	char word[16];

	if (is_of(getpid(), tid))
		return getpid();
	if (is_of(tid, tid) || !read_status(tid, "\nTgid:\t", word, sizeof(word)))
		return tid;
	return (pid_t)strtol(word, NULL, 10);
}

/* Where another process's memory may not be read at all, the rules for its files are nearly the same. */
int
process_may_trace(pid_t tid)
{
	char byte, path[64];
	struct iovec here = { &byte, 1 }, there = { NULL, 1 };

	if (process_look(tid) < 0)
		return -ESRCH;
	if (process_vm_readv(tid, &here, 1, &there, 1, 0) >= 0 || errno == EFAULT)
		return 0;
	if (errno == ESRCH)
		return -EPERM; /* it exists, and has no memory */
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	return readlink(path, &byte, 1) >= 0 ? 0 : -EPERM;
}

bool
process_is_stopped(pid_t tid)
{
	char state[2];

	return process_is_stopped_here(tid) ||
	       (read_status(tid, "\nState:\t", state, sizeof(state)) && (*state == 't' || *state == 'T'));
}
