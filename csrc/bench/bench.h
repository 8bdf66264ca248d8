/*
 * pfmtime: how long the functions of one or two libpfm take, next to a floor: the
 * least that any library has to do for the same answer.
 *
 * All subjects of a measure take turns in rounds, in one process, so that what
 * else the machine does hits them alike.
 */
#ifndef PYPFM_BENCH_H
#define PYPFM_BENCH_H

#include <stddef.h>

enum { MAX_LIBRARIES = 2, FLOOR = MAX_LIBRARIES, SUBJECTS, MAX_NAMES = 1024, NAME_SIZE = 80, REASON_SIZE = 120 };

/* Run a measure's calls once: 0, or the return code of a call that failed. */
typedef int (*bench_run)(void *argument);

/* A library that is measured. */
struct candidate {
	void *handle;             /* dlopen() */
	void *functions;          /* its API's structure; the argument of what is run */
	char absent[REASON_SIZE]; /* why nothing can be measured; empty: it can */
	char no_pmu[REASON_SIZE]; /* why nothing of the current PMU can be */
};

/* A subject of timing: a library or the floor. */
struct subject {
	const char *name; /* NULL: there is none */
	bench_run run;
	void *argument;
	char reason[REASON_SIZE]; /* why it cannot be timed; empty: it can */
};

struct measure {
	const char *name;
	const char *pmu;                   /* NULL: of none */
	unsigned int calls;                /* in one run */
	struct subject subjects[SUBJECTS]; /* library, other, floor */
};

struct bench {
	unsigned int rounds;
	unsigned int count; /* of libraries */
	struct candidate libraries[MAX_LIBRARIES];
	unsigned int printed; /* measures */
	double *times;        /* one for each round of each subject */
};

/* A function of a library, and where a pointer to it goes. */
struct bench_function {
	const char *name;
	void *to;
};

/* The names that are looked up. */
extern struct bench_names {
	unsigned int count;
	char names[MAX_NAMES][NAME_SIZE];
} bench_names;

/* Make the compiler believe that all memory is read here. */
static inline void
use(const void *p)
{
	__asm__ volatile("" : : "g"(p) : "memory");
}

/* Copy addresses of a library's functions to where their pointers are; the first that is absent is why it cannot be measured. */
void candidate_load(struct candidate *c, void *functions, const struct bench_function *wanted, size_t count);

/* Say whether the library can be measured with the current PMU. */
int candidate_is_usable(const struct candidate *c);

/* Start a measure with all libraries as its subjects; those that cannot take part have the reason. */
void measure_start(struct measure *m, const struct bench *b, const char *name, const char *pmu, bench_run run,
		   unsigned int calls);

/* Add what the libraries are compared with. */
void measure_floor(struct measure *m, const char *name, bench_run run, void *argument);

/* Add a lookup of all names with hsearch_r(3). */
void measure_hash_floor(struct measure *m);

/* Say why a subject cannot be timed, unless that is said already. */
void subject_fails(struct subject *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Time all subjects that can be, and print the measure. */
void measure_print(struct bench *b, struct measure *m);

/* Measure a call for each name of an event: find by name, and information; a library that names none is told. */
void measure_names(struct bench *b, const char *pmu, bench_run find, const char *information_name,
		   bench_run information);

/* Add a name to those that are looked up; too long a one is cut. */
void bench_add_name(const char *name);

/* Run all measures of an API: pfm3.c (both forms of the structures), pfm4.c. */
void bench_pfm3(struct bench *b);
void bench_pfm3_manual(struct bench *b);
void bench_pfm4(struct bench *b);

#endif /* PYPFM_BENCH_H */
