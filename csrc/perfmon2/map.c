/*
 * mmap() that knows contexts; and the same under the names that -Wl,--wrap=mmap,--wrap=mmap64 gives to a program's mmap().
 */
#include <errno.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "engine.h"

#ifdef __linux__
/* The call itself: in a program that is linked with --wrap and the static library, mmap() is pfm_mmap() here, too. */
static void *
system_mmap(void *addr, size_t len, int prot, int flags, int fd, int64_t offset)
{
#ifdef __s390x__	/* whose kernel takes the arguments from memory */
	const unsigned long arguments[] = { (unsigned long)addr, len, (unsigned long)prot, (unsigned long)flags,
					    (unsigned long)fd, (unsigned long)offset };

	return (void *)syscall(SYS_mmap, arguments);
#else
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
#endif
}

/* Weak: a program may wrap mmap() itself. */
#define WRAPS(name)	__attribute__((weak, alias(#name), visibility("default")))

extern __typeof__(pfm_mmap) __wrap_mmap WRAPS(pfm_mmap);
extern __typeof__(pfm_mmap64) __wrap_mmap64 WRAPS(pfm_mmap64);
#else
#define system_mmap	mmap
#endif

void *
pfm_mmap64(void *addr, size_t len, int prot, int flags, int fd, int64_t offset)
{
	const int found = flags & MAP_ANONYMOUS ? -1 : sample_buffer_of(fd, len, prot, flags);

	if (found >= 0)
		return system_mmap(addr, len, prot, flags, found, 0);
	if (found == -1)
		return system_mmap(addr, len, prot, flags, fd, offset);
	errno = -found;
	return MAP_FAILED;
}

void *
pfm_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return pfm_mmap64(addr, len, prot, flags, fd, offset);
}
