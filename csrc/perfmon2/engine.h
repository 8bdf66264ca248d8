/*
 * Private: contexts, sets and registers of the perfmon2 engine, and what its files do for each other.
 *
 * A context is in memory that a process shares with its children, and a lock is part of it; its descriptor is the reading
 * end of a pipe, by whose inode it is found.  All functions are called inside engine_enter() and engine_leave(), with the
 * context's lock held, and return 0 or a negative errno value, if nothing else is said.
 */
#ifndef PYPFM_PERFMON2_ENGINE_H
#define PYPFM_PERFMON2_ENGINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "machine.h"
#include "../counting/shared_lock.h"
#include "../pfm3/public.h"

enum { MAX_SETS = 1024, QUEUE_LENGTH = 8, CTL_QUEUE_LENGTH = 31, ARGUMENT_LIMIT = 16384 };

enum state { UNLOADED, LOADED, MASKED };

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
	bool		used;			/* the place is taken */
	bool		switch_at_restart;
	bool		is_refused;		/* its counters had no place on the PMU, or their descriptors are gone */
	uint32_t	changes;		/* of its PMCs, by a process that does not have its events */
	uint32_t	flags;
	uint64_t	timeout, remaining;	/* ns */
	uint64_t	runs, duration, since;	/* since: when it was activated, or its duration brought up to date */
	uint64_t	used_pmcs[PERFMON2_PMC_WORDS];
	uint64_t	used_pmds, ovfl_notify, ovfl_pmds, pending_reset;
	uint64_t	pmcs[PERFMON2_PMCS];
	struct pmd	pmds[PERFMON2_PMDS];
};

struct context;
struct entry;
struct perf;
struct perf_event_attr;
struct backend;

struct context {
	struct shared_lock	lock;
	const struct machine	*machine;
	uint32_t		flags;		/* PFM_FL_... */
	bool			is_system, old_messages;
	bool			is_ctl;		/* made by perfmonctl() */
	int			ctl_fd;		/* number of its descriptor then */
	enum state		state;
	bool			started;
	uint8_t			can_restart;
	pid_t			tid;		/* loaded on this thread; system-wide: of who loaded it */
	pid_t			pid;		/* and its process, */
	uint64_t		birth;		/* and when it began; 0: not known */
	bool			is_self;	/* the thread has loaded it on itself */
	int			cpu;		/* system-wide */
	pid_t			owner;		/* the process that has loaded it, and has its events */
	uint64_t		time_seen;	/* of its thread or CPU: until then its timers have run */
	uint64_t		fraction;	/* model with a rate: events over */
	uint64_t		looked, children;	/* when that was; time of children that had ended when it was loaded */
	uint64_t		random;		/* state of the random numbers */
	size_t			buffer_size;	/* of the sampling buffer; 0: there is none */
	uint16_t		active;		/* place of the set */
	uint16_t		num_sets;
	uint16_t		places;		/* of sets that were ever taken: the first ones */
	uint16_t		order[MAX_SETS];	/* places of the sets, by their numbers */
	struct set		sets[MAX_SETS];	/* pages that are not used take no memory */
};

/* A context as a process has it. */
struct entry {
	struct context	*context;
	int		writer;		/* end of the pipe that messages are written to */
	int		buffer_fd;	/* or -1 */
	void		*buffer;	/* or NULL */
	struct perf	*perf;		/* what its counters are here (perf_backend.c), or NULL */
	dev_t		dev;
	ino_t		ino;
};

static inline struct set *
active_set(struct context *c)
{
	return &c->sets[c->active];
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
	uint64_t	(*clock)(void);		/* ns, of durations and samples */
	int		(*load)(struct entry *e);	/* its thread or CPU is known; it is UNLOADED still */
	void		(*unload)(struct entry *e);	/* it is UNLOADED now */
	void		(*update)(struct entry *e);
	void		(*ended)(struct entry *e);	/* its thread is gone; NULL: nothing is left to count */
	void		(*apply)(struct entry *e);
	/* A PMC of a loaded context has got another value: can it be counted?  If not, it gets the old one back. */
	int		(*take_pmc)(struct entry *e, struct set *set);
	/* What else a counter's PMC becomes as an event of perf_event_open(2); the model has none. */
	int		(*event)(const struct context *c, uint64_t pmc, struct perf_event_attr *attr);
	/* The order in which a set's counters are opened, if it matters; -EBUSY: they cannot count together. */
	int		(*place)(const struct context *c, const struct set *set, uint8_t *counters, unsigned int count);
};

extern const struct backend model_backend, host_backend, raw_backend;

static inline uint64_t
engine_clock(void)
{
	return choice()->backend->clock();
}

/* ---- table.c: the contexts of a process --------------------------------------------------- */

void engine_enter(void);
void engine_leave(void);
bool engine_found_blocked(int signal);	/* by the thread that is inside, before */

/* The context of a descriptor, its lock held and up to date; NULL: it is none's. */
struct entry *entry_find(int fd);
struct entry *entry_find_registers(int fd);	/* for a call that sends no message: it does not need our end of the pipe */
void entry_release(struct entry *e);	/* NULL is nothing to do */

/* The next context of the process, its lock held; at: 0 first.  NULL: there is no more. */
struct entry *entry_next(size_t *at);

/* Make a context with its descriptor; it is locked. */
int entry_create(const struct machine *machine, uint32_t flags, struct entry **made, int *fd);
void entry_destroy(struct entry *e);	/* locked; closes what belongs to it but for the program's descriptor */
/* Give a descriptor of the engine's a number that a program hardly uses, if there is one; it is closed by exec. */
int descriptor_move_up(int fd);

size_t entry_buffers(void);		/* bytes of all sampling buffers of the process */
void entry_reap(void);			/* free contexts that no descriptor is open of; none is locked */

/* ---- session.c: who is monitored, over all processes that share it ------------------------ */

int session_take(const struct context *c, ino_t id);	/* -EEXIST, -EBUSY, -ENOMEM */
void session_drop(ino_t id);
bool session_of_thread(pid_t tid);
bool session_is_own(ino_t id);	/* this process has loaded it */

/* ---- thread.c ------------------------------------------------------------------------------- */

struct thread_state {
	pid_t		pid, tracer;
	char		state;		/* as in /proc */
	uint64_t	birth;
	bool		has_memory;
};

pid_t own_thread(void);
bool thread_is_in_child(void);	/* and nobody has noticed yet: */
void thread_forget(void);	/* it is a thread of its own */
int thread_look(pid_t tid, struct thread_state *state);		/* -ESRCH; others, as -EMFILE: that is not known */
int thread_check(pid_t tid, bool np);				/* may it be monitored: -EPERM, -ESRCH */
bool thread_is_stopped(pid_t tid);				/* by the calling thread's ptrace */
uint64_t thread_time(pid_t tid);				/* ns that it has run */

/* ---- check.c: what calls check before they do anything ------------------------------------ */

enum need { NEEDS_UNLOADED, NEEDS_STOPPED, NEEDS_STOPPED_EVEN_MASKED, NEEDS_NOTHING, NEEDS_ANYTHING };

int check_task(struct context *c, enum need need);

/* ---- values.c ------------------------------------------------------------------------------- */

struct set *set_find(struct context *c, unsigned int id);
int write_pmc(struct entry *e, unsigned int number, unsigned int set, uint32_t flags, uint64_t value);
int write_pmd(struct context *c, const pfarg_pmd_t *from, bool value_only);
void use_pmds(struct context *c, struct set *set, uint64_t pmds);
int set_pmc(struct entry *e, struct set *set, unsigned int number, uint64_t value);	/* what was checked */
bool count_pmd(const struct context *c, struct set *set, unsigned int counter, uint64_t events);	/* true: it overflows */
bool pmd_interrupts(const struct set *set, unsigned int counter);
int read_pmd(struct context *c, unsigned int number, unsigned int set, const struct pmd **found);

/* ---- state.c -------------------------------------------------------------------------------- */

int context_load(struct entry *e, pid_t target, unsigned int set);
int context_bind(struct entry *e, pid_t tid, int cpu, struct set *set);	/* what is left of a load after its checks */
void context_unload(struct entry *e);
int context_start(struct context *c, const unsigned int *set);
int context_stop(struct context *c);
int context_restart(struct entry *e);
void context_ended(struct entry *e);		/* its thread is gone */
void duration_update(struct context *c);

/* ---- sets.c --------------------------------------------------------------------------------- */

struct set *set_make(struct context *c, unsigned int id);	/* NULL: there is no place */
int set_change(struct context *c, unsigned int id, uint32_t flags, uint64_t timeout);
int set_delete(struct context *c, unsigned int id);
void set_switch(struct context *c, struct set *to, bool long_reset);
struct set *set_next(struct context *c);
void set_reload_counts(struct context *c, struct set *set);
void sets_repair(struct context *c);	/* somebody was killed in one of these */

/* ---- overflow.c ----------------------------------------------------------------------------- */

struct where {
	uint64_t	ip, time;
	pid_t		pid, tid;
	int		cpu;
};

void reset_pmds(struct context *c, struct set *set, bool long_reset);
void context_overflow(struct entry *e, uint64_t wrapped, const struct where *where);
void context_resume(struct entry *e);

/* ---- message.c ------------------------------------------------------------------------------ */

bool message_overflow(struct entry *e, unsigned int set, uint64_t pmds, const struct where *where);	/* false: it is full */
void message_end(struct entry *e);
int message_drain(struct entry *e);
void message_owner(const struct entry *e, int fd);	/* a thread that has asked for the signal gets it */
void message_make_long_queue(struct entry *e);	/* as perfmonctl() has it */

/* ---- sample.c: the sampling format ------------------------------------------------------- */

int sample_create_ctl(struct entry *e, const pfm_default_smpl_arg_t *argument);
int sample_create(struct entry *e, const pfm_dfl_smpl_arg_t *argument);
bool sample_record(struct entry *e, unsigned int pmd, const struct where *where);	/* true: the buffer is full */
void sample_restart(struct entry *e);

/*
 * The descriptor of the buffer that mmap() of a context's descriptor with these arguments maps; -1: it is no context's; below
 * that a negative errno value.
 */
int sample_buffer_of(int fd, size_t len, int prot, int flags);

/* ---- timer.c: the timeout of the active set -------------------------------------------------- */

uint64_t monotonic_time(void);
uint64_t timer_time(const struct context *c);	/* that it runs by: of its thread, or the CPU's */
bool timer_runs(struct context *c);
void timer_pass(struct context *c, uint64_t ns);	/* so much time has passed: at the end the next set is active */

/* ---- perf_backend.c: counters are events of perf_event_open(2) ---------------------------------- */

int perf_load(struct entry *e);
void perf_unload(struct entry *e);
void perf_update(struct entry *e);
void perf_apply(struct entry *e);
int perf_take_pmc(struct entry *e, struct set *set);
void perf_forget(struct entry *e);	/* in a child: its parent's events are not its own */

/* 0: it counts at these levels; -ENOTSUP: a level or a field has no counterpart. */
int perf_levels(uint64_t pmc, struct perf_event_attr *attr);

/* raw.c: as the driver of Linux for IA-64 takes a PMC. */
int raw_event(const struct context *c, uint64_t pmc, struct perf_event_attr *attr);
int raw_place(const struct context *c, const struct set *set, uint8_t *counters, unsigned int count);

/* helper.c: a thread that looks after contexts; it ends when nothing is loaded. */
int helper_start(void);		/* -EAGAIN: there can be no thread */
void helper_watch(int fd);	/* it looks when this can be read, */
void helper_forget_fd(int fd);
void helper_wake(void);		/* or now */
void helper_forget(void);	/* in a child */

/* ---- of libpfm (csrc/pfm3) ----------------------------------------------------------------- */

int pfm3_verbose_fd(void);	/* where it prints in verbose mode; -1: nowhere */
int pfm3_pmu_type(void);	/* the current PMU, or what would be found; -1: none */
/* The counters that can count what has a code, and whether a counter alone does: false, there is no such event. */
bool pfm3_event_of_code(int type, unsigned int es, unsigned int umask, uint64_t *counters, bool *is_normal);
bool pfm3_event_code(int type, unsigned int event, unsigned int *es, unsigned int *umask);

#endif /* PYPFM_PERFMON2_ENGINE_H */
