/*
 * libpfm 3.10: what is specific to the Itanium 2 PMU (McKinley, Madison).
 *
 * Layouts are those of the libpfm 3.10 header for LP64.  With PFMLIB_MANUAL_LAYOUT
 * defined they are as libpfm_itanium2(3) prints them, without reserved members.
 * That form belongs to libpfm-manual.so.3.
 */
#ifndef __PFMLIB_ITANIUM2_H__
#define __PFMLIB_ITANIUM2_H__

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

#define PMU_ITA2_FIRST_COUNTER 4  /* PMC4/PMD4 is the first counter */
#define PMU_ITA2_NUM_COUNTERS 4   /* PMC4/PMD4 to PMC7/PMD7 */
#define PMU_ITA2_NUM_PMCS 16      /* PMC0 to PMC15 */
#define PMU_ITA2_NUM_PMDS 18      /* PMD0 to PMD17 */
#define PMU_ITA2_NUM_BTB 8        /* branch trace buffer entries, PMD8 to PMD15 */
#define PMU_ITA2_COUNTER_WIDTH 47 /* bits of a counter */

/* pfmlib_ita2_counter_t.flags: do not check that the event supports the qualifiers in use. */
#define PFMLIB_ITA2_FL_EVT_NO_QUALCHECK 0x1

/* pfmlib_ita2_input_rr_t.rr_flags */
#define PFMLIB_ITA2_RR_INV 0x1          /* measure outside the code ranges */
#define PFMLIB_ITA2_RR_NO_FINE_MODE 0x2 /* never use fine mode */

/* pfm_ita2_get_event_group(), pfm_ita2_get_event_set() */
#define PFMLIB_ITA2_EVT_NO_GRP 0
#define PFMLIB_ITA2_EVT_L1_CACHE_GRP 1
#define PFMLIB_ITA2_EVT_L2_CACHE_GRP 2
#define PFMLIB_ITA2_EVT_NO_SET (-1)
#ifndef PFMLIB_MONT_EVT_NO_SET
#define PFMLIB_MONT_EVT_NO_SET (-1) /* the name in the Itanium 2 manual page */
#endif

#ifndef PFMLIB_NO_REG_UNIONS

/** A PMC register: the value, or its fields by register. */
typedef union {
	unsigned long pmc_val; /* the whole register */
	/* PMC4-7: counter */
	struct {
		unsigned long pmc_plm    : 4;  /* 3:0 */
		unsigned long pmc_ev     : 1;  /* 4 */
		unsigned long pmc_oi     : 1;  /* 5 */
		unsigned long pmc_pm     : 1;  /* 6 */
		unsigned long pmc_ig1    : 1;  /* 7 */
		unsigned long pmc_es     : 8;  /* 15:8 */
		unsigned long pmc_umask  : 4;  /* 19:16 */
		unsigned long pmc_thres  : 3;  /* 22:20 */
		unsigned long pmc_enable : 1;  /* 23 */
		unsigned long pmc_ism    : 2;  /* 25:24 */
		unsigned long pmc_ig2    : 38; /* 63:26 */
	} pmc_ita2_counter_reg;
	/* PMC8, PMC9: opcode matcher */
	struct {
		unsigned long opcm_ig_ad : 1;  /* 0 */
		unsigned long opcm_inv   : 1;  /* 1 */
		unsigned long opcm_bit2  : 1;  /* 2 */
		unsigned long opcm_mask  : 27; /* 29:3 */
		unsigned long opcm_ig1   : 3;  /* 32:30 */
		unsigned long opcm_match : 27; /* 59:33 */
		unsigned long opcm_b     : 1;  /* 60 */
		unsigned long opcm_f     : 1;  /* 61 */
		unsigned long opcm_i     : 1;  /* 62 */
		unsigned long opcm_m     : 1;  /* 63 */
	} pmc8_9_ita2_reg;
	/* PMC10: I-EAR, cache mode */
	struct {
		unsigned long iear_plm   : 4;  /* 3:0 */
		unsigned long iear_pm    : 1;  /* 4 */
		unsigned long iear_umask : 8;  /* 12:5 */
		unsigned long iear_ct    : 1;  /* 13 */
		unsigned long iear_ism   : 2;  /* 15:14 */
		unsigned long iear_ig4   : 48; /* 63:16 */
	} pmc10_ita2_cache_reg;
	/* PMC10: I-EAR, TLB mode */
	struct {
		unsigned long iear_plm   : 4;  /* 3:0 */
		unsigned long iear_pm    : 1;  /* 4 */
		unsigned long iear_umask : 7;  /* 11:5 */
		unsigned long iear_ct    : 2;  /* 13:12 */
		unsigned long iear_ism   : 2;  /* 15:14 */
		unsigned long iear_ig4   : 48; /* 63:16 */
	} pmc10_ita2_tlb_reg;
	/* PMC11: D-EAR */
	struct {
		unsigned long dear_plm   : 4;  /* 3:0 */
		unsigned long dear_ig1   : 2;  /* 5:4 */
		unsigned long dear_pm    : 1;  /* 6 */
		unsigned long dear_mode  : 2;  /* 8:7 */
		unsigned long dear_ig2   : 7;  /* 15:9 */
		unsigned long dear_umask : 4;  /* 19:16 */
		unsigned long dear_ig3   : 4;  /* 23:20 */
		unsigned long dear_ism   : 2;  /* 25:24 */
		unsigned long dear_ig4   : 38; /* 63:26 */
	} pmc11_ita2_reg;
	/* PMC12: branch trace buffer */
	struct {
		unsigned long btbc_plm : 4;  /* 3:0 */
		unsigned long btbc_ig1 : 2;  /* 5:4 */
		unsigned long btbc_pm  : 1;  /* 6 */
		unsigned long btbc_ds  : 1;  /* 7 */
		unsigned long btbc_tm  : 2;  /* 9:8 */
		unsigned long btbc_ptm : 2;  /* 11:10 */
		unsigned long btbc_ppm : 2;  /* 13:12 */
		unsigned long btbc_brt : 2;  /* 15:14 */
		unsigned long btbc_ig2 : 48; /* 63:16 */
	} pmc12_ita2_reg;
	/* PMC13: data ranges */
	struct {
		unsigned long darc_ig1       : 3;  /* 2:0 */
		unsigned long darc_cfg_dbrp0 : 2;  /* 4:3 */
		unsigned long darc_ig2       : 6;  /* 10:5 */
		unsigned long darc_cfg_dbrp1 : 2;  /* 12:11 */
		unsigned long darc_ig3       : 6;  /* 18:13 */
		unsigned long darc_cfg_dbrp2 : 2;  /* 20:19 */
		unsigned long darc_ig4       : 6;  /* 26:21 */
		unsigned long darc_cfg_dbrp3 : 2;  /* 28:27 */
		unsigned long darc_ig5       : 16; /* 44:29 */
		unsigned long darc_ena_dbrp0 : 1;  /* 45 */
		unsigned long darc_ena_dbrp1 : 1;  /* 46 */
		unsigned long darc_ena_dbrp2 : 1;  /* 47 */
		unsigned long darc_ena_dbrp3 : 1;  /* 48 */
		unsigned long darc_ig6       : 15; /* 63:49 */
	} pmc13_ita2_reg;
	/* PMC14: code ranges */
	struct {
		unsigned long iarc_ig1   : 1;  /* 0 */
		unsigned long iarc_ibrp0 : 1;  /* 1 */
		unsigned long iarc_ig2   : 2;  /* 3:2 */
		unsigned long iarc_ibrp1 : 1;  /* 4 */
		unsigned long iarc_ig3   : 2;  /* 6:5 */
		unsigned long iarc_ibrp2 : 1;  /* 7 */
		unsigned long iarc_ig4   : 2;  /* 9:8 */
		unsigned long iarc_ibrp3 : 1;  /* 10 */
		unsigned long iarc_ig5   : 2;  /* 12:11 */
		unsigned long iarc_fine  : 1;  /* 13 */
		unsigned long iarc_ig6   : 50; /* 63:14 */
	} pmc14_ita2_reg;
	/* PMC15: opcode matcher routing */
	struct {
		unsigned long opcmc_ibrp0_pmc8 : 1;  /* 0 */
		unsigned long opcmc_ibrp1_pmc9 : 1;  /* 1 */
		unsigned long opcmc_ibrp2_pmc8 : 1;  /* 2 */
		unsigned long opcmc_ibrp3_pmc9 : 1;  /* 3 */
		unsigned long opcmc_ig1        : 60; /* 63:4 */
	} pmc15_ita2_reg;
} pfm_ita2_pmc_reg_t;

/** A PMD register: the value, or its fields by register. */
typedef union {
	unsigned long pmd_val; /* the whole register */
	/* PMD4-7: counter */
	struct {
		unsigned long pmd_count : 47; /* 46:0 */
		unsigned long pmd_sxt47 : 17; /* 63:47 */
	} pmd_ita2_counter_reg;
	/* PMD0: I-EAR */
	struct {
		unsigned long iear_stat  : 2;  /* 1:0 */
		unsigned long iear_ig1   : 3;  /* 4:2 */
		unsigned long iear_iaddr : 59; /* 63:5 */
	} pmd0_ita2_reg;
	/* PMD1: I-EAR */
	struct {
		unsigned long iear_latency  : 12; /* 11:0 */
		unsigned long iear_overflow : 1;  /* 12 */
		unsigned long iear_ig1      : 51; /* 63:13 */
	} pmd1_ita2_reg;
	/* PMD2: D-EAR */
	struct {
		unsigned long dear_daddr; /* 63:0 */
	} pmd2_ita2_reg;
	/* PMD3: D-EAR */
	struct {
		unsigned long dear_latency  : 13; /* 12:0 */
		unsigned long dear_overflow : 1;  /* 13 */
		unsigned long dear_stat     : 2;  /* 15:14 */
		unsigned long dear_ig1      : 48; /* 63:16 */
	} pmd3_ita2_reg;
	/* PMD8-15: branch trace buffer entry, btb_ds = 0 */
	struct {
		unsigned long btb_b    : 1;  /* 0 */
		unsigned long btb_mp   : 1;  /* 1 */
		unsigned long btb_slot : 2;  /* 3:2 */
		unsigned long btb_addr : 60; /* 63:4 */
	} pmd8_15_ita2_reg;
	/* PMD8-15: branch trace buffer entry, btb_ds = 1 */
	struct {
		unsigned long btb_b      : 1;  /* 0 */
		unsigned long btb_mp     : 1;  /* 1 */
		unsigned long btb_slot   : 2;  /* 3:2 */
		unsigned long btb_loaddr : 37; /* 40:4 */
		unsigned long btb_pred   : 20; /* 60:41 */
		unsigned long btb_hiaddr : 3;  /* 63:61 */
	} pmd8_15_ds_ita2_reg;
	/* PMD16: branch trace buffer index */
	struct {
		unsigned long btbi_bbi               : 3;  /* 2:0 */
		unsigned long btbi_full              : 1;  /* 3 */
		unsigned long btbi_pmd8ext_b1        : 1;  /* 4 */
		unsigned long btbi_pmd8ext_bruflush  : 1;  /* 5 */
		unsigned long btbi_pmd8ext_ig        : 2;  /* 7:6 */
		unsigned long btbi_pmd9ext_b1        : 1;  /* 8 */
		unsigned long btbi_pmd9ext_bruflush  : 1;  /* 9 */
		unsigned long btbi_pmd9ext_ig        : 2;  /* 11:10 */
		unsigned long btbi_pmd10ext_b1       : 1;  /* 12 */
		unsigned long btbi_pmd10ext_bruflush : 1;  /* 13 */
		unsigned long btbi_pmd10ext_ig       : 2;  /* 15:14 */
		unsigned long btbi_pmd11ext_b1       : 1;  /* 16 */
		unsigned long btbi_pmd11ext_bruflush : 1;  /* 17 */
		unsigned long btbi_pmd11ext_ig       : 2;  /* 19:18 */
		unsigned long btbi_pmd12ext_b1       : 1;  /* 20 */
		unsigned long btbi_pmd12ext_bruflush : 1;  /* 21 */
		unsigned long btbi_pmd12ext_ig       : 2;  /* 23:22 */
		unsigned long btbi_pmd13ext_b1       : 1;  /* 24 */
		unsigned long btbi_pmd13ext_bruflush : 1;  /* 25 */
		unsigned long btbi_pmd13ext_ig       : 2;  /* 27:26 */
		unsigned long btbi_pmd14ext_b1       : 1;  /* 28 */
		unsigned long btbi_pmd14ext_bruflush : 1;  /* 29 */
		unsigned long btbi_pmd14ext_ig       : 2;  /* 31:30 */
		unsigned long btbi_pmd15ext_b1       : 1;  /* 32 */
		unsigned long btbi_pmd15ext_bruflush : 1;  /* 33 */
		unsigned long btbi_pmd15ext_ig       : 2;  /* 35:34 */
		unsigned long btbi_ignored           : 28; /* 63:36 */
	} pmd16_ita2_reg;
	/* PMD17: D-EAR */
	struct {
		unsigned long dear_slot  : 2;  /* 1:0 */
		unsigned long dear_bn    : 1;  /* 2 */
		unsigned long dear_vl    : 1;  /* 3 */
		unsigned long dear_iaddr : 60; /* 63:4 */
	} pmd17_ita2_reg;
} pfm_ita2_pmd_reg_t;

#endif /* PFMLIB_NO_REG_UNIONS */

/** Instruction set in which an event is measured. */
typedef enum { PFMLIB_ITA2_ISM_BOTH = 0, PFMLIB_ITA2_ISM_IA32 = 1, PFMLIB_ITA2_ISM_IA64 = 2 } pfmlib_ita2_ism_t;

/** What an Event Address Register records. */
typedef enum {
	PFMLIB_ITA2_EAR_CACHE_MODE = 0,
	PFMLIB_ITA2_EAR_TLB_MODE = 1,
	PFMLIB_ITA2_EAR_ALAT_MODE = 2 /* data EAR only */
} pfmlib_ita2_ear_mode_t;

/** Options of one event; entry n belongs to entry n of pfp_events. */
typedef struct {
	unsigned int flags;    /* PFMLIB_ITA2_FL_EVT_* */
	unsigned int thres;    /* count cycles with more than this many occurrences */
	pfmlib_ita2_ism_t ism; /* instruction set */
} pfmlib_ita2_counter_t;

/** An opcode matcher. */
typedef struct {
	unsigned char opcm_used; /* 1: use the matcher */
	unsigned long pmc_val;   /* raw value of PMC8 or PMC9; bits 2:0 are set by the library */
} pfmlib_ita2_opcm_t;

/** The branch trace buffer. */
typedef struct {
	unsigned char btb_used; /* 1: use the settings */
	unsigned char btb_ds;   /* 1: record prediction details and not the target */
	unsigned char btb_tm;   /* 1: not taken, 2: taken, 3: all */
	unsigned char btb_ptm;  /* target 1: mispredicted, 2: predicted, 3: all */
	unsigned char btb_ppm;  /* path 1: mispredicted, 2: predicted, 3: all */
	unsigned char btb_brt;  /* 1: IP-relative, 2: return, 3: other indirect */
	unsigned int btb_plm;   /* privilege levels; 0: pfp_dfl_plm */
} pfmlib_ita2_btb_t;

/** An Event Address Register. */
typedef struct {
	unsigned char ear_used;          /* 1: use the settings */
	pfmlib_ita2_ear_mode_t ear_mode; /* cache, TLB or (data) ALAT */
	pfmlib_ita2_ism_t ear_ism;       /* instruction set */
	unsigned int ear_plm;            /* privilege levels; 0: pfp_dfl_plm */
	unsigned long ear_umask;         /* latency or TLB level filter */
} pfmlib_ita2_ear_t;

/** One address range of a request. */
typedef struct {
	unsigned int rr_plm;    /* privilege levels; 0: pfp_dfl_plm */
	unsigned long rr_start; /* first byte; code: multiple of 16 */
	unsigned long rr_end;   /* byte after the last; code: multiple of 16 */
} pfmlib_ita2_input_rr_desc_t;

/** How far an actual range exceeds the one asked for, in bytes. */
typedef struct {
	unsigned long rr_soff; /* at the start: begins this much earlier */
	unsigned long rr_eoff; /* at the end: ends this much later */
} pfmlib_ita2_output_rr_desc_t;

/** The code or data ranges of a request. */
typedef struct {
	unsigned int rr_flags;                    /* PFMLIB_ITA2_RR_* */
	pfmlib_ita2_input_rr_desc_t rr_limits[4]; /* an entry of zeros ends the list */
	unsigned char rr_used;                    /* 1: use the ranges */
} pfmlib_ita2_input_rr_t;

/** The debug registers that cover the ranges. */
typedef struct {
	unsigned int rr_nbr_used;                 /* registers in rr_br: 0, 2, 4, 6 or 8 */
	pfmlib_ita2_output_rr_desc_t rr_infos[4]; /* one for each range asked for */
	pfmlib_reg_t rr_br[8];                    /* IBRs or DBRs, in pairs: address, mask */
} pfmlib_ita2_output_rr_t;

/** Model-specific input of pfm_dispatch_events(). */
typedef struct {
	pfmlib_ita2_counter_t
		pfp_ita2_counters[PMU_ITA2_NUM_COUNTERS]; /* options of the events, in the order of pfp_events */
	unsigned long pfp_ita2_flags;                     /* ignored */
	pfmlib_ita2_opcm_t pfp_ita2_pmc8;                 /* opcode matcher PMC8 */
	pfmlib_ita2_opcm_t pfp_ita2_pmc9;                 /* opcode matcher PMC9 */
	pfmlib_ita2_ear_t pfp_ita2_iear;                  /* instruction EAR */
	pfmlib_ita2_ear_t pfp_ita2_dear;                  /* data EAR */
	pfmlib_ita2_btb_t pfp_ita2_btb;                   /* branch trace buffer */
	pfmlib_ita2_input_rr_t pfp_ita2_drange;           /* data ranges */
	pfmlib_ita2_input_rr_t pfp_ita2_irange;           /* code ranges */
#ifndef PFMLIB_MANUAL_LAYOUT       /* none: cc prog.c $(pypfm config --cflags --libs pfm3-manual) */
	unsigned long reserved[1]; /* 0 */
#endif
} pfmlib_ita2_input_param_t;

/** Model-specific output of pfm_dispatch_events(); zeroed by the caller. */
typedef struct {
	pfmlib_ita2_output_rr_t pfp_ita2_drange; /* DBRs */
	pfmlib_ita2_output_rr_t pfp_ita2_irange; /* IBRs */
#ifndef PFMLIB_MANUAL_LAYOUT                     /* likewise */
	unsigned long reserved[6];
#endif
} pfmlib_ita2_output_param_t;

/**
 * Ask whether an event is an Event Address Register (EAR) event, data or
 * instruction.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_is_ear(unsigned int i);

/**
 * Ask whether an event is a data EAR event: cache, TLB or ALAT.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_is_dear(unsigned int i);

/**
 * Ask whether an event is a data EAR TLB event.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_is_dear_tlb(unsigned int i);

/**
 * Ask whether an event is a data EAR cache event.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_is_dear_cache(unsigned int i);

/**
 * Ask whether an event is a data EAR ALAT event.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_is_dear_alat(unsigned int i);

/**
 * Ask whether an event is an instruction EAR event: cache or TLB.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_is_iear(unsigned int i);

/**
 * Ask whether an event is an instruction EAR TLB event.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_is_iear_tlb(unsigned int i);

/**
 * Ask whether an event is an instruction EAR cache event.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_is_iear_cache(unsigned int i);

/**
 * Ask whether an event records branches in the Branch Trace Buffer
 * (BRANCH_EVENT).
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_is_btb(unsigned int i);

/**
 * Ask whether an event can be measured accurately while opcode matching (PMC8,
 * PMC9) is active.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_support_opcm(unsigned int i);

/**
 * Ask whether an event can be measured accurately while a code range is
 * active.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_support_iarr(unsigned int i);

/**
 * Ask whether an event can be measured accurately while a data range is
 * active.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_support_darr(unsigned int i);

/**
 * Get the largest number of times that an event can occur in one cycle. A
 * threshold has to stay below it.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :param maxincr: receives the number, 1 to 7
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a bad event or a NULL
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_get_event_maxincr(unsigned int i, unsigned int *maxincr);

/**
 * Get the unit mask of an event.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :param umask: receives the unit mask: 4 bits, for EAR events up to 16
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a bad event or a NULL
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_get_event_umask(unsigned int i, unsigned long *umask);

/**
 * Get the group of a cache event.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :param grp: receives PFMLIB_ITA2_EVT_L1_CACHE_GRP,
 *     PFMLIB_ITA2_EVT_L2_CACHE_GRP or, for every other event,
 *     PFMLIB_ITA2_EVT_NO_GRP
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a bad event or a NULL
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_get_event_group(unsigned int i, int *grp);

/**
 * Get the set of a cache event within its group. Events of one group but
 * different sets cannot be measured together.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :param set: receives the set, or PFMLIB_ITA2_EVT_NO_SET for an event without
 *     group
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a bad event or a NULL
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_get_event_set(unsigned int i, int *set);

/**
 * Get the mode of an EAR event.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :param m: receives PFMLIB_ITA2_EAR_TLB_MODE, PFMLIB_ITA2_EAR_CACHE_MODE or
 *     PFMLIB_ITA2_EAR_ALAT_MODE
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL, with the mode untouched, for an
 *     event that is not an EAR event or a NULL
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_get_ear_mode(unsigned int i, pfmlib_ita2_ear_mode_t *m);

/**
 * Ask whether an answer of pfm_dispatch_events() uses code range restriction
 * in fine mode.
 *
 * :param outp: generic output of a call that succeeded
 * :param mod_out: model-specific output of the same call
 * :return: 1 if it does, else 0; 0 for a NULL or an output without code range
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_irange_is_fine(pfmlib_output_param_t *outp, pfmlib_ita2_output_param_t *mod_out);

/**
 * The same as pfm_ita2_get_event_group(), under the name that the text of the
 * manual uses.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :param grp: receives the group
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a bad event or a NULL
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_get_event_grp(unsigned int i, int *grp);

/**
 * The same as pfm_ita2_get_ear_mode(), under the name that the text of the
 * manual uses.
 *
 * :param i: event index, from pfm_find_event(); 497 and above is no event
 * :param m: receives the mode
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL, with the mode untouched, for an
 *     event that is not an EAR event or a NULL
 *
 * Source: libpfm_itanium2(3), DESCRIPTION.
 */
extern int pfm_ita2_get_event_ear_mode(unsigned int i, pfmlib_ita2_ear_mode_t *m);

#ifdef __cplusplus
}
#endif

#endif /* __PFMLIB_ITANIUM2_H__ */
