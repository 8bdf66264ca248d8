/*
 * Private: the caller's memory, through the kernel: a bad address is -EFAULT, not a crash.
 */
#ifndef PYPFM_COUNTING_COPY_H
#define PYPFM_COUNTING_COPY_H

#include <stddef.h>

/* 0, -EFAULT or -ENOMEM. */
int copy_in(void *to, const void *from, size_t size);
int copy_out(void *to, const void *from, size_t size);

#endif /* PYPFM_COUNTING_COPY_H */
