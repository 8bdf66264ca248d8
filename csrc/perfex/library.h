/*
 * Private: events, their costs, how they are counted here, and how they are printed.
 *
 * The public API (libperfex.c) has one pair of counters; Python's objects have counters of
 * their own, and the command perfex calls the same functions for files and reports.
 * Functions that can fail return 0 or a negative errno value.
 */
#ifndef PYPFM_PERFEX_LIBRARY_H
#define PYPFM_PERFEX_LIBRARY_H

#include "public.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum perfex_limit {
	PERFEX_NUM_EVENTS = 32,
	PERFEX_NUM_CPUS = 3,
	PERFEX_MOST_SUMMANDS = 4,
	PERFEX_NUM_CYCLE_PARTS = 11,
	PERFEX_LARGEST = 1 << 20 /* bytes of a file */
};

enum perfex_unit { PERFEX_NO_COST, PERFEX_CLKS, PERFEX_NSEC };
enum perfex_quality { PERFEX_EXACT, PERFEX_SIMULATED, PERFEX_APPROXIMATE, PERFEX_MODELLED, PERFEX_UNAVAILABLE };

struct perfex_cost {
	enum perfex_unit unit;
	double typical, minimum, maximum;
};

struct perfex_event {
	const char *short_name;
	const char *name;
	const char *description;
	int counter; /* 0 or 1 */
	struct perfex_cost cost;
	const char *unsourced; /* numbers in the cost that have no source yet */
};

/* One of the tool's counts, or a value computed from them, times a number. */
enum { PERFEX_CYCLES = -1, PERFEX_OCCUPANCY = -2 };

struct perfex_summand {
	int count;
	int factor;
};

/* How the tool's counts make an event, from csrc/tables/perfex_valgrind.csv: a sum; an empty one: 0, or unavailable. */
struct perfex_formula {
	enum perfex_quality quality;
	int num_summands;
	struct perfex_summand summands[PERFEX_MOST_SUMMANDS];
};

/* A processor, generated from csrc/tables/perfex_events.csv, perfex_costs.csv and perfex_valgrind.csv. */
struct perfex_cpu {
	const char *name;
	const char *base; /* of a silicon revision: the cpu */
	const struct perfex_event *events;
	const struct perfex_formula *simulated[2]; /* for all threads; where each has a processor */
};

/* A way to count an event, from csrc/tables/perfex_perf.csv or a user's file. */
struct perfex_row {
	const char *cpu; /* or "": all */
	int event;
	const char *perf; /* perf events, added up with +; "0": the count is 0; "": not available */
	enum perfex_quality quality;
	const char *note;
};

/* ---- choose.c: the events to count ---- */

/* The cpu of that name, or of PERFEX_CPU; NULL if there is none. */
const struct perfex_cpu *perfex_cpu_find(const char *name);

/* MHz. */
double perfex_default_clock(const struct perfex_cpu *cpu);

/*
 * Find the events that a user means, one bit each, by number, short name, name, or the beginning of one of these names;
 * upper and lower case, '-', '_' and blanks are all the same.  0: there is none; several bits: it is not clear.
 */
uint32_t perfex_event_matches(const struct perfex_cpu *cpu, const char *text, size_t size);

/* ---- text.c: files of a user, and the numbers in them ---- */

/* An error in the text of a file. */
struct perfex_fault {
	size_t at;      /* its place in the line, as a byte */
	char what[192]; /* {} stands for the word; "": the word is no perf event */
	char word[256]; /* no NUL follows; a longer one is cut off */
	size_t size;
};

/* -EFBIG: longer than a file may be; -EINVAL: not UTF-8. */
int perfex_text_check(const char *text, size_t size, struct perfex_fault *fault);

/* An event number of at most 9 digits; -1 if it is none. */
int perfex_event_number(const char *text, size_t size);

/* ---- map.c: the rows that count events ---- */

struct perfex_map {
	const struct perfex_row *rows;
	size_t count;
	struct perfex_row *own; /* of a user's file, */
	char *text;             /* and their texts */
};

extern const struct perfex_map perfex_shipped_map;

/* Read the rows of a file's text; a NUL follows the text.  The map is to be freed in any case. */
int perfex_map_parse(const char *text, size_t size, struct perfex_map *map, struct perfex_fault *fault);
void perfex_map_free(struct perfex_map *map);

/* Return the cpu whose rows count an event: the cpu's own, or those of all (""). */
const char *perfex_map_owner(const struct perfex_map *map, const struct perfex_cpu *cpu, int event);

/* Return type and config of the perf event whose name has that many bytes; -EINVAL. */
int perfex_term(const char *name, size_t size, uint32_t *type, uint64_t *config);

/* ---- counter.c: an event of this process ---- */

struct perfex_counter;

/*
 * Open it, at 0 and switched off: its perfex_quality; -ENODEV: it cannot be counted here.  Events of the shipped map
 * are simulated where valgrind runs the process.
 */
int perfex_counter_open(const struct perfex_cpu *cpu, int event, const struct perfex_map *map,
			struct perfex_counter **counter);

/* Start and stop several, simulated ones at the same moment. */
int perfex_counters_start(struct perfex_counter *const *counters, int count);
void perfex_counters_stop(struct perfex_counter *const *counters, int count);

/* -EBUSY: others had the counter all the time; simulated: perfex -s has not switched counting on. */
int perfex_counter_read(struct perfex_counter *counter, uint64_t *count);
void perfex_counter_close(struct perfex_counter *counter); /* NULL is no counter */

/* ---- simulated.c: counts of this process by valgrind's tool ------ */

enum perfex_simulator { PERFEX_NATIVE, PERFEX_ONLY_VALGRIND, PERFEX_UNDER_PERFEX }; /* no perfex; perfex's tool */

enum perfex_simulator perfex_simulator(void);

/*
 * Where the program says what is counted (--asked=yes and --regions=yes of the tool): what is to be done, and how many
 * threads and processes this one has made so far (tool/tool.h, REQUEST_REGION).  0: the tool does not run, or not so.
 */
enum perfex_region {
	PERFEX_REGION_LOOK,
	PERFEX_REGION_OFF,
	PERFEX_REGION_ON,
	PERFEX_REGION_CLEAR,
	PERFEX_REGION_START, /* of start_counters() */
	PERFEX_REGION_READ,  /* of read_counters() */
	PERFEX_REGION_NOT_BEGUN,
};

unsigned long perfex_region(enum perfex_region what);

/* As many of the tool's counts as there is room for: what was counted so far.  How many there are; 0: it does not run. */
unsigned int perfex_simulated_counts(uint64_t *counts, unsigned int room);

/* Return whether the tool counts it, and how well. */
bool perfex_is_simulated(const struct perfex_cpu *cpu, int event);
enum perfex_quality perfex_simulated_quality(const struct perfex_cpu *cpu, int event);

/*
 * Compute cycles as a range: if all overlaps that the processor can overlap, and if nothing does.
 *
 * parts: the counts of the events perfex_cycle_parts
 * clock: MHz
 * nsec: the time of a miss of each of them on this host, in place of the built-in costs, or NULL
 */
extern const int perfex_cycle_parts[PERFEX_NUM_CYCLE_PARTS];
void perfex_estimated_cycles(const struct perfex_cpu *cpu, const uint64_t parts[PERFEX_NUM_CYCLE_PARTS], double clock,
			     const double nsec[PERFEX_NUM_CYCLE_PARTS], uint64_t range[2]);

/* ---- costs.c ---- */

/* Read the costs of a text, or of a file; PERFEX_NO_COST for other events. */
int perfex_costs_parse(const char *text, size_t size, struct perfex_cost *found, struct perfex_fault *fault);
int perfex_costs_read(const char *path, struct perfex_cost *found);

/* Typical, minimum and maximum time of that many events; clock: MHz. */
void perfex_seconds(const struct perfex_cost *cost, double count, double clock, double *times);

/* ---- print.c: tables of events, 80 columns wide.  As snprintf(): the size of the text, or negative ---- */

/* Print a row with values to the right of the name; a second one for the rest of a long name and other values. */
int perfex_row(char *text, size_t size, const char *number, const char *name, const char *beside, const char *below);

/* The headings of perfex(1). */
int perfex_head(char *text, size_t size, bool shares, bool times);

/*
 * Print an event.  count, or NULL: not available; share of the time: not below 0; times, or NULL: NAN where not known.
 */
int perfex_line(char *text, size_t size, int event, const char *name, const char *count, const char *quality,
		double share, const double *times);

/* ---- functions that only C uses ---- */

extern const struct perfex_cpu perfex_cpus[];
extern const char *const perfex_quality_names[]; /* of perfex_quality */

/* libperfex.c: one call at a time, and no fork() meanwhile; 0 or -ENOMEM. */
int perfex_enter(void);
void perfex_leave(void);

/* Replace the events that a program gives by those of the environment. */
struct perfex_choice {
	const struct perfex_cpu *cpu;
	int events[2];
};

/* -EINVAL: conflicting counters, no such event, no such cpu. */
int perfex_choose(int e0, int e1, struct perfex_choice *choice);

/* Read PERFEX_CLOCK, a number above 0, or take the cpu's default; *given: which. */
int perfex_clock(const struct perfex_cpu *cpu, double *clock, bool *given);

/* A variable of the environment; NULL if it is not set or empty. */
const char *perfex_environment(const char *name);

/* Read the bytes of a file, or one more than a file may have, with a NUL after them; to be freed. */
int perfex_read_file(const char *path, char **text, size_t *size);

/* Report an error: -EINVAL.  The parser has set the place. */
int perfex_refuse(struct perfex_fault *fault, const char *word, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Read an event number in a file; or report that it is none. */
int perfex_event_in_file(const char *text, size_t size, struct perfex_fault *fault);

/* Decode a character at a place before the end, and return its number of bytes: 0 if it is not UTF-8. */
size_t perfex_character(const char *at, const char *end, uint32_t *code);

/* Read a number with a point, of at most that many digits before and after it; -1 if it is none. */
double perfex_decimal(const char *text, size_t size, size_t digits);

/* Numbers have a point, whatever the program's locale. */
void *perfex_locale_begin(void);
void perfex_locale_end(void *before);

/* The costs of the system's file, which need not be there; and costs in the place of others. */
int perfex_costs_read_system(struct perfex_cost found[PERFEX_NUM_EVENTS]);
void perfex_costs_override(struct perfex_cost costs[PERFEX_NUM_EVENTS], const struct perfex_cost by[PERFEX_NUM_EVENTS]);

/* Read the rows of PERFEX_PERF_TABLE, or the shipped ones. */
int perfex_map_load(struct perfex_map *map);

/* Return how well two events can be counted here. */
struct perfex_quality_here {
	int qualities[2]; /* enum perfex_quality */
	bool is_shipped;  /* the map that comes with the library says so */
};

/* Print counts to stderr.  costs: in effect, or NULL: no times. */
int perfex_print(const struct perfex_choice *choice, const long long counts[2], const struct perfex_quality_here *here,
		 const struct perfex_cost *costs);

#endif /* PYPFM_PERFEX_LIBRARY_H */
