/*
 * Locks in memory that processes share.
 */
#include "shared_lock.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#if defined(__linux__) || defined(__FreeBSD__)

void
shared_lock_make(struct shared_lock *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&lock->mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

bool
shared_lock_take(struct shared_lock *lock)
{
	const bool died = pthread_mutex_lock(&lock->mutex) == EOWNERDEAD;

	if (died)
		pthread_mutex_consistent(&lock->mutex);
	return died;
}

void
shared_lock_release(struct shared_lock *lock)
{
	pthread_mutex_unlock(&lock->mutex);
}

#else

void
shared_lock_make(struct shared_lock *lock)
{
	lock->owner = 0;
}

bool
shared_lock_take(struct shared_lock *lock)
{
	const pid_t self = getpid();

	for (;;) {
		pid_t owner = 0;

		if (__atomic_compare_exchange_n(&lock->owner, &owner, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return false;
		if (owner != self && kill(owner, 0) < 0 && errno == ESRCH &&
		    __atomic_compare_exchange_n(&lock->owner, &owner, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		sched_yield();
	}
}

void
shared_lock_release(struct shared_lock *lock)
{
	__atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
}

#endif
