/*
 * Private: the caller's memory, through the kernel: a bad address is -EFAULT, not a crash.
 */
#ifndef PYPFM_BASE_COPY_H
#define PYPFM_BASE_COPY_H

#include <stdbool.h>
#include <stddef.h>

/* 0, -EFAULT or -ENOMEM. */
int copy_in(void *to, const void *from, size_t size);
int copy_out(void *to, const void *from, size_t size);

/*
 * Tell whether memory can be read, or read and written, directly, which is cheaper than copying through the kernel once
 * it is known.  False: that is not known, and copy_in() and copy_out() tell.  No other thread may unmap it meanwhile.
 */
bool copy_is_there(const void *memory, size_t size, bool for_writing);

#endif /* PYPFM_BASE_COPY_H */
