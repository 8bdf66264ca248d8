/*
 * Private: events, what they cost, and what counts them here.
 *
 * The public API (libperfex.c) is one pair of counters; Python's objects have counters of
 * their own.  Functions that can fail answer 0 or a negative errno value.
 */
#ifndef PYPFM_PERFEX_LIBRARY_H
#define PYPFM_PERFEX_LIBRARY_H

#include "public.h"
#ifndef PYPFM_CDEF
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

enum perfex_limit {
	PERFEX_NUM_EVENTS = 32,
	PERFEX_NUM_CPUS = 3,
	PERFEX_LARGEST = 1 << 20	/* bytes of a file */
};

enum perfex_unit { PERFEX_NO_COST, PERFEX_CLKS, PERFEX_NSEC };
enum perfex_quality { PERFEX_EXACT, PERFEX_APPROXIMATE, PERFEX_MODELLED, PERFEX_UNAVAILABLE };

struct perfex_cost {
	enum perfex_unit	unit;
	double			typical, minimum, maximum;
};

struct perfex_event {
	const char		*name;
	int			counter;	/* 0 or 1 */
	struct perfex_cost	cost;
};

/* A processor, generated from csrc/tables/perfex_events.csv and perfex_costs.csv. */
struct perfex_cpu {
	const char			*name;
	const char			*base;	/* of a silicon revision: the cpu */
	const struct perfex_event	*events;
};

/* A way to count an event, from csrc/tables/perfex_perf.csv or a user's file. */
struct perfex_row {
	const char		*cpu;	/* or "": all */
	int			event;
	const char		*perf;	/* perf events, added up with + */
	enum perfex_quality	quality;
};

extern const struct perfex_cpu perfex_cpus[];

/* ---- choose.c: what is counted ---- */

/* The cpu of that name, or of PERFEX_CPU; NULL if there is none. */
const struct perfex_cpu *perfex_cpu_find(const char *name);

/* ---- counter.c: an event of this process ---- */

struct perfex_counter;

/* Open it, at 0 and switched off; -ENODEV: it cannot be counted here. */
int perfex_counter_open(const char *cpu, int event, const char *perf_table, struct perfex_counter **counter);
int perfex_counter_start(const struct perfex_counter *counter);
void perfex_counter_stop(const struct perfex_counter *counter);
int perfex_counter_read(const struct perfex_counter *counter, uint64_t *count);
void perfex_counter_close(struct perfex_counter *counter);	/* NULL is no counter */

/* ---- map.c ---- */

/* Type and config of the perf event whose name has that many bytes; -EINVAL. */
int perfex_term(const char *name, size_t size, uint32_t *type, uint64_t *config);

/* ---- costs.c ---- */

/* The costs of all events that a file gives; PERFEX_NO_COST for the others. */
int perfex_costs_read(const char *path, struct perfex_cost *found);

#ifndef PYPFM_CDEF

/* The same of the system's file, which need not be there. */
int perfex_costs_read_system(struct perfex_cost found[PERFEX_NUM_EVENTS]);

/* Put costs in the place of others. */
void perfex_costs_override(struct perfex_cost costs[PERFEX_NUM_EVENTS],
			   const struct perfex_cost by[PERFEX_NUM_EVENTS]);

extern const struct perfex_row perfex_shipped_rows[];
extern const size_t perfex_num_shipped_rows;

/* What the environment makes of the events that a program gives. */
struct perfex_choice {
	const struct perfex_cpu	*cpu;
	int			events[2];
};

/* -EINVAL: conflicting counters, no such event, no such cpu. */
int perfex_choose(int e0, int e1, struct perfex_choice *choice);

/* A number above 0 in PERFEX_CLOCK, or the cpu's default; *given: which. */
int perfex_clock(const struct perfex_cpu *cpu, double *clock, bool *given);

/* A variable of the environment; NULL if it is not set or empty. */
const char *perfex_environment(const char *name);

/* text.c: files of a user.  A file of UTF-8 text, with a NUL behind it; to be freed. */
int perfex_read_file(const char *path, char **text, size_t *size);

/* A character at a place before the end, and its number of bytes: 0 if it is no UTF-8. */
size_t perfex_character(const char *at, const char *end, uint32_t *code);

/* An event number of at most 9 digits; -1 if it is none. */
int perfex_event_number(const char *text, size_t size);

/* A number with a point, of at most that many digits before and behind it; -1 if it is none. */
double perfex_decimal(const char *text, size_t size, size_t digits);

/* Numbers are written with a point whatever the program's locale. */
void *perfex_locale_begin(void);
void perfex_locale_end(void *before);

/* map.c: the rows that count events. */
struct perfex_map {
	const struct perfex_row	*rows;
	size_t			count;
	struct perfex_row	*own;	/* of a user's file, */
	char			*text;	/* and its text */
};

/* The user's, or PERFEX_PERF_TABLE's, or the shipped one. */
int perfex_map_load(const char *path, struct perfex_map *map);
void perfex_map_free(struct perfex_map *map);

enum perfex_quality perfex_counter_quality(const struct perfex_counter *counter);

/* The same as perfex_counter_open(), with a map that is loaded. */
int perfex_counter_open_mapped(const struct perfex_cpu *cpu, int event, const struct perfex_map *map,
			       struct perfex_counter **counter);

/* print.c: counts to stderr.  costs: in effect, or NULL: no times. */
int perfex_print(const struct perfex_choice *choice, const long long counts[2], const struct perfex_cost *costs);

#endif /* PYPFM_CDEF */
#endif /* PYPFM_PERFEX_LIBRARY_H */
