/*
 * This host's counters where programs also run: in other process namespaces than that of /proc, without
 * /proc, or with one that hides, while threads are made, in threads that are cancelled.
 */
#include "pages.h"
#include "pmc_check.h"

#include <grp.h>
#include <sched.h>
#include <sys/mount.h>

#define PAGE_FAULTS 0x82

enum { PAGES = 1000, NOBODY = 65534 };

/* ---- /proc ------------------------------------------------------------------------- */

/* The calling thread, one that is there and one to come. */
static void
counts_three_threads(void)
{
	pthread_t there, later;

	pthread_barrier_init(&touch_barrier, NULL, 2);
	CHECK_EQ(pthread_create(&there, NULL, touch_later, (void *)PAGES), 0);
	CHECK_EQ(configure(1, PAGE_FAULTS, 0), 0);
	CHECK_EQ(start(1), 0);
	TOUCH(PAGES);
	CHECK(about(value_of(1), PAGES));
	pthread_barrier_wait(&touch_barrier);
	pthread_join(there, NULL);
	CHECK(about(value_of(1), 2 * PAGES));
	CHECK_EQ(pthread_create(&later, NULL, touch, (void *)PAGES), 0);
	pthread_join(later, NULL);
	CHECK(about(value_of(1), 3 * PAGES));
	CHECK_EQ(accumulated(1), 0);
	IN_CHILD(TOUCH(PAGES););
	CHECK(about(accumulated(1), PAGES));
	CHECK_EQ(stop(1), 0);
}

/* A process with number 1 in a namespace of its own, or in one within that; with its own /proc, or the old one. */
static void
in_namespaces(int depth, bool own_proc)
{
	if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0) {
		printf("unshare: %s: namespaces are not tried\n", strerror(errno));
		return;
	}
	IN_CHILD(CHECK_EQ(mount("none", "/", "", MS_REC | MS_PRIVATE, NULL), 0);
		 if (own_proc) CHECK_EQ(mount("proc", "/proc", "proc", 0, NULL), 0);
		 if (depth > 1) in_namespaces(depth - 1, false); else counts_three_threads(););
}

/* The status file of a thread has the user's groups before its numbers in namespaces. */
static void
with_many_groups(void)
{
	enum { MOST = 60000 };
	static gid_t groups[MOST];

	/* All places of the line in what one read() gives, and far after that. */
	for (int count = 250; count <= MOST; count = count >= 300 ? 200 * count : count + (CHECK_ROUGHLY ? 25 : 1)) {
		for (int i = 0; i < count; i++)
			groups[i] = 100000 + (gid_t)i;
		if (setgroups((size_t)count, groups) < 0) {
			printf("setgroups: %s: not tried\n", strerror(errno));
			return;
		}
		IN_CHILD(in_namespaces(1, false););
	}
}

/* One thread needs no list of threads; of several nothing tells which they are. */
static void
without_list(void)
{
	pthread_t thread;

	CHECK_EQ(configure(1, PAGE_FAULTS, 0), 0);
	CHECK_EQ(start(1), 0);
	TOUCH(PAGES);
	CHECK_EQ(pthread_create(&thread, NULL, touch, (void *)PAGES), 0);
	pthread_join(thread, NULL);
	CHECK(about(value_of(1), 2 * PAGES));
	CHECK_EQ(stop(1), 0);
	pthread_barrier_init(&touch_barrier, NULL, 2);
	CHECK_EQ(pthread_create(&thread, NULL, touch_later, (void *)PAGES), 0);
	CHECK_ERRNO(configure(1, PAGE_FAULTS, 0), ENODEV);
	pthread_barrier_wait(&touch_barrier);
	pthread_join(thread, NULL);
}

static void
without_proc(void)
{
	if (chroot(check_directory) < 0 || chdir("/") < 0) {
		printf("chroot: %s: not tried\n", strerror(errno));
		return;
	}
	without_list();
}

/* A mount that no other process sees. */
static bool
mounted(const char *type, const char *place, const char *options)
{
	if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount(type, place, type, 0, options) == 0)
		return true;
	printf("%s on %s: %s: not tried\n", type, place, strerror(errno));
	return false;
}

/* A list of threads that is empty, which root may read and others may not. */
static void
list_covered(uid_t user)
{
	if (!mounted("tmpfs", "/proc/self/task", "mode=000"))
		return;
	CHECK_EQ(setuid(user), 0);
	without_list();
}

/* A /proc that shows nobody the processes of others. */
static void
processes_hidden(uid_t user)
{
	if (!mounted("proc", "/proc", "hidepid=2"))
		return;
	CHECK_EQ(setuid(user), 0);
	counts_three_threads();
}

/* ---- a child of a model ------------------------------------------------------------ */

/* Let the next process have this number in its namespace. */
static bool
next_number(pid_t number)
{
	FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "w");
	bool set = file && fprintf(file, "%d", number - 1) > 0;

	return file && fclose(file) == 0 && set;
}

/* The number of a process in the namespace of /proc, asked for by itself. */
static pid_t
number_in_proc(void)
{
	char text[16] = "";

	return readlink("/proc/self", text, sizeof(text) - 1) > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

/*
 * A child that has ended is not there any more, though a stranger has its number: here, where /proc is of
 * another namespace, or also in /proc.
 */
static void
stranger_with_the_number(bool own_proc)
{
	int ends[2];
	pid_t number = 0, child, stranger;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0) {
		printf("unshare: %s: not tried\n", strerror(errno));
		return;
	}
	IN_CHILD(
		CHECK_EQ(mount("none", "/", "", MS_REC | MS_PRIVATE, NULL), 0);
		if (own_proc) CHECK_EQ(mount("proc", "/proc", "proc", 0, NULL), 0); setenv("PMC_MACHINE", "xscale", 1);
		CHECK_EQ(configure(1, DCACHE_MISS, 0), 0); CHECK_EQ(start(1), 0); CHECK_EQ(pipe(ends), 0);
		child = fork(); if (child == 0) {
			number = number_in_proc();
			pmc_model_advance(DCACHE_MISS, 5);
			_exit(write(ends[1], &number, sizeof(number)) != sizeof(number));
		} CHECK_EQ(read(ends[0], &number, sizeof(number)), sizeof(number));
		CHECK_EQ(wait_for(child), 0); usleep(20000); /* the stranger starts in another clock tick */
		CHECK((number == child) == own_proc && next_number(number)); stranger = fork(); if (stranger == 0) {
			pause();
			_exit(0);
		} CHECK_EQ(stranger, number);
		CHECK_EQ(accumulated(1), 5); kill(stranger, SIGKILL); wait_for(stranger););
}

/* ---- threads that appear while a set is opened ---------------------------------------- */

enum { ROUNDS = 100, MADE = 8, EACH = 250 };

static void *
make_threads(void *unused)
{
	pthread_t threads[MADE];

	(void)unused;
	for (int i = 0; i < MADE; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, touch_later, (void *)EACH), 0);
	for (int i = 0; i < MADE; i++)
		pthread_join(threads[i], NULL);
	return NULL;
}

static void
threads_appear(void)
{
	int wrong = 0, again = 0;

	for (int round = 0; round < ROUNDS; round++) {
		pthread_t maker;
		int ret;

		pthread_barrier_init(&touch_barrier, NULL, MADE + 1);
		CHECK_EQ(pthread_create(&maker, NULL, make_threads, NULL), 0);
		for (volatile int i = 0; i < round * 300; i++) /* at another moment each time */
			;
		while ((ret = configure(1, PAGE_FAULTS, 0)) < 0 && errno == EAGAIN)
			again++;
		CHECK_EQ(ret, 0);
		usleep(3000); /* all are made */
		CHECK_EQ(start(1), 0);
		pthread_barrier_wait(&touch_barrier);
		pthread_join(maker, NULL);
		CHECK_EQ(stop(1), 0);
		wrong += !about(value_of(1), MADE * EACH);
		pthread_barrier_destroy(&touch_barrier);
	}
	printf("threads that appear: %d of %d counts are wrong; EAGAIN %d times\n", wrong, ROUNDS, again);
	CHECK_EQ(wrong, 0);
}

/* ---- children, while other threads count ---------------------------------------------- */

static volatile bool at_work;

static void *
work(void *unused)
{
	(void)unused;
	while (__atomic_load_n(&at_work, __ATOMIC_RELAXED))
		TOUCH(50);
	return NULL;
}

static void
children_beside_busy_threads(void)
{
	const int rounds = CHECK_ROUGHLY ? 100 : 10000;
	long long before, quiet, least;
	pthread_t threads[4];

	CHECK_EQ(configure(1, PAGE_FAULTS, 0), 0);
	CHECK_EQ(start(1), 0);
	before = accumulated(1);
	IN_CHILD(TOUCH(PAGES););
	quiet = least = accumulated(1);
	CHECK(about(quiet - before, PAGES));
	at_work = true;
	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, work, NULL), 0);
	for (int i = 0; i < rounds; i++) {
		long long now = accumulated(1);

		least = now < least ? now : least;
	}
	__atomic_store_n(&at_work, false, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(least, quiet);
	CHECK_EQ(accumulated(1), quiet);
	CHECK_EQ(stop(1), 0);
}

/* ---- cancelled threads ------------------------------------------------------------------ */

/* A function of its own: AddressSanitizer does not know that cancelling ends a frame, and its variables stay poisoned. */
__attribute__((noinline)) static void
call_all(void)
{
	configure(2, PAGE_FAULTS, 0);
	start(2);
	value_of(2);
	accumulated(2);
	stop(2);
	profile(3, PAGE_FAULTS, 1000000);
	profile_stop(3);
}

static void *
call_on(void *unused)
{
	(void)unused;
	for (;;) {
		call_all();
		pthread_testcancel(); /* the library's functions are no cancellation points */
	}
	return NULL;
}

static void
cancelled(void)
{
	const int rounds = CHECK_ROUGHLY ? 20 : 200;

	for (int i = 0; i < rounds; i++) {
		pthread_t thread;
		void *ended;

		CHECK_EQ(pthread_create(&thread, NULL, call_on, NULL), 0);
		usleep((useconds_t)(i * 7 % 500));
		CHECK_EQ(pthread_cancel(thread), 0);
		CHECK(pthread_join(thread, &ended) == 0 && ended == PTHREAD_CANCELED);
		alarm(60); /* a lock that is still held */
		profile_stop(3);
		stop(2);
		CHECK_EQ(configure(2, PAGE_FAULTS, 0), 0);
		alarm(0);
	}
}

int
main(void)
{
	check_begin("linux");
	IN_CHILD(stranger_with_the_number(false);); /* before this process has a machine */
	IN_CHILD(stranger_with_the_number(true););
	if (configure(1, PAGE_FAULTS, 0) < 0) {
		printf("skipped: this host counts no page faults: %s\n", strerror(errno));
		return CHECK_SKIPPED;
	}
	signal(SIGPROF, SIG_IGN);
	counts_three_threads();
	IN_CHILD(in_namespaces(1, false););
	IN_CHILD(in_namespaces(1, true););
	IN_CHILD(in_namespaces(2, true););
	IN_CHILD(with_many_groups(););
	IN_CHILD(without_proc(););
	IN_CHILD(list_covered(0););
	IN_CHILD(list_covered(NOBODY););
	IN_CHILD(processes_hidden(0););
	IN_CHILD(processes_hidden(NOBODY););
	threads_appear();
	children_beside_busy_threads();
	cancelled();
	return check_result();
}
