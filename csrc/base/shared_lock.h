/*
 * Private: locks in memory that processes share.  One that is killed inside does not keep it.
 */
#ifndef PYPFM_BASE_SHARED_LOCK_H
#define PYPFM_BASE_SHARED_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

struct shared_lock {
#if defined(__linux__) || defined(__FreeBSD__)
	pthread_mutex_t mutex;
#else /* no mutexes that outlive their owner */
	pid_t owner; /* 0: nobody */
#endif
};

void shared_lock_make(struct shared_lock *lock);
bool shared_lock_take(struct shared_lock *lock); /* true: its owner was killed; the data may be half changed */
void shared_lock_release(struct shared_lock *lock);

#endif /* PYPFM_BASE_SHARED_LOCK_H */
