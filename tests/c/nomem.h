/*
 * Memory that runs out: the allocations of a library's objects, which are linked with --wrap, are
 * counted, and each can be made to fail.
 */
#ifndef TESTS_NOMEM_H
#define TESTS_NOMEM_H

#include "check.h"

#include <errno.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);

static long nomem_left = -1; /* allocations that succeed before one fails; -1: all do */
static long nomem_made;      /* allocations so far */
static long nomem_live;      /* blocks that are not freed */
static int nomem_failed;

static inline int
nomem_fails(void)
{
	nomem_made++;
	if (nomem_left < 0 || nomem_left-- > 0)
		return 0;
	nomem_failed = 1;
	errno = ENOMEM;
	return 1;
}

/* One block more, if it is one. */
static inline void *
nomem_count(void *memory)
{
	nomem_live += memory != NULL;
	return memory;
}

void *
__wrap_malloc(size_t size)
{
	return nomem_fails() ? NULL : nomem_count(__real_malloc(size));
}

void *
__wrap_calloc(size_t count, size_t size)
{
	return nomem_fails() ? NULL : nomem_count(__real_calloc(count, size));
}

void *
__wrap_realloc(void *memory, size_t size)
{
	void *grown = nomem_fails() ? NULL : __real_realloc(memory, size);

	nomem_live += !memory && grown;
	return grown;
}

char *
__wrap_strdup(const char *text)
{
	return nomem_fails() ? NULL : nomem_count(__real_strdup(text));
}

void
__wrap_free(void *memory)
{
	nomem_live -= memory != NULL;
	__real_free(memory);
}

/*
 * Let the first, the second ... allocation of a call fail, until it needs no more; the call checks
 * its answer itself, given whether an allocation has failed, and frees what it got.  The number of
 * allocations that the call needs.
 */
static inline int
nomem_each(void (*call)(void))
{
	for (int needs = 0;; needs++) {
		long live = nomem_live;

		nomem_left = needs;
		nomem_failed = 0;
		call();
		nomem_left = -1;
		CHECK_EQ(nomem_live, live);
		if (!nomem_failed)
			return needs;
	}
}

#endif /* TESTS_NOMEM_H */
