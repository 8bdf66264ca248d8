/*
 * libperfex without memory: each call gives -1 with ENOMEM, keeps nothing, and works afterwards.
 * Linked with the library's objects and --wrap: no_memory PERF_TABLE COST_FILE
 */
#include "../nomem.h"
#include "operations.h"

#include <pthread.h>
#include <sys/resource.h>

int __real_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

enum { MANY_THREADS = 300 }; /* more than a list of threads has room for at first */

int
__wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	return nomem_fails() ? ENOMEM : __real_pthread_atfork(prepare, parent, child);
}

static int (*operation)(void);

static void
try_operation(void)
{
	int ret, failed;

	errno = 0;
	ret = operation();
	failed = nomem_failed;
	CHECK_EQ(ret, failed ? -1 : 0);
	CHECK(!failed || errno == ENOMEM);
	if (failed)
		CHECK_EQ(operation(), 0); /* there is memory again */
}

static void
each_fails(const char *name, int (*call)(void), int at_least)
{
	int times;

	operation = call;
	times = nomem_each(try_operation);
	printf("%s: %d allocations\n", name, times);
	CHECK(times >= at_least);
}

static pthread_barrier_t barrier;

static void *
wait_twice(void *unused)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return unused;
}

/* So many threads that their counters need more memory on the way. */
static void
with_many_threads(void)
{
	struct rlimit files = { 4096, 4096 };
	pthread_t threads[MANY_THREADS];

	setrlimit(RLIMIT_NOFILE, &files);
	pthread_barrier_init(&barrier, NULL, MANY_THREADS + 1);
	for (int i = 0; i < MANY_THREADS; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, wait_twice, NULL), 0);
	pthread_barrier_wait(&barrier);
	each_fails("many threads", start_and_read, 8);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < MANY_THREADS; i++)
		pthread_join(threads[i], NULL);
}

int
main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	setenv("PERFEX_PERF_TABLE", argv[1], 1);
	setenv("PERFEX_COSTS", argv[2], 1);
	cost_file = argv[2];
	nomem_left = 0; /* the handlers of fork(), which only the first call needs */
	CHECK(start_counters(0, 26) == -1 && errno == ENOMEM && nomem_failed);
	/* the table and its rows, two counters with their sets */
	each_fails("start and read", start_and_read, 6);
	each_fails("print_counters", print, 6);
	each_fails("print_costs", costs, 7);
	each_fails("load_costs", load, 1);
	with_many_threads();
	CHECK_EQ(nomem_live, 0);
	return check_result();
}
