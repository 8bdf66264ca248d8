/*
 * Private: ioctl() on a perf event.
 *
 * Its request is an unsigned long in glibc and an int in musl; the numbers of requests have 32 bits.
 */
#ifndef PYPFM_COUNTING_CONTROL_H
#define PYPFM_COUNTING_CONTROL_H

#include <sys/ioctl.h>

#ifdef __GLIBC__
typedef unsigned long counting_request;
#else
typedef int counting_request;
#endif

/* As ioctl(). */
static inline int
counting_control(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, (counting_request)request, argument);
}

#endif /* PYPFM_COUNTING_CONTROL_H */
