/*
 * Private: the threads of the calling process.
 */
#ifndef PYPFM_COUNTING_THREADS_H
#define PYPFM_COUNTING_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct counting_threads {
	pid_t *ids; /* as the calling process's own system calls take them */
	size_t count, room;
};

/*
 * List them: the calling thread is always included, and threads of other processes never.  -ENODEV: there are several,
 * and /proc does not list them; -EAGAIN: they changed too often to be listed.
 */
int counting_threads_list(struct counting_threads *threads);

/* Whether all of some threads are among others. */
bool counting_threads_within(const struct counting_threads *some, const struct counting_threads *others);

void counting_threads_free(struct counting_threads *threads);

#endif /* PYPFM_COUNTING_THREADS_H */
