/*
 * libpfm 3.10: what is specific to the Itanium PMU (Merced).
 *
 * Layouts are those of the libpfm 3.10 header for LP64.  There is no manual page
 * for this PMU: PFMLIB_MANUAL_LAYOUT changes nothing here.
 */
#ifndef __PFMLIB_ITANIUM_H__
#define __PFMLIB_ITANIUM_H__

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

#define PMU_ITA_FIRST_COUNTER 4  /* PMC4/PMD4 is the first counter */
#define PMU_ITA_NUM_COUNTERS 4   /* PMC4/PMD4 to PMC7/PMD7 */
#define PMU_ITA_NUM_PMCS 14      /* PMC0 to PMC13 */
#define PMU_ITA_NUM_PMDS 18      /* PMD0 to PMD17 */
#define PMU_ITA_NUM_BTB 8        /* branch trace buffer entries, PMD8 to PMD15 */
#define PMU_ITA_COUNTER_WIDTH 32 /* bits of a counter */

/* pfmlib_ita_counter_t.flags: do not check that the event supports the qualifiers in use. */
#define PFMLIB_ITA_FL_EVT_NO_QUALCHECK 0x1

#ifndef PFMLIB_NO_REG_UNIONS

/** A PMC register: the value, or its fields by register. */
typedef union {
	unsigned long pmc_val; /* the whole register */
	/* PMC4-7: counter */
	struct {
		unsigned long pmc_plm   : 4;  /* 3:0 */
		unsigned long pmc_ev    : 1;  /* 4 */
		unsigned long pmc_oi    : 1;  /* 5 */
		unsigned long pmc_pm    : 1;  /* 6 */
		unsigned long pmc_ig1   : 1;  /* 7 */
		unsigned long pmc_es    : 7;  /* 14:8 */
		unsigned long pmc_ig2   : 1;  /* 15 */
		unsigned long pmc_umask : 4;  /* 19:16 */
		unsigned long pmc_thres : 3;  /* 22:20 */
		unsigned long pmc_ig3   : 1;  /* 23 */
		unsigned long pmc_ism   : 2;  /* 25:24 */
		unsigned long pmc_ig4   : 38; /* 63:26 */
	} pmc_ita_count_reg;
	/* PMC8, PMC9: opcode matcher */
	struct {
		unsigned long ignored1 : 3;  /* 2:0 */
		unsigned long mask     : 27; /* 29:3 */
		unsigned long ignored2 : 3;  /* 32:30 */
		unsigned long match    : 27; /* 59:33 */
		unsigned long b        : 1;  /* 60 */
		unsigned long f        : 1;  /* 61 */
		unsigned long i        : 1;  /* 62 */
		unsigned long m        : 1;  /* 63 */
	} pmc8_9_ita_reg;
	/* PMC10: I-EAR */
	struct {
		unsigned long iear_plm   : 4;  /* 3:0 */
		unsigned long iear_ig1   : 2;  /* 5:4 */
		unsigned long iear_pm    : 1;  /* 6 */
		unsigned long iear_tlb   : 1;  /* 7 */
		unsigned long iear_ig2   : 8;  /* 15:8 */
		unsigned long iear_umask : 4;  /* 19:16 */
		unsigned long iear_ig3   : 4;  /* 23:20 */
		unsigned long iear_ism   : 2;  /* 25:24 */
		unsigned long iear_ig4   : 38; /* 63:26 */
	} pmc10_ita_reg;
	/* PMC11: D-EAR, and whether data ranges restrict (dear_pt = 0) */
	struct {
		unsigned long dear_plm   : 4;  /* 3:0 */
		unsigned long dear_ig1   : 2;  /* 5:4 */
		unsigned long dear_pm    : 1;  /* 6 */
		unsigned long dear_tlb   : 1;  /* 7 */
		unsigned long dear_ig2   : 8;  /* 15:8 */
		unsigned long dear_umask : 4;  /* 19:16 */
		unsigned long dear_ig3   : 4;  /* 23:20 */
		unsigned long dear_ism   : 2;  /* 25:24 */
		unsigned long dear_ig4   : 2;  /* 27:26 */
		unsigned long dear_pt    : 1;  /* 28 */
		unsigned long dear_ig5   : 35; /* 63:29 */
	} pmc11_ita_reg;
	/* PMC12: branch trace buffer */
	struct {
		unsigned long btbc_plm : 4;  /* 3:0 */
		unsigned long btbc_ig1 : 2;  /* 5:4 */
		unsigned long btbc_pm  : 1;  /* 6 */
		unsigned long btbc_tar : 1;  /* 7 */
		unsigned long btbc_tm  : 2;  /* 9:8 */
		unsigned long btbc_ptm : 2;  /* 11:10 */
		unsigned long btbc_ppm : 2;  /* 13:12 */
		unsigned long btbc_bpt : 1;  /* 14 */
		unsigned long btbc_bac : 1;  /* 15 */
		unsigned long btbc_ig2 : 48; /* 63:16 */
	} pmc12_ita_reg;
	/* PMC13: code ranges restrict (irange_ta = 0) */
	struct {
		unsigned long irange_ta : 1;  /* 0 */
		unsigned long irange_ig : 63; /* 63:1 */
	} pmc13_ita_reg;
} pfm_ita_pmc_reg_t;

/** A PMD register: the value, or its fields by register. */
typedef union {
	unsigned long pmd_val; /* the whole register */
	/* PMD4-7: counter */
	struct {
		unsigned long pmd_count : 32; /* 31:0 */
		unsigned long pmd_sxt32 : 32; /* 63:32 */
	} pmd_ita_counter_reg;
	/* PMD0: I-EAR */
	struct {
		unsigned long iear_v    : 1;  /* 0 */
		unsigned long iear_tlb  : 1;  /* 1 */
		unsigned long iear_ig1  : 3;  /* 4:2 */
		unsigned long iear_icla : 59; /* 63:5 */
	} pmd0_ita_reg;
	/* PMD1: I-EAR */
	struct {
		unsigned long iear_lat : 12; /* 11:0 */
		unsigned long iear_ig1 : 52; /* 63:12 */
	} pmd1_ita_reg;
	/* PMD2: D-EAR */
	struct {
		unsigned long dear_daddr; /* 63:0 */
	} pmd2_ita_reg;
	/* PMD3: D-EAR */
	struct {
		unsigned long dear_latency : 12; /* 11:0 */
		unsigned long dear_ig1     : 50; /* 61:12 */
		unsigned long dear_level   : 2;  /* 63:62 */
	} pmd3_ita_reg;
	/* PMD8-15: branch trace buffer entry */
	struct {
		unsigned long btb_b    : 1;  /* 0 */
		unsigned long btb_mp   : 1;  /* 1 */
		unsigned long btb_slot : 2;  /* 3:2 */
		unsigned long btb_addr : 60; /* 63:4 */
	} pmd8_15_ita_reg;
	/* PMD16: branch trace buffer index */
	struct {
		unsigned long btbi_bbi     : 3;  /* 2:0 */
		unsigned long btbi_full    : 1;  /* 3 */
		unsigned long btbi_ignored : 60; /* 63:4 */
	} pmd16_ita_reg;
	/* PMD17: D-EAR */
	struct {
		unsigned long dear_vl    : 1;  /* 0 */
		unsigned long dear_ig1   : 1;  /* 1 */
		unsigned long dear_slot  : 2;  /* 3:2 */
		unsigned long dear_iaddr : 60; /* 63:4 */
	} pmd17_ita_reg;
} pfm_ita_pmd_reg_t;

#endif /* PFMLIB_NO_REG_UNIONS */

/** Instruction set in which an event is measured. */
typedef enum { PFMLIB_ITA_ISM_BOTH = 0, PFMLIB_ITA_ISM_IA32 = 1, PFMLIB_ITA_ISM_IA64 = 2 } pfmlib_ita_ism_t;

/** What an Event Address Register records. */
typedef enum { PFMLIB_ITA_EAR_CACHE_MODE = 0, PFMLIB_ITA_EAR_TLB_MODE = 1 } pfmlib_ita_ear_mode_t;

/** Options of one event; entry n belongs to entry n of pfp_events. */
typedef struct {
	unsigned int flags;   /* PFMLIB_ITA_FL_EVT_* */
	unsigned int thres;   /* count cycles with more than this many occurrences */
	pfmlib_ita_ism_t ism; /* instruction set */
} pfmlib_ita_counter_t;

/** An opcode matcher. */
typedef struct {
	unsigned char opcm_used; /* 1: use the matcher */
	unsigned long pmc_val;   /* raw value of PMC8 or PMC9 */
} pfmlib_ita_opcm_t;

/** The branch trace buffer.  What libpfm 3.10 writes into PMC12 does not depend on it. */
typedef struct {
	unsigned char btb_used; /* 1: use the settings */
	unsigned char btb_tar;  /* 1: record predictions of the target address register */
	unsigned char btb_tac;  /* 1: record predictions of the target address cache */
	unsigned char btb_bac;  /* 1: record predictions of the branch address calculator */
	unsigned char btb_tm;   /* 1: not taken, 2: taken, 3: all */
	unsigned char btb_ptm;  /* target 1: mispredicted, 2: predicted, 3: all */
	unsigned char btb_ppm;  /* path 1: mispredicted, 2: predicted, 3: all */
	unsigned int btb_plm;   /* privilege levels; 0: pfp_dfl_plm */
} pfmlib_ita_btb_t;

/** An Event Address Register. */
typedef struct {
	unsigned char ear_used;         /* 1: use the settings */
	pfmlib_ita_ear_mode_t ear_mode; /* cache or TLB */
	pfmlib_ita_ism_t ear_ism;       /* instruction set */
	unsigned int ear_plm;           /* privilege levels; 0: pfp_dfl_plm */
	unsigned long ear_umask;        /* latency or TLB level filter */
} pfmlib_ita_ear_t;

/** One address range of a request. */
typedef struct {
	unsigned int rr_flags;  /* ignored */
	unsigned int rr_plm;    /* privilege levels; 0: pfp_dfl_plm */
	unsigned long rr_start; /* first byte; code: multiple of 16 */
	unsigned long rr_end;   /* byte after the last; code: multiple of 16 */
} pfmlib_ita_input_rr_desc_t;

/** How far an actual range exceeds the one asked for, in bytes. */
typedef struct {
	unsigned long rr_soff; /* at the start: begins this much earlier */
	unsigned long rr_eoff; /* at the end: ends this much later */
} pfmlib_ita_output_rr_desc_t;

/** The code or data ranges of a request. */
typedef struct {
	unsigned char rr_used;                   /* 1: use the ranges */
	unsigned int rr_flags;                   /* ignored */
	unsigned int rr_nbr_used;                /* ignored */
	pfmlib_ita_input_rr_desc_t rr_limits[4]; /* an entry of zeros ends the list */
} pfmlib_ita_input_rr_t;

/** The debug registers that cover the ranges. */
typedef struct {
	unsigned int rr_nbr_used;                /* registers in rr_br: 0, 2, 4, 6 or 8 */
	pfmlib_ita_output_rr_desc_t rr_infos[4]; /* one for each range asked for */
	pfmlib_reg_t rr_br[8];                   /* IBRs or DBRs, in pairs: address, mask */
} pfmlib_ita_output_rr_t;

/** Model-specific input of pfm_dispatch_events(). */
typedef struct {
	pfmlib_ita_counter_t
		pfp_ita_counters[PMU_ITA_NUM_COUNTERS]; /* options of the events, in the order of pfp_events */
	unsigned long pfp_ita_flags;                    /* ignored */
	pfmlib_ita_opcm_t pfp_ita_pmc8;                 /* opcode matcher PMC8 */
	pfmlib_ita_opcm_t pfp_ita_pmc9;                 /* opcode matcher PMC9 */
	pfmlib_ita_ear_t pfp_ita_iear;                  /* instruction EAR */
	pfmlib_ita_ear_t pfp_ita_dear;                  /* data EAR */
	pfmlib_ita_btb_t pfp_ita_btb;                   /* branch trace buffer */
	pfmlib_ita_input_rr_t pfp_ita_drange;           /* data ranges */
	pfmlib_ita_input_rr_t pfp_ita_irange;           /* code ranges */
	unsigned long reserved[1];                      /* 0 */
} pfmlib_ita_input_param_t;

/** Model-specific output of pfm_dispatch_events(). */
typedef struct {
	pfmlib_ita_output_rr_t pfp_ita_drange; /* DBRs */
	pfmlib_ita_output_rr_t pfp_ita_irange; /* IBRs */
	unsigned long reserved[6];
} pfmlib_ita_output_param_t;

/**
 * Ask whether an event is an Event Address Register (EAR) event, data or
 * instruction.
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_is_ear(unsigned int i);

/**
 * Ask whether an event is a data EAR event: cache or TLB.
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_is_dear(unsigned int i);

/**
 * Ask whether an event is a data EAR TLB event.
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_is_dear_tlb(unsigned int i);

/**
 * Ask whether an event is a data EAR cache event.
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_is_dear_cache(unsigned int i);

/**
 * Ask whether an event is an instruction EAR event: cache or TLB.
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_is_iear(unsigned int i);

/**
 * Ask whether an event is an instruction EAR TLB event.
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_is_iear_tlb(unsigned int i);

/**
 * Ask whether an event is an instruction EAR cache event.
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_is_iear_cache(unsigned int i);

/**
 * Ask whether an event records branches in the Branch Trace Buffer
 * (BRANCH_EVENT).
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_is_btb(unsigned int i);

/**
 * Ask whether an event can be measured accurately while opcode matching (PMC8,
 * PMC9) is active.
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_support_opcm(unsigned int i);

/**
 * Ask whether an event can be measured accurately while a code range is active.
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_support_iarr(unsigned int i);

/**
 * Ask whether an event can be measured accurately while a data range is active.
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_support_darr(unsigned int i);

/**
 * Get the mode of an EAR event.
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :param m: receives PFMLIB_ITA_EAR_TLB_MODE or PFMLIB_ITA_EAR_CACHE_MODE
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL, with the mode untouched, for an
 *     event that is not an EAR event or a NULL
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_get_ear_mode(unsigned int i, pfmlib_ita_ear_mode_t *m);

/**
 * Get the largest number of times that an event can occur in one cycle. A
 * threshold has to stay below it.
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :param maxincr: receives the number, 1 to 6
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a bad event or a NULL
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_get_event_maxincr(unsigned int i, unsigned int *maxincr);

/**
 * Get the unit mask of an event.
 *
 * :param i: event index, from pfm_find_event(); 230 and above is no event
 * :param umask: receives the unit mask, 4 bits
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a bad event or a NULL
 *
 * Source: libpfm 3.10, Itanium.
 */
extern int pfm_ita_get_event_umask(unsigned int i, unsigned long *umask);

#ifdef __cplusplus
}
#endif

#endif /* __PFMLIB_ITANIUM_H__ */
