/*
 * Private: a context with its sets and registers, and what changes them: written values, overflows, timeouts.
 *
 * All functions are called inside engine_enter() and engine_leave() (engine.h), and return 0 or a negative errno value, if
 * nothing else is said.
 */
#ifndef PYPFM_PERFMON2_CONTEXT_H
#define PYPFM_PERFMON2_CONTEXT_H

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
	/* Model with a rate: what has passed of its next event; and, of a look, how long it was active, the counters that
	 * overflowed, its runs before. */
	uint64_t	phase, walked, walked_wraps, walked_runs;
};

/* How the end of another thread is seen that a context is loaded on, and its time (task.c). */
struct task {
	int				watched;	/* a pidfd; -1: there is none, */
	struct counting_anchor		anchor;		/* but perhaps an event, which hangs up; */
	uint64_t			asked;		/* or it was looked for then */
	struct counting_group_event	clock;		/* the time that it runs */
};

extern const struct task no_task;

struct perf;

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

/* ---- values.c ------------------------------------------------------------------------------- */

struct set *set_find(struct context *c, unsigned int id);
int write_pmc(struct context *c, unsigned int number, unsigned int set, uint32_t flags, uint64_t value);
int write_pmd(struct context *c, const pfarg_pmd_t *from, bool value_only);
void use_pmds(struct context *c, struct set *set, uint64_t pmds);
int set_pmc(struct context *c, struct set *set, unsigned int number, uint64_t value);	/* what was checked */
bool count_pmd(const struct context *c, struct set *set, unsigned int counter, uint64_t events);	/* true: it overflows */
bool pmd_interrupts(const struct set *set, unsigned int counter);
int read_pmd(struct context *c, unsigned int number, unsigned int set, const struct pmd **found);

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

/* ---- timer.c: the timeout of the active set -------------------------------------------------- */

uint64_t monotonic_time(void);
bool timer_runs(struct context *c);
void timer_pass(struct context *c, uint64_t ns);	/* so much time has passed: at the end the next set is active */

#endif /* PYPFM_PERFMON2_CONTEXT_H */
