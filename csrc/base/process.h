/*
 * Private: other threads: whether they live, which process they belong to, who may trace
 * them.
 *
 * By system calls, which need no /proc; only where these are forbidden /proc is read, if it
 * is that of the caller's PID namespace.  Nothing is allocated: a signal handler may call
 * any of these functions.
 */
#ifndef PYPFM_BASE_PROCESS_H
#define PYPFM_BASE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Check that a thread exists now: 0, -ESRCH. */
int process_look(pid_t tid);

/* A descriptor that can be read when a thread has ended (Linux 5.3; not a process's first one: 6.9); -ENOSYS, -EMFILE, ... */
int process_watch(pid_t tid);
void process_unwatch(int watched); /* -1, and another file of that number, are left alone */

/*
 * Tell whether a thread has ended.  watched: such a descriptor, which the program may have closed, or -1.  A zombie has
 * ended; without a descriptor only a child is known to be one.  False: it lives, or that is not known.
 */
bool process_has_ended(pid_t tid, int watched);

/* The process of a thread; the thread's own number if it is no first thread of a process and no /proc tells. */
pid_t process_of(pid_t tid);

/* Check that the caller may trace a thread: -EPERM, also for one without memory; -ESRCH: there is none. */
int process_may_trace(pid_t tid);

/* Whether a thread is stopped by the calling thread's ptrace(2); or by anything, as far as /proc says. */
bool process_is_stopped_here(pid_t tid);
bool process_is_stopped(pid_t tid);

/*
 * Read from a status file of /proc the number of its thread in that thread's own namespace; return the number of
 * namespaces in which it has a number: 1: those of this /proc are the thread's own.  0: a kernel without namespaces.
 * Or a negative errno value.
 */
int process_own_number(const char *status, pid_t *number);

#endif /* PYPFM_BASE_PROCESS_H */
