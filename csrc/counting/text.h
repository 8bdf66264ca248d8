/*
 * Private: short texts of /proc.
 */
#ifndef PYPFM_COUNTING_TEXT_H
#define PYPFM_COUNTING_TEXT_H

#include <stddef.h>

/* A text of /proc of which the first kilobytes matter.  0 or a negative errno value. */
int counting_read_text(const char *path, char *text, size_t size);

#endif /* PYPFM_COUNTING_TEXT_H */
