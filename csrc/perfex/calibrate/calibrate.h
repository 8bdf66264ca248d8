/*
 * Private: perfex-calibrate, the program that measures what events cost on this host.
 */
#ifndef PYPFM_CALIBRATE_H
#define PYPFM_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHAINS = 8, BLOCK = 4096 };

/* Memory of one size, with a cycle of addresses through its lines, in random order. */
struct place {
	char *at;
	size_t size;           /* bytes; 0: not measured */
	void **starts[CHAINS]; /* somewhere on the cycle */
};

/* The data of a block of steps. */
struct work {
	void **starts[CHAINS]; /* of a cycle */
	char *at;              /* what is swept */
	size_t size, apart;    /* in bytes: the size is a multiple of CHAINS times the distance */
	size_t next;
	uint64_t value;
	double number;
	uint64_t by_chance; /* bits: which of a random number and */
	uint64_t in_turns;  /* of a counter decide a branch */
};

/* Do BLOCK steps (steps.c). */
typedef void step_block(struct work *work);

/* Load an address from the line before; the second: CHAINS of them at the same time. */
step_block step_chase, step_chases;
/* Load or store every so many bytes, again and again. */
step_block step_load, step_store;
step_block step_add, step_add_dependent, step_branch;
step_block step_fp_add, step_fp_add_dependent, step_fp_root;

/* Map memory and write it, in huge pages if that is wanted and the kernel has them; NULL: there is none. */
char *memory_map(size_t size, bool huge);

/* Return the part of a mapping of so many bytes that is in huge pages; below 0: not known. */
double memory_huge(const char *at, size_t size);

/* Link lines that are so many bytes apart; jitter: each is at another place in its stretch.  False: no memory. */
bool memory_link(struct place *place, size_t apart, size_t line, bool jitter);

#endif /* PYPFM_CALIBRATE_H */
