/*
 * Private: the engine around contexts: it finds, loads and looks after them; their
 * descriptors and messages, the threads that they are loaded on.
 *
 * A context belongs to the process that has made it; its descriptor is the reading end of a
 * pipe, by whose inode it is found.  All functions are called inside engine_enter() and
 * engine_leave(), and return 0 or a negative errno value, unless stated otherwise.
 */
#ifndef PYPFM_PERFMON2_ENGINE_H
#define PYPFM_PERFMON2_ENGINE_H

#include <pthread.h>

#include "backend.h"
#include "../pfm3/for_perfmon2.h"

/* ---- choice.c: the request in the environment ---------------------------------------------- */

struct choice {
	const struct backend *backend; /* NULL: none, all is off */
	bool is_unreadable;            /* the text is no valid choice */
	uint64_t rate;                 /* of the model: events in a millisecond; 0: none by themselves */
	bool np;                       /* threads need not be stopped */
};

const struct choice *choice(void);
const struct machine *choice_machine(void); /* NULL: there is none, or all is off */
void choice_tell(int loaded);               /* in verbose mode: what counts, or why a load has failed */

/* ---- table.c: the contexts of a process --------------------------------------------------- */

void engine_enter(void);
void engine_leave(void);
bool engine_found_blocked(int signal); /* by the thread that is inside, before */

struct context *context_find(int fd);             /* NULL: there is none */
bool context_has_writer(const struct context *c); /* our end of its pipe, which a message needs */
bool context_has_reader(const struct context *c); /* the program's: the number is still that of the last call */

/*
 * The next context of the process; at: { 0 } first.  NULL: there are no more.  The caller may free it meanwhile, but no
 * other.
 */
struct cursor {
	unsigned int bucket;
	struct context *next;
};
struct context *context_next(struct cursor *at);

int context_create(const struct machine *machine, uint32_t flags, struct context **made, int *fd);
void context_free(struct context *c); /* close what belongs to it, except the program's descriptor */
/* Move a descriptor of the engine's to a number that a program hardly uses, if one is free; exec closes it. */
int descriptor_move_up(int fd);

size_t contexts_buffers(void); /* bytes of all sampling buffers of the process */
void contexts_reap(void);      /* free contexts whose descriptors are all closed */
int contexts_closings(void);   /* readable when there are such contexts; -1: there is no such descriptor */

/* ---- thread.c: the calling thread ------------------------------------------------------------ */

pid_t own_thread(void);
bool thread_is_in_child(void); /* and nobody has noticed yet: */
void thread_forget(void);      /* it is a thread of its own */

/* ---- task.c: the thread that a context is loaded on -------------------------------------------- */

extern const struct task no_task;

uint64_t monotonic_time(void);
void task_begin(struct context *c, bool takes_time);
void task_forget(struct context *c);
bool task_is_watched(const struct context *c); /* a descriptor says when it ends */
bool task_has_ended(struct context *c);
bool task_alarm(struct context *c, uint64_t ns); /* wakes the helper after this run time; false: it must wait */
bool task_time(struct context *c, uint64_t *ns); /* its run time; system-wide: the clock; false: not known */

/* ---- call.c --------------------------------------------------------------------------------- */

int check_thread(pid_t tid); /* another one may be traced, and is stopped by the caller's ptrace: -EPERM, -ESRCH */

/* ---- state.c -------------------------------------------------------------------------------- */

int context_bind(struct context *c, pid_t tid, int cpu, struct set *set); /* the rest of a load after its checks */
void context_unload(struct context *c);
void state_look_at_clock(struct context *c); /* so that changes happen at the present time */

/* The action of a call on one element. */
int state_load(struct context *c, struct request *r);
int state_unload(struct context *c, struct request *r);
int state_detach(struct context *c, struct request *r);
int state_start(struct context *c, struct request *r); /* what is active */
int state_start_set(struct context *c, struct request *r);
int state_stop(struct context *c, struct request *r);
int state_restart(struct context *c, struct request *r);
int state_restart_ctl(struct context *c, struct request *r); /* as perfmonctl() does */
int state_tell_set(struct context *c, struct request *r);
int state_set_pmc(struct context *c, struct set *set, unsigned int number, uint64_t value); /* that was checked */
int state_write_pmc(struct context *c, struct request *r);
int state_write_ctl_pmc(struct context *c, struct request *r);
void context_tell(struct context *c); /* tell the program what the core has noticed */

/*
 * Bring a context up to date before it is looked at; and after that, set its counters to the wanted state and return
 * the ns until the helper must look, for a timer that ends, or for an overflow that masks, notifies or samples.  NEVER:
 * something else announces it.
 */
void context_catch_up(struct context *c);
uint64_t context_settle(struct context *c);

/* ---- message.c ------------------------------------------------------------------------------ */

bool message_overflow(struct context *c, const struct notice *notice); /* false: the queue is full */
void message_end(struct context *c);
int message_drain(struct context *c);
void message_owner(const struct context *c);     /* a thread that has requested the signal receives it */
void message_make_long_queue(struct context *c); /* as perfmonctl() has it */

/* ---- buffer.c: the sampling buffer -------------------------------------------------------- */

int buffer_create(struct context *c, uint64_t size, uint64_t least, uint32_t flags); /* least: bytes, of one sample */
void buffer_free(struct context *c);

/*
 * Return the descriptor of the buffer that mmap() of a context's descriptor with these arguments maps; -1: it is no
 * context's; below that a negative errno value.
 */
int sample_buffer_of(int fd, size_t len, int prot, int flags);

/* ---- helper.c: a thread that looks after contexts; it ends when none is loaded ---------------- */

int helper_start(void);    /* -EAGAIN: no thread can be made */
void helper_watch(int fd); /* have it look when this becomes readable, if it runs */
void helper_forget_fd(int fd);
void helper_wake(void);        /* it looks now */
void helper_plan(uint64_t ns); /* have it look after this time at the latest */
void helper_forget(void);      /* in a child */

#endif /* PYPFM_PERFMON2_ENGINE_H */
