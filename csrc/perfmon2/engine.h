/*
 * Private: what is around contexts: how they are found, loaded and looked after, their descriptors and messages, the threads that
 * they are loaded on.
 *
 * A context belongs to the process that has made it; its descriptor is the reading end of a pipe, by whose inode it is
 * found.  All functions are called inside engine_enter() and engine_leave(), and return 0 or a negative errno value, if
 * nothing else is said.
 */
#ifndef PYPFM_PERFMON2_ENGINE_H
#define PYPFM_PERFMON2_ENGINE_H

#include <pthread.h>

#include "backend.h"
#include "../pfm3/for_perfmon2.h"

/* ---- choice.c: what the environment asks for ----------------------------------------------- */

struct choice {
	const struct backend	*backend;	/* NULL: all is off */
	bool		is_unreadable;	/* and nobody can have meant that */
	uint64_t	rate;		/* of the model: events in a millisecond; 0: none by themselves */
	bool		np;		/* threads need not be stopped */
};

const struct choice *choice(void);
const struct machine *choice_machine(void);	/* NULL: there is none, or all is off */
void choice_tell(int loaded);	/* in verbose mode: what counts, or why a load has failed */

/* ---- table.c: the contexts of a process --------------------------------------------------- */

void engine_enter(void);
void engine_leave(void);
bool engine_found_blocked(int signal);	/* by the thread that is inside, before */

struct context *context_find(int fd);		/* NULL: it is none's */
bool context_has_writer(const struct context *c);	/* our end of its pipe, which a message needs */
bool context_has_reader(const struct context *c);	/* the program's: the number is still that of the last call */

/* The next context of the process; at: { 0 } first.  NULL: there is no more.  It may be freed meanwhile, another not. */
struct cursor {
	unsigned int	bucket;
	struct context	*next;
};
struct context *context_next(struct cursor *at);

int context_create(const struct machine *machine, uint32_t flags, struct context **made, int *fd);
void context_free(struct context *c);	/* closes what belongs to it but for the program's descriptor */
/* Give a descriptor of the engine's a number that a program hardly uses, if there is one; it is closed by exec. */
int descriptor_move_up(int fd);

size_t contexts_buffers(void);		/* bytes of all sampling buffers of the process */
void contexts_reap(void);		/* free contexts that no descriptor is open of */
int contexts_closings(void);		/* what can be read when there are such; -1: nothing can */

/* ---- thread.c: the calling thread ------------------------------------------------------------ */

pid_t own_thread(void);
bool thread_is_in_child(void);	/* and nobody has noticed yet: */
void thread_forget(void);	/* it is a thread of its own */

/* ---- task.c: the thread that a context is loaded on -------------------------------------------- */

extern const struct task no_task;

uint64_t monotonic_time(void);
void task_begin(struct context *c, bool takes_time);
void task_forget(struct context *c);
bool task_is_watched(const struct context *c);	/* a descriptor says when it ends */
bool task_has_ended(struct context *c);
bool task_alarm(struct context *c, uint64_t ns);	/* the helper looks when it has run so long; false: it has to wait by itself */
bool task_time(struct context *c, uint64_t *ns);	/* that it has run; system-wide: of the clock.  False: that is not known */

/* ---- call.c --------------------------------------------------------------------------------- */

int check_thread(pid_t tid);	/* another one: it may be traced, and is stopped by the caller's ptrace: -EPERM, -ESRCH */

/* ---- state.c -------------------------------------------------------------------------------- */

int context_bind(struct context *c, pid_t tid, int cpu, struct set *set);	/* what is left of a load after its checks */
void context_unload(struct context *c);
void state_look_at_clock(struct context *c);	/* what changes now does so then */

/* What calls do with one element. */
int state_load(struct context *c, struct request *r);
int state_unload(struct context *c, struct request *r);
int state_detach(struct context *c, struct request *r);
int state_start(struct context *c, struct request *r);		/* what is active */
int state_start_set(struct context *c, struct request *r);
int state_stop(struct context *c, struct request *r);
int state_restart(struct context *c, struct request *r);
int state_restart_ctl(struct context *c, struct request *r);	/* as perfmonctl() does */
int state_tell_set(struct context *c, struct request *r);
int state_set_pmc(struct context *c, struct set *set, unsigned int number, uint64_t value);	/* that was checked */
int state_write_pmc(struct context *c, struct request *r);
int state_write_ctl_pmc(struct context *c, struct request *r);
void context_tell(struct context *c);	/* the program, of what the core has noticed */

/*
 * What has happened meanwhile, before a context is looked at; and its counters as they shall be, after that: it returns the ns until the
 * helper has to look, for a timer that ends, for an overflow that masks, is told or sampled.  NEVER where something else tells it.
 */
void context_catch_up(struct context *c);
uint64_t context_settle(struct context *c);

/* ---- message.c ------------------------------------------------------------------------------ */

bool message_overflow(struct context *c, const struct notice *notice);	/* false: the queue is full */
void message_end(struct context *c);
int message_drain(struct context *c);
void message_owner(const struct context *c);	/* a thread that has asked for the signal gets it */
void message_make_long_queue(struct context *c);	/* as perfmonctl() has it */

/* ---- buffer.c: the sampling buffer -------------------------------------------------------- */

int buffer_create(struct context *c, uint64_t size, uint64_t least, uint32_t flags);	/* least: bytes, of one sample */
void buffer_free(struct context *c);

/*
 * The descriptor of the buffer that mmap() of a context's descriptor with these arguments maps; -1: it is no context's; below
 * that a negative errno value.
 */
int sample_buffer_of(int fd, size_t len, int prot, int flags);

/* ---- helper.c: a thread that looks after contexts; it ends when nothing is loaded ------------- */

int helper_start(void);		/* -EAGAIN: there can be no thread */
void helper_watch(int fd);	/* it looks when this can be read, if it runs */
void helper_forget_fd(int fd);
void helper_wake(void);		/* it looks now */
void helper_plan(uint64_t ns);	/* in so much time at the latest */
void helper_forget(void);	/* in a child */

#endif /* PYPFM_PERFMON2_ENGINE_H */
