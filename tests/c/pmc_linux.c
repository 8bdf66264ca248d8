/*
 * This host's counters: page faults of a known number of pages, across threads, fork, exec and signals.
 * With an argument: touch that many pages and end, as what is executed.
 */
#include "pages.h"
#include "pmc_check.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>

#define TASK_CLOCK 0x81
#define PAGE_FAULTS 0x82

enum { PAGES = 1000, FEW = 200 };

static char *program;

static void
begin(int ctr)
{
	stop(ctr);
	CHECK_EQ(configure(ctr, PAGE_FAULTS, 0), 0);
	CHECK_EQ(start(ctr), 0);
}

static void
values(void)
{
	long long first, second;

	CHECK_EQ(configure(1, PAGE_FAULTS, 0), 0);
	TOUCH(PAGES);
	CHECK_EQ(value_of(1), 0);
	CHECK_EQ(start(1), 0);
	CHECK_ERRNO(start(1), EINPROGRESS);
	CHECK_ERRNO(configure(1, PAGE_FAULTS, 0), EBUSY);
	TOUCH(PAGES);
	first = value_of(1);
	CHECK(about(first, PAGES));
	CHECK_EQ(stop(1), 0);
	first = value_of(1);
	TOUCH(PAGES);
	CHECK_EQ(value_of(1), first);
	CHECK_EQ(stop(1), 0);
	CHECK_EQ(start(1), 0); /* goes on where it was */
	TOUCH(PAGES);
	second = value_of(1);
	CHECK(about(second, first + PAGES));
	CHECK_EQ(stop(1), 0);
	CHECK_EQ(configure(1, PAGE_FAULTS, 12345), 0);
	CHECK_EQ(value_of(1), 0);
	CHECK_EQ(accumulated(1), 0);
}

static void
the_clock_of_the_task(void)
{
	long long first;

	CHECK_EQ(configure(7, TASK_CLOCK, 0), 0);
	CHECK_EQ(start(7), 0);
	first = value_of(7);
	TOUCH(PAGES);
	CHECK(first >= 0 && value_of(7) > first);
	CHECK_EQ(stop(7), 0);
}

static void
every_counter_takes_any_event(void)
{
	for (int ctr = 1; ctr < 8; ctr++) {
		begin(ctr);
		TOUCH(FEW);
	}
	for (int ctr = 1; ctr < 8; ctr++) {
		CHECK(value_of(ctr) >= FEW * (8 - ctr));
		CHECK_EQ(stop(ctr), 0);
	}
	CHECK_ERRNO(configure(0, PAGE_FAULTS, 0), ENODEV);
}

static void
forks(void)
{
	long long before, own, sum;

	begin(1);
	before = accumulated(1);
	IN_CHILD(CHECK(about(value_of(1), 0)); CHECK_EQ(accumulated(1), 0); CHECK_ERRNO(start(1), EINPROGRESS);
		 TOUCH(PAGES); CHECK(value_of(1) >= PAGES);
		 IN_CHILD(TOUCH(2 * PAGES); IN_CHILD(TOUCH(4 * PAGES);); CHECK(about(accumulated(1), 4 * PAGES)););
		 CHECK(about(accumulated(1), 6 * PAGES)); CHECK(about(value_of(1), PAGES)););
	own = value_of(1);
	sum = accumulated(1) - before;
	CHECK(about(own, 0));
	CHECK(about(sum, 7 * PAGES));
	TOUCH(PAGES);
	CHECK(about(accumulated(1) - before, sum));
}

static void
killed(void)
{
	long long before;
	pid_t child;

	begin(1);
	before = accumulated(1);
	child = fork();
	if (child == 0) {
		TOUCH(PAGES);
		raise(SIGKILL);
	}
	CHECK_EQ(wait_for(child), -SIGKILL);
	CHECK(accumulated(1) - before >= PAGES);
}

/* What is executed goes on counting, by whatever way. */
static void
executed(void)
{
	char *args[] = { program, (char[]){ "1000" }, NULL };
	long long before, sum;
	pid_t child;

	begin(1);
	before = accumulated(1);
	child = fork();
	if (child == 0) {
		execv(program, args);
		_exit(127);
	}
	CHECK_EQ(wait_for(child), 0);
	sum = accumulated(1) - before;
	CHECK(sum >= PAGES);
	CHECK_EQ(posix_spawn(&child, program, NULL, NULL, args, environ), 0);
	CHECK_EQ(wait_for(child), 0);
	CHECK(accumulated(1) - before >= sum + PAGES);
}

/* Whatever the process itself has counted - nothing, one, more - its children's count is the children's. */
static void
beside_a_count_of_one(void)
{
	char *args[] = { program, (char[]){ "1000" }, NULL };
	int ones = 0;

	for (int tries = 0; tries < 100 && ones < 3; tries++) {
		long long before;
		pid_t child;

		begin(1);
		before = accumulated(1);
		while (value_of(1) < 1)
			TOUCH(1);
		CHECK_EQ(posix_spawn(&child, program, NULL, NULL, args, environ), 0);
		CHECK_EQ(wait_for(child), 0);
		ones += value_of(1) == 1;
		CHECK(accumulated(1) - before >= PAGES);
	}
	if (!CHECK_ROUGHLY)
		CHECK(ones > 0);
}

/* Only running counters are inherited: a child made before START has no part in it. */
static void
made_before_start(void)
{
	char *args[] = { program, (char[]){ "1000" }, NULL };
	int go[2];
	long long before;
	char byte;
	pid_t child, other;

	stop(1);
	CHECK_EQ(configure(1, PAGE_FAULTS, 0), 0);
	before = accumulated(1);
	CHECK_EQ(pipe(go), 0);
	child = fork();
	if (child == 0) {
		check_failures = 0;
		CHECK_EQ(value_of(1), -ENXIO);
		CHECK_EQ(read(go[0], &byte, 1), 1);
		TOUCH(PAGES);
		check_exit(check_failures);
	}
	CHECK_EQ(posix_spawn(&other, program, NULL, NULL, args, environ), 0);
	CHECK_EQ(start(1), 0);
	CHECK_EQ(write(go[1], "", 1), 1);
	CHECK_EQ(wait_for(child), 0);
	CHECK_EQ(wait_for(other), 0);
	CHECK_EQ(accumulated(1) - before, 0);
	close(go[0]);
	close(go[1]);
}

/* ---- profiling --------------------------------------------------------------------- */

static volatile sig_atomic_t ticks;

/* One that comes while another waits is lost, which valgrind lets them do for long. */
static long long
at_least_ticks(void)
{
	return CHECK_ROUGHLY ? 1 : PAGES / 10 - 1;
}

static void
count(int signal)
{
	(void)signal;
	ticks++;
}

static void
profiles(void)
{
	stop(1);
	signal(SIGPROF, count);
	CHECK_EQ(profile(1, PAGE_FAULTS, 10), 0);
	CHECK_ERRNO(configure(1, PAGE_FAULTS, 0), EBUSY);
	ticks = 0;
	TOUCH(PAGES);
	CHECK_EQ(profile_stop(1), 0);
	CHECK(about(ticks, at_least_ticks()));
	ticks = 0;
	TOUCH(PAGES);
	CHECK_EQ(ticks, 0);
	CHECK_EQ(profile(1, PAGE_FAULTS, 0), 0); /* 2^63 - 1 */
	TOUCH(PAGES);
	CHECK_EQ(profile_stop(1), 0);
	CHECK_EQ(ticks, 0);
	CHECK_ERRNO(profile(1, 0x999, 1), ENODEV);
	signal(SIGPROF, SIG_DFL);
}

#ifdef __GLIBC__ /* musl has no profil(3) */
static unsigned short histogram[65536];

/* The ticks are in this program, where the faults are. */
static void
profil_counts_faults(void)
{
	size_t start = (size_t)(uintptr_t)touch & ~(size_t)0xffff;
	int (*any)(unsigned short *, size_t, size_t, unsigned int) = profil; /* its header forbids NULL */
	long all = 0;

	CHECK_EQ(profil(histogram, sizeof(histogram), start, 65536), 0);
	CHECK_EQ(profile(1, PAGE_FAULTS, 10), 0);
	TOUCH(PAGES);
	CHECK_EQ(profile_stop(1), 0);
	any(NULL, 0, 0, 0);
	for (size_t i = 0; i < sizeof(histogram) / sizeof(histogram[0]); i++)
		all += histogram[i];
	CHECK(about(all, CHECK_ROUGHLY ? 0 : at_least_ticks())); /* under valgrind they are in valgrind */
}
#endif

/* ---- descriptors --------------------------------------------------------------------- */

static void
daemon_closes_all(void)
{
	long long children;
	int ends[2];
	char byte;

	begin(1);
	begin(2);
	IN_CHILD(TOUCH(PAGES););
	children = accumulated(2);
	CHECK(about(children, PAGES));
	CHECK_EQ(profile(3, PAGE_FAULTS, 1000000), 0);
	CHECK_EQ(syscall(SYS_close_range, 3, ~0U, 0), 0);
	for (int i = 0; i < 10; i++) /* the numbers are the program's own now; the last is read */
		CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(write(ends[1], "x", 1), 1);
	CHECK_EQ(value_of(1), -ENODEV);
	CHECK_EQ(accumulated(1) < 0, 1);
	CHECK_EQ(stop(1), 0);
	CHECK_EQ(profile_stop(3), 0);
	CHECK_ERRNO(start(1), ENODEV);
	CHECK_EQ(stop(2), 0);
	CHECK_EQ(configure(2, PAGE_FAULTS, 0), 0); /* and anew */
	CHECK_EQ(start(2), 0);
	TOUCH(PAGES);
	CHECK(value_of(2) >= PAGES);
	CHECK_EQ(accumulated(2), children); /* what was read before is not forgotten */
	for (int fd = 3; fd < 23; fd++)
		CHECK(fcntl(fd, F_GETFD) >= 0);
	CHECK_EQ(read(ends[0], &byte, 1), 1);
	CHECK_EQ(byte, 'x');
}

int
main(int argc, char **argv)
{
	if (argc > 1) {
		TOUCH(strtol(argv[1], NULL, 10));
		return 0;
	}
	program = argv[0];
	check_begin("linux");
	if (configure(1, PAGE_FAULTS, 0) < 0) {
		printf("skipped: this host counts no page faults: %s\n", strerror(errno));
		return CHECK_SKIPPED;
	}
	values();
	the_clock_of_the_task();
	every_counter_takes_any_event();
	forks();
	killed();
	executed();
	beside_a_count_of_one();
	made_before_start();
	profiles();
#ifdef __GLIBC__
	profil_counts_faults();
#endif
	IN_CHILD(daemon_closes_all(););
	return check_result();
}
