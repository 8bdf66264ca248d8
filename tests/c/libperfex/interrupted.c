/*
 * libperfex among cancelled threads, forks of other threads, and signals: the lock is free again, and a
 * child has none of the parent's counters.  interrupted PERF_TABLE
 */
#include "../check.h"
#include "../descriptors.h"
#include "operations.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* A sanitizer's allocator may be locked in the child of a process with threads, or of a handler: for good. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

/* Under valgrind a process takes a second to make. */
static int
rounds(int number)
{
	return CHECK_ROUGHLY ? number / 10 : number;
}

static volatile bool done;

/* A function of its own: AddressSanitizer does not know that cancelling ends a frame, and its variables stay poisoned. */
__attribute__((noinline)) static void
call_all(void)
{
	start_and_read();
	start_and_read();
	print();
	costs();
	load();
}

static void *
call_on(void *until_cancelled)
{
	while (until_cancelled || !__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		call_all();
		pthread_testcancel(); /* the library's functions are no cancellation points */
	}
	return NULL;
}

static void
cancelled(void)
{
	for (int i = 0; i < rounds(100); i++) {
		pthread_t thread;
		void *ended;

		CHECK_EQ(pthread_create(&thread, NULL, call_on, cost_file), 0);
		usleep((useconds_t)(i * 13 % 700));
		CHECK_EQ(pthread_cancel(thread), 0);
		CHECK(pthread_join(thread, &ended) == 0 && ended == PTHREAD_CANCELED);
		alarm(60); /* a lock that is still held */
		CHECK_EQ(start_and_read(), 0);
		alarm(0);
		CHECK_EQ(open_descriptors("perf_event"), 0);
	}
}

static void
forks(void)
{
	pthread_t thread;
	int inherited = 0;

	CHECK_EQ(pthread_create(&thread, NULL, call_on, NULL), 0);
	for (int i = 0; i < rounds(300); i++) {
		int status = 0;
		pid_t child = fork();

		if (child == 0)
			_exit(open_descriptors("perf_event") != 0 || start_and_read() != 0);
		CHECK(waitpid(child, &status, 0) == child);
		/* Another status is valgrind's: what the other thread had in hand is lost in the child. */
		inherited += WIFSIGNALED(status) || WEXITSTATUS(status) == 1;
	}
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	CHECK_EQ(inherited, 0);
}

static volatile sig_atomic_t handled, wanted;

/* One alarm, 1.7 ms from now: an interval would leave a slow machine, or valgrind, no time between two. */
static void
alarm_soon(void)
{
	const struct itimerval soon = { .it_value = { 0, 1700 } };

	setitimer(ITIMER_REAL, &soon, NULL);
}

static void
fork_here(int number)
{
	const int code = errno;
	int status;
	pid_t child = fork();

	(void)number;
	if (child == 0)
		_exit(0);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (++handled < wanted) /* no alarm is left for what is tried later */
		alarm_soon();
	errno = code;
}

/*
 * A handler may not call the library, but fork(): in the middle of a call, too.  This is tried before there are
 * threads: glibc's fork() takes the locks of malloc() then, which the handler may have interrupted.
 */
static void
forks_in_a_handler(void)
{
	struct sigaction action = { .sa_handler = fork_here, .sa_flags = SA_RESTART };

	wanted = rounds(100);
	sigaction(SIGALRM, &action, NULL);
	alarm_soon();
	while (handled < wanted)
		CHECK_EQ(start_and_read(), 0);
	signal(SIGALRM, SIG_DFL);
}

int
main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	setenv("PERFEX_PERF_TABLE", argv[1], 1);
	cost_file = argv[2];
	if (start_and_read() < 0) {
		printf("skipped: this host counts no page faults: %s\n", strerror(errno));
		return CHECK_SKIPPED;
	}
	if (SANITIZED)
		printf("fork() is not tried: the sanitizer's allocator is not made for it\n");
	else
		forks_in_a_handler();
	cancelled();
	if (!SANITIZED)
		forks();
	return check_result();
}
