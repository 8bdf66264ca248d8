/*
 * Private: what libpfm 3 and libpfm 4 both need of an IA-64 processor: its family, the
 * kernel's description of its architected counters, and the PMC of a counter.
 */
#ifndef PYPFM_BASE_PROCESSOR_H
#define PYPFM_BASE_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Families, bits 31:24 of CPUID register 3. */
enum { IA64_ITANIUM = 0x07, IA64_ITANIUM2 = 0x1f, IA64_MONTECITO = 0x20 };

/* CPUID register 3 of this processor, or of the one that LIBPFM_IA64_CPUID3 stands for; false: there is none. */
bool ia64_cpuid3(unsigned long *cpuid3);

static inline unsigned int
ia64_family(unsigned long cpuid3)
{
	return (unsigned int)(cpuid3 >> 24 & 0xff);
}

/* ---- the PMC of a counter ---------------------------------------------------------------- */

/* A value as a field of a register, cut to its width. */
static inline uint64_t
ia64_field(uint64_t value, unsigned int offset, unsigned int width)
{
	return (value & (((uint64_t)1 << width) - 1)) << offset;
}

/* Fields that only some models have, and those that have one value there. */
#define IA64_OI (UINT64_C(1) << 5)              /* an overflow interrupts: all but Montecito */
#define IA64_ISM(ism) ia64_field(ism, 24, 2)    /* instruction set: 0 both, 1 IA-32, 2 IA-64 */
#define IA64_ISM_IA64 (UINT64_C(2) << 24)       /* always in Montecito */
#define IA64_ALL (UINT64_C(1) << 26)            /* both threads of the core: Montecito */
#define IA64_MESI(mask) ia64_field(mask, 27, 4) /* states of the cache line, I S E M: Montecito */

/* The fields that the PMC of a counter has in every model. */
struct ia64_counter {
	unsigned int plm;         /* privilege levels, bit n: level n */
	unsigned int privileged;  /* pm */
	unsigned int code, umask; /* of the event */
	unsigned int threshold;
};

static inline uint64_t
ia64_counter_value(struct ia64_counter counter)
{
	return ia64_field(counter.plm, 0, 4) | ia64_field(counter.privileged, 6, 1) | ia64_field(counter.code, 8, 8) |
	       ia64_field(counter.umask, 16, 4) | ia64_field(counter.threshold, 20, 3);
}

/* ---- the architected counters ------------------------------------------------------------- */

/* The two architected events, and the codes that they have in every processor that there was. */
enum { IA64_CYCLES, IA64_RETIRED, IA64_NUM_EVENTS };
#define IA64_CYCLES_CODE 18
#define IA64_RETIRED_CODE 8

enum { IA64_NUM_REGISTERS = 512 };

struct ia64_registers {
	uint64_t bits[IA64_NUM_REGISTERS / 64];
};

/* The kernel's description of them. */
struct ia64_pal {
	unsigned int width; /* of a counter, in bits */
	unsigned int pairs; /* of PMCs and PMDs */
	unsigned char codes[IA64_NUM_EVENTS];
	struct ia64_registers capable[IA64_NUM_EVENTS]; /* that can count each event */
	struct ia64_registers pmcs, pmds;               /* that there are */
};

/* The file with that description: LIBPFM_IA64_PAL, or the kernel's. */
const char *ia64_pal_path(void);

/* Read it; false: it cannot be read, or does not say all.  notices: where a bad register number is
 * reported, or NULL. */
bool ia64_pal_read(const char *path, struct ia64_pal *pal, FILE *notices);

#endif /* PYPFM_BASE_PROCESSOR_H */
