/*
 * Operating-system glue of libpfm 3: the calls with which a program starts and stops its own monitoring, and on
 * IA-64 the instructions that once did.  A program that defines __PFMLIB_OS_COMPILE does without them.
 */
#ifndef __PFMLIB_OS_H__
#define __PFMLIB_OS_H__

#ifndef __PFMLIB_OS_COMPILE

#include <stddef.h>

#include <perfmon/perfmon.h>

#ifdef __ia64__
#include <perfmon/pfmlib_os_ia64.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Start monitoring of the calling thread.
 *
 * :param fd: perfmon2 context
 * :return: what pfm_start(fd, NULL) returns
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
 * :return: what pfm_stop(fd) returns
 *
 * Source: libpfm 3.10 header, operating-system glue.
 */
static inline int
pfm_self_stop(int fd)
{
	return pfm_stop(fd);
}

#ifdef __cplusplus
}
#endif

#endif /* __PFMLIB_OS_COMPILE */

#endif /* __PFMLIB_OS_H__ */
