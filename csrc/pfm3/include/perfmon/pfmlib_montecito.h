/*
 * libpfm 3.10: what is specific to the Montecito PMU (dual-core Itanium 2 9000).
 *
 * Layouts are those of the libpfm 3.10 header for LP64.  With PFMLIB_MANUAL_LAYOUT
 * defined they are as libpfm_montecito(3) prints them: etb_ds, pfp_mont_ipear before
 * pfp_mont_etb, no reserved members.  That form belongs to libpfm-manual.so.3:
 * cc prog.c $(pypfm config --cflags --libs pfm3-manual)
 */
#ifndef __PFMLIB_MONTECITO_H__
#define __PFMLIB_MONTECITO_H__

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

#define PMU_MONT_FIRST_COUNTER 4  /* PMC4/PMD4 is the first counter */
#define PMU_MONT_NUM_COUNTERS 12  /* PMC4/PMD4 to PMC15/PMD15 */
#define PMU_MONT_NUM_PMCS 27      /* PMC0 to PMC15, PMC32 to PMC42 */
#define PMU_MONT_NUM_PMDS 36      /* PMD4 to PMD15, PMD32 to PMD39, PMD48 to PMD63 */
#define PMU_MONT_NUM_ETB 16       /* execution trace buffer entries, PMD48 to PMD63 */
#define PMU_MONT_COUNTER_WIDTH 47 /* bits of a counter */

/* pfmlib_mont_counter_t.flags */
#define PFMLIB_MONT_FL_EVT_NO_QUALCHECK 0x1 /* do not check that the event supports the qualifiers in use */
#define PFMLIB_MONT_FL_EVT_ALL_THRD 0x2     /* both threads of the core: PFMLIB_ERR_NOTSUPP */
#define PFMLIB_MONT_FL_EVT_ACTIVE_ONLY 0x4  /* ignored */
#define PFMLIB_MONT_FL_EVT_ALWAYS 0x8       /* ignored */

/* pfmlib_mont_input_rr_t.rr_flags */
#define PFMLIB_MONT_RR_INV 0x1             /* measure outside the code ranges */
#define PFMLIB_MONT_RR_NO_FINE_MODE 0x2    /* never use fine mode */
#define PFMLIB_MONT_IRR_DEMAND_FETCH 0x4   /* dual events: count demand fetches (IBRP0) */
#define PFMLIB_MONT_IRR_PREFETCH_MATCH 0x8 /* dual events: count prefetches (IBRP1) */

/* pfm_mont_get_event_group(), pfm_mont_get_event_set() */
#define PFMLIB_MONT_EVT_NO_GRP 0
#define PFMLIB_MONT_EVT_L1D_CACHE_GRP 1
#define PFMLIB_MONT_EVT_L2D_CACHE_GRP 2
#ifndef PFMLIB_MONT_EVT_NO_SET
#define PFMLIB_MONT_EVT_NO_SET (-1)
#endif

/* pfm_mont_get_event_type() */
#define PFMLIB_MONT_EVT_ACTIVE 0        /* only while the thread is active */
#define PFMLIB_MONT_EVT_FLOATING 1      /* also while the thread is inactive */
#define PFMLIB_MONT_EVT_CAUSAL 2        /* belongs to no thread */
#define PFMLIB_MONT_EVT_SELF_FLOATING 3 /* floating if measured with .me, else causal */

#ifndef PFMLIB_NO_REG_UNIONS

/** A PMC register: the value, or its fields by register. */
typedef union {
	unsigned long pmc_val; /* the whole register */
	/* PMC4-15: counter */
	struct {
		unsigned long pmc_plm   : 4;  /* 3:0 */
		unsigned long pmc_ev    : 1;  /* 4 */
		unsigned long pmc_oi    : 1;  /* 5 */
		unsigned long pmc_pm    : 1;  /* 6 */
		unsigned long pmc_ig1   : 1;  /* 7 */
		unsigned long pmc_es    : 8;  /* 15:8 */
		unsigned long pmc_umask : 4;  /* 19:16 */
		unsigned long pmc_thres : 3;  /* 22:20 */
		unsigned long pmc_ig2   : 1;  /* 23 */
		unsigned long pmc_ism   : 2;  /* 25:24 */
		unsigned long pmc_all   : 1;  /* 26 */
		unsigned long pmc_i     : 1;  /* 27 */
		unsigned long pmc_s     : 1;  /* 28 */
		unsigned long pmc_e     : 1;  /* 29 */
		unsigned long pmc_m     : 1;  /* 30 */
		unsigned long pmc_res3  : 33; /* 63:31 */
	} pmc_mont_counter_reg;
	/* PMC32, PMC34: opcode matcher, slots and mask */
	struct {
		unsigned long opcm_mask  : 41; /* 40:0 */
		unsigned long opcm_ig1   : 7;  /* 47:41 */
		unsigned long opcm_b     : 1;  /* 48 */
		unsigned long opcm_f     : 1;  /* 49 */
		unsigned long opcm_i     : 1;  /* 50 */
		unsigned long opcm_m     : 1;  /* 51 */
		unsigned long opcm_ig2   : 4;  /* 55:52 */
		unsigned long opcm_inv   : 1;  /* 56 */
		unsigned long opcm_ig_ad : 1;  /* 57 */
		unsigned long opcm_ig3   : 6;  /* 63:58 */
	} pmc32_34_mont_reg;
	/* PMC33, PMC35: opcode matcher, pattern */
	struct {
		unsigned long opcm_match : 41; /* 40:0 */
		unsigned long opcm_ig1   : 23; /* 63:41 */
	} pmc33_35_mont_reg;
	/* PMC36: opcode matcher routing */
	struct {
		unsigned long opcm_ch0_ig_opcm : 1;  /* 0 */
		unsigned long opcm_ch1_ig_opcm : 1;  /* 1 */
		unsigned long opcm_ch2_ig_opcm : 1;  /* 2 */
		unsigned long opcm_ch3_ig_opcm : 1;  /* 3 */
		unsigned long opcm_res         : 28; /* 31:4 */
		unsigned long opcm_ig          : 32; /* 63:32 */
	} pmc36_mont_reg;
	/* PMC37: I-EAR, cache mode */
	struct {
		unsigned long iear_plm   : 4;  /* 3:0 */
		unsigned long iear_pm    : 1;  /* 4 */
		unsigned long iear_umask : 8;  /* 12:5 */
		unsigned long iear_ct    : 1;  /* 13 */
		unsigned long iear_res   : 2;  /* 15:14 */
		unsigned long iear_ig    : 48; /* 63:16 */
	} pmc37_mont_cache_reg;
	/* PMC37: I-EAR, TLB mode (iear_ct: 0 TLB, 1 nothing, 2 and 3 cache mode) */
	struct {
		unsigned long iear_plm   : 4;  /* 3:0 */
		unsigned long iear_pm    : 1;  /* 4 */
		unsigned long iear_umask : 7;  /* 11:5 */
		unsigned long iear_ct    : 2;  /* 13:12 */
		unsigned long iear_res   : 50; /* 63:14 */
	} pmc37_mont_tlb_reg;
	/* PMC40: D-EAR */
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
	} pmc40_mont_reg;
	/* PMC42: IP-EAR */
	struct {
		unsigned long ipear_plm   : 4;  /* 3:0 */
		unsigned long ipear_ig1   : 2;  /* 5:4 */
		unsigned long ipear_pm    : 1;  /* 6 */
		unsigned long ipear_ig2   : 1;  /* 7 */
		unsigned long ipear_mode  : 3;  /* 10:8 */
		unsigned long ipear_delay : 8;  /* 18:11 */
		unsigned long ipear_ig3   : 45; /* 63:19 */
	} pmc42_mont_reg;
	/* PMC39: execution trace buffer */
	struct {
		unsigned long etbc_plm  : 4;  /* 3:0 */
		unsigned long etbc_res1 : 2;  /* 5:4 */
		unsigned long etbc_pm   : 1;  /* 6 */
		unsigned long etbc_ds   : 1;  /* 7 */
		unsigned long etbc_tm   : 2;  /* 9:8 */
		unsigned long etbc_ptm  : 2;  /* 11:10 */
		unsigned long etbc_ppm  : 2;  /* 13:12 */
		unsigned long etbc_brt  : 2;  /* 15:14 */
		unsigned long etbc_ig   : 48; /* 63:16 */
	} pmc39_mont_reg;
	/* PMC41: data ranges */
	struct {
		unsigned long darc_res1      : 3;  /* 2:0 */
		unsigned long darc_cfg_dtag0 : 2;  /* 4:3 */
		unsigned long darc_res2      : 6;  /* 10:5 */
		unsigned long darc_cfg_dtag1 : 2;  /* 12:11 */
		unsigned long darc_res3      : 6;  /* 18:13 */
		unsigned long darc_cfg_dtag2 : 2;  /* 20:19 */
		unsigned long darc_res4      : 6;  /* 26:21 */
		unsigned long darc_cfg_dtag3 : 2;  /* 28:27 */
		unsigned long darc_res5      : 16; /* 44:29 */
		unsigned long darc_ena_dbrp0 : 1;  /* 45 */
		unsigned long darc_ena_dbrp1 : 1;  /* 46 */
		unsigned long darc_ena_dbrp2 : 1;  /* 47 */
		unsigned long darc_ena_dbrp3 : 1;  /* 48 */
		unsigned long darc_res6      : 15; /* 63:49 */
	} pmc41_mont_reg;
	/* PMC38: code ranges */
	struct {
		unsigned long iarc_res1     : 1;  /* 0 */
		unsigned long iarc_ig_ibrp0 : 1;  /* 1 */
		unsigned long iarc_res2     : 2;  /* 3:2 */
		unsigned long iarc_ig_ibrp1 : 1;  /* 4 */
		unsigned long iarc_res3     : 2;  /* 6:5 */
		unsigned long iarc_ig_ibrp2 : 1;  /* 7 */
		unsigned long iarc_res4     : 2;  /* 9:8 */
		unsigned long iarc_ig_ibrp3 : 1;  /* 10 */
		unsigned long iarc_res5     : 2;  /* 12:11 */
		unsigned long iarc_fine     : 1;  /* 13 */
		unsigned long iarc_ig6      : 50; /* 63:14 */
	} pmc38_mont_reg;
} pfm_mont_pmc_reg_t;

/** A PMD register: the value, or its fields by register. */
typedef union {
	unsigned long pmd_val; /* the whole register */
	/* PMD4-15: counter */
	struct {
		unsigned long pmd_count : 47; /* 46:0 */
		unsigned long pmd_sxt47 : 17; /* 63:47 */
	} pmd_mont_counter_reg;
	/* PMD32: D-EAR */
	struct {
		unsigned long dear_daddr; /* 63:0 */
	} pmd32_mont_reg;
	/* PMD33: D-EAR */
	struct {
		unsigned long dear_latency : 13; /* 12:0 */
		unsigned long dear_ov      : 1;  /* 13 */
		unsigned long dear_stat    : 2;  /* 15:14 */
		unsigned long dear_ig      : 48; /* 63:16 */
	} pmd33_mont_reg;
	/* PMD34: I-EAR */
	struct {
		unsigned long iear_stat  : 2;  /* 1:0 */
		unsigned long iear_ig    : 3;  /* 4:2 */
		unsigned long iear_iaddr : 59; /* 63:5 */
	} pmd34_mont_reg;
	/* PMD35: I-EAR */
	struct {
		unsigned long iear_latency : 12; /* 11:0 */
		unsigned long iear_ov      : 1;  /* 12 */
		unsigned long iear_ig      : 51; /* 63:13 */
	} pmd35_mont_reg;
	/* PMD36: D-EAR */
	struct {
		unsigned long dear_slot  : 2;  /* 1:0 */
		unsigned long dear_bn    : 1;  /* 2 */
		unsigned long dear_vl    : 1;  /* 3 */
		unsigned long dear_iaddr : 60; /* 63:4 */
	} pmd36_mont_reg;
	/* PMD38: execution trace buffer index */
	struct {
		unsigned long etbi_ebi  : 4;  /* 3:0 */
		unsigned long etbi_ig1  : 1;  /* 4 */
		unsigned long etbi_full : 1;  /* 5 */
		unsigned long etbi_ig2  : 58; /* 63:6 */
	} pmd38_mont_reg;
	/* PMD39: extensions of PMD48-63, branches */
	struct {
		unsigned long etb_pmd48ext_b1       : 1; /* 0 */
		unsigned long etb_pmd48ext_bruflush : 1; /* 1 */
		unsigned long etb_pmd48ext_res      : 2; /* 3:2 */
		unsigned long etb_pmd56ext_b1       : 1; /* 4 */
		unsigned long etb_pmd56ext_bruflush : 1; /* 5 */
		unsigned long etb_pmd56ext_res      : 2; /* 7:6 */
		unsigned long etb_pmd49ext_b1       : 1; /* 8 */
		unsigned long etb_pmd49ext_bruflush : 1; /* 9 */
		unsigned long etb_pmd49ext_res      : 2; /* 11:10 */
		unsigned long etb_pmd57ext_b1       : 1; /* 12 */
		unsigned long etb_pmd57ext_bruflush : 1; /* 13 */
		unsigned long etb_pmd57ext_res      : 2; /* 15:14 */
		unsigned long etb_pmd50ext_b1       : 1; /* 16 */
		unsigned long etb_pmd50ext_bruflush : 1; /* 17 */
		unsigned long etb_pmd50ext_res      : 2; /* 19:18 */
		unsigned long etb_pmd58ext_b1       : 1; /* 20 */
		unsigned long etb_pmd58ext_bruflush : 1; /* 21 */
		unsigned long etb_pmd58ext_res      : 2; /* 23:22 */
		unsigned long etb_pmd51ext_b1       : 1; /* 24 */
		unsigned long etb_pmd51ext_bruflush : 1; /* 25 */
		unsigned long etb_pmd51ext_res      : 2; /* 27:26 */
		unsigned long etb_pmd59ext_b1       : 1; /* 28 */
		unsigned long etb_pmd59ext_bruflush : 1; /* 29 */
		unsigned long etb_pmd59ext_res      : 2; /* 31:30 */
		unsigned long etb_pmd52ext_b1       : 1; /* 32 */
		unsigned long etb_pmd52ext_bruflush : 1; /* 33 */
		unsigned long etb_pmd52ext_res      : 2; /* 35:34 */
		unsigned long etb_pmd60ext_b1       : 1; /* 36 */
		unsigned long etb_pmd60ext_bruflush : 1; /* 37 */
		unsigned long etb_pmd60ext_res      : 2; /* 39:38 */
		unsigned long etb_pmd53ext_b1       : 1; /* 40 */
		unsigned long etb_pmd53ext_bruflush : 1; /* 41 */
		unsigned long etb_pmd53ext_res      : 2; /* 43:42 */
		unsigned long etb_pmd61ext_b1       : 1; /* 44 */
		unsigned long etb_pmd61ext_bruflush : 1; /* 45 */
		unsigned long etb_pmd61ext_res      : 2; /* 47:46 */
		unsigned long etb_pmd54ext_b1       : 1; /* 48 */
		unsigned long etb_pmd54ext_bruflush : 1; /* 49 */
		unsigned long etb_pmd54ext_res      : 2; /* 51:50 */
		unsigned long etb_pmd62ext_b1       : 1; /* 52 */
		unsigned long etb_pmd62ext_bruflush : 1; /* 53 */
		unsigned long etb_pmd62ext_res      : 2; /* 55:54 */
		unsigned long etb_pmd55ext_b1       : 1; /* 56 */
		unsigned long etb_pmd55ext_bruflush : 1; /* 57 */
		unsigned long etb_pmd55ext_res      : 2; /* 59:58 */
		unsigned long etb_pmd63ext_b1       : 1; /* 60 */
		unsigned long etb_pmd63ext_bruflush : 1; /* 61 */
		unsigned long etb_pmd63ext_res      : 2; /* 63:62 */
	} pmd39_mont_reg;
	/* PMD39: extensions of PMD48-63, IP-EAR */
	struct {
		unsigned long ipear_pmd48ext_cycles : 2; /* 1:0 */
		unsigned long ipear_pmd48ext_f      : 1; /* 2 */
		unsigned long ipear_pmd48ext_ef     : 1; /* 3 */
		unsigned long ipear_pmd56ext_cycles : 2; /* 5:4 */
		unsigned long ipear_pmd56ext_f      : 1; /* 6 */
		unsigned long ipear_pmd56ext_ef     : 1; /* 7 */
		unsigned long ipear_pmd49ext_cycles : 2; /* 9:8 */
		unsigned long ipear_pmd49ext_f      : 1; /* 10 */
		unsigned long ipear_pmd49ext_ef     : 1; /* 11 */
		unsigned long ipear_pmd57ext_cycles : 2; /* 13:12 */
		unsigned long ipear_pmd57ext_f      : 1; /* 14 */
		unsigned long ipear_pmd57ext_ef     : 1; /* 15 */
		unsigned long ipear_pmd50ext_cycles : 2; /* 17:16 */
		unsigned long ipear_pmd50ext_f      : 1; /* 18 */
		unsigned long ipear_pmd50ext_ef     : 1; /* 19 */
		unsigned long ipear_pmd58ext_cycles : 2; /* 21:20 */
		unsigned long ipear_pmd58ext_f      : 1; /* 22 */
		unsigned long ipear_pmd58ext_ef     : 1; /* 23 */
		unsigned long ipear_pmd51ext_cycles : 2; /* 25:24 */
		unsigned long ipear_pmd51ext_f      : 1; /* 26 */
		unsigned long ipear_pmd51ext_ef     : 1; /* 27 */
		unsigned long ipear_pmd59ext_cycles : 2; /* 29:28 */
		unsigned long ipear_pmd59ext_f      : 1; /* 30 */
		unsigned long ipear_pmd59ext_ef     : 1; /* 31 */
		unsigned long ipear_pmd52ext_cycles : 2; /* 33:32 */
		unsigned long ipear_pmd52ext_f      : 1; /* 34 */
		unsigned long ipear_pmd52ext_ef     : 1; /* 35 */
		unsigned long ipear_pmd60ext_cycles : 2; /* 37:36 */
		unsigned long ipear_pmd60ext_f      : 1; /* 38 */
		unsigned long ipear_pmd60ext_ef     : 1; /* 39 */
		unsigned long ipear_pmd53ext_cycles : 2; /* 41:40 */
		unsigned long ipear_pmd53ext_f      : 1; /* 42 */
		unsigned long ipear_pmd53ext_ef     : 1; /* 43 */
		unsigned long ipear_pmd61ext_cycles : 2; /* 45:44 */
		unsigned long ipear_pmd61ext_f      : 1; /* 46 */
		unsigned long ipear_pmd61ext_ef     : 1; /* 47 */
		unsigned long ipear_pmd54ext_cycles : 2; /* 49:48 */
		unsigned long ipear_pmd54ext_f      : 1; /* 50 */
		unsigned long ipear_pmd54ext_ef     : 1; /* 51 */
		unsigned long ipear_pmd62ext_cycles : 2; /* 53:52 */
		unsigned long ipear_pmd62ext_f      : 1; /* 54 */
		unsigned long ipear_pmd62ext_ef     : 1; /* 55 */
		unsigned long ipear_pmd55ext_cycles : 2; /* 57:56 */
		unsigned long ipear_pmd55ext_f      : 1; /* 58 */
		unsigned long ipear_pmd55ext_ef     : 1; /* 59 */
		unsigned long ipear_pmd63ext_cycles : 2; /* 61:60 */
		unsigned long ipear_pmd63ext_f      : 1; /* 62 */
		unsigned long ipear_pmd63ext_ef     : 1; /* 63 */
	} pmd39_ipear_mont_reg;
	/* PMD48-63: branch */
	struct {
		unsigned long etb_s    : 1;  /* 0 */
		unsigned long etb_mp   : 1;  /* 1 */
		unsigned long etb_slot : 2;  /* 3:2 */
		unsigned long etb_addr : 60; /* 63:4 */
	} pmd48_63_etb_mont_reg;
	/* PMD48-63: IP-EAR, extension ef = 0 */
	struct {
		unsigned long ipear_addr   : 60; /* 59:0 */
		unsigned long ipear_cycles : 4;  /* 63:60 */
	} pmd48_63_ipear_mont_reg;
	/* PMD48-63: IP-EAR, extension ef = 1 */
	struct {
		unsigned long ipear_delay  : 8;  /* 7:0 */
		unsigned long ipear_addr   : 52; /* 59:8 */
		unsigned long ipear_cycles : 4;  /* 63:60 */
	} pmd48_63_ipear_ef_mont_reg;
} pfm_mont_pmd_reg_t;

#endif /* PFMLIB_NO_REG_UNIONS */

/** What an Event Address Register records. */
typedef enum {
	PFMLIB_MONT_EAR_CACHE_MODE = 0,
	PFMLIB_MONT_EAR_TLB_MODE = 1,
	PFMLIB_MONT_EAR_ALAT_MODE = 2 /* data EAR only */
} pfmlib_mont_ear_mode_t;

/** Options of one event; entry n belongs to entry n of pfp_events. */
typedef struct {
	unsigned int flags; /* PFMLIB_MONT_FL_EVT_* */
	unsigned int thres; /* count cycles with more than this many occurrences */
} pfmlib_mont_counter_t;

/** An opcode matcher. */
typedef struct {
	unsigned char opcm_used;  /* 1: use the matcher */
	unsigned char opcm_m;     /* 1: match M slots */
	unsigned char opcm_i;     /* 1: match I slots */
	unsigned char opcm_f;     /* 1: match F slots */
	unsigned char opcm_b;     /* 1: match B slots */
	unsigned long opcm_match; /* pattern, 41 bits */
	unsigned long opcm_mask;  /* bits of the pattern to ignore, 41 bits */
} pfmlib_mont_opcm_t;

/** The execution trace buffer. */
typedef struct {
	unsigned char etb_used; /* 1: use the settings */
	unsigned int etb_plm;   /* privilege levels; 0: pfp_dfl_plm */
#ifdef PFMLIB_MANUAL_LAYOUT     /* no member etb_ds? cc prog.c $(pypfm config --cflags --libs pfm3-manual) */
	unsigned char etb_ds;   /* ignored: the processor has one data selector */
#endif
	unsigned char etb_tm;  /* 1: not taken, 2: taken, 3: all */
	unsigned char etb_ptm; /* target 1: mispredicted, 2: predicted, 3: all */
	unsigned char etb_ppm; /* path 1: mispredicted, 2: predicted, 3: all */
	unsigned char etb_brt; /* 1: IP-relative, 2: return, 3: other indirect */
} pfmlib_mont_etb_t;

/** The IP event capture: addresses of retiring instructions in the trace buffer. */
typedef struct {
	unsigned char ipear_used;   /* 1: use the settings */
	unsigned int ipear_plm;     /* privilege levels; 0: pfp_dfl_plm */
	unsigned short ipear_delay; /* cycles from the interrupt to the freeze, 0 to 255 */
} pfmlib_mont_ipear_t;

/** An Event Address Register. */
typedef struct {
	unsigned char ear_used;          /* 1: use the settings */
	pfmlib_mont_ear_mode_t ear_mode; /* cache, TLB or (data) ALAT */
	unsigned int ear_plm;            /* privilege levels; 0: pfp_dfl_plm */
	unsigned long ear_umask;         /* latency or TLB level filter */
} pfmlib_mont_ear_t;

/** One address range of a request. */
typedef struct {
	unsigned int rr_plm;    /* privilege levels; 0: pfp_dfl_plm */
	unsigned long rr_start; /* first byte; code: multiple of 16 */
	unsigned long rr_end;   /* byte after the last; code: multiple of 16 */
} pfmlib_mont_input_rr_desc_t;

/** How far an actual range exceeds the one asked for, in bytes. */
typedef struct {
	unsigned long rr_soff; /* at the start: begins this much earlier */
	unsigned long rr_eoff; /* at the end: ends this much later */
} pfmlib_mont_output_rr_desc_t;

/** The code or data ranges of a request. */
typedef struct {
	unsigned int rr_flags;                    /* PFMLIB_MONT_RR_*, PFMLIB_MONT_IRR_* */
	pfmlib_mont_input_rr_desc_t rr_limits[4]; /* an entry of zeros ends the list */
	unsigned char rr_used;                    /* 1: use the ranges */
} pfmlib_mont_input_rr_t;

/** The debug registers that cover the ranges. */
typedef struct {
	unsigned int rr_nbr_used;                 /* registers in rr_br: 0, 2, 4, 6 or 8 */
	pfmlib_mont_output_rr_desc_t rr_infos[4]; /* one for each range asked for */
	pfmlib_reg_t rr_br[8];                    /* IBRs or DBRs, in pairs: address, mask */
} pfmlib_mont_output_rr_t;

/** Model-specific input of pfm_dispatch_events(). */
typedef struct {
	pfmlib_mont_counter_t
		pfp_mont_counters[PMU_MONT_NUM_COUNTERS]; /* options of the events, in the order of pfp_events */
	unsigned long pfp_mont_flags;                     /* ignored */
	pfmlib_mont_opcm_t pfp_mont_opcm1;                /* opcode matcher PMC32/PMC33 */
	pfmlib_mont_opcm_t pfp_mont_opcm2;                /* opcode matcher PMC34/PMC35 */
	pfmlib_mont_ear_t pfp_mont_iear;                  /* instruction EAR */
	pfmlib_mont_ear_t pfp_mont_dear;                  /* data EAR */
#ifdef PFMLIB_MANUAL_LAYOUT                 /* this order: cc prog.c $(pypfm config --cflags --libs pfm3-manual) */
	pfmlib_mont_ipear_t pfp_mont_ipear; /* IP event capture */
	pfmlib_mont_etb_t pfp_mont_etb;     /* execution trace buffer */
#else
	pfmlib_mont_etb_t pfp_mont_etb;     /* execution trace buffer */
	pfmlib_mont_ipear_t pfp_mont_ipear; /* IP event capture */
#endif
	pfmlib_mont_input_rr_t pfp_mont_drange; /* data ranges */
	pfmlib_mont_input_rr_t pfp_mont_irange; /* code ranges */
#ifndef PFMLIB_MANUAL_LAYOUT                    /* none: cc prog.c $(pypfm config --cflags --libs pfm3-manual) */
	unsigned long reserved[1];              /* 0 */
#endif
} pfmlib_mont_input_param_t;

/** Model-specific output of pfm_dispatch_events(); zeroed by the caller. */
typedef struct {
	pfmlib_mont_output_rr_t pfp_mont_drange; /* DBRs */
	pfmlib_mont_output_rr_t pfp_mont_irange; /* IBRs */
#ifndef PFMLIB_MANUAL_LAYOUT                     /* likewise */
	unsigned long reserved[6];
#endif
} pfmlib_mont_output_param_t;

/**
 * Ask whether an event is an Event Address Register (EAR) event, data or
 * instruction.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_is_ear(unsigned int i);

/**
 * Ask whether an event is a data EAR event: cache, TLB or ALAT.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_is_dear(unsigned int i);

/**
 * Ask whether an event is a data EAR TLB event.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_is_dear_tlb(unsigned int i);

/**
 * Ask whether an event is a data EAR cache event.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_is_dear_cache(unsigned int i);

/**
 * Ask whether an event is a data EAR ALAT event.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_is_dear_alat(unsigned int i);

/**
 * Ask whether an event is an instruction EAR event: cache or TLB.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_is_iear(unsigned int i);

/**
 * Ask whether an event is an instruction EAR TLB event.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_is_iear_tlb(unsigned int i);

/**
 * Ask whether an event is an instruction EAR cache event.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_is_iear_cache(unsigned int i);

/**
 * Ask whether an event records branches in the Execution Trace Buffer
 * (ETB_EVENT, BRANCH_EVENT).
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_is_etb(unsigned int i);

/**
 * Ask whether an event can be measured accurately while opcode matching (PMC32
 * to PMC35) is active.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_support_opcm(unsigned int i);

/**
 * Ask whether an event can be measured accurately while a code range is
 * active.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_support_iarr(unsigned int i);

/**
 * Ask whether an event can be measured accurately while a data range is
 * active.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_support_darr(unsigned int i);

/**
 * Ask whether an event can be measured for both threads of a core at once. No
 * event of this table can.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :return: 1 or 0; 0 for an index that is no event
 *
 * Source: libpfm 3.10 header, DESCRIPTION.
 */
extern int pfm_mont_support_all(unsigned int i);

/**
 * Get the largest number of times that an event can occur in one cycle. A
 * threshold has to stay below it.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :param maxincr: receives the number, 1 to 7
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a bad event or a NULL
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_get_event_maxincr(unsigned int i, unsigned int *maxincr);

/**
 * Get the unit mask of an event.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :param umask: receives the unit mask: 4 bits, for EAR events up to 16
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a bad event or a NULL
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_get_event_umask(unsigned int i, unsigned long *umask);

/**
 * Get the group of a cache event.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :param grp: receives PFMLIB_MONT_EVT_L1D_CACHE_GRP,
 *     PFMLIB_MONT_EVT_L2D_CACHE_GRP or, for every other event,
 *     PFMLIB_MONT_EVT_NO_GRP
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a bad event or a NULL
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_get_event_group(unsigned int i, int *grp);

/**
 * Get the set of a cache event within its group. Events of one group but
 * different sets cannot be measured together (of the L2D group, two sets can).
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :param set: receives the set, or PFMLIB_MONT_EVT_NO_SET for an event without
 *     group
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a bad event or a NULL
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_get_event_set(unsigned int i, int *set);

/**
 * Get how an event relates to the two threads of a core.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :param type: receives PFMLIB_MONT_EVT_ACTIVE, _FLOATING, _CAUSAL or
 *     _SELF_FLOATING
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a bad event or a NULL
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_get_event_type(unsigned int i, int *type);

/**
 * Get the mode of an EAR event.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :param m: receives PFMLIB_MONT_EAR_TLB_MODE, PFMLIB_MONT_EAR_CACHE_MODE or
 *     PFMLIB_MONT_EAR_ALAT_MODE
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL, with the mode untouched, for an
 *     event that is not an EAR event or a NULL
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_get_ear_mode(unsigned int i, pfmlib_mont_ear_mode_t *m);

/**
 * Ask whether an answer of pfm_dispatch_events() uses code range restriction
 * in fine mode.
 *
 * :param outp: generic output of a call that succeeded
 * :param mod_out: model-specific output of the same call
 * :return: 1 if it does, else 0; 0 for a NULL or an output without code range
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_irange_is_fine(pfmlib_output_param_t *outp, pfmlib_mont_output_param_t *mod_out);

/**
 * The same as pfm_mont_get_event_group(), under the name that the text of the
 * manual uses.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :param grp: receives the group
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a bad event or a NULL
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_get_event_grp(unsigned int i, int *grp);

/**
 * The same as pfm_mont_get_ear_mode(), under the name that the text of the
 * manual uses.
 *
 * :param i: event index, from pfm_find_event(); 637 and above is no event
 * :param m: receives the mode
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL, with the mode untouched, for an
 *     event that is not an EAR event or a NULL
 *
 * Source: libpfm_montecito(3), DESCRIPTION.
 */
extern int pfm_mont_get_event_ear_mode(unsigned int i, pfmlib_mont_ear_mode_t *m);

#ifdef __cplusplus
}
#endif

#endif /* __PFMLIB_MONTECITO_H__ */
