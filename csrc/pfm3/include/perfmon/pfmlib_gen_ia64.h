/*
 * libpfm 3.10: the generic IA-64 PMU: what the architecture demands of every
 * processor.  It measures two events, has no model-specific structures and no
 * functions of its own.
 *
 * pfm_initialize() reads the rest (which registers there are, the width of the
 * counters, the codes of the events) from /proc/pal/cpu0/perfmon_info, or from the
 * file that LIBPFM_IA64_PAL names.
 */
#ifndef __PFMLIB_GEN_IA64_H__
#define __PFMLIB_GEN_IA64_H__

#include <perfmon/pfmlib.h>

#ifdef __linux__
#include <endian.h>
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && !defined(PFMLIB_NO_REG_UNIONS)
#error "the register unions of this header need a little-endian target; -DPFMLIB_NO_REG_UNIONS leaves them out"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PMU_GEN_IA64_FIRST_COUNTER 4 /* PMC4/PMD4 is the first counter */
#define PMU_GEN_IA64_NUM_COUNTERS 4  /* PMC4/PMD4 to PMC7/PMD7 */
#define PMU_GEN_IA64_NUM_PMCS 8      /* PMC0 to PMC7 */
#define PMU_GEN_IA64_NUM_PMDS 4      /* PMD4 to PMD7 */

#ifndef PFMLIB_NO_REG_UNIONS

/** A PMC register: the value, or its fields. */
typedef union {
	unsigned long pmc_val; /* the whole register */
	/* PMC4-7: counter */
	struct {
		unsigned long pmc_plm : 4;  /* 3:0 */
		unsigned long pmc_ev  : 1;  /* 4 */
		unsigned long pmc_oi  : 1;  /* 5 */
		unsigned long pmc_pm  : 1;  /* 6 */
		unsigned long pmc_ig1 : 1;  /* 7 */
		unsigned long pmc_es  : 8;  /* 15:8 */
		unsigned long pmc_ig2 : 48; /* 63:16 */
	} pmc_gen_count_reg;
} pfm_gen_ia64_pmc_reg_t;

/** A PMD register; how many bits of it count is the processor's. */
typedef struct {
	unsigned long pmd_val; /* the whole register */
} pfm_gen_ia64_pmd_reg_t;

#endif /* PFMLIB_NO_REG_UNIONS */

#ifdef __cplusplus
}
#endif

#endif /* __PFMLIB_GEN_IA64_H__ */
