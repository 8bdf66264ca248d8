/* The memory hierarchy of an R10000 that runs one process: what r10ksim counts. */
#ifndef R10K_H
#define R10K_H

#include <stdbool.h>
#include <stdint.h>

/* All that is counted, under callgrind's names where callgrind counts it too. */
#define R10K_COUNTS(X) \
	X(Ir, "instructions") \
	X(Dr, "loads") \
	X(Dw, "stores") \
	X(I1mr, "lines that instruction fetches bring into the primary cache") \
	X(D1mr, "lines that loads bring into the primary data cache") \
	X(D1mw, "lines that stores bring into the primary data cache") \
	X(ILmr, "lines that instruction fetches bring into the secondary cache") \
	X(DLmr, "lines that loads bring into the secondary cache") \
	X(DLmw, "lines that stores bring into the secondary cache") \
	X(ILdmr, "of ILmr, those that write back a dirty line") \
	X(DLdmr, "of DLmr, those that write back a dirty line") \
	X(DLdmw, "of DLmw, those that write back a dirty line") \
	X(D1wb, "lines written back from the primary data cache") \
	X(TLBm, "TLB misses") \
	X(ILway, "instruction hits in the way of the secondary cache that was not predicted") \
	X(DLway, "data hits in the way of the secondary cache that was not predicted") \
	X(DLclean, "stores that make a clean line of the secondary cache dirty")

struct r10k_counts {
#define R10K_MEMBER(name, what) uint64_t name; /* what */
	R10K_COUNTS(R10K_MEMBER)
#undef R10K_MEMBER
};

struct r10k_config {
	uint64_t l2; /* size of the secondary cache in bytes, a power of two from 512 KiB to 16 MiB */
	uint64_t page; /* size of a page in bytes: 4, 8 or 16 KiB */
	bool random; /* TLB entries are replaced at random, not the least recently used */
	uint64_t seed; /* of the random numbers */
};

enum r10k_access { R10K_FETCH, R10K_LOAD, R10K_STORE, R10K_MODIFY };

/*
 * The longest access of a process in bytes (the state of x86's widest registers is saved by one
 * instruction); a longer one is no access.
 */
#define R10K_LONGEST 16384

struct r10k;

/* A machine with empty caches; NULL: no memory. */
struct r10k *r10k_new(const struct r10k_config *config);
void r10k_free(struct r10k *machine);

/* Empty the caches and the TLB, without write-backs: the process has executed another program. */
void r10k_empty(struct r10k *machine);

/* One access of 1 to R10K_LONGEST bytes; it may cross lines and pages. */
void r10k_access(struct r10k *machine, enum r10k_access kind, uint64_t address, uint64_t size);

const struct r10k_counts *r10k_count(const struct r10k *machine);

#endif
