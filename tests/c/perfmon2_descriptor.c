/*
 * A context's descriptor as a file: waiting by read, poll, select and epoll, signals meanwhile, FIONREAD, a full queue, dup,
 * fork, exec and close.
 */
#include "perfmon2_check.h"

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

static volatile int alarms, signals;
static int context;

static int
started(uint32_t flags)
{
	pfarg_pmd_t pmd = notifying(1);
	const int fd = counting(0, 0, flags);

	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	return fd;
}

static int
waiting(int fd)
{
	int bytes = -1;

	CHECK_EQ(ioctl(fd, FIONREAD, &bytes), 0);
	return bytes;
}

/* Ready while there is a message, for whatever asks. */
static void
readiness(void)
{
	const int fd = started(0), set = epoll_create1(0);
	struct epoll_event wanted = { .events = EPOLLIN, .data.fd = fd }, found;
	struct pollfd polled = { .fd = fd, .events = POLLIN | POLLRDNORM | POLLOUT };
	struct timeval now = { 0, 0 };
	char message[64];
	fd_set readable;

	CHECK_EQ(epoll_ctl(set, EPOLL_CTL_ADD, fd, &wanted), 0);
	CHECK_EQ(epoll_wait(set, &found, 1, 0), 0);
	CHECK_EQ(poll(&polled, 1, 0), 0);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(cycles(1), 0);
		CHECK_EQ(pfm_restart(fd), 0);
		CHECK_EQ(waiting(fd), 64 * (i + 1));
	}
	for (int i = 3; i > 0; i--) {
		FD_ZERO(&readable);
		FD_SET(fd, &readable);
		CHECK_EQ(select(fd + 1, &readable, NULL, NULL, &now), 1);
		CHECK(FD_ISSET(fd, &readable));
		CHECK_EQ(poll(&polled, 1, -1), 1);
		CHECK_EQ(polled.revents, POLLIN | POLLRDNORM);
		CHECK_EQ(epoll_wait(set, &found, 1, -1), 1);
		CHECK_EQ(found.data.fd, fd);
		CHECK_EQ(found.events, EPOLLIN);
		CHECK_EQ(read(fd, message, sizeof(message)), 64);
		CHECK_EQ(waiting(fd), 64 * (i - 1));
	}
	FD_ZERO(&readable);
	FD_SET(fd, &readable);
	CHECK_EQ(select(fd + 1, &readable, NULL, NULL, &now), 0);
	CHECK_EQ(epoll_wait(set, &found, 1, 0), 0);
	close(set);
	close(fd);
}

/* A message at a time, whatever room there is; a bad address loses none but that one. */
static void
reading(void)
{
	void *read_only = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const int fd = started(0);
	char room[256];

	for (int i = 0; i < 3; i++) {
		CHECK_EQ(cycles(1), 0);
		CHECK_EQ(pfm_restart(fd), 0);
	}
	memset(room, 0x55, sizeof(room));
	CHECK_EQ(read(fd, room, sizeof(room)), 64);
	CHECK_EQ(room[64], 0x55);
	CHECK_ERRNO((int)read(fd, read_only, 64), EFAULT);
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	CHECK_EQ(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	CHECK_EQ(read(fd, room, sizeof(room)), 64);
	CHECK_ERRNO((int)write(fd, room, 64), EBADF);
	CHECK_ERRNO((int)lseek(fd, 0, SEEK_END), ESPIPE);
	CHECK_ERRNO(isatty(fd) - 1, ENOTTY); /* no other device either */
	munmap(read_only, 4096);
	close(fd);
}

static void
on_alarm(int number)
{
	const struct itimerval again = { .it_value = { .tv_usec = 20000 } };

	(void)number;
	if (++alarms < 3)
		setitimer(ITIMER_REAL, &again, NULL);
	else if (context >= 0) { /* what the reader waits for happens here */
		cycles(1);
		context = -1;
	}
}

/* A signal ends a read that waits, or, with SA_RESTART, it goes on until there is a message. */
static void
interrupted(int flags)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = flags };
	const struct itimerval soon = { .it_value = { .tv_usec = 20000 } };
	const int fd = started(0);
	char message[64];

	CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
	alarms = 0;
	context = fd;
	CHECK_EQ(setitimer(ITIMER_REAL, &soon, NULL), 0);
	if (flags) {
		CHECK_EQ(read(fd, message, sizeof(message)), 64);
		CHECK_EQ(alarms, 3);
	} else {
		CHECK_ERRNO((int)read(fd, message, sizeof(message)), EINTR);
		while (read(fd, message, sizeof(message)) < 0 && errno == EINTR)
			;
		CHECK_EQ(alarms, 3);
	}
	close(fd);
}

static void
on_signal(int number, siginfo_t *info, void *unused)
{
	(void)number;
	(void)unused;
	CHECK_EQ(info->si_fd, context);
	CHECK_EQ(pfm_stop(context), 0); /* any call */
	CHECK_EQ(write_pmd(context, 5, 55, 0), 0);
	CHECK_EQ(read_pmd(context, 5), 55);
	CHECK(info_of(context, 0).set_runs > 0);
	CHECK_EQ(pfm_start(context, NULL), 0);
	CHECK_EQ(pfm_restart(context), 0);
	signals++;
}

/* The queue has eight places; the ninth notification is lost, with its signal, and nothing restarts it. */
static void
full(void)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	const int fd = started(0);
	char message[64];

	CHECK_EQ(sigaction(SIGUSR2, &action, NULL), 0);
	context = fd;
	signals = 0;
	CHECK_EQ(fcntl(fd, F_SETSIG, SIGUSR2), 0);
	CHECK_EQ(fcntl(fd, F_SETOWN, getpid()), 0);
	CHECK_EQ(fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK), 0);
	CHECK_EQ(cycles(100), 0);
	CHECK_EQ(signals, 8);
	CHECK_EQ(waiting(fd), 8 * 64);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(read(fd, message, sizeof(message)), 64);
	CHECK_ERRNO(pfm_restart(fd), EBUSY); /* also when there is place again */
	CHECK_EQ(pfm_unload_context(fd), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(write_pmd(fd, 4, (uint64_t)-1, PFM_REGFL_OVFL_NOTIFY), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(signals, 9);
	close(fd);
}

/* A blocked signal waits; it comes when it is let through, and says which context. */
static void
blocked(void)
{
	const int fd = started(PFM_FL_OVFL_NO_MSG);
	sigset_t set;

	context = fd;
	signals = 0;
	CHECK_EQ(fcntl(fd, F_SETSIG, SIGUSR2), 0);
	CHECK_EQ(fcntl(fd, F_SETOWN, getpid()), 0);
	CHECK_EQ(fcntl(fd, F_SETFL, O_ASYNC), 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(signals, 0);
	CHECK_EQ(waiting(fd), 0);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	CHECK_EQ(signals, 1);
	close(fd);
}

/* Another number, a child, a socket: the same context, until the last one is closed. */
static void
same_context(void)
{
	const int fd = started(0), copy = dup2(fd, 100), high = fcntl(fd, F_DUPFD_CLOEXEC, 200);
	int ends[2], go[2];
	char byte;
	pid_t child;

	close(fd);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(waiting(copy), 64);
	CHECK_EQ(pfm_restart(high), 0);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) | pipe(go), 0);
	child = fork();
	if (child == 0) {
		char message[64];

		check_failures = 0;
		CHECK_EQ(read(go[0], &byte, 1), 1);
		CHECK_EQ(read(high, message, sizeof(message)), 64);
		CHECK_EQ(info_of(copy, 0).set_runs, 1);
		check_exit(check_failures);
	}
	CHECK_EQ(write(go[1], "", 1), 1);
	CHECK_EQ(wait_for(child), 0);
	CHECK_EQ(waiting(copy), 0);
	close(copy);
	CHECK_EQ(pfm_stop(high), 0);
	close(high);
	CHECK_ERRNO(pfm_stop(high), EBADF);
	CHECK_EQ(load(create(0), self_id()), 0); /* nothing keeps the thread */
	for (int i = 0; i < 2; i++) {
		close(ends[i]);
		close(go[i]);
	}
}

/* A child keeps a context open, but what it is loaded on is the parent's thread. */
static void
kept_by_a_child(void)
{
	const int fd = started(0), second = create(0);
	int go[2];
	char byte;
	pid_t child;

	CHECK_EQ(pipe(go), 0);
	child = fork();
	if (child == 0) {
		close(go[1]);
		_exit(read(go[0], &byte, 1) != 0);
	}
	close(fd);
	CHECK_ERRNO(load(second, self_id()), EEXIST);
	close(go[1]);
	CHECK_EQ(wait_for(child), 0);
	CHECK_EQ(load(second, self_id()), 0);
	close(second);
	close(go[0]);
}

/* The number of another descriptor of the same file, or of an epoll set after that number; -1: there is none. */
static int
other_number(int fd, const char *kind)
{
	struct stat wanted, st;

	CHECK_EQ(fstat(fd, &wanted), 0);
	for (int number = 3; number < 1024; number++) {
		char path[64], name[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", number);
		if (kind && number > fd && readlink(path, name, sizeof(name) - 1) > 0 && strstr(name, kind))
			return number;
		if (!kind && number != fd && fstat(number, &st) == 0 && st.st_ino == wanted.st_ino &&
		    st.st_dev == wanted.st_dev)
			return number;
	}
	return -1;
}

/* A message does not go into a file that the program has where our end of the pipe was. */
static void
not_our_file(void)
{
	const int fd = started(0), writer = other_number(fd, NULL);
	FILE *own = tmpfile();
	struct stat st;

	CHECK(writer > fd && own);
	CHECK_EQ(dup2(fileno(own), writer), writer);
	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(fstat(writer, &st), 0);
	CHECK_EQ(st.st_size, 0);
	close(writer);
	close(fd);
	fclose(own);
}

/* And an event of the program's own epoll set, where one of ours was, is the program's. */
static void
not_our_epoll(void)
{
	const int fd = started(0), set = other_number(fd, "eventpoll"), own = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u64 = 77 }, got = { 0 };
	int ends[2], another;

	CHECK(set > fd);
	CHECK_EQ(dup2(own, set), set);
	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(write(ends[1], "x", 1), 1);
	CHECK_EQ(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event), 0);
	another = create(0);
	close(another);
	close(create(0));
	CHECK_EQ(epoll_wait(set, &got, 1, 0), 1);
	CHECK_EQ(got.data.u64, 77);
	close(set);
	close(fd);
}

int
main(void)
{
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	readiness();
	reading();
	interrupted(0);
	interrupted(SA_RESTART);
	full();
	blocked();
	IN_CHILD(same_context(););
	kept_by_a_child();
	IN_CHILD(not_our_file(););
	IN_CHILD(not_our_epoll(););
	return check_result();
}
