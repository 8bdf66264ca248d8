/*
 * Programs for test_regions.py: regions of known counts.  regions MODE [NUMBER]
 *
 * store(n) stores n times and branches n times; a region of store(0) is what the calls themselves take.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <perfex.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BRANCHES = 6, INSTRUCTIONS = 15, STORES = 19 };

extern char **environ;
static volatile long sink;

static void
store(long n)
{
	for (long i = 0; i < n; i++)
		sink = i;
}

static const char *
name(int ret)
{
	return ret ? strerrorname_np(errno) : "0";
}

/* Count a function: prints the two counts, or which call failed. */
static void
counted(int e0, int e1, void (*function)(long), long n)
{
	long long c0, c1;

	if (start_counters(e0, e1)) {
		printf("start %s\n", name(-1));
	} else {
		function(n);
		if (read_counters(e0, &c0, e1, &c1))
			printf("read %s\n", name(-1));
		else
			printf("%lld %lld\n", c0, c1);
	}
	fflush(stdout);
}

static pthread_barrier_t barrier;

static void *
in_thread(void *n)
{
	store((long)n);
	return NULL;
}

static void *
between(void *n)
{
	pthread_barrier_wait(&barrier);
	store((long)n);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* One thread that was there before, two that are made here. */
static void
threads(long n)
{
	pthread_t made[2];

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 2; i++)
		pthread_create(&made[i], NULL, in_thread, (void *)n);
	for (int i = 0; i < 2; i++)
		pthread_join(made[i], NULL);
	pthread_barrier_wait(&barrier);
}

/* A child that has a region of its own, and none of its parent's. */
static void
forks(long n)
{
	long long a, b;
	pid_t child;

	store(n);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		printf("child %s\n", name(read_counters(INSTRUCTIONS, &a, STORES, &b)));
		counted(INSTRUCTIONS, STORES, store, 0);
		counted(INSTRUCTIONS, STORES, store, n);
		fflush(stdout);
		_exit(0);
	}
	store(n);
	waitpid(child, NULL, 0);
}

static void
spawns(long n)
{
	char *const words[] = { "true", NULL };
	pid_t child;

	store(n);
	posix_spawnp(&child, "true", NULL, NULL, words, environ);
	waitpid(child, NULL, 0);
	store(n);
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* How long many regions take, in three parts; and each has the same count. */
static void
many(long n)
{
	long long a, b, before = -1, others = 0;

	for (int part = 0; part < 3; part++) {
		const double begun = seconds();

		for (long i = 0; i < n; i++) {
			store(10);
			if (start_counters(INSTRUCTIONS, STORES) ||
			    (store(7), read_counters(INSTRUCTIONS, &a, STORES, &b)))
				abort();
			others += before != b;
			before = b;
		}
		printf("%.6f\n", seconds() - begun);
	}
	printf("%lld\n", others);
}

static void
regions(const char *mode, long n)
{
	long long a, b;

	counted(INSTRUCTIONS, STORES, store, 0); /* names are bound, and the file is there */
	counted(INSTRUCTIONS, STORES, store, 0);
	if (strcmp(mode, "stores") == 0) {
		counted(INSTRUCTIONS, STORES, store, n);
		counted(BRANCHES, STORES, store, n);
		counted(STORES, BRANCHES, store, n);
	} else if (strcmp(mode, "branches") == 0) {
		counted(BRANCHES, STORES, store, 0);
		counted(BRANCHES, STORES, store, n);
	} else if (strcmp(mode, "threads") == 0) {
		pthread_t thread;

		pthread_barrier_init(&barrier, NULL, 2);
		for (long m = 0; m <= n; m += n) {
			pthread_create(&thread, NULL, between, (void *)m);
			counted(INSTRUCTIONS, STORES, threads, m);
			pthread_join(thread, NULL);
		}
	} else if (strcmp(mode, "fork") == 0) {
		counted(INSTRUCTIONS, STORES, forks, 0);
		counted(INSTRUCTIONS, STORES, forks, n);
	} else if (strcmp(mode, "spawn") == 0) {
		counted(INSTRUCTIONS, STORES, spawns, 0);
		counted(INSTRUCTIONS, STORES, spawns, n);
	} else if (strcmp(mode, "states") == 0) {
		printf("%s\n", name(read_counters(INSTRUCTIONS, &a, STORES, &b)));
		printf("%s\n", name(start_counters(INSTRUCTIONS, STORES)));
		store(n);
		printf("%s\n", name(start_counters(INSTRUCTIONS, STORES))); /* anew */
		printf("%s\n", name(read_counters(0, &a, STORES, &b)));
		printf("%s\n", name(read_counters(STORES, &a, INSTRUCTIONS, &b)));
		printf("%s\n", a < n ? "anew" : "not anew");
		printf("%s\n", name(start_counters(INSTRUCTIONS, 7)));
		printf("%s\n", name(start_counters(INSTRUCTIONS, STORES))); /* and is open at the end */
		store(n);
	} else if (strcmp(mode, "many") == 0) {
		many(n);
	}
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "stores";
	const long n = argc > 2 ? atol(argv[2]) : 1000;
	long long a, b;

	if (strcmp(mode, "none") == 0) {
		store(n);
	} else if (strcmp(mode, "repeat") == 0) { /* n regions, each after other work */
		for (long i = 0; i < n; i++) {
			store(10);
			if (start_counters(INSTRUCTIONS, STORES) || read_counters(INSTRUCTIONS, &a, STORES, &b))
				abort();
		}
	} else if (strcmp(mode, "pair") == 0) {
		for (int i = 2; i + 1 < argc; i += 2)
			counted(atoi(argv[i]), atoi(argv[i + 1]), store, 1000);
	} else if (strcmp(mode, "print") == 0) {
		print_counters(INSTRUCTIONS, 123, 23, 456);
		print_counters(0, 1996543, 16, -996);
		print_costs(INSTRUCTIONS, 123, 26, 456);
	} else if (strcmp(mode, "user") == 0) {
		if (setgid(65534) || setuid(65534))
			abort();
		counted(INSTRUCTIONS, STORES, store, n);
		_exit(0);
	} else if (strcmp(mode, "umask") == 0) {
		umask(0777);
		regions("stores", n);
	} else if (strcmp(mode, "exec") == 0) {
		counted(INSTRUCTIONS, STORES, store, n);
		start_counters(INSTRUCTIONS, STORES);
		execl(argv[0], argv[0], "stores", argv[2], (char *)NULL);
	} else if (strcmp(mode, "signals") == 0) {
		counted(INSTRUCTIONS, STORES, store, n);
		kill(getppid(), SIGUSR1);
		usleep(1500000);
		regions("stores", n);
		kill(getppid(), SIGUSR2);
		usleep(1500000);
		counted(INSTRUCTIONS, STORES, store, n);
	} else {
		regions(mode, n);
	}
	return 0;
}
