/*
 * Private: the core: a context with its sets and registers, and what changes it: written
 * values, events, overflows, time.
 *
 * The core has no clock, no lock, no file and no back end.  It is told what has happened and
 * when (context.now), and says what has to be done about it: a notice for the program, how
 * much of a count or of a time is left.  The engine around it (engine.h) does that.  So a
 * test runs it with times of its own (tests/c/perfmon2_core.c).
 *
 * Functions return 0 or a negative errno value, unless stated otherwise.
 */
#ifndef PYPFM_PERFMON2_CONTEXT_H
#define PYPFM_PERFMON2_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "machine.h"
#include "request.h"
#include "../../counting/group.h"

enum { MAX_SETS = 1024 };

#define NEVER UINT64_MAX /* a time that does not come */

enum state { UNLOADED, LOADED, MASKED };

static inline unsigned int
first_bit(uint64_t bits)
{
	return (unsigned int)__builtin_ctzll(bits);
}

/* The numbers of the registers in a bit vector; rest is what is left of it. */
#define EACH_BIT(rest, bits) \
	uint64_t rest = (bits); \
	rest; \
	rest &= rest - 1

/* A data register of a set. */
struct pmd {
	uint64_t value, lval; /* now; as it was last written or reset */
	uint64_t long_reset, short_reset, random_mask;
	uint64_t smpl_pmds, reset_pmds; /* registers to sample, and to reset, at an overflow */
	uint64_t eventid;
	uint64_t swcnt, swref; /* overflows until the set is switched: left, of all */
	uint64_t seed;         /* of random reset values, if perfmonctl() has made the context */
	uint32_t flags;
};

struct set {
	uint16_t id;
	uint16_t at; /* in the list */
	bool switch_at_restart;
	bool is_refused; /* its counters had no room on the PMU, or their descriptors are gone */
	uint32_t flags;
	uint64_t timeout, remaining;    /* ns */
	uint64_t runs, duration, since; /* since: when it was activated, or its duration was last updated */
	uint64_t used_pmcs[PERFMON2_PMC_WORDS];
	uint64_t used_pmds, ovfl_notify, ovfl_pmds, pending_reset;
	uint64_t pmcs[PERFMON2_PMCS];
	struct pmd pmds[PERFMON2_PMDS];
	/*
	 * Model with a rate: the elapsed part of its next event; and, for one look, how long it was active, the
	 * counters that overflowed, its runs before.
	 */
	uint64_t phase, walked, walked_wraps, walked_runs;
};

/* Where a thread was when something happened. */
struct where {
	uint64_t ip, time; /* time: ns, for samples */
	pid_t pid, tid;
	int cpu;
};

/* An overflow to report to the program.  There is at most one: it has masked the context. */
struct notice {
	bool is_there;
	uint16_t set;
	uint64_t pmds;
	struct where where;
};

/* How to notice the end of another thread that a context is loaded on, and to measure its time (task.c). */
struct task {
	int watched;                       /* a pidfd; -1: there is none, */
	struct counting_anchor anchor;     /* but perhaps an event, which hangs up; */
	uint64_t asked;                    /* or it was looked for then */
	struct counting_group_event clock; /* the time that it runs */
	struct counting_anchor alarm;      /* tells when it has run until then, if there is such an event: */
	uint64_t alarm_at;                 /* NEVER: it is stopped */
	bool is_tried;                     /* and whether there is was found out; */
	bool is_coarse;                    /* it misses what happens in the kernel */
};

struct perf;

struct context {
	/* ---- the core's ---- */
	const struct machine *machine;
	uint32_t flags; /* PFM_FL_... */
	bool is_system;
	bool is_ctl; /* made by perfmonctl() */
	enum state state;
	bool started;
	uint8_t can_restart;
	uint64_t now;      /* ns run by its thread; system-wide: the clock; all before is done */
	uint64_t rate;     /* model: events in a millisecond; 0: none by themselves */
	uint64_t fraction; /* the elapsed part of the next nanosecond, in units (rate.c) */
	uint64_t random;   /* state of the random numbers */
	void *buffer;      /* of samples, or NULL */
	struct notice notice;
	struct set *active;
	uint16_t num_sets;
	struct set *sets[MAX_SETS]; /* by their numbers */

	/* ---- the engine's (engine.h) ------------ */
	struct context *next; /* in the table */
	dev_t dev;            /* of its pipe: */
	ino_t ino;
	int reader;    /* number of the program's end in the last call */
	int writer;    /* the end that messages are written to; -1: of a copy */
	int buffer_fd; /* of the sampling buffer, or -1 */
	size_t buffer_size;
	void *program_buffer; /* where perfmonctl() has mapped it for the program, or NULL */
	bool is_copy;         /* a child's: counts nothing, and cannot be loaded */
	bool old_messages;
	int ctl_fd;      /* number of its descriptor when perfmonctl() made it */
	bool is_behind;  /* model with a rate: a look has left out some of the events */
	bool is_unknown; /* its thread has ended, and its counts are lost */
	pid_t tid;       /* loaded on this thread; system-wide: of who loaded it */
	pid_t pid;       /* and its process */
	bool is_self;    /* the thread has loaded it on itself */
	int cpu;         /* system-wide */
	struct task task;
	uint64_t time_read; /* model with a rate: when a look began */
	struct perf *perf;  /* its counters (perf.h), or NULL */
};

/* ---- values.c ------------------------------------------------------------------------------- */

struct set *set_find(const struct context *c, uint64_t id);
int check_pmc(const struct context *c, const struct set *set, const struct request *r,
	      uint64_t *value); /* what is to be set */
int write_pmd(struct context *c, struct request *r);
int write_pmd_value(struct context *c, struct request *r); /* its attributes do not change */
int read_pmd(struct context *c, struct request *r);
void use_pmds(struct context *c, struct set *set, uint64_t pmds);
void set_pmc(struct set *set, unsigned int number, uint64_t value); /* that was checked */
bool pmd_interrupts(const struct set *set, unsigned int counter);
bool count_pmd(const struct context *c, struct set *set, unsigned int counter,
	       uint64_t events); /* true: it overflows */

/* ---- ctl.c: registers as perfmonctl(2) has them: of the set of the smallest number ------------------ */

struct set *ctl_set(const struct context *c); /* NULL: a call of another version has deleted all of them */
int ctl_check_pmc(const struct context *c, const struct request *r, uint64_t *value);
void ctl_write_attributes(struct context *c, const struct request *r); /* which are given with a PMC that is set */
int ctl_write_pmd(struct context *c, struct request *r);
int ctl_read_pmd(struct context *c, struct request *r);
int ctl_restart(struct context *c, bool is_here);

/* ---- sets.c --------------------------------------------------------------------------------- */

struct set *set_make(struct context *c, unsigned int id); /* NULL: there is no memory, or there are too many */
int set_change(struct context *c, struct request *r);
int set_delete(struct context *c, struct request *r);
int set_tell(struct context *c, struct request *r); /* system-wide: the duration until now */
void set_free(struct context *c, struct set *set);
struct set *set_after(const struct context *c, const struct set *set); /* the set whose turn it is then */
void set_reload_counts(struct context *c, struct set *set);
void set_switch(struct context *c, struct set *to, bool long_reset);

bool timer_runs(const struct context *c);        /* the active set has a timeout, and counts */
void timer_pass(struct context *c, uint64_t ns); /* time has passed: at the end the next set is active */

/* The time of a round, in ns, if timeouts alone switch the sets, and none has a reset to make; else 0. */
uint64_t round_time(const struct context *c);
void round_pass(struct context *c, uint64_t n); /* so many rounds pass; the active set stays */

/*
 * Allocate memory, all 0; NULL: there is none.  Not from the heap: the signal handler of a thread that was interrupted
 * in malloc() may wait for us.
 */
void *private_memory(size_t size);

/* ---- life.c --------------------------------------------------------------------------------- */

int context_begin(struct context *c, const struct machine *machine,
		  uint32_t flags); /* of memory that is 0: it has set 0 */
void context_loaded(struct context *c, struct set *set);
void context_unloaded(struct context *c);
int context_start(struct context *c, const uint64_t *set, bool is_here); /* is_here: by the thread that it counts */
int context_stop(struct context *c);
int context_restart(struct context *c);
void context_resume(struct context *c);
void duration_update(struct context *c); /* until now the active set has counted */
bool context_counts(const struct context *c);

/* ---- overflow.c ----------------------------------------------------------------------------- */

void reset_pmds(struct context *c, struct set *set, bool long_reset);
void context_overflow(struct context *c, uint64_t wrapped, const struct where *where);

/* ---- samples.c: the sampling formats --------------------------------------------------------- */

#define CTL_LEAST_BUFFER PFM_DEFAULT_SMPL_MIN_BUF_SIZE /* bytes */
uint64_t sample_least_buffer(const struct machine *machine);
void sample_begin(struct context *c, uint64_t size, uint32_t flags);                /* in a buffer that is 0 */
bool sample_record(struct context *c, unsigned int pmd, const struct where *where); /* true: the buffer is full */
void sample_restart(struct context *c);

/* ---- events.c, rate.c: the model: events that the program reports, and events by the time that a thread runs ---- */

/* An event that happens, and its privilege levels. */
struct happening {
	bool everything; /* each event */
	unsigned int es, umask, plm;
};

uint64_t events_move(const struct context *c, const struct set *set, const struct happening *h); /* which count it */

/* Let events happen, up to the first overflow: return how many did. */
uint64_t events_step(struct context *c, const struct happening *h, uint64_t count, const struct where *where);

void time_pass(struct context *c, uint64_t ns); /* let the given time pass: timeouts end in their order */

void rate_begin(struct context *c); /* from now on */
/*
 * Let all events until a time happen.  True: a look may not do all of it, and only the part until c->now was done.
 * is_last: do all of it, the rest in the proportions of the first part, without samples.
 */
bool rate_run(struct context *c, uint64_t until, bool is_last, const struct where *where);
uint64_t rate_time_to_next(const struct context *c); /* ns of run time to the next notice or sample; NEVER */

#endif /* PYPFM_PERFMON2_CONTEXT_H */
