/*
 * Private: one element of a call, in any version of the interface: the question about a
 * register or a set, and the answer.
 *
 * call.c fills it from the caller's structures, and writes back from it.
 */
#ifndef PYPFM_PERFMON2_REQUEST_H
#define PYPFM_PERFMON2_REQUEST_H

#include <stdint.h>

#include "machine.h"
#include "../../pfm3/public.h"

struct request {
	uint64_t number; /* of a register; or a thread or CPU */
	uint64_t set;
	uint64_t flags;
	uint64_t value;
	uint64_t last; /* the value that it was last written or reset to */
	/* The attributes of a data register. */
	uint64_t long_reset, short_reset, random_mask, seed, eventid;
	uint64_t swcnt; /* overflows until the set is switched */
	uint64_t smpl_pmds[PFM_PMD_BV], reset_pmds[PFM_PMD_BV];
	/* A set. */
	uint64_t timeout; /* ns: total; or remaining */
	uint64_t runs, duration;
	uint64_t ovfl_pmds[PFM_PMD_BV], pmds[PFM_PMD_BV], pmcs[PERFMON2_PMC_WORDS];
	uint64_t zero;
};

#endif /* PYPFM_PERFMON2_REQUEST_H */
