/*
 * One call of a library at a time.
 */
#include "guard.h"

#include <poll.h>
#include <stddef.h>

/* The signals that exist on all systems: 0, 1 and 2. */
_Static_assert((PTHREAD_CANCEL_DEFERRED | PTHREAD_CANCEL_ASYNCHRONOUS) < 4, "two bits");

/*
 * glibc's pthread_cancel() sends a signal to a thread whose cancellation is asynchronous, and the signal may come late.
 * Its handler does not ask whether cancellation has been disabled meanwhile, and each system call that is a
 * cancellation point makes the thread asynchronous for its time.  At the end of such a call glibc waits for an
 * announced signal: here, where the thread may end, and not inside.
 */
int
guard_hold(void)
{
	int type, state;

	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (type == PTHREAD_CANCEL_ASYNCHRONOUS)
		poll(NULL, 0, 0);
	return 4 * state + type;
}

void
guard_release(int before)
{
	pthread_setcancelstate(before / 4, NULL);
	pthread_setcanceltype(before % 4, NULL);
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
