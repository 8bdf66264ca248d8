/*
 * System calls that fail: of those that a library's objects make, linked with --wrap, each in turn can
 * be made to fail, with any errno.
 */
#ifndef TESTS_FAILING_H
#define TESTS_FAILING_H

#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static long failing_left = -1; /* calls that succeed before one fails; -1: all do */
static int failing_code;       /* errno of the one that fails */
static int failing_failed;

static inline int
failing_now(void)
{
	if (failing_left < 0 || failing_left-- > 0)
		return 0;
	failing_failed = 1;
	errno = failing_code;
	return 1;
}

/* The last argument of those that are variadic is passed on whether it is there or not. */
#define FAILING(type, name, parameters, arguments) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return failing_now() ? -1 : __real_##name arguments; \
	}

FAILING(int, open, (const char *path, int flags, mode_t mode), (path, flags, mode))
FAILING(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size))
FAILING(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size))
FAILING(int, fcntl, (int fd, int command, void *argument), (fd, command, argument))
FAILING(int, lstat, (const char *path, struct stat *st), (path, st))
FAILING(int, mkdir, (const char *path, mode_t mode), (path, mode))
FAILING(int, pipe2, (int ends[2], int flags), (ends, flags))
FAILING(int, sigaction, (int number, const struct sigaction *new, struct sigaction *old), (number, new, old))
FAILING(int, getitimer, (int which, struct itimerval *now), (which, now))
FAILING(int, setitimer, (int which, const struct itimerval *new, struct itimerval *old), (which, new, old))
FAILING(ssize_t, process_vm_readv,
	(pid_t pid, const struct iovec *local, unsigned long locals, const struct iovec *remote, unsigned long remotes,
	 unsigned long flags),
	(pid, local, locals, remote, remotes, flags))
FAILING(ssize_t, process_vm_writev,
	(pid_t pid, const struct iovec *local, unsigned long locals, const struct iovec *remote, unsigned long remotes,
	 unsigned long flags),
	(pid, local, locals, remote, remotes, flags))

struct dirent *__real_readdir(DIR *directory);
struct dirent *__wrap_readdir(DIR *directory);

struct dirent *
__wrap_readdir(DIR *directory)
{
	return failing_now() ? NULL : __real_readdir(directory);
}

/* The errno with which this kernel refuses a call, by its number and its arguments, or 0; NULL: it refuses none. */
static int (*failing_refused)(long number, const long *arguments);

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

/* A thread always has its number, and a pidfd can be asked whether it is one. */
long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

long
__wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	const long arguments[] = { a, b, c, d, e, f };
	const int refused = failing_refused ? failing_refused(number, arguments) : 0;

	if (refused) {
		errno = refused;
		return -1;
	}
	return number != SYS_gettid && number != SYS_pidfd_send_signal && failing_now()
		       ? -1
		       : __real_syscall(number, a, b, c, d, e, f);
}

/* By its identifier the library knows an event as its own: that it can be asked for is no more than true. */
int __real_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument);

int
__wrap_ioctl(int fd, unsigned long request, void *argument)
{
	return request != PERF_EVENT_IOC_ID && failing_now() ? -1 : __real_ioctl(fd, request, argument);
}

/* Let the first, the second ... system call of an operation fail, until it makes no more; their number. */
static inline int
failing_each(void (*operation)(void))
{
	for (int makes = 0;; makes++) {
		failing_left = makes;
		failing_failed = 0;
		operation();
		failing_left = -1;
		if (!failing_failed)
			return makes;
	}
}

/* No more of them fail: what follows is the test's own. */
static inline void
failing_end(void)
{
	failing_left = -1;
}

static inline int
failing_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += __real_fcntl(fd, F_GETFD, NULL) >= 0;
	return count;
}

/* Wait until the calling thread is the only one. */
static inline void
failing_wait_alone(void)
{
	for (int entries = 0; entries != 3;) { /* with . and .. */
		DIR *tasks = opendir("/proc/self/task");

		entries = 0;
		while (__real_readdir(tasks))
			entries++;
		closedir(tasks);
		usleep(1000);
	}
}

/* What a system call may say that no program expects. */
static const int failing_codes[] = { EIO, ENOMEM, EMFILE, EACCES, EPERM, EINVAL, ENOENT, EINTR, ESRCH };

#endif /* TESTS_FAILING_H */
