/*
 * What a program can rely on.  The argument is a map of events that every kernel counts:
 * 25 and 26 are page faults, 10 minor page faults, 0 and 16 nanoseconds.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../descriptors.h"
#include "../pages.h"

#include <perfex.h>

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Sanitizers' and valgrind's own memory has page faults too. */
#ifdef __SANITIZE_THREAD__
#define BELOW(count, limit) ((count) >= 0)
#else
#define BELOW(count, limit) ((count) < (limit) || CHECK_ROUGHLY)
#endif

static void
counts(void)
{
	long long time = -1, faults = -1, again = -1;

	CHECK(start_counters(0, 26) == 0);
	TOUCH(1000);
	CHECK(read_counters(0, &time, 26, &faults) == 0);
	CHECK(faults >= 1000 && BELOW(faults, 1500));
	CHECK(time > 0);

	/* read stops */
	CHECK_ERRNO(read_counters(0, &time, 26, &again), ENXIO);
	CHECK(again == -1);

	/* start zeroes, the order is free */
	CHECK(start_counters(26, 0) == 0);
	TOUCH(1000);
	CHECK(start_counters(0, 26) == 0);
	TOUCH(100);
	CHECK(read_counters(26, &faults, 0, &time) == 0);
	CHECK(faults >= 100 && BELOW(faults, 1000));

	/* a sum of perf events */
	CHECK(start_counters(0, 22) == 0);
	TOUCH(1000);
	CHECK(read_counters(0, &time, 22, &faults) == 0);
	CHECK(faults >= 2000 && BELOW(faults, 3000));
}

/* As Fortran calls them, with any argument left out. */
static void
fortran_without_arguments(void)
{
	const int e = 0;
	long long c = 0;

	for (int missing = 0; missing < 4; missing++) {
		const int *e0 = missing == 0 ? NULL : &e, *e1 = missing == 2 ? NULL : &e;
		long long *c0 = missing == 1 ? NULL : &c, *c1 = missing == 3 ? NULL : &c;

		CHECK_ERRNO(read_counters_(e0, c0, e1, c1), EFAULT);
		CHECK_ERRNO(print_counters_(e0, c0, e1, c1), EFAULT);
		CHECK_ERRNO(print_costs_(e0, c0, e1, c1), EFAULT);
	}
	CHECK_ERRNO(start_counters_(NULL, &e), EFAULT);
	CHECK_ERRNO(start_counters_(&e, NULL), EFAULT);
	CHECK_ERRNO(load_costs_(NULL, 3), EFAULT);
}

static void
errors(void)
{
	long long a = -1, b = -1;

	CHECK_ERRNO(start_counters(21, 26), EINVAL); /* conflicting counters */
	CHECK_ERRNO(start_counters(0, 15), EINVAL);
	CHECK_ERRNO(start_counters(0, 0), EINVAL);
	CHECK_ERRNO(start_counters(-1, 16), EINVAL);
	CHECK_ERRNO(start_counters(0, 32), EINVAL);
	CHECK_ERRNO(start_counters(0, 0x7fffffff), EINVAL);
	CHECK_ERRNO(start_counters(0, 21), ENODEV); /* not in the table */
	CHECK_ERRNO(read_counters(0, &a, 26, &b), ENXIO);
	CHECK_ERRNO(read_counters(0, NULL, 26, &b), EFAULT);
	CHECK_ERRNO(read_counters(0, &a, 26, NULL), EFAULT);
	CHECK_ERRNO(print_counters(0, 1, 1, 2), EINVAL);
	CHECK_ERRNO(print_costs(0, 1, 99, 2), EINVAL);
	CHECK_ERRNO(load_costs(NULL), EFAULT);
	CHECK_ERRNO(load_costs((char *)""), ENOENT);
	CHECK_ERRNO(load_costs((char *)"/"), EISDIR);
	CHECK_ERRNO(load_costs((char *)"/dev/zero"), EFBIG);
	fortran_without_arguments();
	for (int e = 0; e < 16; e++) /* names and counts of every length */
		CHECK(print_counters(e, LLONG_MAX, e + 16, -1) == 0 &&
		      print_costs(e, LLONG_MIN, e + 16, LLONG_MAX) == 0);

	/* what fails leaves running counters alone */
	CHECK(start_counters(0, 26) == 0);
	TOUCH(20);
	CHECK_ERRNO(start_counters(0, 21), ENODEV);
	CHECK_ERRNO(start_counters(0, 15), EINVAL);
	CHECK_ERRNO(read_counters(0, &a, 25, &b), EINVAL); /* others than started */
	CHECK_ERRNO(read_counters(26, &a, 26, &b), EINVAL);
	CHECK_ERRNO(read_counters(1, &a, 26, &b), EINVAL);
	CHECK_ERRNO(read_counters(0, NULL, 26, &b), EFAULT);
	CHECK(a == -1 && b == -1);
	CHECK(read_counters(0, &a, 26, &b) == 0);
	CHECK(b >= 20);
}

static void
environment(void)
{
	long long a = -1, b = -1;

	setenv("T5_EVENT0", "10", 1); /* in place of 0 */
	CHECK(start_counters(0, 26) == 0);
	TOUCH(1000);
	CHECK(read_counters(0, &a, 26, &b) == 0);
	CHECK(a >= 1000 && BELOW(a, 1500) && b >= 1000);
	setenv("T5_EVENT1", "25", 1);
	CHECK(start_counters(99, -5) == 0); /* what is given does not count at all */
	CHECK(read_counters(10, &a, 25, &b) == 0);
	setenv("T5_EVENT1", "11", 1);
	CHECK_ERRNO(start_counters(0, 26), EINVAL); /* conflicting counters */
	CHECK_ERRNO(print_counters(0, 0, 26, 0), EINVAL);
	for (int i = 0; i < 6; i++) {
		setenv("T5_EVENT1", ((const char *[]){ "x", "32", "-1", " 26", "26 ", "1e1" })[i], 1);
		CHECK_ERRNO(start_counters(0, 26), EINVAL);
	}
	setenv("T5_EVENT1", "0000026", 1);
	CHECK(start_counters(0, 25) == 0);
	setenv("T5_EVENT0", "l2i_Misses", 1);
	setenv("T5_EVENT1", "Secondary (L2) data", 1);
	CHECK(start_counters(0, 25) == 0);
	setenv("T5_EVENT0", "10", 1); /* the same events by number */
	setenv("T5_EVENT1", "26", 1);
	CHECK(read_counters(0, &a, 25, &b) == 0);
	setenv("T5_EVENT1", "L2", 1); /* of several */
	CHECK_ERRNO(start_counters(0, 26), EINVAL);
	setenv("T5_EVENT1", "L2D_misses", 1);
	CHECK(start_counters(0, 25) == 0);
	setenv("T5_EVENT1", "", 1); /* not set */
	CHECK(read_counters(0, &a, 26, &b) == 0);
	unsetenv("T5_EVENT0");
	unsetenv("T5_EVENT1");

	setenv("PERFEX_CPU", "r8000", 1);
	CHECK_ERRNO(start_counters(0, 26), EINVAL);
	setenv("PERFEX_CPU", "r12000", 1);
	CHECK(start_counters(14, 26) == 0);
	TOUCH(10);
	CHECK(read_counters(14, &a, 26, &b) == 0);
	CHECK(a == 0 && b >= 10); /* 0 by definition */
	setenv("PERFEX_CPU", "r10000", 1);
	CHECK_ERRNO(start_counters(14, 26), ENODEV);
	unsetenv("PERFEX_CPU");
}

/* Threads that were there, and threads to come; child processes are not counted. */
static void
threads(void)
{
	long long time, faults;
	pthread_t made[4];
	pid_t child;
	int status;

	CHECK(start_counters(0, 26) == 0);
	for (int i = 0; i < 4; i++)
		pthread_create(&made[i], NULL, touch, (void *)100);
	for (int i = 0; i < 4; i++)
		pthread_join(made[i], NULL);
	CHECK(read_counters(0, &time, 26, &faults) == 0);
	CHECK(faults >= 400);

	CHECK(start_counters(0, 26) == 0);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		check_failures = 0;
		TOUCH(5000);
		CHECK_ERRNO(read_counters(0, &time, 26, &faults), ENXIO);
		CHECK(start_counters(0, 26) == 0);
		TOUCH(100);
		CHECK(read_counters(0, &time, 26, &faults) == 0);
		CHECK(faults >= 100 && BELOW(faults, 1000));
		fflush(stdout);
		_exit(check_failures != 0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(read_counters(0, &time, 26, &faults) == 0);
	CHECK(BELOW(faults, 5000));
}

static void *
caller(void *unused)
{
	long long a, b;

	for (int i = 0; i < 200; i++) {
		CHECK(start_counters(0, 26) == 0);
		/* another thread may have read them, or got in between */
		CHECK(read_counters(0, &a, 26, &b) == 0 || errno == ENXIO);
	}
	return unused;
}

static void
many_callers(void)
{
	pthread_t made[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&made[i], NULL, caller, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(made[i], NULL);
}

/* What needs more than there is fails with ENOMEM. */
static void
descriptors(void)
{
	struct rlimit before, low;
	long long a, b;
	int first = open("/dev/null", O_RDONLY);

	close(first);
	for (int i = 0; i < 100; i++) {
		CHECK(start_counters(0, 26) == 0);
		CHECK_ERRNO(start_counters(0, 21), ENODEV);
		if (i % 2)
			CHECK(read_counters(0, &a, 26, &b) == 0);
	}

	getrlimit(RLIMIT_NOFILE, &before);
	low = before;
	low.rlim_cur = (rlim_t)first + 2; /* the directory of threads, and one event */
	setrlimit(RLIMIT_NOFILE, &low);
	CHECK_ERRNO(start_counters(0, 26), ENOMEM);
	setrlimit(RLIMIT_NOFILE, &before);
	/* an event is open already when the second has no room */
	low.rlim_cur = (rlim_t)first + 3;
	setrlimit(RLIMIT_NOFILE, &low);
	CHECK_ERRNO(start_counters(0, 22), ENOMEM);
	setrlimit(RLIMIT_NOFILE, &before);
	CHECK(start_counters(0, 26) == 0);
	CHECK(read_counters(0, &a, 26, &b) == 0);
}

int
main(int argc, char **argv)
{
	const int before = open_descriptors("");

	if (argc > 1)
		setenv("PERFEX_PERF_TABLE", argv[1], 1);
	counts();
	errors();
	environment();
	threads();
	many_callers();
	descriptors();
	CHECK(open_descriptors("") == before); /* nothing stays open */
	return check_result();
}
