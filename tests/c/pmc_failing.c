/*
 * System calls that fail in the middle of an operation: it returns what the manual page says, keeps no
 * descriptor, and the next operation works.
 */
#include "pmc_check.h"
#include "failing.h"

#include <pthread.h>

static pmc_evid_t event;
static int before; /* descriptors */

/* Everything off, and the event configured. */
static void
reset(void)
{
	failing_end();
	profile_stop(2);
	stop(1);
	CHECK_EQ(configure(1, event, 0), 0);
}

/* An answer: success, or one of the manual page's errors; then all is as before. */
static void
check_answer(int ret)
{
	const int code = errno;
	const bool forbidden = failing_code == EACCES || failing_code == EPERM;

	failing_end();
	if (ret != 0 && !(ret == -1 && ((code == EACCES && forbidden) || code == ENOMEM || code == ENODEV ||
					code == EFAULT || code == EBUSY))) {
		printf("%d, errno %d where %d is injected\n", ret, code, failing_code);
		check_failures++;
	}
	reset();
	CHECK_EQ(failing_descriptors(), before);
}

static void
configure_1(void)
{
	check_answer(configure(1, event, 0));
}

static void
start_1(void)
{
	check_answer(start(1));
}

static void
stop_1(void)
{
	long left = failing_left;

	failing_end();
	CHECK_EQ(start(1), 0);
	failing_left = left;
	check_answer(stop(1));
}

static void
values(void)
{
	long left = failing_left;
	uint64_t value;

	failing_end();
	CHECK_EQ(start(1), 0);
	failing_left = left;
	if (pmc_get_info(1, PMC_INFO_COUNTER_VALUE, &value) == 0)
		check_answer(pmc_get_info(1, PMC_INFO_ACCUMULATED_COUNTER_VALUE, &value));
	else
		check_answer(-1);
}

/* What a child counted that has ended, and is a zombie: from what /proc says of it, or without. */
static void
ended_child(void)
{
	long left = failing_left;
	siginfo_t ended;
	uint64_t count;

	failing_end();
	CHECK_EQ(start(1), 0);
	if (check_fork())
		_exit(0);
	CHECK_EQ(waitid(P_PID, (id_t)check_child, &ended, WEXITED | WNOWAIT), 0);
	failing_left = left;
	CHECK_EQ(pmc_get_info(1, PMC_INFO_ACCUMULATED_COUNTER_VALUE, &count), 0);
	failing_end();
	wait_for(check_child);
	CHECK_EQ(pmc_get_info(1, PMC_INFO_ACCUMULATED_COUNTER_VALUE, &count), 0);
	reset();
}

static void
profile_2(void)
{
	check_answer(profile(2, event, 1000000));
}

static void
profile_stop_2(void)
{
	long left = failing_left;

	failing_end();
	CHECK_EQ(profile(2, event, 1000000), 0);
	failing_left = left;
	check_answer(profile_stop(2));
}

/* A child whose counters cannot go on has none; it can configure them again. */
static void
in_a_child(void)
{
	long left = failing_left;
	int status;

	failing_end();
	CHECK_EQ(start(1), 0);
	CHECK_EQ(profile(2, event, 1000000), 0);
	failing_left = left;
	if (check_fork()) {
		int failed = failing_failed;

		failing_end();
		CHECK(start(1) == -1 && (errno == EINPROGRESS || errno == ENXIO));
		CHECK_EQ(profile_stop(2), 0);
		stop(1);
		CHECK_EQ(configure(1, event, 0), 0);
		check_exit(2 * check_failures + failed);
	}
	failing_end();
	status = wait_for(check_child);
	CHECK(status == 0 || status == 1);
	failing_failed = status & 1;
	reset();
}

static void
each_operation(void)
{
	CHECK(failing_each(configure_1) > 0);
	CHECK(failing_each(start_1) > 0);
	failing_each(stop_1); /* on a model it makes none */
	CHECK(failing_each(values) > 0);
	if (strcmp(getenv("PMC_MACHINE"), "xscale") == 0)
		CHECK(failing_each(ended_child) > 0);
	CHECK(failing_each(profile_2) > 0);
	CHECK(failing_each(profile_stop_2) > 0);
	CHECK(failing_each(in_a_child) > 0);
}

static void
on(const char *machine, pmc_evid_t id)
{
	setenv("PMC_MACHINE", machine, 1);
	event = id;
	if (configure(1, event, 0) < 0) {
		printf("%s: %s: not tried\n", machine, strerror(errno));
		return;
	}
	before = failing_descriptors();
	for (size_t i = 0; i < sizeof(failing_codes) / sizeof(failing_codes[0]); i++) {
		failing_code = failing_codes[i];
		each_operation();
	}
}

/* ---- threads that are made faster than they can be opened --------------------------- */

int __real_nanosleep(const struct timespec *wanted, struct timespec *left);
int __wrap_nanosleep(const struct timespec *wanted, struct timespec *left);

enum { MOST_THREADS = 1000 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_t threads[MOST_THREADS];
static int num_threads, most_threads;

static void *
wait_at_gate(void *unused)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return unused;
}

static void
make_thread(void)
{
	if (num_threads < most_threads)
		CHECK_EQ(pthread_create(&threads[num_threads++], NULL, wait_at_gate, NULL), 0);
}

/* The library has opened the threads, and lets one more be made before it looks again. */
int
__wrap_nanosleep(const struct timespec *wanted, struct timespec *left)
{
	make_thread();
	return __real_nanosleep(wanted, left);
}

/* One more each time: EAGAIN, and nothing stays; the last one of few: it is in the set. */
static void
too_many_threads(void)
{
	if (configure(1, event, 0) < 0)
		return; /* on() has said why */
	pthread_mutex_lock(&gate);
	most_threads = MOST_THREADS;
	make_thread();
	CHECK_ERRNO(configure(1, event, 0), EAGAIN);
	CHECK(num_threads < MOST_THREADS);
	CHECK_EQ(failing_descriptors(), before);
	most_threads = num_threads + 3;
	CHECK_EQ(configure(1, event, 0), 0);
	CHECK_EQ(num_threads, most_threads);
	pthread_mutex_unlock(&gate);
	for (int i = 0; i < num_threads; i++)
		pthread_join(threads[i], NULL);
	reset();
	CHECK_EQ(failing_descriptors(), before);
}

int
main(void)
{
	check_begin("xscale");
	signal(SIGPROF, SIG_IGN);
	IN_CHILD(on("xscale", DCACHE_MISS););
	IN_CHILD(on("linux", 0x82); too_many_threads(););
	return check_result();
}
