/*
 * Several threads, the first one too: each has a context of its own, and the signal of an overflow goes to the thread that has asked for it.
 */
#include "perfmon2_check.h"

#include <pthread.h>

enum { WORKERS = 3, OVERFLOWS = 20 };

static __thread int own_fd = -1;
static __thread int handled;
static int elsewhere, done[2];

static void
on_overflow(int number, siginfo_t *info, void *unused)
{
	const int before = errno;
	char message[64];

	(void)number;
	(void)unused;
	if (info->si_fd != own_fd)
		__atomic_add_fetch(&elsewhere, 1, __ATOMIC_RELAXED);
	if (read(info->si_fd, message, sizeof(message)) == 64)
		pfm_restart(info->si_fd);
	handled++;
	errno = before;
}

static int
start_by(int version, int fd)
{
	if (version == 3)
		return pfm_set_state(fd, 0, PFM_ST_START);
	return version == 2 ? pfm_start(fd, NULL) : perfmonctl(fd, PFM_START, NULL, 0);
}

/* As programs with a context per thread have it: F_SETOWN with the thread's number. */
static void *
worker(void *version)
{
	pfarg_pmd_t pmd = notifying(10);

	handled = 0;
	own_fd = counting(0, 0, 0);
	CHECK_EQ(pfm_write_pmds(own_fd, &pmd, 1), 0);
	CHECK_EQ(fcntl(own_fd, F_SETOWN, self_id()), 0);
	CHECK_EQ(fcntl(own_fd, F_SETSIG, SIGUSR1), 0);
	CHECK_EQ(fcntl(own_fd, F_SETFL, O_ASYNC), 0);
	CHECK_EQ(start_by(*(int *)version, own_fd), 0);
	for (int i = 0; i < OVERFLOWS; i++) {
		CHECK_EQ(cycles(10), 0);
		CHECK_EQ(handled, i + 1); /* before the call returned */
	}
	close(own_fd);
	return NULL;
}

static void *
idle(void *unused)
{
	char byte;

	while (read(done[0], &byte, 1) < 0) /* a handler may run here */
		;
	return unused;
}

static void
a_context_per_thread(int version)
{
	struct sigaction action = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO };
	pthread_t threads[WORKERS], waiting;

	CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	CHECK_EQ(pipe(done), 0);
	CHECK_EQ(pthread_create(&waiting, NULL, idle, NULL), 0);
	for (int i = 0; i < WORKERS; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, worker, &version), 0);
	worker(&version);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(write(done[1], "", 1), 1);
	pthread_join(waiting, NULL);
	CHECK_EQ(elsewhere, 0);
	close(done[0]);
	close(done[1]);
}

/* What is not asked for by the thread's number stays as it is; so does a signal that the thread leaves to others. */
static void *
other_owners(void *unused)
{
	struct f_owner_ex owner;
	sigset_t set;
	const int fd = counting(0, 0, 0);

	CHECK_EQ(fcntl(fd, F_SETOWN, getpid()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(fcntl(fd, F_GETOWN_EX, &owner), 0);
	CHECK_EQ(owner.type, F_OWNER_PID);
	CHECK_EQ(owner.pid, getpid());
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	CHECK_EQ(fcntl(fd, F_SETOWN, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(fcntl(fd, F_GETOWN_EX, &owner), 0);
	CHECK_EQ(owner.type, F_OWNER_PID);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(fcntl(fd, F_GETOWN_EX, &owner), 0);
	CHECK_EQ(owner.type, F_OWNER_TID);
	CHECK_EQ(owner.pid, self_id());
	close(fd);
	return unused;
}

int
main(void)
{
	pthread_t thread;

	check_begin("model", PFMLIB_ITANIUM2_PMU);
	for (int version = 1; version <= 3; version++)
		a_context_per_thread(version);
	CHECK_EQ(pthread_create(&thread, NULL, other_owners, NULL), 0);
	pthread_join(thread, NULL);
	return check_result();
}
