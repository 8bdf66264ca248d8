/*
 * Private: a request and its answer in the one form that all models and both forms of the
 * public structures share.  abi.c converts the public structures to it and back; Python
 * fills it in itself.
 *
 * Numbers have fixed widths, those of the public members, and there are no pointers: a
 * request of zeros asks for nothing.
 */
#ifndef PFM3_REQUEST_H
#define PFM3_REQUEST_H

#include "public.h"

#include <stdint.h>

/* Events of a request, which are the counters of the largest model. */
#define PFM3_MAX_EVENTS 12

/* Code or data ranges of a request. */
#define PFM3_MAX_RANGES 4

/* Registers of an answer.  Montecito's largest has 22 PMCs (12 counters, 2 EARs, 2 of ranges, 4 of opcode
 * matchers, 2 of the trace buffer and the IP-EAR) and 35 PMDs (12 counters, 5 of EARs, 18 of the trace buffer). */
#define PFM3_MAX_PMCS 24
#define PFM3_MAX_PMDS 40

/* Flags of an event: the bits of PFMLIB_ITA_FL_*, PFMLIB_ITA2_FL_* and PFMLIB_MONT_FL_*, which agree. */
#define PFM3_UNCHECKED 0x1   /* it need not support the qualifiers */
#define PFM3_ALL_THREADS 0x2 /* on both threads (Montecito) */

/* Debug registers of one kind: IBRs or DBRs. */
#define PFM3_NUM_DEBUG_REGS 8

/* One event of a request. */
struct pfm3_requested {
	uint32_t event; /* index in the model's table */
	uint32_t plm;   /* privilege levels; 0: those of the request */
	uint32_t flags; /* PFM3_UNCHECKED, PFM3_ALL_THREADS */
	uint32_t threshold;
	uint32_t ism;        /* instruction set */
	uint64_t unit_masks; /* bit n: unit mask n; bit 63: one that no model has */
};

/* An opcode matcher: its PMC (Itanium, Itanium 2), or what makes up its PMCs (Montecito). */
struct pfm3_matcher {
	uint8_t used;
	uint8_t m, i, f, b; /* slots */
	uint64_t match, mask;
	uint64_t value;
};

/* An event address register. */
struct pfm3_ear {
	uint8_t used;  /* 0, 1, or another number, which counts as 1 in most places */
	uint32_t mode; /* 0 cache, 1 TLB, 2 ALAT */
	uint32_t plm;  /* 0: that of the request; the same holds for all structures below */
	uint32_t ism;
	uint64_t umask;
};

/* The buffer of branches (BTB, ETB).  On Itanium the bit of ds is tar, and those of brt are bpt (tac) and bac. */
struct pfm3_branches {
	uint8_t used;
	uint8_t ds, tm, ptm, ppm, brt;
	uint32_t plm;
};

/* Montecito's IP-EAR. */
struct pfm3_ipear {
	uint8_t used;
	uint16_t delay;
	uint32_t plm;
};

/* Bytes from start to end, the end not included. */
struct pfm3_limit {
	uint64_t start, end;
	uint32_t plm;
};

/* Code or data ranges. */
struct pfm3_ranges {
	uint8_t used;   /* as of an EAR */
	uint32_t flags; /* PFMLIB_*_RR_*, PFMLIB_MONT_IRR_*; those of data ranges are only printed */
	struct pfm3_limit limits[PFM3_MAX_RANGES]; /* one of zeros ends the list */
};

struct pfm3_request {
	uint32_t plm;              /* default privilege levels: not 0 */
	uint32_t system_wide;      /* 0 or 1 */
	uint32_t event_count;      /* may be more than there is room for, which is an error */
	uint8_t has_input;         /* the model's input structure was given (quirks ask for that) */
	uint8_t has_output;        /* there is a place for debug registers */
	uint64_t unavailable_pmcs; /* bit n: PMCn must not be used */
	struct pfm3_matcher matchers[2];
	struct pfm3_ear iear, dear;
	struct pfm3_branches branches;
	struct pfm3_ipear ipear;
	struct pfm3_ranges code, data;
	struct pfm3_requested events[PFM3_MAX_EVENTS]; /* elements from event_count on are ignored */
};

/* How far debug registers exceed a range. */
struct pfm3_offsets {
	uint64_t start, end;
};

/* The debug registers of one kind.  Those of the request are appended to what was there before:
 * the caller's output structure may hold some (a quirk); zeros: none. */
struct pfm3_debug_regs {
	uint32_t count; /* registers in use */
	struct pfm3_offsets offsets[PFM3_MAX_RANGES];
	pfmlib_reg_t regs[PFM3_NUM_DEBUG_REGS];
};

/*
 * If a request fails, the answer holds what was computed until then: the counts are those of the stages that succeeded,
 * and the registers after them are those of the stage that failed.
 */
struct pfm3_answer {
	uint32_t pmc_count, pmd_count;
	uint32_t pmcs_written, pmds_written;
	pfmlib_reg_t *pmcs, *pmds; /* where they are: in an output structure, or in struct pfm3_encoding */
	struct pfm3_debug_regs code, data;
	uint32_t code_pairs[PFM3_MAX_RANGES], data_pairs[PFM3_MAX_RANGES]; /* that each range took */
};

/* An answer with room for its registers. */
struct pfm3_encoding {
	struct pfm3_answer answer;
	pfmlib_reg_t pmcs[PFM3_MAX_PMCS];
	pfmlib_reg_t pmds[PFM3_MAX_PMDS];
};

#endif /* PFM3_REQUEST_H */
