/*
 * Which processes use a counter: a lock on a file in the user's runtime directory.
 *
 * A running counter holds it shared, a profiling one alone; the kernel releases it when
 * the process ends.  The locks belong to open files, not to the process: after fork()
 * parent and child share one until both have closed it, so it is never unlocked.  Asking
 * takes no lock, so that it keeps no other process from taking one.
 */
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/environment.h"

#ifdef F_OFD_SETLK
/* Take a lock: 0, or -1 and EAGAIN or EACCES where another has one. */
static int
take_lock(int fd, bool alone)
{
	struct flock whole = { .l_type = alone ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &whole);
}

/* 0 if a lock can be taken, 1 if another has one, or -1. */
static int
ask_lock(int fd, bool alone)
{
	struct flock whole = { .l_type = alone ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_GETLK, &whole) < 0 ? -1 : whole.l_type != F_UNLCK;
}
#else /* BSD: flock()'s are of open files, too; who asks has one for a moment */
#include <sys/file.h>

static int
take_lock(int fd, bool alone)
{
	return flock(fd, LOCK_NB | (alone ? LOCK_EX : LOCK_SH));
}

static int
ask_lock(int fd, bool alone)
{
	return take_lock(fd, alone) == 0 ? 0 : errno == EWOULDBLOCK ? 1 : -1;
}
#endif

/* Tell whether a directory is the user's, and whether its mode bits keep others from writing. */
static bool
own_directory(const char *path, mode_t forbidden)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & forbidden);
}

/* The user's runtime directory, or a name that only the user's own directory can have. */
static bool
lock_directory(char *path, size_t size)
{
	const char *runtime = environment("XDG_RUNTIME_DIR");
	char of_user[32];
	int len;

	snprintf(of_user, sizeof(of_user), "/run/user/%u", geteuid());
	if (!runtime || runtime[0] != '/' || !own_directory(runtime, 0))
		runtime = of_user;
	if (own_directory(runtime, 0))
		len = snprintf(path, size, "%s/pypfm-pmc", runtime);
	else
		len = snprintf(path, size, "/tmp/pypfm-pmc-%u", geteuid());
	if (len < 0 || (size_t)len >= size)
		return false;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return false;
	return own_directory(path, 077);
}

static int
open_lock_file(const struct pmc_machine *machine, int ctr)
{
	char path[4096];
	size_t len;
	int fd;

	if (!lock_directory(path, sizeof(path) - 32))
		return -ENOLCK;
	len = strlen(path);
	snprintf(path + len, sizeof(path) - len, "/%s-%d", machine->name, ctr);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -ENOMEM : -ENOLCK;
	return fd;
}

int
pmc_use_take(const struct pmc_machine *machine, int ctr, bool alone, struct pmc_lock *lock)
{
	struct stat st;
	int fd = open_lock_file(machine, ctr), ret;

	lock->fd = -1;
	if (fd < 0)
		return fd;
	if (take_lock(fd, alone) == 0 && fstat(fd, &st) == 0) {
		*lock = (struct pmc_lock){ fd, st.st_dev, st.st_ino };
		return 0;
	}
	ret = errno == EAGAIN || errno == EACCES ? -EBUSY : -ENOLCK;
	close(fd);
	return ret;
}

int
pmc_use_ask(const struct pmc_machine *machine, int ctr, bool alone)
{
	int fd = open_lock_file(machine, ctr), ret;

	if (fd < 0)
		return fd;
	ret = ask_lock(fd, alone);
	close(fd);
	return ret < 0 ? -ENOLCK : ret == 0 ? 0 : -EBUSY;
}

void
pmc_use_release(struct pmc_lock *lock)
{
	struct stat st;

	if (lock->fd >= 0 && fstat(lock->fd, &st) == 0 && st.st_dev == lock->device && st.st_ino == lock->inode)
		close(lock->fd);
	lock->fd = -1;
}
