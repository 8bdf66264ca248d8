/*
 * Mapping of sampling buffers: pfm_mmap(), and mmap() that calls it.  Included by the headers of the sampling formats.
 * Not in libpfm 3.10.
 *
 * What pypfm config, pkg-config and the CMake package print redirects mmap() when the program is linked (-Wl,--wrap=mmap), and
 * defines PFM_NO_MMAP_REDIRECT: then this header leaves mmap() alone.  Without that define it redirects mmap() for those who
 * compile by hand: with an asm label, which clang refuses after an inline function that calls mmap(), or, with
 * _FILE_OFFSET_BITS=64, with a macro, which breaks members and methods of that name.
 */
#ifndef _PERFMON_MMAP_H_
#define _PERFMON_MMAP_H_

#include <stdint.h>
#include <sys/types.h>
#include <sys/mman.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * mmap() that knows contexts: of one, it maps the sampling buffer.
 *
 * :param addr: as mmap()
 * :param len: as mmap(); at most the buffer's size, rounded up to pages
 * :param prot: as mmap(); a buffer can only be read
 * :param flags: as mmap()
 * :param fd: context, or any other descriptor, or -1: then it is mmap()
 * :param offset: as mmap(); of a context it is not looked at
 * :return: the address, or MAP_FAILED with errno: of a context EACCES (shared and writable), EINVAL (writable; no
 *     buffer; too long); else as mmap()
 *
 * Source: pypfm.
 */
extern void *pfm_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);

/**
 * pfm_mmap() with an offset of 64 bits everywhere.
 *
 * :param addr: as pfm_mmap()
 * :param len: as pfm_mmap()
 * :param prot: as pfm_mmap()
 * :param flags: as pfm_mmap()
 * :param fd: as pfm_mmap()
 * :param offset: as pfm_mmap()
 * :return: as pfm_mmap()
 *
 * Source: pypfm.
 */
extern void *pfm_mmap64(void *addr, size_t len, int prot, int flags, int fd, int64_t offset);

#ifndef PFM_NO_MMAP_REDIRECT
#if defined(__USE_FILE_OFFSET64) || !defined(__GNUC__) /* sys/mman.h has given mmap() a label of its own */
#define mmap(addr, len, prot, flags, fd, offset) pfm_mmap64((addr), (len), (prot), (flags), (fd), (offset))
#elif defined(__cplusplus)
extern void *mmap(void *, size_t, int, int, int, off_t) __THROW __asm__("pfm_mmap");
#else
extern void *mmap(void *, size_t, int, int, int, off_t) __asm__("pfm_mmap");
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif /* _PERFMON_MMAP_H_ */
