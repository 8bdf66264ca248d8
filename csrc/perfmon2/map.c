/*
 * mmap() that knows contexts; and the same under the names that -Wl,--wrap=mmap,--wrap=mmap64 gives to a program's mmap().
 */
#include <errno.h>
#include <sys/mman.h>

#include "engine.h"

#ifdef __linux__
/* mmap() for the linker, in a program that is linked with --wrap and the static library, whose mmap() is wrapped, too. */
extern __typeof__(mmap) __real_mmap __attribute__((weak));

/* mmap() as it is without this library: the program's own, if it has one. */
static void *
system_mmap(void *addr, size_t len, int prot, int flags, int fd, int64_t offset)
{
	return (__real_mmap ? __real_mmap : mmap)(addr, len, prot, flags, fd, (off_t)offset);
}

/* Weak: a program may wrap mmap() itself. */
#define WRAPS(name) __attribute__((weak, alias(#name), visibility("default")))

extern __typeof__(pfm_mmap) __wrap_mmap WRAPS(pfm_mmap);
extern __typeof__(pfm_mmap64) __wrap_mmap64 WRAPS(pfm_mmap64);
#else
#define system_mmap mmap
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
