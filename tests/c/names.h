/*
 * Lookup of names (csrc/base): what is longer than a name by a NUL and more is no name, and nothing
 * is read past a name's end, which ASan and valgrind see of the copies here.
 */
#ifndef TESTS_NAMES_H
#define TESTS_NAMES_H

#include "check.h"

#include "../../csrc/base/names.h"

#include <stdlib.h>

/* A name in memory that ends with it. */
static inline char *
names_copy(const char *name)
{
	char *copy = malloc(strlen(name) + 1);

	if (!copy)
		exit(2);
	return strcpy(copy, name);
}

/* A name is itself in both cases, and neither a part of it nor more. */
static inline void
names_check_one(const char *original)
{
	const size_t len = strlen(original);
	char *name = names_copy(original), longer[256], lower[256];

	memset(longer, 0, sizeof(longer));
	memset(lower, 0, sizeof(lower));
	memcpy(longer, name, len);
	for (size_t i = 0; i < len; i++)
		lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 'a' - 'A' : name[i]);
	CHECK(names_equal(name, longer, len) && names_equal(name, lower, len));
	CHECK(len == 0 || !names_equal(name, longer, len - 1));
	for (size_t more = 1; more < 64; more++) /* only NULs */
		CHECK(!names_equal(name, longer, len + more) && !names_equal(name, lower, len + more));
	memset(longer + len + 1, '7', 64);
	for (size_t more = 1; more < 64; more++)
		CHECK(!names_equal(name, longer, len + more));
	longer[len] = '7';
	CHECK(!names_equal(name, longer, len + 1));
	free(name);
}

/* All names of a table, and each with a NUL and a number: of a thousand some have the hash of the name. */
static inline void
names_check_table(const struct name_index *index, const char *const *first, size_t stride, size_t count)
{
	char text[256];

	for (size_t i = 0; i < count; i++) {
		const char *name = *(const char *const *)(const void *)((const char *)first + i * stride);
		const size_t len = strlen(name);

		names_check_one(name);
		CHECK(names_find(index, first, stride, name, len) >= 0);
		memcpy(text, name, len + 1);
		CHECK(names_find(index, first, stride, text, len + 1) == -1);
		for (int n = 0; n < 1000; n++) {
			int digits = snprintf(text + len + 1, sizeof(text) - len - 1, "%03d", n);

			CHECK(names_find(index, first, stride, text, len + 1 + (size_t)digits) == -1);
		}
	}
}

#endif /* TESTS_NAMES_H */
