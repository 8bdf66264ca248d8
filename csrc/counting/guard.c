/*
 * One call of a library at a time.
 */
#include "guard.h"

#include <stddef.h>

int
guard_hold(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

void
guard_release(int before)
{
	pthread_setcancelstate(before, NULL);
}

void
guard_enter(struct guard *guard)
{
	const int cancel = guard_hold();
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&guard->lock);
	guard->signals = before;
	guard->cancel = cancel;
}

void
guard_leave(struct guard *guard)
{
	const sigset_t before = guard->signals;
	const int cancel = guard->cancel;

	pthread_mutex_unlock(&guard->lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	guard_release(cancel);
}

void
guard_renew(struct guard *guard)
{
	pthread_mutex_init(&guard->lock, NULL);
}

int
guard_fork(struct guard *guard, void (*enter)(void), void (*leave)(void), void (*in_child)(void))
{
	int ret = guard->forks ? 0 : -pthread_atfork(enter, leave, in_child);

	guard->forks = ret == 0;
	return ret;
}
