/*
 * Operating-system glue of libpfm 3: the calls with which a program starts and
 * stops its own monitoring.  On IA-64 they set and clear the user performance
 * monitor bit of the processor status; elsewhere they go to the kernel.
 * A program that defines __PFMLIB_OS_COMPILE does without them.
 */
#ifndef __PFMLIB_OS_H__
#define __PFMLIB_OS_H__

#ifndef __PFMLIB_OS_COMPILE

#include <stddef.h>
#ifndef __ia64__
#include <perfmon/perfmon.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __ia64__

#define IA64_PSR_UP_MASK	(1 << 2)

static inline void ia64_sum(void) { __asm__ volatile ("sum %0;; srlz.d;;" :: "i"(IA64_PSR_UP_MASK) : "memory"); }
static inline void ia64_rum(void) { __asm__ volatile ("rum %0;; srlz.d;;" :: "i"(IA64_PSR_UP_MASK) : "memory"); }

static inline unsigned long
ia64_get_pmd(int regnum)
{
	unsigned long value;

	__asm__ volatile ("mov %0=pmd[%1]" : "=r"(value) : "r"(regnum));
	return value;
}

static inline int pfm_self_start(int fd) { (void)fd; ia64_sum(); return 0; }
static inline int pfm_self_stop(int fd) { (void)fd; ia64_rum(); return 0; }

#else

/**
 * Start monitoring of the calling thread.
 *
 * :param fd: perfmon2 context
 * :return: what pfm_start(fd, NULL) returns: -1 with errno ENOSYS
 *
 * Source: libpfm 3.10 header, operating-system glue.
 */
static inline int
pfm_self_start(int fd)
{
	return pfm_start(fd, NULL);
}

/**
 * Stop monitoring of the calling thread.
 *
 * :param fd: perfmon2 context
 * :return: what pfm_stop(fd) returns: -1 with errno ENOSYS
 *
 * Source: libpfm 3.10 header, operating-system glue.
 */
static inline int
pfm_self_stop(int fd)
{
	return pfm_stop(fd);
}

#endif /* __ia64__ */

#ifdef __cplusplus
}
#endif

#endif /* __PFMLIB_OS_COMPILE */

#endif /* __PFMLIB_OS_H__ */
