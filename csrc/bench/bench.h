/*
 * pfmtime: how long the functions of one or two libpfm take, next to floors: the
 * least that any library has to do for the same answer.
 *
 * All subjects of a measure take turns in rounds, in one process, so that what
 * else the machine does hits them alike.
 */
#ifndef PYPFM_BENCH_H
#define PYPFM_BENCH_H

#include <search.h>
#include <stddef.h>

enum {
	MAX_LIBRARIES = 2,
	MAX_FLOORS = 2,
	MAX_NAMES = 1024,
	NAME_SIZE = 80,
	REASON_SIZE = 120
};

/* One run of a measure's calls: 0, or the return code of a call that failed. */
typedef int (*bench_run)(void *argument);

/* What is timed: a library or a floor. */
struct subject {
	const char	*name;
	bench_run	run;
	void		*argument;
	char		reason[REASON_SIZE];	/* why it cannot be timed; empty: it can */
};

struct measure {
	const char	*name;
	const char	*pmu;		/* NULL: of none */
	unsigned int	calls;		/* in one run; 0: nothing could be prepared */
	unsigned int	count;		/* of subjects */
	struct subject	subjects[MAX_LIBRARIES + MAX_FLOORS];
};

struct bench {
	unsigned int	rounds;
	unsigned int	count;		/* of libraries */
	void		*libraries[MAX_LIBRARIES];	/* dlopen() */
	unsigned int	printed;	/* measures */
	double		*times;		/* room for all subjects of a measure: one for each round */
};

/* Names to look up, and the same in a hash table of the C library. */
struct names {
	unsigned int		count;
	char			names[MAX_NAMES][NAME_SIZE];
	struct hsearch_data	hash;
};

/* Memory to clear, the least that writing an answer into it costs. */
struct area {
	void	*parts[2];
	size_t	sizes[2];
};

/* Make the compiler believe that all memory is read here. */
static inline void
use(const void *p)
{
	__asm__ volatile ("" : : "g"(p) : "memory");
}

/* ---- measure.c ---- */

/* Start a measure whose first subjects are the libraries. */
void measure_init(struct measure *m, const struct bench *b, const char *name, const char *pmu, unsigned int calls);

/* Add what a library is compared with. */
void measure_floor(struct measure *m, const char *name, bench_run run, void *argument);

/* Say why a subject cannot be timed, unless that is said already. */
void subject_fails(struct subject *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Time all subjects that can be, and print the measure. */
void measure_print(struct bench *b, struct measure *m);

/* A function of a library, and where a pointer to it goes. */
struct bench_function {
	const char	*name;
	void		*to;
};

/* Copy the address of a library's function to where its pointer is; the name if there is none, else NULL. */
const char *bench_symbol(void *library, const char *name, void *function);

/* The same for several; the name of the first that there is not, else NULL. */
const char *bench_symbols(void *library, const struct bench_function *wanted, size_t count);

/* ---- floors.c ---- */

/* Add a name; too long a one is cut. */
void names_add(struct names *n, const char *name);

/* Make the hash table of the names. */
void names_done(struct names *n);

/* Free the hash table, and forget the names. */
void names_clear(struct names *n);

/* Look all names up: by hash, and one by one from the first. */
int names_hashed(void *names);
int names_scanned(void *names);

/* memset() of an area. */
int area_clear(void *area);

/* ---- pfm3.c (both forms of the structures), pfm4.c: all measures of an API ---- */

void bench_pfm3(struct bench *b);
void bench_pfm3_manual(struct bench *b);
void bench_pfm4(struct bench *b);

/* ---- perfmon2.c: the part of libpfm 3 that counts ---- */

/* The current PMU of each library is an Itanium 2, or its subject says why not. */
void bench_perfmon2(struct bench *b, const struct measure *usable);

#endif /* PYPFM_BENCH_H */
