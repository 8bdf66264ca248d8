/*
 * The memory hierarchy and the branch predictor of an R10000, or of another processor with two levels of caches.
 *
 * Freestanding: it needs memcpy() and memset(), and its memory is the caller's.  It knows nothing of where accesses come
 * from.  With several processors, each has its own caches, which are kept coherent (MESI): a directory knows who has a
 * line, so that only those are asked that have it.
 *
 * Source: MIPS R10000 Microprocessor User's Manual (caches, way prediction, TLB, branch prediction); perfex(1) for the
 * events.
 */
#ifndef PERFEX_R10K_H
#define PERFEX_R10K_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All that is counted.  The first ones, up to Sf, are for who executes instructions to count; the others count here. */
#define R10K_COUNTS(X) \
	X(Ir, "instructions") \
	X(Dr, "loads") \
	X(Dw, "stores") \
	X(Fp, "floating-point instructions") \
	X(Fo, "floating-point operations: those of each element of a vector, two for a multiply-add") \
	X(Pf, "prefetches") \
	X(Ni, "instructions that no execution unit is needed for") \
	X(Bc, "conditional branches") \
	X(Bi, "indirect jumps and calls, and returns") \
	X(Sc, "store conditionals, or other atomic stores") \
	X(Sf, "those that have failed") \
	X(I1mr, "lines that instruction fetches bring into the primary cache") \
	X(ILmr, "lines that instruction fetches bring into the secondary cache") \
	X(ILway, "instruction hits in the way of the secondary cache that was not predicted") \
	X(D1mr, "lines that loads bring into the primary data cache") \
	X(D1mw, "lines that stores bring into the primary data cache") \
	X(DLmr, "lines that loads bring into the secondary cache") \
	X(DLmw, "lines that stores bring into the secondary cache") \
	X(DLway, "data hits in the way of the secondary cache that was not predicted") \
	X(D1wq, "units of 16 bytes written back from the primary data cache") \
	X(L2wq, "units of 16 bytes written back from the secondary cache") \
	X(TLBm, "TLB misses") \
	X(Bm, "conditional branches that went the other way than predicted") \
	X(Pm, "prefetches that bring a line into the primary data cache") \
	X(DLce, "stores that make a clean line of the secondary cache dirty") \
	X(DLsh, "stores to a line of the secondary cache that other processors may have") \
	X(Xint, "interventions: other processors ask for a line that this one alone has") \
	X(Xinv, "invalidations: other processors ask this one to give up a line that it shares")

enum r10k_count {
#define R10K_MEMBER(name, what) R10K_##name, /* what */
	R10K_COUNTS(R10K_MEMBER)
#undef R10K_MEMBER
		R10K_NUM_COUNTS
};

/* A cache. */
struct r10k_shape {
	uint64_t size; /* in bytes: a multiple of ways times line */
	uint32_t ways; /* 1 to R10K_MOST_WAYS */
	uint32_t line; /* in bytes: a power of two from 16 to 4096 */
};

struct r10k_config {
	struct r10k_shape l1i, l1d, l2; /* the lines of l2 are as long as those of the others, or longer */
	uint64_t page;                  /* in bytes, a power of two from 4096 */
	uint32_t pages;                 /* that an entry of the TLB maps: 1 or 2 */
	uint32_t tlb;                   /* entries, 1 to R10K_MOST_TLB */
	uint32_t predictor;             /* counters of two bits, a power of two */
	uint64_t seed;                  /* of the replacement of TLB entries, which is random */
};

enum { R10K_MOST_WAYS = 64, R10K_MOST_TLB = 4096, R10K_MOST_PREDICTOR = 1 << 20 };

/* The longest access in bytes: one instruction of x86 saves the state of all registers. */
enum { R10K_LONGEST = 16384 };

/* An R10000, or an R12000, which has a larger predictor, with a secondary cache of that size. */
struct r10k_config r10k_r10000(uint64_t l2);
struct r10k_config r10k_r12000(uint64_t l2);

/* Check a configuration, and return what is wrong with it; NULL: nothing. */
const char *r10k_wrong(const struct r10k_config *config);

struct r10k;

/* Bytes for a processor, aligned to 8. */
size_t r10k_size(const struct r10k_config *config);

/*
 * A processor with empty caches.
 *
 * memory: r10k_size() bytes, which stay the caller's
 * beside: one of the processors of the same configuration whose memory it shares; NULL: it is alone
 * counts: R10K_NUM_COUNTS of them, to which is added; not NULL
 */
struct r10k *r10k_make(void *memory, const struct r10k_config *config, struct r10k *beside, uint64_t *counts);

/* The others are there no longer, nor what they had in their caches. */
void r10k_alone(struct r10k *machine);

/* Where is added to from now on. */
void r10k_count_to(struct r10k *machine, uint64_t *counts);

/* Where what accesses cause, in this processor or in others, is added to as well; NULL: nowhere. */
void r10k_count_for(struct r10k *machine, uint64_t *site);

/*
 * Accesses of 1 to R10K_LONGEST bytes; others are none.  They may cross lines and pages, and each line may miss.  They
 * return whether anything has been counted.
 */
bool r10k_fetch(struct r10k *machine, uint64_t address, uint64_t size);
bool r10k_load(struct r10k *machine, uint64_t address, uint64_t size);
bool r10k_store(struct r10k *machine, uint64_t address, uint64_t size);
/* exclusive: the line is to be stored to.  Without an entry of the TLB a prefetch does nothing. */
bool r10k_prefetch(struct r10k *machine, uint64_t address, bool exclusive);

/* A conditional branch has been resolved. */
bool r10k_branch(struct r10k *machine, uint64_t address, bool taken);

/*
 * Where the address of the line that was fetched last is; it is UINT64_MAX where that is no longer in the cache.  To
 * fetch it again changes nothing, so that it need not be asked for.
 */
const uint64_t *r10k_fetched(const struct r10k *machine);

#endif
