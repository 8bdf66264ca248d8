/*
 * Private: perfex-calibrate, the program that measures what events cost on this host.
 *
 * Each measure is a function that runs for MEASURE_NS at least, of processor time, and returns nanoseconds for one step.  main.c calls all
 * of them again and again, so that what disturbs a stretch of time disturbs one round of each, and prints every value.
 */
#ifndef PYPFM_CALIBRATE_H
#define PYPFM_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEASURE_NS 4000000.0

enum { CHAINS = 8 };

/* The compiler has to have the value in a register here, and knows nothing of what it is afterwards. */
#define HIDE(value) __asm__ volatile("" : "+r"(value))
/* The same of a double. */
#if defined(__SSE2__)
#define HIDE_FP(value) __asm__ volatile("" : "+x"(value))
#elif defined(__aarch64__)
#define HIDE_FP(value) __asm__ volatile("" : "+w"(value))
#elif defined(__riscv) || defined(__powerpc__) || defined(__mips__)
#define HIDE_FP(value) __asm__ volatile("" : "+f"(value))
#else
#define HIDE_FP(value) __asm__ volatile("" : "+m"(value))
#endif
/* All stores are made here, in order. */
#define ORDER() __asm__ volatile("" ::: "memory")

/* ---- memory.c ---- */

/* Memory of this process, written once. */
struct memory {
	char *at;
	size_t size;
	double huge; /* the part of it that is in huge pages; below 0: not known */
};

/* Map it, in huge pages if the kernel has them and it is wanted; false: there is none. */
bool memory_map(struct memory *memory, size_t size, bool huge);

/* Lines of memory, each with the address of another one: one cycle through all of them in random order. */
struct cycle {
	void **starts[CHAINS]; /* somewhere on it */
	size_t lines;
};

/* Make a cycle of lines that are so many bytes apart; jitter: each is at another place in its stretch. */
bool cycle_make(struct cycle *cycle, char *at, size_t lines, size_t apart, size_t line, bool jitter);

/* ---- pace.c: ns of a step ---- */

/* One address after the other, each from the line before; and CHAINS of them at the same time. */
double pace_chase(struct cycle *cycle);
double pace_chases(struct cycle *cycle);

/* A load or a store every so many bytes, again and again; the size is a multiple of SWEEP times as many. */
enum { SWEEP = 8 };
double pace_loads(char *at, size_t size, size_t apart);
double pace_stores(char *at, size_t size, size_t apart);

double pace_dependent_adds(void);
double pace_adds(void);

/* A branch: every second one is taken, or they are by chance. */
double pace_branches(bool by_chance);

double pace_fp_adds(void);
double pace_dependent_fp_adds(void);
double pace_reciprocal_roots(void);

#endif /* PYPFM_CALIBRATE_H */
