/*
 * A thread that looks after loaded contexts: those that count by time or by events of the kernel, and those of other
 * threads, whose end is a message.
 */
#include "engine.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define MS		1000000		/* ns */
#define SHORTEST	50000		/* ns: a timer that is late anyway does not take the processor */

static bool is_running;
static int watched = -1, waker = -1;	/* an epoll set, and an eventfd in it; -1: there is none */

static void
watch(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	epoll_ctl(watched, EPOLL_CTL_ADD, fd, &event);
}

/* For what perf_event_open(2) counts; without them the thread looks at each tick. */
static void
open_watched(void)
{
	const int set = epoll_create1(EPOLL_CLOEXEC), event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (set >= 0 && event >= 0) {
		watched = descriptor_move_up(set);
		waker = descriptor_move_up(event);
		watch(waker);
		return;
	}
	if (set >= 0)
		close(set);
	if (event >= 0)
		close(event);
}

/* The program may have closed them, and have their numbers for files of its own. */
static bool
are_ours(void)
{
	struct epoll_event event = { .events = EPOLLIN };

	return watched >= 0 && waker >= 0 && epoll_ctl(watched, EPOLL_CTL_MOD, waker, &event) == 0;
}

static void
close_watched(void)
{
	if (are_ours()) {
		close(watched);
		close(waker);
	}
	watched = waker = -1;
}

void
helper_watch(int fd)
{
	if (watched < 0)
		open_watched();
	if (watched >= 0)
		watch(fd);
}

void
helper_forget_fd(int fd)
{
	if (watched >= 0 && fd >= 0)
		epoll_ctl(watched, EPOLL_CTL_DEL, fd, NULL);
}

void
helper_wake(void)
{
	const uint64_t one = 1;

	if (are_ours() && write(waker, &one, sizeof(one)) < 0)
		return;		/* it is awake */
}

/* When to look next at what nothing else tells of: other processes, threads that have ended, the model's events. */
static uint64_t
tick(void)
{
	return choice()->rate || watched < 0 ? MS : 10 * MS;
}

/* Look at each context, which brings it up to date: the time to the next look; 0: nothing is loaded. */
static uint64_t
look_at_all(void)
{
	uint64_t wait = 0;
	struct entry *e;
	size_t at = 0;

	while ((e = entry_next(&at))) {
		struct context *c = e->context;

		if (c->state != UNLOADED && wait == 0)
			wait = tick();
		if (timer_runs(c) && active_set(c)->remaining < wait)
			wait = active_set(c)->remaining > SHORTEST ? active_set(c)->remaining : SHORTEST;
		entry_release(e);
	}
	return wait;
}

static void
sleep_or_wake(int set, uint64_t ns)
{
	const struct timespec wait = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	struct pollfd fd = { .fd = set, .events = POLLIN };

	ppoll(&fd, 1, &wait, NULL);
}

/* Under the lock: what has waked it is taken; the next look. */
static uint64_t
look(void)
{
	uint64_t count, wait;

	if (watched >= 0 && !are_ours())
		watched = waker = -1;
	if (waker >= 0 && read(waker, &count, sizeof(count)) < 0)
		count = 0;	/* another one has */
	entry_reap();
	wait = look_at_all();
	is_running = wait != 0;
	if (!is_running)
		close_watched();
	return wait;
}

static void *
help(void *unused)
{
	uint64_t wait = MS;
	int set = -1;

	while (wait) {
		sleep_or_wake(set, wait);
		engine_enter();
		wait = look();
		set = watched;
		engine_leave();
	}
	return unused;
}

/* All signals are blocked here, and so they are in the thread. */
int
helper_start(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (is_running)
		return 0;
	if (pthread_attr_init(&attributes) != 0)
		return -ENOMEM;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	is_running = pthread_create(&thread, &attributes, help, NULL) == 0;
	pthread_attr_destroy(&attributes);
	return is_running ? 0 : -EAGAIN;
}

void
helper_forget(void)
{
	is_running = false;
	close_watched();
}
