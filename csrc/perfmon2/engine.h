/*
 * Private: contexts, sets and registers of the perfmon2 engine, and what its files do for each other.
 *
 * A context belongs to the process that has made it; its descriptor is the reading end of a pipe, by whose inode it is
 * found.  All functions are called inside engine_enter() and engine_leave(), and return 0 or a negative errno value, if
 * nothing else is said.
 */
#ifndef PYPFM_PERFMON2_ENGINE_H
#define PYPFM_PERFMON2_ENGINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "machine.h"
#include "../counting/group.h"
#include "../pfm3/public.h"

enum { MAX_SETS = 1024, QUEUE_LENGTH = 8, CTL_QUEUE_LENGTH = 31, ARGUMENT_LIMIT = 16384 };

enum state { UNLOADED, LOADED, MASKED };

static inline unsigned int
first_bit(uint64_t bits)
{
	return (unsigned int)__builtin_ctzll(bits);
}

/* The numbers of the registers in a bit vector; rest is what is left of it. */
#define EACH_BIT(rest, bits)	uint64_t rest = (bits); rest; rest &= rest - 1

/* A data register of a set. */
struct pmd {
	uint64_t	value, lval;		/* now; as it was last written or reset */
	uint64_t	long_reset, short_reset, random_mask;
	uint64_t	smpl_pmds, reset_pmds;	/* registers to sample, and to reset, at an overflow */
	uint64_t	eventid;
	uint64_t	swcnt, swref;		/* overflows until the set is switched: left, of all */
	uint64_t	seed;			/* of random reset values, if perfmonctl() has made the context */
	uint32_t	flags;
};

struct set {
	uint16_t	id;
	uint16_t	at;			/* in the list */
	bool		switch_at_restart;
	bool		is_refused;		/* its counters had no place on the PMU, or their descriptors are gone */
	uint32_t	flags;
	uint64_t	timeout, remaining;	/* ns */
	uint64_t	runs, duration, since;	/* since: when it was activated, or its duration brought up to date */
	uint64_t	used_pmcs[PERFMON2_PMC_WORDS];
	uint64_t	used_pmds, ovfl_notify, ovfl_pmds, pending_reset;
	uint64_t	pmcs[PERFMON2_PMCS];
	struct pmd	pmds[PERFMON2_PMDS];
	/* Model with a rate: what has passed of its next event; and, of a look, how long it was active, the counters that overflowed, its runs before. */
	uint64_t	phase, walked, walked_wraps, walked_runs;
};

/* How the end of another thread is seen that a context is loaded on, and its time (task.c). */
struct task {
	int				watched;	/* a pidfd; -1: there is none, */
	struct counting_anchor		anchor;		/* but perhaps an event, which hangs up; */
	uint64_t			asked;		/* or it was looked for then */
	struct counting_group_event	clock;		/* the time that it runs */
};

struct perf;
struct perf_event_attr;
struct backend;

struct context {
	struct context		*next;		/* in the table */
	dev_t			dev;		/* of its pipe: */
	ino_t			ino;
	int			reader;		/* number of the program's end in the last call */
	int			writer;		/* the end that messages are written to; -1: of a copy */
	int			buffer_fd;	/* of the sampling buffer, or -1 */
	void			*buffer;	/* or NULL */
	size_t			buffer_size;
	const struct machine	*machine;
	uint32_t		flags;		/* PFM_FL_... */
	bool			is_copy;	/* a child's: counts nothing, and cannot be loaded */
	bool			is_system, old_messages;
	bool			is_ctl;		/* made by perfmonctl() */
	int			ctl_fd;		/* number of its descriptor then */
	enum state		state;
	bool			started;
	bool			is_behind;	/* model with a rate: a look did not make all that has happened */
	bool			is_unknown;	/* its thread has ended, and nobody knows what it has counted */
	uint8_t			can_restart;
	pid_t			tid;		/* loaded on this thread; system-wide: of who loaded it */
	pid_t			pid;		/* and its process */
	bool			is_self;	/* the thread has loaded it on itself */
	int			cpu;		/* system-wide */
	struct task		task;
	struct perf		*perf;		/* its counters (perf_backend.c), or NULL */
	uint64_t		time_seen;	/* of its thread or CPU: until then its timers have run */
	uint64_t		time_read;	/* model with a rate: when a look began; */
	uint64_t		fraction;	/* what has passed of the next nanosecond, in units */
	uint64_t		random;		/* state of the random numbers */
	struct set		*active;
	uint16_t		num_sets;
	struct set		*sets[MAX_SETS];	/* by their numbers */
};

static inline struct set *
active_set(struct context *c)
{
	return c->active;
}

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

/*
 * What makes the counters of a context move.
 *
 * The engine changes the context in memory, and the back end follows: it brings the registers up to date when a context is
 * locked, and gives the counters the state that the context has when it is released.  So the engine does not know which of
 * its changes concern a counter.
 */
struct backend {
	const char	*name;
	uint64_t	(*clock)(struct context *c);	/* ns, of durations: the time of its thread or CPU */
	int		(*load)(struct context *c);	/* its thread or CPU is known; it is UNLOADED still */
	void		(*unload)(struct context *c);	/* it is UNLOADED now */
	void		(*update)(struct context *c);
	void		(*finish)(struct context *c);	/* before it stops: what an update has left */
	void		(*apply)(struct context *c);
	uint64_t	(*time_to_next)(struct context *c);	/* ns, to the next overflow that nothing tells of; HELPER_NEVER */
	/* A PMC of a loaded context has got another value: can it be counted?  If not, it gets the old one back. */
	int		(*take_pmc)(struct context *c, struct set *set);
	/* What else a counter's PMC becomes as an event of perf_event_open(2); the model has none. */
	int		(*event)(const struct context *c, uint64_t pmc, struct perf_event_attr *attr);
	/* The order in which a set's counters are opened, if it matters; -EBUSY: they cannot count together. */
	int		(*place)(const struct context *c, const struct set *set, uint8_t *counters, unsigned int count);
};

extern const struct backend model_backend, host_backend, raw_backend;

/* ---- table.c: the contexts of a process --------------------------------------------------- */

void engine_enter(void);
void engine_leave(void);
bool engine_found_blocked(int signal);	/* by the thread that is inside, before */

/* Memory, all 0; NULL.  Not the heap's: a thread may have been interrupted in malloc(), and wait for us in its signal handler. */
void *engine_memory(size_t size);

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

void task_begin(struct context *c, bool takes_time);
void task_forget(struct context *c);
bool task_is_watched(const struct context *c);	/* a descriptor says when it ends */
bool task_has_ended(struct context *c);
bool task_time(struct context *c, uint64_t *ns);	/* that it has run; system-wide: of the clock.  False: that is not known */

/* ---- check.c: what calls check before they do anything ------------------------------------ */

enum need { NEEDS_UNLOADED, NEEDS_STOPPED, NEEDS_STOPPED_EVEN_MASKED, NEEDS_NOTHING, NEEDS_ANYTHING };

int check_task(struct context *c, enum need need);
int check_thread(pid_t tid);	/* another one: it may be traced, and is stopped by the caller's ptrace: -EPERM, -ESRCH */

/* ---- values.c ------------------------------------------------------------------------------- */

struct set *set_find(struct context *c, unsigned int id);
int write_pmc(struct context *c, unsigned int number, unsigned int set, uint32_t flags, uint64_t value);
int write_pmd(struct context *c, const pfarg_pmd_t *from, bool value_only);
void use_pmds(struct context *c, struct set *set, uint64_t pmds);
int set_pmc(struct context *c, struct set *set, unsigned int number, uint64_t value);	/* what was checked */
bool count_pmd(const struct context *c, struct set *set, unsigned int counter, uint64_t events);	/* true: it overflows */
bool pmd_interrupts(const struct set *set, unsigned int counter);
int read_pmd(struct context *c, unsigned int number, unsigned int set, const struct pmd **found);

/* ---- state.c -------------------------------------------------------------------------------- */

int context_load(struct context *c, pid_t target, unsigned int set);
int context_bind(struct context *c, pid_t tid, int cpu, struct set *set);	/* what is left of a load after its checks */
void context_unload(struct context *c);
int context_start(struct context *c, const unsigned int *set);
int context_stop(struct context *c);
int context_restart(struct context *c);
void duration_update(struct context *c);

/* What has happened meanwhile, before a context is looked at; and its counters as they shall be, after that. */
void context_catch_up(struct context *c);
void context_settle(struct context *c);
/* The time, in ns, to the next event that is seen without a call: a timer ends, an overflow masks, is told or sampled. */
uint64_t context_time_to_next(struct context *c);

/* ---- sets.c --------------------------------------------------------------------------------- */

struct set *set_make(struct context *c, unsigned int id);	/* NULL: there is no place */
int set_change(struct context *c, unsigned int id, uint32_t flags, uint64_t timeout);
int set_delete(struct context *c, unsigned int id);
void set_switch(struct context *c, struct set *to, bool long_reset);
struct set *set_next(struct context *c);
void set_reload_counts(struct context *c, struct set *set);
void set_free(struct context *c, struct set *set);

/* ---- overflow.c ----------------------------------------------------------------------------- */

struct where {
	uint64_t	ip, time;
	pid_t		pid, tid;
	int		cpu;
};

void reset_pmds(struct context *c, struct set *set, bool long_reset);
void context_overflow(struct context *c, uint64_t wrapped, const struct where *where);
void context_resume(struct context *c);

/* ---- message.c ------------------------------------------------------------------------------ */

bool message_overflow(struct context *c, unsigned int set, uint64_t pmds, const struct where *where);	/* false: it is full */
void message_end(struct context *c);
int message_drain(struct context *c);
void message_owner(const struct context *c, int fd);	/* a thread that has asked for the signal gets it */
void message_make_long_queue(struct context *c);	/* as perfmonctl() has it */

/* ---- sample.c: the sampling format ------------------------------------------------------- */

int sample_create_ctl(struct context *c, const pfm_default_smpl_arg_t *argument);
int sample_create(struct context *c, const pfm_dfl_smpl_arg_t *argument);
bool sample_record(struct context *c, unsigned int pmd, const struct where *where);	/* true: the buffer is full */
void sample_restart(struct context *c);

/*
 * The descriptor of the buffer that mmap() of a context's descriptor with these arguments maps; -1: it is no context's; below
 * that a negative errno value.
 */
int sample_buffer_of(int fd, size_t len, int prot, int flags);

/* ---- timer.c: the timeout of the active set -------------------------------------------------- */

uint64_t monotonic_time(void);
bool timer_runs(struct context *c);
void timer_pass(struct context *c, uint64_t ns);	/* so much time has passed: at the end the next set is active */

/* ---- perf_backend.c: counters are events of perf_event_open(2) ---------------------------------- */

int perf_load(struct context *c);
void perf_unload(struct context *c);
void perf_update(struct context *c);
uint64_t perf_clock(struct context *c);
uint64_t perf_time_to_next(struct context *c);
void perf_apply(struct context *c);
int perf_take_pmc(struct context *c, struct set *set);
void perf_forget(struct context *c);	/* in a child: its parent's events are not its own */

/* 0: it counts at these levels; -ENOTSUP: a level or a field has no counterpart. */
int perf_levels(uint64_t pmc, struct perf_event_attr *attr);

/* raw.c: as the driver of Linux for IA-64 takes a PMC. */
int raw_event(const struct context *c, uint64_t pmc, struct perf_event_attr *attr);
int raw_place(const struct context *c, const struct set *set, uint8_t *counters, unsigned int count);

/* ---- helper.c: a thread that looks after contexts; it ends when nothing is loaded ------------- */

#define HELPER_NEVER	UINT64_MAX

int helper_start(void);		/* -EAGAIN: there can be no thread */
void helper_watch(int fd);	/* it looks when this can be read, if it runs */
void helper_forget_fd(int fd);
void helper_wake(void);		/* it looks now */
void helper_plan(uint64_t ns);	/* in so much time at the latest */
void helper_forget(void);	/* in a child */

/* ---- of libpfm (csrc/pfm3) ----------------------------------------------------------------- */

int pfm3_verbose_fd(void);	/* where it prints in verbose mode; -1: nowhere */
int pfm3_pmu_type(void);	/* the current PMU, or what would be found; -1: none */
/* The counters that can count what has a code, and whether a counter alone does: false, there is no such event. */
bool pfm3_event_of_code(int type, unsigned int es, unsigned int umask, uint64_t *counters, bool *is_normal);
bool pfm3_event_code(int type, unsigned int event, unsigned int *es, unsigned int *umask);

#endif /* PYPFM_PERFMON2_ENGINE_H */
