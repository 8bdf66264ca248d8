/*
 * For the test programs: CHECK() and its relatives print the line that failed
 * and go on; a program ends with return check_result().
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* The exit status of a program that this host does not let run; it has printed why. */
#define CHECK_SKIPPED 77

/* Under valgrind and sanitizers (the tests say so): there are more page faults, and less patience. */
#define CHECK_ROUGHLY (getenv("CHECK_ROUGHLY") != NULL)

static int check_failures;

/* A child ends without the program's atexit() functions - but for gcov's. */
#ifdef CHECK_COVERAGE
#define check_exit exit
#else
#define check_exit _exit
#endif

/* A program that waits in a loop, and its children, end of themselves where whoever waited for them was killed. */
__attribute__((constructor)) static void
check_is_finite(void)
{
	const struct rlimit seconds = { 600, 600 };

	setrlimit(RLIMIT_CPU, &seconds);
}

#define CHECK(condition) check_true((condition) != 0, #condition, __FILE__, __LINE__)
#define CHECK_EQ(got, want) check_equal((long long)(got), (long long)(want), #got, __FILE__, __LINE__)
#define CHECK_TEXT(got, want) check_text((got), (want), #got, __FILE__, __LINE__)

/* The call fails with this errno. */
#define CHECK_ERRNO(call, code) check_errno((errno = 0, (call)), (code), #call, __FILE__, __LINE__)

static inline void
check_true(int ok, const char *what, const char *file, int line)
{
	if (ok)
		return;
	printf("%s:%d: failed: %s\n", file, line, what);
	check_failures++;
}

static inline void
check_equal(long long got, long long want, const char *what, const char *file, int line)
{
	if (got == want)
		return;
	printf("%s:%d: %s is %lld (%#llx), not %lld (%#llx)\n", file, line, what, got, (unsigned long long)got, want,
	       (unsigned long long)want);
	check_failures++;
}

static inline void
check_text(const char *got, const char *want, const char *what, const char *file, int line)
{
	if (strcmp(got, want) == 0)
		return;
	printf("%s:%d: %s is\n\t%s\nnot\n\t%s\n", file, line, what, got, want);
	check_failures++;
}

static inline void
check_errno(int got, int code, const char *what, const char *file, int line)
{
	if (got == -1 && errno == code)
		return;
	printf("%s:%d: %s is %d with errno %d, not -1 with errno %d\n", file, line, what, got, errno, code);
	check_failures++;
}

static inline int
check_result(void)
{
	if (check_failures)
		printf("%d checks failed\n", check_failures);
	return check_failures != 0;
}

#endif /* TESTS_CHECK_H */
