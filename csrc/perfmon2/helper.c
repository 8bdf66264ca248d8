/*
 * A thread that looks after loaded contexts: it waits for what the kernel announces
 * (overflows, ends of threads, closed descriptors), and for the time of the next timer or
 * overflow, if that can be seen.
 */
#include "engine.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define SHORTEST 50000 /* ns: a timer that is late anyway may not take the processor */

static bool is_running, is_idle;
static uint64_t planned;             /* the time of its next look */
static int watched = -1, waker = -1; /* an epoll set, and an eventfd in it; -1: there is none */

static void
watch_descriptor(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	epoll_ctl(watched, EPOLL_CTL_ADD, fd, &event);
}

static void
open_watched(void)
{
	const int set = epoll_create1(EPOLL_CLOEXEC), event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (set >= 0 && event >= 0) {
		watched = descriptor_move_up(set);
		waker = descriptor_move_up(event);
		watch_descriptor(waker);
		if (contexts_closings() >= 0)
			watch_descriptor(contexts_closings());
		return;
	}
	if (set >= 0)
		close(set);
	if (event >= 0)
		close(event);
}

/* The program may have closed them, and reused their numbers for files of its own. */
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
	if (fd >= 0 && are_ours())
		watch_descriptor(fd);
}

void
helper_forget_fd(int fd)
{
	if (fd >= 0 && are_ours())
		epoll_ctl(watched, EPOLL_CTL_DEL, fd, NULL);
}

void
helper_wake(void)
{
	const uint64_t one = 1;

	if (is_running && are_ours() && write(waker, &one, sizeof(one)) < 0)
		return; /* it is awake */
}

/* Set the timer to this many ns from now; NEVER: not before the clock ends. */
static uint64_t
when(uint64_t ns)
{
	const uint64_t now = monotonic_time();

	return ns < NEVER - now ? now + ns : NEVER;
}

void
helper_plan(uint64_t ns)
{
	if (is_running && ns < NEVER && when(ns) < planned)
		helper_wake();
}

/*
 * Look at a context, which brings it up to date, and return the time to the next look.  Nothing announces the end of a
 * thread without a descriptor.
 */
static uint64_t
look_at(struct context *c)
{
	uint64_t ns;

	context_catch_up(c);
	ns = context_settle(c);
	if (c->state == UNLOADED || c->is_copy)
		return NEVER;
	if (watched < 0 || contexts_closings() < 0 || (!c->is_self && !c->is_system && !task_is_watched(c)))
		ns = ns < BETWEEN_LOOKS ? ns : BETWEEN_LOOKS;
	return ns < SHORTEST ? SHORTEST : ns;
}

static uint64_t
look_at_all(void)
{
	uint64_t wait = NEVER;
	struct cursor at = { 0 };
	bool is_loaded = false;
	struct context *c;

	while ((c = context_next(&at))) {
		const uint64_t ns = look_at(c);

		wait = ns < wait ? ns : wait;
		is_loaded |= c->state != UNLOADED && !c->is_copy;
	}
	is_running = is_loaded || !is_idle;
	is_idle = !is_loaded;
	return is_loaded ? wait : BETWEEN_LOOKS; /* it stays for this long */
}

static void
sleep_or_wake(int set, uint64_t ns)
{
	const struct timespec wait = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	struct pollfd fd = { .fd = set, .events = POLLIN };

	ppoll(&fd, 1, ns < NEVER ? &wait : NULL, NULL);
}

/* Under the lock: take what has waked it, and compute the time of the next look. */
static uint64_t
helper_look(void)
{
	uint64_t count, wait;

	if (watched >= 0 && !are_ours())
		watched = waker = -1;
	if (waker >= 0 && read(waker, &count, sizeof(count)) < 0)
		count = 0; /* another thread has taken over */
	contexts_reap();
	wait = look_at_all();
	planned = when(wait);
	if (!is_running)
		close_watched();
	return wait;
}

static void *
helper_help(void *unused)
{
	bool goes_on = true;
	uint64_t wait = 0;
	int set = -1;

	while (goes_on) {
		sleep_or_wake(set, wait);
		engine_enter();
		wait = helper_look();
		set = watched;
		goes_on = is_running;
		engine_leave();
	}
	return unused;
}

/* All signals are blocked here, and so the thread starts with them blocked. */
int
helper_start(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (is_running)
		return 0;
	open_watched();
	is_idle = false;
	planned = 0;
	if (pthread_attr_init(&attributes) == 0) {
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
		is_running = pthread_create(&thread, &attributes, helper_help, NULL) == 0;
		pthread_attr_destroy(&attributes);
	}
	if (!is_running)
		close_watched();
	return is_running ? 0 : -EAGAIN;
}

void
helper_forget(void)
{
	is_running = false;
	close_watched();
}
