/*
 * Private: variables of the environment.
 *
 * The one place where a library reads them.  A program that runs with more rights than its
 * user (set-uid, file capabilities) is as if none were set: they name files to open and change
 * what is encoded and counted, and the user chooses them.
 */
#ifndef PYPFM_BASE_ENVIRONMENT_H
#define PYPFM_BASE_ENVIRONMENT_H

#include <stdlib.h>

#if defined(__APPLE__) || defined(__NetBSD__) || \
	defined(__OpenBSD__) /* secure_getenv() is of glibc, musl and FreeBSD */
#include <unistd.h>

static inline const char *
secure_getenv(const char *name)
{
	return issetugid() ? NULL : getenv(name);
}
#endif

/* A variable; NULL if it is not set. */
static inline const char *
environment(const char *name)
{
	return secure_getenv(name);
}

#endif /* PYPFM_BASE_ENVIRONMENT_H */
