/*
 * Eight threads on one counter: every operation returns what some order of the calls explains, and
 * nothing is lost.
 */
#include "pmc_check.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 2000 };

static pthread_barrier_t barrier;
static volatile sig_atomic_t ticks;

static void
count(int signal)
{
	(void)signal;
	__atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED);
}

static void
all_at_once(void *(*work)(void *))
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* All make the very first call together. */
static void *
first_call(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&barrier);
	CHECK_EQ(pmc_get_num_counters(), 3);
	return NULL;
}

static void *
advance(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++)
		CHECK_EQ(pmc_model_advance(DCACHE_MISS, 3), 0);
	return NULL;
}

static bool
one_of(int ret, int first, int second)
{
	return ret == 0 || errno == first || errno == second;
}

/* Every operation on counters 1 and 2. */
static void *
anything(void *number)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++) {
		int ctr = 1 + i % 2;

		switch ((i + (int)(long)number) % 7) {
		case 0:
			CHECK(one_of(configure(ctr, DCACHE_MISS, 0), EBUSY, EBUSY));
			break;
		case 1:
			CHECK(one_of(start(ctr), EINPROGRESS, EBUSY));
			break;
		case 2:
			CHECK(one_of(stop(ctr), 0, 0));
			break;
		case 3:
			CHECK(one_of(profile(ctr, DCACHE_MISS, 10), EBUSY, EBUSY));
			break;
		case 4:
			CHECK(one_of(profile_stop(ctr), 0, 0));
			break;
		case 5:
			CHECK_EQ(pmc_model_advance(DCACHE_MISS, 7), 0);
			break;
		default:
			CHECK(value_of(ctr) >= 0);
			CHECK_EQ(accumulated(ctr), 0);
		}
	}
	return NULL;
}

int
main(void)
{
	check_begin("xscale");
	pthread_barrier_init(&barrier, NULL, THREADS);
	all_at_once(first_call);
	signal(SIGPROF, count);
	CHECK_EQ(configure(1, DCACHE_MISS, 0), 0);
	CHECK_EQ(start(1), 0);
	CHECK_EQ(profile(2, DCACHE_MISS, 100), 0);
	all_at_once(advance);
	CHECK_EQ(value_of(1), 3 * THREADS * ROUNDS);
	CHECK_EQ(ticks, 3 * THREADS * ROUNDS / 100);
	CHECK_EQ(stop(1), 0);
	CHECK_EQ(profile_stop(2), 0);

	CHECK_EQ(configure(1, DCACHE_MISS, 0), 0);
	CHECK_EQ(configure(2, DCACHE_MISS, 0), 0);
	all_at_once(anything);

	for (int ctr = 1; ctr <= 2; ctr++) { /* as good as new */
		CHECK_EQ(profile_stop(ctr), 0);
		CHECK_EQ(stop(ctr), 0);
		CHECK_EQ(configure(ctr, DCACHE_MISS, 0), 0);
		CHECK_EQ(start(ctr), 0);
		CHECK_EQ(pmc_model_advance(DCACHE_MISS, 5), 0);
		CHECK_EQ(value_of(ctr), 5);
		CHECK_EQ(stop(ctr), 0);
		CHECK_EQ(profile(ctr, DCACHE_MISS, 1), 0);
		CHECK_EQ(profile_stop(ctr), 0);
	}
	return check_result();
}
