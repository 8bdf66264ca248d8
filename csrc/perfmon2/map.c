/*
 * mmap() that knows contexts.
 */
#include "engine.h"

#include <errno.h>
#include <sys/mman.h>

/* The descriptor of a context's buffer, -1 if there is no context, or a negative errno value below that. */
static int
buffer_of(int fd, size_t len, int prot, int flags)
{
	struct entry *e;
	int found = -1;

	engine_enter();
	e = entry_find(fd);
	if (e && prot & PROT_WRITE)
		found = (flags & MAP_TYPE) == MAP_PRIVATE ? -EINVAL : -EACCES;
	else if (e)
		found = !e->buffer || len > e->context->buffer_size ? -EINVAL : e->buffer_fd;
	entry_release(e);
	engine_leave();
	return found;
}

void *
pfm_mmap64(void *addr, size_t len, int prot, int flags, int fd, int64_t offset)
{
	const int found = flags & MAP_ANONYMOUS ? -1 : buffer_of(fd, len, prot, flags);

	if (found >= 0)
		return mmap(addr, len, prot, flags, found, 0);
	if (found == -1)
		return mmap(addr, len, prot, flags, fd, (off_t)offset);
	errno = -found;
	return MAP_FAILED;
}

void *
pfm_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return pfm_mmap64(addr, len, prot, flags, fd, offset);
}
