/*
 * Which processes use a counter: a lock on a file in the user's runtime directory.
 *
 * A running counter holds it shared, a profiling one alone; the kernel releases it when
 * the process ends.  Descriptors are closed, never unlocked: after fork() parent and
 * child share the lock until both have closed theirs.
 */
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The user's own directory, or a name that only the user's can have. */
static bool
directory(char *path, size_t size)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	struct stat st;
	int len;

	if (runtime && runtime[0] == '/')
		len = snprintf(path, size, "%s/pypfm-pmc", runtime);
	else if (snprintf(path, size, "/run/user/%u", getuid()) > 0 && stat(path, &st) == 0 && st.st_uid == getuid())
		len = snprintf(path, size, "/run/user/%u/pypfm-pmc", getuid());
	else
		len = snprintf(path, size, "/tmp/pypfm-pmc-%u", getuid());
	if (len < 0 || (size_t)len >= size)
		return false;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return false;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == getuid() && !(st.st_mode & 077);
}

static int
use(const struct pmc_machine *machine, int ctr, int how)
{
	char path[4096];
	size_t len;
	int fd;

	if (!directory(path, sizeof(path) - 32))
		return -ENOLCK;
	len = 0;
	while (path[len])
		len++;
	snprintf(path + len, sizeof(path) - len, "/%s-%d", machine->name, ctr);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? -ENOMEM : -ENOLCK;
	if (flock(fd, how | LOCK_NB) == 0)
		return fd;
	how = errno == EWOULDBLOCK ? -EBUSY : -ENOLCK;
	close(fd);
	return how;
}

int
pmc_use_shared(const struct pmc_machine *machine, int ctr)
{
	return use(machine, ctr, LOCK_SH);
}

int
pmc_use_alone(const struct pmc_machine *machine, int ctr)
{
	return use(machine, ctr, LOCK_EX);
}
