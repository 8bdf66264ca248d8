/*
 * Private: lookup of event names, for the generated tables of every library.
 *
 * The tables come with an open-addressing hash (csrc/tables/generate.py); upper
 * and lower case are the same, in ASCII only, whatever the locale.
 */
#ifndef PYPFM_BASE_NAMES_H
#define PYPFM_BASE_NAMES_H

#include <stddef.h>

struct name_index {
	const unsigned short *slots; /* index + 1; 0: empty */
	unsigned int slot_mask;      /* number of slots - 1 */
	unsigned int longest_name;
};

/* Hash of the first len bytes of a name. */
unsigned int names_hash(const char *name, size_t len);

/* 1 if the first len bytes of str are a name; they may hold NULs, which no name does. */
int names_equal(const char *name, const char *str, size_t len);

/* Index of the row whose name the first len bytes are, or -1.  first points to
 * the name of the first row, stride is the size of a row. */
int names_find(const struct name_index *index, const char *const *first, size_t stride, const char *name, size_t len);

#endif /* PYPFM_BASE_NAMES_H */
