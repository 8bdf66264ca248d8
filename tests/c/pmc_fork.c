/*
 * What children inherit, and what is left of them, on the model of xscale.
 */
#include "pmc_check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define MISSES(n) CHECK_EQ(pmc_model_advance(DCACHE_MISS, (n)), 0)

static void
wait_byte(int fd)
{
	char byte;

	CHECK_EQ(read(fd, &byte, 1), 1);
}

static void
send_byte(int fd)
{
	CHECK_EQ(write(fd, "", 1), 1);
}

/* Counter 1 runs, with 5 misses; 2 is stopped. */
static void
begin(void)
{
	stop(1);
	CHECK_EQ(configure(1, DCACHE_MISS, 0), 0);
	CHECK_EQ(start(1), 0);
	CHECK_EQ(configure(2, DCACHE_MISS, 0), 0);
	MISSES(5);
}

static void
inherits_running_counters(void)
{
	begin();
	IN_CHILD(CHECK_EQ(value_of(1), 0); CHECK_EQ(accumulated(1), 0); CHECK_ERRNO(start(1), EINPROGRESS);
		 CHECK_ERRNO(start(2), ENXIO); CHECK_EQ(value_of(2), -ENXIO); MISSES(7); CHECK_EQ(value_of(1), 7);
		 CHECK_EQ(stop(1), 0); MISSES(100); CHECK_EQ(value_of(1), 7););
	CHECK_EQ(value_of(1), 5);
	CHECK_EQ(accumulated(1), 7);
	IN_CHILD(MISSES(20););
	CHECK_EQ(accumulated(1), 27);
	CHECK_EQ(accumulated(2), 0);
	CHECK_EQ(stop(1), 0);
	CHECK_EQ(configure(1, INSTRUCTIONS, 0), 0); /* resets the value, nothing else */
	CHECK_EQ(accumulated(1), 27);
	CHECK_EQ(value_of(1), 0);
	CHECK_EQ(accumulated(0), -ENXIO); /* never configured */
}

static void
clocks_start_from_zero(void)
{
	CHECK_EQ(configure(0, 0x101, 0), 0);
	CHECK_EQ(start(0), 0);
	CHECK_EQ(pmc_model_advance(CLOCK, 63), 0);
	IN_CHILD(CHECK_EQ(pmc_model_advance(CLOCK, 63), 0); CHECK_EQ(value_of(0), 0);
		 CHECK_EQ(pmc_model_advance(CLOCK, 1), 0); CHECK_EQ(value_of(0), 1););
	CHECK_EQ(pmc_model_advance(CLOCK, 1), 0);
	CHECK_EQ(value_of(0), 1);
	CHECK_EQ(accumulated(0), 1);
	CHECK_EQ(stop(0), 0);
}

static void
three_levels(void)
{
	long long before = accumulated(1);

	begin();
	IN_CHILD(MISSES(10);
		 IN_CHILD(MISSES(100); IN_CHILD(MISSES(1000); CHECK_EQ(value_of(1), 1000);); IN_CHILD(MISSES(2000););
			  CHECK_EQ(accumulated(1), 3000); CHECK_EQ(value_of(1), 100););
		 CHECK_EQ(accumulated(1), 3100););
	CHECK_EQ(accumulated(1) - before, 3110);
	CHECK_EQ(value_of(1), 5);
}

/* A child, and a grandchild in it, ended by a signal at a known place. */
static void
killed(void)
{
	long long before = accumulated(1);
	int ready[2];
	pid_t child;

	begin();
	CHECK_EQ(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		MISSES(11);
		child = fork();
		if (child == 0) {
			MISSES(300);
			raise(SIGKILL);
		}
		CHECK_EQ(wait_for(child), -SIGKILL);
		send_byte(ready[1]);
		pause();
	}
	wait_byte(ready[0]);
	CHECK_EQ(accumulated(1) - before, 300); /* the grandchild has ended, the child lives */
	kill(child, SIGTERM);
	CHECK_EQ(wait_for(child), -SIGTERM);
	CHECK_EQ(accumulated(1) - before, 311);
	close(ready[0]);
	close(ready[1]);
}

/* What a child counts on its own is its parent's too: all exited subprocesses, says the manual. */
static void
counters_of_the_child_s_own(void)
{
	long long before = accumulated(2);

	begin();
	CHECK_EQ(stop(1), 0);
	IN_CHILD(CHECK_EQ(configure(2, INSTRUCTIONS, 0), 0); CHECK_EQ(start(2), 0);
		 CHECK_EQ(pmc_model_advance(INSTRUCTIONS, 77), 0););
	CHECK_EQ(accumulated(2) - before, 77);
}

/* A grandchild that outlives its parent is in the sum once it has ended. */
static void
orphans(void)
{
	long long before = accumulated(1);
	int go[2], pids[2];
	pid_t orphan;

	begin();
	CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	CHECK_EQ(pipe(go), 0);
	CHECK_EQ(pipe(pids), 0);
	IN_CHILD(MISSES(1); orphan = fork(); if (orphan == 0) {
		wait_byte(go[0]);
		MISSES(40);
		_exit(0);
	} CHECK_EQ(write(pids[1], &orphan, sizeof(orphan)), sizeof(orphan)););
	CHECK_EQ(read(pids[0], &orphan, sizeof(orphan)), sizeof(orphan));
	CHECK_EQ(accumulated(1) - before, 1);
	send_byte(go[1]);
	CHECK_EQ(wait_for(orphan), 0);
	CHECK_EQ(accumulated(1) - before, 41);
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(pids[i]);
	}
}

static int thread_go[2], thread_ready[2];

static void *
outlive_the_main_thread(void *unused)
{
	(void)unused;
	wait_byte(thread_go[0]);
	MISSES(8);
	send_byte(thread_ready[1]);
	wait_byte(thread_go[0]);
	MISSES(1);
	check_exit(check_failures);
}

static bool
is_zombie(pid_t pid)
{
	char path[32], text[256] = "";
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	stat = fopen(path, "r");
	if (stat) {
		if (!fgets(text, sizeof(text), stat))
			perror(path);
		fclose(stat);
	}
	return strstr(text, ") Z ") != NULL;
}

/* A process whose main thread has ended looks like one that has ended; another thread counts on. */
static void
main_thread_ends(void)
{
	long long before = accumulated(1);
	pthread_t thread;
	pid_t child;

	begin();
	CHECK_EQ(pipe(thread_go), 0);
	CHECK_EQ(pipe(thread_ready), 0);
	child = fork();
	if (child == 0) {
		check_failures = 0;
		MISSES(2);
		CHECK_EQ(pthread_create(&thread, NULL, outlive_the_main_thread, NULL), 0);
		pthread_exit(NULL);
	}
	while (!is_zombie(child))
		usleep(1000);
	CHECK_EQ(accumulated(1) - before, 0);
	IN_CHILD(MISSES(500);); /* would take the place of an account given up too early */
	send_byte(thread_go[1]);
	wait_byte(thread_ready[0]);
	CHECK_EQ(accumulated(1) - before, 500);
	send_byte(thread_go[1]);
	CHECK_EQ(wait_for(child), 0);
	CHECK_EQ(accumulated(1) - before, 511);
	for (int i = 0; i < 2; i++) {
		close(thread_go[i]);
		close(thread_ready[i]);
	}
}

/* No descriptor is left when the child is made, so that it cannot look at itself in /proc. */
static void
no_descriptors(void)
{
	long long before = accumulated(1);
	struct rlimit limit, none;
	int go[2], ready[2];
	pid_t child;

	begin();
	CHECK_EQ(pipe(go), 0);
	CHECK_EQ(pipe(ready), 0);
	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 0;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	CHECK_EQ(value_of(1), 5);
	CHECK_ERRNO(configure(2, INSTRUCTIONS, 0), ENOMEM);
	CHECK_ERRNO(start(2), ENOMEM);
	CHECK_ERRNO(profile(2, DCACHE_MISS, 1), ENOMEM);
	child = fork();
	if (child == 0) {
		MISSES(3);
		send_byte(ready[1]);
		wait_byte(go[0]);
		MISSES(60);
		_exit(0);
	}
	setrlimit(RLIMIT_NOFILE, &limit);
	wait_byte(ready[0]);
	CHECK_EQ(accumulated(1) - before, 0); /* it lives */
	IN_CHILD(MISSES(500););
	send_byte(go[1]);
	CHECK_EQ(wait_for(child), 0);
	CHECK_EQ(accumulated(1) - before, 563);
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(ready[i]);
	}
}

/* A daemon closes all descriptors, the locks' too; their numbers then are files of its own. */
static void
daemon_closes_all(void)
{
	IN_CHILD(int files[20]; begin(); CHECK_EQ(profile(2, DCACHE_MISS, 1000000), 0);
		 CHECK_EQ(syscall(SYS_close_range, 3, ~0U, 0), 0);
		 for (size_t i = 0; i < 20; i++) files[i] = open("/dev/null", O_RDONLY); CHECK_EQ(value_of(1), 5);
		 CHECK_EQ(stop(1), 0); CHECK_EQ(profile_stop(2), 0);
		 for (size_t i = 0; i < 20; i++) CHECK(fcntl(files[i], F_GETFD) >= 0); CHECK_EQ(start(1), 0); MISSES(1);
		 CHECK_EQ(value_of(1), 6); CHECK_EQ(stop(1), 0););
}

static void
without_proc(void)
{
	char root[] = "/tmp/pmc-root-XXXXXX";

	if (getuid() != 0) {
		printf("not root: chroot is not tried\n");
		return;
	}
	CHECK(mkdtemp(root) != NULL);
	begin();
	IN_CHILD(CHECK_EQ(chroot(root), 0); CHECK_EQ(chdir("/"), 0); MISSES(1); IN_CHILD(MISSES(20););
		 CHECK_EQ(accumulated(1), 20); CHECK_EQ(stop(1), 0); CHECK_EQ(start(1), 0););
	rmdir(root);
}

/* A child in a process namespace of its own has pid 1 there. */
static void
another_pid_namespace(void)
{
	int go[2], ready[2];

	begin();
	CHECK_EQ(pipe(go), 0);
	CHECK_EQ(pipe(ready), 0);
	IN_CHILD(
		pid_t child; if (unshare(CLONE_NEWPID) < 0) {
			printf("unshare: %s: namespaces are not tried\n", strerror(errno));
			_exit(0);
		} child = fork();
		if (child == 0) {
			MISSES(4);
			send_byte(ready[1]);
			wait_byte(go[0]);
			MISSES(30);
			_exit(0);
		} wait_byte(ready[0]);
		CHECK_EQ(accumulated(1), 0); send_byte(go[1]); CHECK_EQ(wait_for(child), 0);
		CHECK_EQ(accumulated(1), 34););
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(ready[i]);
	}
}

/* Profiling, and its timer, stay with the parent. */
static void
profiling_is_not_inherited(void)
{
	stop(1);
	CHECK_EQ(profile(1, DCACHE_MISS, 1), 0);
	IN_CHILD(struct sigaction action; CHECK_EQ(sigaction(SIGPROF, NULL, &action), 0);
		 CHECK(action.sa_handler == SIG_DFL); MISSES(5); /* no signal */
		 CHECK_ERRNO(profile(1, DCACHE_MISS, 1), EBUSY); CHECK_EQ(profile_stop(1), 0);
		 CHECK_ERRNO(profile(1, DCACHE_MISS, 1), EBUSY););
	CHECK_EQ(profile_stop(1), 0);
	CHECK_EQ(profile(1, DCACHE_MISS, 1), 0);
	CHECK_EQ(profile_stop(1), 0);
}

/* A child that goes on counting uses the counter as long as it runs, its parent's STOP notwithstanding. */
static void
children_use_the_counter(void)
{
	int go[2];
	pid_t child;

	begin();
	CHECK_EQ(pipe(go), 0);
	child = fork();
	if (child == 0) {
		wait_byte(go[0]);
		_exit(0);
	}
	CHECK_EQ(stop(1), 0);
	CHECK_ERRNO(profile(1, DCACHE_MISS, 1), EBUSY);
	send_byte(go[1]);
	CHECK_EQ(wait_for(child), 0);
	CHECK_EQ(profile(1, DCACHE_MISS, 1), 0);
	CHECK_EQ(profile_stop(1), 0);
	close(go[0]);
	close(go[1]);
}

static volatile sig_atomic_t forks;

static void
fork_here(int signal)
{
	pid_t child = fork();

	(void)signal;
	if (child == 0) {
		pmc_model_advance(INSTRUCTIONS, 6);
		_exit(value_of(2) == 6 ? 0 : 1);
	}
	if (wait_for(child) == 0)
		forks++;
}

static void
fork_in_a_handler(void)
{
	long long before = accumulated(2);

	stop(1);
	signal(SIGPROF, fork_here);
	CHECK_EQ(configure(2, INSTRUCTIONS, 0), 0);
	CHECK_EQ(start(2), 0);
	CHECK_EQ(profile(1, DCACHE_MISS, 10), 0);
	MISSES(30);
	CHECK_EQ(profile_stop(1), 0);
	CHECK_EQ(stop(2), 0);
	CHECK_EQ(forks, 3);
	CHECK_EQ(accumulated(2) - before, 18);
	signal(SIGPROF, SIG_DFL);
}

static volatile bool done;

static void *
call_on(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		pmc_model_advance(INSTRUCTIONS, 1);
		accumulated(1);
	}
	return NULL;
}

static void
fork_among_threads(void)
{
	long long before = accumulated(1);
	int rounds = CHECK_ROUGHLY ? 3 : 50;
	pthread_t threads[3];

	begin();
	for (size_t i = 0; i < 3; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, call_on, NULL), 0);
	for (int i = 0; i < rounds; i++)
		IN_CHILD(MISSES(2); CHECK_EQ(value_of(1), 2); CHECK_EQ(stop(1), 0););
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(accumulated(1) - before, 2 * rounds);
}

int
main(void)
{
	check_begin("xscale");
	inherits_running_counters();
	clocks_start_from_zero();
	three_levels();
	killed();
	counters_of_the_child_s_own();
	orphans();
	main_thread_ends();
	no_descriptors();
	daemon_closes_all();
	without_proc();
	another_pid_namespace();
	profiling_is_not_inherited();
	children_use_the_counter();
	fork_in_a_handler();
	fork_among_threads();
	return check_result();
}
