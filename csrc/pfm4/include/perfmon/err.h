/*
 * err(), errx(), warn() and warnx() for programs that include <perfmon/err.h>, as libpfm 4.13.0's own examples do.
 *
 * On Linux they are the C library's.  This header declares nothing of its own.
 */
#ifndef __PERFMON_ERR_H__
#define __PERFMON_ERR_H__

#include <err.h>

#endif /* __PERFMON_ERR_H__ */
