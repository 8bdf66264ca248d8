/*
 * A function of a library that is opened for itself: several libraries have functions of the same names.
 */
#ifndef TESTS_FUNCTION_OF_H
#define TESTS_FUNCTION_OF_H

#include <dlfcn.h>
#include <stdio.h>

/* The library stays open unless its handle is taken; NULL, with the reason printed. */
static inline void *
function_of(const char *path, const char *name, void **handle)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *found = library ? dlsym(library, name) : NULL;

	if (!found)
		printf("%s\n", dlerror());
	if (handle)
		*handle = library;
	return found;
}

#endif /* TESTS_FUNCTION_OF_H */
