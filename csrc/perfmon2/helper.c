/*
 * A thread that looks after loaded contexts: those that count by time, and those of other threads, whose end is a message.
 */
#include "engine.h"

#include <errno.h>
#include <time.h>

static bool is_running;

/* Look at each context, which brings it up to date; whether one is loaded. */
static bool
look_at_all(void)
{
	bool is_loaded = false;
	struct entry *e;
	size_t at = 0;

	while ((e = entry_next(&at))) {
		is_loaded |= e->context->state != UNLOADED;
		entry_release(e);
	}
	return is_loaded;
}

static void *
help(void *unused)
{
	static const struct timespec tick = { .tv_nsec = 1000000 };
	bool goes_on = true;

	while (goes_on) {
		nanosleep(&tick, NULL);
		engine_enter();
		entry_reap();
		goes_on = is_running = look_at_all();
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
}
