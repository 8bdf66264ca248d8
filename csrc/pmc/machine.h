/*
 * Private: a machine, its counters in one process, and the back end that counts.
 *
 * The public API (pmc.c) is pmc_state_control() and pmc_state_get_info() applied to the
 * state of the machine that PMC_MACHINE names; Python's objects have states of their own.
 */
#ifndef PYPFM_PMC_MACHINE_H
#define PYPFM_PMC_MACHINE_H

#include "public.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../base/copy.h"
#include "../counting/set.h"

#define PMC_MAX_COUNTERS 8

/* The further columns of an event in its table. */
struct pmc_row {
	uint32_t counters; /* mask of the counters that can count it */
	uint32_t type;     /* perf_event type and config (linux) */
	uint64_t config;
	const char *description;
};

/* The events of a machine, generated from csrc/tables/pmc_<machine>_events.csv. */
struct pmc_table {
	const struct pmc_event *events; /* ended by NULL */
	const struct pmc_row *rows;
	size_t count;
};

struct pmc_backend;

/* A kind of machine. */
struct pmc_machine {
	const char *name; /* PMC_MACHINE */
	int class_id;
	const char *class_name;
	const char *cycle_name;   /* of its type class_id + 1 */
	const char *counter_name; /* of its type class_id + 2 */
	int num_counters;
	bool cycle_counter; /* counter 0 counts clocks only */
	unsigned int width; /* bits of a counter */
	bool interrupts;    /* on overflow: can profile */
	bool clocks;        /* 0x100 and 0x101 are clocks and 64 of them */
	const struct pmc_table *table;
	const struct pmc_backend *backend;
};

struct pmc_state;

/* Where the machines are. */
const struct pmc_machine *pmc_machine_find(const char *name);
const struct pmc_machine *pmc_machine_at(size_t index);

/* The row of an event, or -1. */
int pmc_machine_event(const struct pmc_machine *machine, pmc_evid_t id);

/* The machine's counters for this process; NULL with errno. */
struct pmc_state *pmc_state_new(const char *machine);
void pmc_state_free(struct pmc_state *state);

/* pmc_control(), pmc_get_info() and pmc_model_advance() on a state. */
int pmc_state_control(struct pmc_state *state, int ctr, int op, void *argp);
int pmc_state_get_info(struct pmc_state *state, int ctr, int op, void *argp);
int pmc_state_advance(struct pmc_state *state, pmc_evid_t id, uint64_t count);

/*
 * How many events of a kind may be advanced at most so that no profiling counter overflows
 * twice; UINT64_MAX if none can.  Python runs its signal handlers between calls only.
 */
uint64_t pmc_state_step(struct pmc_state *state, pmc_evid_t id);

/* The state of the machine that PMC_MACHINE names; NULL with errno ENXIO or ENOMEM. */
struct pmc_state *pmc_current(void);

/* The machine of a state. */
const struct pmc_machine *pmc_state_machine(const struct pmc_state *state);

/* A lock on a file; the program may have closed the descriptor, and have it for a file of its own. */
struct pmc_lock {
	int fd; /* or -1 */
	dev_t device;
	ino_t inode;
};

/* One counter of a process. */
struct pmc_counter {
	bool configured;
	bool running;
	int event;                   /* row */
	struct pmc_lock use;         /* says: in use */
	uint64_t clocks;             /* model: clocks that do not make 64 yet */
	struct counting_set *own;    /* linux: this process's threads */
	struct counting_set *family; /* linux: and its child processes */
	uint64_t children;           /* linux: the most that children were seen to have counted */
	uint64_t ended;              /* linux: what children counted in earlier configurations */

	/* profiling */
	bool profiling;
	int profile_event; /* row */
	struct pmc_lock profile_lock;
	uint64_t period;              /* ticks between two overflows, at least 1 */
	uint64_t left;                /* model: ticks until the next */
	uint64_t profile_clocks;      /* model: as clocks */
	struct counting_set *sampler; /* linux */
};

enum { PMC_NUM_ACCOUNTS = 4096, PMC_LONGEST_LINEAGE = 64 };

/* Accounts of a process's ancestors, by id, the nearest last. */
struct pmc_lineage {
	size_t depth;
	uint64_t ids[PMC_LONGEST_LINEAGE];
};

struct pmc_process {
	pid_t pid;      /* in the namespace of /proc */
	bool elsewhere; /* which is another one than the process's own: kill() takes other numbers */
	bool ended;
	unsigned long long started; /* tells it from a later process with that pid; 0: not known */
};

/* The counts of a process with a model, in memory that it shares with its parent. */
struct pmc_account {
	uint64_t id; /* never used again when the process has ended; 0: the place is free */
	struct pmc_process process;
	struct pmc_lineage ancestors;
	bool lost; /* a descendant found no place: what they counted is not known */
	uint64_t own[PMC_MAX_COUNTERS];
	uint64_t descendants[PMC_MAX_COUNTERS];
};

struct pmc_state {
	const struct pmc_machine *machine;
	struct pmc_counter counters[PMC_MAX_COUNTERS];
	struct pmc_account *account; /* model: of this process, or NULL: it has none yet */
	struct pmc_lineage lineage;  /* model: of a child to come: with this process's account */
	struct pmc_state *next;      /* all states of the process */
};

/*
 * The operations in which counting here and counting by a model differ.  All are called with the lock held and checked
 * arguments; they return 0 or a negative errno value.
 */
struct pmc_backend {
	int (*create)(struct pmc_state *state);
	void (*destroy)(struct pmc_state *state);
	int (*configure)(struct pmc_state *state, int ctr, int event); /* value 0, not running */
	int (*start)(struct pmc_state *state, int ctr);
	void (*stop)(struct pmc_state *state, int ctr);
	int (*value)(struct pmc_state *state, int ctr, uint64_t *value);
	int (*accumulated)(struct pmc_state *state, int ctr, uint64_t *value);
	int (*profile)(struct pmc_state *state, int ctr); /* event and period are set */
	void (*unprofile)(struct pmc_state *state, int ctr);
	void (*in_child)(struct pmc_state *state); /* running counters go on from 0 */
};

extern const struct pmc_backend pmc_model_backend, pmc_linux_backend;
extern const struct pmc_table pmc_linux_table, pmc_xscale_table, pmc_i586_table, pmc_i686_table, pmc_k7_table;

/* One call at a time, without a signal handler in between. */
void pmc_enter(void);
void pmc_leave(void);

/* use.c: which processes use a counter; 0, -EBUSY, or another negative errno value. */
int pmc_use_take(const struct pmc_machine *machine, int ctr, bool alone, struct pmc_lock *lock);
int pmc_use_ask(const struct pmc_machine *machine, int ctr, bool alone); /* could it be taken */
void pmc_use_release(struct pmc_lock *lock);

/* profile.c: SIGPROF comes from counters, not from the interval timer. */
int pmc_profile_begin(void);
void pmc_profile_end(void);
void pmc_profile_forget(void); /* in a child */

/*
 * account.c: counts of a model's processes.  Open an account below a lineage, to which it is added; NULL: there is no
 * place.  Close one of a process without ancestors; the others stay until their process has ended.
 */
struct pmc_account *pmc_account_open(struct pmc_lineage *lineage);
void pmc_account_close(struct pmc_account *account);
void pmc_account_add(struct pmc_account *account, int ctr, uint64_t count);

/* Counts of ended descendants.  0 or -ENOMEM: one found no place, and its counts are not known. */
int pmc_account_ended(const struct pmc_account *account, int ctr, uint64_t *value);

#endif /* PYPFM_PMC_MACHINE_H */
