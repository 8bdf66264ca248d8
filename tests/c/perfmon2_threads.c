/*
 * Threads, signal handlers, cancellation and fork() at any moment: nobody waits for ever, and each context counts what its
 * thread does, no more and no less.
 */
#include "perfmon2_check.h"

#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/time.h>

enum { THREADS = 4 };

static int rounds = 300;

static bool ends;
static int shared = -1;

static bool
has_ended(void)
{
	return __atomic_load_n(&ends, __ATOMIC_RELAXED);
}

static void
end(void)
{
	__atomic_store_n(&ends, true, __ATOMIC_RELAXED);
}

/* ---- fork() before there is any context ----------------------------------------------------- */

static void *
call_in_vain(void *unused)
{
	while (!has_ended())
		pfm_stop(-1);
	return unused;
}

static void
fork_early(void)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, call_in_vain, NULL), 0);
	for (int i = 0; i < rounds && !check_failures; i++)
		IN_CHILD(alarm(20); CHECK_ERRNO(pfm_stop(-1), EBADF););
	end();
	CHECK_EQ(pthread_join(thread, NULL), 0);
	ends = false;
}

/* ---- each thread its context ---------------------------------------------------------------- */

/* A handler may call anything, also in the middle of a call. */
static void
handle(int signal)
{
	const int code = errno, fd = __atomic_load_n(&shared, __ATOMIC_RELAXED);
	pfarg_pmd_t pmd = { .reg_num = 5 };
	int own;

	(void)signal;
	pfm_read_pmds(fd, &pmd, 1);
	pmd.reg_value++;
	pfm_write_pmds(fd, &pmd, 1);
	pfm_start(fd, NULL);
	pfm_restart(fd);
	pfm_stop(fd);
	own = create(0);
	pfm_set_state(own, 0, PFM_ST_START);
	close(own);
	errno = code;
}

static void *
count_alone(void *unloads)
{
	for (int i = 0; i < rounds; i++) {
		const int fd = counting(0, 0, 0);

		CHECK_EQ(pfm_start(fd, NULL), 0);
		CHECK_EQ(cycles(3), 0);
		CHECK_EQ(cycles(4), 0);
		CHECK_EQ(pfm_stop(fd), 0);
		CHECK_EQ(read_pmd(fd, 4), 7);
		if (unloads || i % 3) /* a child that is forked meanwhile has the descriptor, too */
			CHECK_EQ(pfm_unload_context(fd), 0);
		close(fd);
	}
	return NULL;
}

static void *
end_loaded(void *unused)
{
	const int fd = counting(0, 0, 0);

	CHECK_EQ(pfm_start(fd, NULL), 0);
	*(int *)unused = fd;
	return NULL;
}

static void
fork_and_spawn(void)
{
	char *const arguments[] = { (char *)(uintptr_t)"true", NULL };
	pid_t spawned;

	IN_CHILD(alarm(20); CHECK_EQ(pfm_start(shared, NULL) == -1 && (errno == ESRCH || errno == EINVAL), 1);
		 int fd = counting(0, 0, 0); CHECK_EQ(pfm_start(fd, NULL), 0); CHECK_EQ(cycles(5), 0);
		 CHECK_EQ(read_pmd(fd, 4), 5););
	if (posix_spawnp(&spawned, "true", NULL, NULL, arguments, environ) == 0)
		CHECK_EQ(wait_for(spawned), 0);
}

static void
together(bool forks)
{
	const struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };
	pthread_t threads[THREADS];
	int left[THREADS];

	shared = create(0);
	CHECK_EQ(write_pmd(shared, 5, 0, 0), 0);
	CHECK(signal(SIGALRM, handle) != SIG_ERR);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, count_alone, forks ? &ends : NULL), 0);
	CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
	for (int i = 0; i < rounds / 15 && forks; i++)
		fork_and_spawn();
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		CHECK_EQ(pthread_create(&threads[i], NULL, end_loaded, &left[i]), 0);
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
		CHECK_ERRNO(pfm_stop(left[i]), EINVAL); /* its thread has ended: unloaded */
		close(left[i]);
	}
	CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
	close(shared);
}

/* ---- cancellation --------------------------------------------------------------------------- */

/* AddressSanitizer's marks of the frames that cancellation leaves stay on the stack: what runs there then is reported. */
#ifdef __SANITIZE_ADDRESS__
enum { CAN_CANCEL = false };
#else
enum { CAN_CANCEL = true };
#endif

static void *
call_until_cancelled(void *how)
{
	const int fd = shared;
	pfarg_pmd_t pmd = { .reg_num = 5 };

	pthread_setcanceltype(how ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED, NULL);
	for (;;) {
		pfm_read_pmds(fd, &pmd, 1);
		pfm_write_pmds(fd, &pmd, 1);
		pfm_load_context(fd, &(pfarg_load_t){ .load_pid = (uint32_t)self_id() });
		cycles(1);
		pfm_unload_context(fd);
		pthread_testcancel();
	}
	return NULL;
}

static void
cancelled(bool asynchronous)
{
	shared = create(0);
	CHECK_EQ(write_pmd(shared, 5, 0, 0), 0);
	for (int i = 0; i < rounds; i++) {
		pthread_t thread;
		void *result;

		CHECK_EQ(pthread_create(&thread, NULL, call_until_cancelled, asynchronous ? &thread : NULL), 0);
		usleep((useconds_t)(i * 13 % 300));
		CHECK_EQ(pthread_cancel(thread), 0);
		CHECK_EQ(pthread_join(thread, &result), 0);
		CHECK(result == PTHREAD_CANCELED);
		CHECK_EQ(read_pmd(shared, 5), 0);
		CHECK_EQ(pfm_unload_context(shared), 0);
	}
	close(shared);
}

/* With an argument: without fork(), which ThreadSanitizer does not follow. */
int
main(int argc, char **argv)
{
	(void)argv;
	if (CHECK_ROUGHLY)
		rounds = 20;
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	if (argc == 1)
		fork_early();
	together(argc == 1);
	if (!CAN_CANCEL)
		printf("not tested: cancellation, with AddressSanitizer\n");
	if (CAN_CANCEL)
		cancelled(false);
#ifdef __GLIBC__
	if (CAN_CANCEL && argc == 1)
		cancelled(true);
#else
	printf("not tested: asynchronous cancellation; musl ends such a thread on a stack that is not aligned\n");
#endif
	return check_result();
}
