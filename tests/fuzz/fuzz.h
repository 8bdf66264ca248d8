/*
 * For the fuzz targets: the input taken piece by piece, and what has to hold of every answer.
 *
 * A target is one function, LLVMFuzzerTestOneInput().  libFuzzer calls it, or replay.c.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* End the program, with the input that libFuzzer then keeps, unless the condition holds. */
#define HOLDS(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* What is left of an input. */
struct bytes {
	const uint8_t *at;
	size_t left;
};

/* The next bytes; zeros past the end. */
static inline void
take(struct bytes *b, void *to, size_t size)
{
	size_t there = size < b->left ? size : b->left;

	if (there)
		memcpy(to, b->at, there);
	memset((char *)to + there, 0, size - there);
	b->at += there;
	b->left -= there;
}

static inline uint8_t
take_byte(struct bytes *b)
{
	uint8_t byte;

	take(b, &byte, sizeof(byte));
	return byte;
}

/* Memory of just that size, so that an access past its end is one to a sanitizer. */
static inline void *
allocate(size_t size)
{
	void *memory = malloc(size ? size : 1);

	HOLDS(memory);
	return memory;
}

/* The rest of the input as a string, up to its first NUL; to be freed. */
static inline char *
take_string(struct bytes *b)
{
	const uint8_t *nul = b->left ? memchr(b->at, 0, b->left) : NULL;
	size_t length = nul ? (size_t)(nul - b->at) : b->left;
	char *string = allocate(length + 1);

	take(b, string, length);
	string[length] = '\0';
	return string;
}

#endif /* TESTS_FUZZ_H */
