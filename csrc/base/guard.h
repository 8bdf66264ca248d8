/*
 * Private: one call of a library at a time.
 *
 * Inside, the thread is not cancelled and runs no signal handler: either could leave the lock held
 * for good, the second by fork().
 */
#ifndef PYPFM_BASE_GUARD_H
#define PYPFM_BASE_GUARD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct guard {
	pthread_mutex_t lock;
	sigset_t signals; /* of the thread inside, */
	int cancel;       /* and whether it could be cancelled */
	bool forks;       /* the handlers of fork() are registered */
};

#define GUARD_INITIALIZER { .lock = PTHREAD_MUTEX_INITIALIZER }

void guard_enter(struct guard *guard);
void guard_leave(struct guard *guard);

/* Called in a child of one thread whose fork() did not run the handlers. */
void guard_renew(struct guard *guard);

/*
 * Called inside: let fork() enter and leave, so that a child finds the state between two calls.  A child is inside when
 * its handler begins, and must leave.  0, or -ENOMEM: the next call tries again.
 */
int guard_fork(struct guard *guard, void (*enter)(void), void (*leave)(void), void (*in_child)(void));

/*
 * Keep the thread from being cancelled, outside of a lock, while it has a file open or memory.  Returns the state
 * before.
 */
int guard_hold(void);

/* Restore the state; errno stays. */
void guard_release(int before);

#endif /* PYPFM_BASE_GUARD_H */
