/*
 * Many threads that make the same calls at once; every answer is that of one thread alone.
 */
#ifndef TESTS_SOAK_H
#define TESTS_SOAK_H

#include "check.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { SOAK_THREADS = 16, SOAK_DEFAULT = 200000 };

/* One call of an entry point, of those that are numbered from 0 on; a number made of all that it answers. */
typedef uint64_t (*soak_call)(unsigned int number);

static struct {
	soak_call call;
	unsigned int count;  /* of different calls */
	unsigned long calls; /* of each thread */
	uint64_t *answers;
	unsigned long wrong; /* all threads */
	pthread_barrier_t barrier;
} soak;

/* Add bytes to the number that stands for an answer (FNV-1a). */
static inline uint64_t
soak_hash(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 0x100000001b3;
	return hash;
}

static inline void *
soak_thread(void *argument)
{
	unsigned long thread = (unsigned long)(uintptr_t)argument, wrong = 0;

	pthread_barrier_wait(&soak.barrier);
	for (unsigned long i = 0; i < soak.calls; i++) {
		unsigned int number = (unsigned int)((i * (2 * thread + 1) + thread * 31) % soak.count);

		wrong += soak.call(number) != soak.answers[number];
	}
	__atomic_fetch_add(&soak.wrong, wrong, __ATOMIC_RELAXED);
	return NULL;
}

static inline int
soak_compare(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* Answers differ: else this would check nothing. */
static inline void
soak_check_answers(void)
{
	uint64_t *sorted = malloc(soak.count * sizeof(*sorted));
	unsigned int different = 1;

	if (!sorted)
		exit(2);
	memcpy(sorted, soak.answers, soak.count * sizeof(*sorted));
	qsort(sorted, soak.count, sizeof(*sorted), soak_compare);
	for (unsigned int i = 1; i < soak.count; i++)
		different += sorted[i] != sorted[i - 1];
	printf("%u different calls, %u different answers\n", soak.count, different);
	CHECK(different > soak.count / 8);
	free(sorted);
}

/* So many calls, of all threads together: the program's argument, or the default.  The exit status. */
static inline int
soak_run(int argc, char **argv, soak_call call, unsigned int count)
{
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 10) : SOAK_DEFAULT;
	pthread_t threads[SOAK_THREADS];

	soak.call = call;
	soak.count = count;
	soak.calls = (calls + SOAK_THREADS - 1) / SOAK_THREADS;
	soak.answers = malloc(count * sizeof(*soak.answers));
	if (!soak.answers)
		return 2;
	for (unsigned int i = 0; i < count; i++)
		soak.answers[i] = call(i);
	soak_check_answers();
	pthread_barrier_init(&soak.barrier, NULL, SOAK_THREADS);
	for (uintptr_t i = 0; i < SOAK_THREADS; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, soak_thread, (void *)i), 0);
	for (int i = 0; i < SOAK_THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&soak.barrier);
	free(soak.answers);
	printf("%lu calls in %d threads, %lu wrong\n", soak.calls * SOAK_THREADS, SOAK_THREADS, soak.wrong);
	CHECK_EQ(soak.wrong, 0);
	return check_result();
}

#endif /* TESTS_SOAK_H */
