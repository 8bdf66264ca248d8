/*
 * libpfm 3.10: the generic API, common to all processor models.
 *
 * Names, values, layouts and return codes are those of libpfm 3.10, so that a
 * program written for it compiles and runs unchanged.  Every function returns
 * one of the PFMLIB_* codes below unless it says otherwise.
 */
#ifndef __PFMLIB_H__
#define __PFMLIB_H__

#include <stdio.h>
#include <inttypes.h>
#include <perfmon/pfmlib_os.h>
#include <perfmon/pfmlib_comp.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PFMLIB_VERSION (3 << 16 | 10)
#define PFMLIB_MAJ_VERSION(v) ((v) >> 16)
#define PFMLIB_MIN_VERSION(v) ((v) & 0xffff)

/* Room for registers in the generic structures. */
#define PFMLIB_MAX_PMCS 512
#define PFMLIB_MAX_PMDS 512
#define PFMLIB_REG_MAX 512 /* the larger of the two */

/* Room for unit masks in one event. */
#define PFMLIB_MAX_MASKS_PER_EVENT 48

/* Privilege levels: bits of every plm field.  0 is the kernel, 3 is the user. */
#define PFM_PLM0 0x1
#define PFM_PLM1 0x2
#define PFM_PLM2 0x4
#define PFM_PLM3 0x8

/* pfp_flags: measure the whole system and not one thread (the pm bit of a PMC). */
#define PFMLIB_PFP_SYSTEMWIDE 0x1

/*
 * PMU types, as pfm_get_pmu_type() returns and pfm_force_pmu() takes them.
 */
#define PFMLIB_NO_PMU (-1)
#define PFMLIB_UNKNOWN_PMU 0
#define PFMLIB_GEN_IA64_PMU 1
#define PFMLIB_ITANIUM_PMU 2
#define PFMLIB_ITANIUM2_PMU 3
#define PFMLIB_MONTECITO_PMU 4
#define PFMLIB_AMD64_PMU 16
#define PFMLIB_I386_P6_PMU 32
#define PFMLIB_PENTIUM4_PMU 33
#define PFMLIB_COREDUO_PMU 34
#define PFMLIB_I386_PM_PMU 35
#define PFMLIB_CORE_PMU 36
#define PFMLIB_INTEL_CORE_PMU 36
#define PFMLIB_INTEL_PPRO_PMU 37
#define PFMLIB_INTEL_PII_PMU 38
#define PFMLIB_INTEL_ATOM_PMU 39
#define PFMLIB_INTEL_NHM_PMU 40
#define PFMLIB_INTEL_WSM_PMU 41
#define PFMLIB_GEN_IA32_PMU 63
#define PFMLIB_MIPS_20KC_PMU 64
#define PFMLIB_MIPS_24K_PMU 65
#define PFMLIB_MIPS_25KF_PMU 66
#define PFMLIB_MIPS_34K_PMU 67
#define PFMLIB_MIPS_5KC_PMU 68
#define PFMLIB_MIPS_74K_PMU 69
#define PFMLIB_MIPS_R10000_PMU 70
#define PFMLIB_MIPS_R12000_PMU 71
#define PFMLIB_MIPS_RM7000_PMU 72
#define PFMLIB_MIPS_RM9000_PMU 73
#define PFMLIB_MIPS_SB1_PMU 74
#define PFMLIB_MIPS_VR5432_PMU 75
#define PFMLIB_MIPS_VR5500_PMU 76
#define PFMLIB_MIPS_ICE9A_PMU 77
#define PFMLIB_MIPS_ICE9B_PMU 78
#define PFMLIB_POWERPC_PMU 90
#define PFMLIB_CRAYX2_PMU 96
#define PFMLIB_CELL_PMU 100
#define PFMLIB_PPC970_PMU 110
#define PFMLIB_PPC970MP_PMU 111
#define PFMLIB_POWER3_PMU 112
#define PFMLIB_POWER4_PMU 113
#define PFMLIB_POWER5_PMU 114
#define PFMLIB_POWER5p_PMU 115
#define PFMLIB_POWER6_PMU 116
#define PFMLIB_POWER7_PMU 117
#define PFMLIB_SPARC_ULTRA12_PMU 130
#define PFMLIB_SPARC_ULTRA3_PMU 131
#define PFMLIB_SPARC_ULTRA3I_PMU 132
#define PFMLIB_SPARC_ULTRA3PLUS_PMU 133
#define PFMLIB_SPARC_ULTRA4PLUS_PMU 134
#define PFMLIB_SPARC_NIAGARA1_PMU 135
#define PFMLIB_SPARC_NIAGARA2_PMU 136

/* Return codes. */
#define PFMLIB_SUCCESS 0
#define PFMLIB_ERR_NOTSUPP (-1)
#define PFMLIB_ERR_INVAL (-2)
#define PFMLIB_ERR_NOINIT (-3)
#define PFMLIB_ERR_NOTFOUND (-4)
#define PFMLIB_ERR_NOASSIGN (-5)
#define PFMLIB_ERR_FULL (-6)
#define PFMLIB_ERR_EVTMANY (-7)
#define PFMLIB_ERR_MAGIC (-8)
#define PFMLIB_ERR_FEATCOMB (-9)
#define PFMLIB_ERR_EVTSET (-10)
#define PFMLIB_ERR_EVTINCOMP (-11)
#define PFMLIB_ERR_TOOMANY (-12)
#define PFMLIB_ERR_IRRTOOBIG (-13)
#define PFMLIB_ERR_IRREMPTY (-14)
#define PFMLIB_ERR_IRRINVAL (-15)
#define PFMLIB_ERR_IRRTOOMANY (-16)
#define PFMLIB_ERR_DRRINVAL (-17)
#define PFMLIB_ERR_DRRTOOMANY (-18)
#define PFMLIB_ERR_BADHOST (-19)
#define PFMLIB_ERR_IRRALIGN (-20)
#define PFMLIB_ERR_IRRFLAGS (-21)
#define PFMLIB_ERR_UMASK (-22)
#define PFMLIB_ERR_NOMEM (-23)

/* Their texts, as X(name, text): pfm_strerror() is made from this list. */
#define PFMLIB_ERROR_LIST(X) \
	X(PFMLIB_SUCCESS, "success") \
	X(PFMLIB_ERR_NOTSUPP, "not supported") \
	X(PFMLIB_ERR_INVAL, "invalid parameters") \
	X(PFMLIB_ERR_NOINIT, "pfmlib not initialized") \
	X(PFMLIB_ERR_NOTFOUND, "event not found") \
	X(PFMLIB_ERR_NOASSIGN, "cannot assign events to counters") \
	X(PFMLIB_ERR_FULL, "buffer is full or too small") \
	X(PFMLIB_ERR_EVTMANY, "event used more than once") \
	X(PFMLIB_ERR_MAGIC, "invalid model specific magic number") \
	X(PFMLIB_ERR_FEATCOMB, "invalid combination of model specific features") \
	X(PFMLIB_ERR_EVTSET, "incompatible event sets") \
	X(PFMLIB_ERR_EVTINCOMP, "incompatible events combination") \
	X(PFMLIB_ERR_TOOMANY, "too many events or unit masks") \
	X(PFMLIB_ERR_IRRTOOBIG, "code range too big") \
	X(PFMLIB_ERR_IRREMPTY, "empty code range") \
	X(PFMLIB_ERR_IRRINVAL, "invalid code range") \
	X(PFMLIB_ERR_IRRTOOMANY, "too many code ranges") \
	X(PFMLIB_ERR_DRRINVAL, "invalid data range") \
	X(PFMLIB_ERR_DRRTOOMANY, "too many data ranges") \
	X(PFMLIB_ERR_BADHOST, "not supported by host cpu") \
	X(PFMLIB_ERR_IRRALIGN, "code range is not bundle-aligned") \
	X(PFMLIB_ERR_IRRFLAGS, "code range requires some flags in rr_flags") \
	X(PFMLIB_ERR_UMASK, "invalid or missing unit mask") \
	X(PFMLIB_ERR_NOMEM, "out of memory")

/** What functions return: PFMLIB_SUCCESS or PFMLIB_ERR_*. */
typedef int pfm_err_t;

/* Register masks: bit n stands for PMCn or PMDn. */
typedef unsigned long pfmlib_regmask_bits_t;

#define PFMLIB_BVSIZE(x) (((x) + 8 * sizeof(pfmlib_regmask_bits_t) - 1) / (8 * sizeof(pfmlib_regmask_bits_t)))
#define PFMLIB_REG_BV PFMLIB_BVSIZE(PFMLIB_REG_MAX)

/** A set of registers, 512 bits wide. */
typedef struct {
	pfmlib_regmask_bits_t bits[PFMLIB_REG_BV]; /* bit b: word b / 64, bit b % 64 */
} pfmlib_regmask_t;

/** One event of a request. */
typedef struct {
	unsigned int event;                                  /* index, from pfm_find_event() and its relatives */
	unsigned int plm;                                    /* privilege levels, PFM_PLM*; 0: pfp_dfl_plm */
	unsigned long flags;                                 /* ignored by the Itanium models */
	unsigned int unit_masks[PFMLIB_MAX_MASKS_PER_EVENT]; /* unit mask indices */
	unsigned int num_masks;                              /* how many of them are given */
	unsigned long reserved[2];                           /* 0 */
} pfmlib_event_t;

/** One register of an answer. */
typedef struct {
	unsigned long long reg_value; /* value to write (PMCs, debug registers) */
	unsigned long long reg_addr;  /* hardware address */
	unsigned int reg_num;         /* logical number, n of PMCn or PMDn */
	unsigned int reg_reserved1;   /* 0 */
	unsigned long reg_alt_addr;   /* second hardware address */
} pfmlib_reg_t;

/** A request: what is to be measured. */
typedef struct {
	unsigned int pfp_event_count;               /* entries of pfp_events that are used */
	unsigned int pfp_dfl_plm;                   /* default privilege levels, not 0 */
	unsigned int pfp_flags;                     /* PFMLIB_PFP_* */
	unsigned int reserved1;                     /* 0 */
	pfmlib_event_t pfp_events[PFMLIB_MAX_PMCS]; /* the events */
	pfmlib_regmask_t pfp_unavail_pmcs;          /* PMCs that must not be used */
	unsigned long reserved[6];                  /* 0 */
} pfmlib_input_param_t;

/** An answer: the registers to program. */
typedef struct {
	unsigned int pfp_pmc_count;             /* entries of pfp_pmcs that are used */
	unsigned int pfp_pmd_count;             /* entries of pfp_pmds that are used */
	pfmlib_reg_t pfp_pmcs[PFMLIB_MAX_PMCS]; /* counters in event order, then the rest */
	pfmlib_reg_t pfp_pmds[PFMLIB_MAX_PMDS]; /* reg_value is not used */
	unsigned long reserved[7];
} pfmlib_output_param_t;

/** Options of the library. */
typedef struct {
	unsigned int pfm_debug    : 1;  /* accepted; there are no debug messages */
	unsigned int pfm_verbose  : 1;  /* print each register that is computed */
	unsigned int pfm_reserved : 30; /* 0 */
} pfmlib_options_t;

/**
 * Set the library's options.  Needs no initialisation.
 *
 * Silently ignored while LIBPFM_VERBOSE or LIBPFM_DEBUG, seen by an earlier
 * pfm_initialize(), decides.
 *
 * :param opt: the options
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL if opt is NULL
 *
 * Source: libpfm 3.10, pfm_set_options(3).
 */
extern pfm_err_t pfm_set_options(pfmlib_options_t *opt);

/**
 * Initialise the library: read the environment, then select the PMU that
 * LIBPFM_FORCE_PMU says (a number or a name) or else the one of the processor that
 * LIBPFM_IA64_CPUID3 stands for; for a processor that has no PMU of its own here
 * the generic one, which reads /proc/pal/cpu0/perfmon_info or the file that
 * LIBPFM_IA64_PAL names.  May be called again; a call that fails keeps the PMU
 * selected before.
 *
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOTSUPP if no PMU was found, or the generic
 *     one finds no file that says all
 *
 * Source: libpfm 3.10, pfm_initialize(3).
 */
extern pfm_err_t pfm_initialize(void);

/**
 * Print the names of the supported PMUs and of the selected one.  Needs no
 * initialisation.
 *
 * :param pf: a function like printf(), called once for the heading, once for
 *     each PMU and once for the selected one; what it returns is ignored
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL if pf is NULL
 *
 * Source: libpfm 3.10, pfm_list_supported_pmus(3).
 */
extern pfm_err_t pfm_list_supported_pmus(int (*pf)(const char *fmt, ...));

/**
 * Copy the name of the selected PMU.  A name that does not fit is cut.
 *
 * :param name: buffer; bytes after the name are set to 0
 * :param maxlen: size of the buffer in bytes, at least 1
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL if name is NULL
 *     or maxlen is below 1
 *
 * Source: libpfm 3.10, pfm_get_pmu_name(3).
 */
extern pfm_err_t pfm_get_pmu_name(char *name, int maxlen);

/**
 * Get the type of the selected PMU.
 *
 * :param type: receives one of PFMLIB_*_PMU
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL if type is NULL
 *
 * Source: libpfm 3.10, pfm_get_pmu_type(3).
 */
extern pfm_err_t pfm_get_pmu_type(int *type);

/**
 * Copy the name of a supported PMU.  Needs no initialisation.
 *
 * :param type: one of PFMLIB_*_PMU
 * :param name: buffer; bytes after the name are set to 0
 * :param maxlen: size of the buffer in bytes, at least 1
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL if name is NULL, maxlen is 0 or the
 *     type is not supported
 *
 * Source: libpfm 3.10, pfm_get_pmu_name_bytype(3).
 */
extern pfm_err_t pfm_get_pmu_name_bytype(int type, char *name, size_t maxlen);

/**
 * Ask whether a PMU type is supported.
 *
 * :param type: one of PFMLIB_*_PMU
 * :return: PFMLIB_SUCCESS if it is; PFMLIB_ERR_NOTSUPP if not; PFMLIB_ERR_NOINIT
 *
 * Source: libpfm 3.10, pfm_is_pmu_supported(3).
 */
extern pfm_err_t pfm_is_pmu_supported(int type);

/**
 * Select a PMU, whatever the processor.  The library counts as initialised
 * from then on.  The environment is not read, nothing is detected.
 *
 * :param type: one of PFMLIB_*_PMU
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOTSUPP if the type is not supported
 *
 * Source: libpfm 3.10, pfm_force_pmu(3).
 */
extern pfm_err_t pfm_force_pmu(int type);

/**
 * Find an event by name or, if the string starts with a digit, by code.
 *
 * :param str: event name, in upper or lower case, anything after a colon being
 *     ignored; or a code as a C number (decimal, 0x, leading 0), at most
 *     2147483647
 * :param idx: receives the lowest index that matches
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL or a
 *     bad number; PFMLIB_ERR_NOTFOUND
 *
 * Source: libpfm 3.10, pfm_find_event(3).
 */
extern pfm_err_t pfm_find_event(const char *str, unsigned int *idx);

/**
 * Find an event by name.
 *
 * :param name: event name, in upper or lower case; anything after a colon is
 *     ignored
 * :param idx: receives the index
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL;
 *     PFMLIB_ERR_NOTFOUND
 *
 * Source: libpfm 3.10, pfm_find_event(3).
 */
extern pfm_err_t pfm_find_event_byname(const char *name, unsigned int *idx);

/**
 * Find the first event with a code.
 *
 * :param code: event code, as pfm_get_event_code() returns it
 * :param idx: receives the lowest index with that code
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL;
 *     PFMLIB_ERR_NOTFOUND
 *
 * Source: libpfm 3.10, pfm_find_event(3).
 */
extern pfm_err_t pfm_find_event_bycode(int code, unsigned int *idx);

/**
 * Find the next event with a code.
 *
 * :param code: event code, as pfm_get_event_code() returns it
 * :param start: the search begins after this index; 0xffffffff begins at 0
 * :param next: receives the index
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL;
 *     PFMLIB_ERR_NOTFOUND
 *
 * Source: libpfm 3.10, pfm_find_event(3).
 */
extern pfm_err_t pfm_find_event_bycode_next(int code, unsigned int start, unsigned int *next);

/**
 * Find a unit mask of an event by name or code.
 *
 * :param event_idx: event
 * :param str: name of the unit mask, in upper or lower case, or its code as a C
 *     number
 * :param mask_idx: receives the index of the unit mask within the event
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL or a
 *     bad event; PFMLIB_ERR_UMASK if the event has no such unit mask
 *
 * Source: libpfm 3.10, pfm_find_event(3).
 */
extern pfm_err_t pfm_find_event_mask(unsigned int event_idx, const char *str, unsigned int *mask_idx);

/**
 * Find an event and its unit masks.
 *
 * :param str: NAME or NAME:MASK:MASK..., in upper or lower case
 * :param e: zeroed, then receives the event and the indices of the unit masks
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL;
 *     PFMLIB_ERR_NOTFOUND; PFMLIB_ERR_UMASK for an unknown unit mask, one given
 *     to an event without any, or one missing; PFMLIB_ERR_TOOMANY for more than
 *     48 unit masks
 *
 * Source: libpfm 3.10, pfm_find_full_event(3).
 */
extern pfm_err_t pfm_find_full_event(const char *str, pfmlib_event_t *e);

/**
 * Get the length of the longest event name, its unit masks included.
 *
 * :param len: receives the length in bytes, without the final NUL
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL if len is NULL
 *
 * Source: libpfm 3.10, pfm_get_max_event_name_len(3).
 */
extern pfm_err_t pfm_get_max_event_name_len(size_t *len);

/**
 * Get the number of events of the selected PMU.
 *
 * :param count: receives the number; indices run from 0 to it, exclusive
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL if count is NULL
 *
 * Source: libpfm 3.10, pfm_get_num_events(3).
 */
extern pfm_err_t pfm_get_num_events(unsigned int *count);

/**
 * Get the number of unit masks of an event.
 *
 * :param event_idx: event
 * :param count: receives the number, 0 for most events
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a bad event
 *     or a NULL
 *
 * Source: libpfm 3.10, pfm_get_event_name(3).
 */
extern pfm_err_t pfm_get_num_event_masks(unsigned int event_idx, unsigned int *count);

/**
 * Copy the name of an event, in upper case.
 *
 * :param idx: event
 * :param name: buffer, untouched if the name does not fit
 * :param maxlen: size of the buffer in bytes; the length of the name plus 1 is
 *     enough
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a bad event,
 *     a NULL or a buffer that is too small
 *
 * Source: libpfm 3.10, pfm_get_event_name(3).
 */
extern pfm_err_t pfm_get_event_name(unsigned int idx, char *name, size_t maxlen);

/**
 * Copy the name of an event with the unit masks that e holds: NAME:MASK:MASK.
 *
 * :param e: event and unit masks
 * :param name: buffer
 * :param maxlen: size of the buffer in bytes
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL, a bad
 *     event or maxlen 0; PFMLIB_ERR_UMASK for bad unit masks; PFMLIB_ERR_FULL if
 *     the buffer is too small, which then holds what fitted
 *
 * Source: libpfm 3.10, pfm_get_event_name(3).
 */
extern pfm_err_t pfm_get_full_event_name(pfmlib_event_t *e, char *name, size_t maxlen);

/**
 * Get the code of an event: the event select field of a PMC, without unit mask.
 *
 * :param idx: event
 * :param code: receives the code, 0 to 255
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a bad event
 *     or a NULL
 *
 * Source: libpfm 3.10, pfm_get_event_code(3).
 */
extern pfm_err_t pfm_get_event_code(unsigned int idx, int *code);

/**
 * Get the code of an event on one counter.
 *
 * :param idx: event
 * :param cnt: number of the counter (4 to 7 on Itanium 2, 4 to 15 on
 *     Montecito), or 0xffffffff for any
 * :param code: receives the code, the same for every counter of these models
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a bad event,
 *     a bad counter or a NULL
 *
 * Source: libpfm 3.10, pfm_get_event_code(3).
 */
extern pfm_err_t pfm_get_event_code_counter(unsigned int idx, unsigned int cnt, int *code);

/**
 * Get the code of a unit mask.
 *
 * :param idx: event
 * :param mask_idx: unit mask
 * :param code: receives the code; 0 on a PMU without unit masks, whatever
 *     mask_idx is
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a bad event,
 *     a bad unit mask or a NULL
 *
 * Source: libpfm 3.10, pfm_get_event_code(3).
 */
extern pfm_err_t pfm_get_event_mask_code(unsigned int idx, unsigned int mask_idx, unsigned int *code);

/**
 * Get the counters on which an event can be measured.
 *
 * :param idx: event
 * :param counters: cleared, then receives one bit for each counter
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a bad event
 *     or a NULL
 *
 * Source: libpfm 3.10, pfm_get_event_counters(3).
 */
extern pfm_err_t pfm_get_event_counters(unsigned int idx, pfmlib_regmask_t *counters);

/**
 * Get a copy of the description of an event.
 *
 * :param idx: event
 * :param str: receives a string that the caller frees with free()
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a bad event
 *     or a NULL; PFMLIB_ERR_NOMEM
 *
 * Source: libpfm 3.10, pfm_get_event_description(3).
 */
extern pfm_err_t pfm_get_event_description(unsigned int idx, char **str);

/**
 * Copy the name of a unit mask, in upper case.
 *
 * :param event_idx: event
 * :param mask_idx: unit mask
 * :param name: buffer
 * :param maxlen: size of the buffer in bytes; the length of the name plus 2 is
 *     needed
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a bad event,
 *     a bad unit mask, a NULL or maxlen 0; PFMLIB_ERR_NOTSUPP if the event has
 *     no unit masks; PFMLIB_ERR_FULL if the buffer is too small
 *
 * Source: libpfm 3.10, pfm_get_event_name(3).
 */
extern pfm_err_t pfm_get_event_mask_name(unsigned int event_idx, unsigned int mask_idx, char *name, size_t maxlen);

/**
 * Get a copy of the description of a unit mask.
 *
 * :param event_idx: event
 * :param mask_idx: unit mask
 * :param desc: receives a string that the caller frees with free()
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a bad event,
 *     a bad unit mask (on a PMU that has unit masks) or a NULL;
 *     PFMLIB_ERR_NOMEM
 *
 * Source: libpfm 3.10, pfm_get_event_description(3).
 */
extern pfm_err_t pfm_get_event_mask_description(unsigned int event_idx, unsigned int mask_idx, char **desc);

/**
 * Turn a request into register values.
 *
 * p and q are the generic input and output; model_in and model_out the
 * structures of the selected model (pfmlib_ita2_input_param_t ...) or NULL.
 * The output q is zeroed first; model_out is not: the caller zeroes it.
 *
 * :param p: events, default privilege level, registers not to be used
 * :param model_in: model-specific qualifiers, or NULL
 * :param q: receives the PMC and PMD registers
 * :param model_out: receives the debug registers, or NULL
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for missing
 *     structures, a default privilege level of 0, an event that does not exist
 *     or two cancel events; PFMLIB_ERR_UMASK; PFMLIB_ERR_NOASSIGN if the events
 *     do not fit the counters or a register is unavailable; PFMLIB_ERR_EVTSET,
 *     PFMLIB_ERR_EVTINCOMP and PFMLIB_ERR_FEATCOMB for things that cannot be
 *     measured together; PFMLIB_ERR_IRR* and PFMLIB_ERR_DRR* for ranges
 *
 * Source: libpfm_itanium2(3), libpfm_montecito(3); libpfm 3.10,
 * pfm_dispatch_events(3).
 */
extern pfm_err_t pfm_dispatch_events(pfmlib_input_param_t *p, void *model_in, pfmlib_output_param_t *q,
				     void *model_out);

/**
 * Get the PMC registers that the PMU implements.
 *
 * :param impl_pmcs: cleared, then receives one bit for each register
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10, pfm_get_impl_pmcs(3).
 */
extern pfm_err_t pfm_get_impl_pmcs(pfmlib_regmask_t *impl_pmcs);

/**
 * Get the PMD registers that the PMU implements.
 *
 * :param impl_pmds: cleared, then receives one bit for each register
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10, pfm_get_impl_pmcs(3).
 */
extern pfm_err_t pfm_get_impl_pmds(pfmlib_regmask_t *impl_pmds);

/**
 * Get the counters that the PMU implements.
 *
 * :param impl_counters: cleared, then receives one bit for each counter
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10, pfm_get_impl_pmcs(3).
 */
extern pfm_err_t pfm_get_impl_counters(pfmlib_regmask_t *impl_counters);

/**
 * Get the number of PMD registers.
 *
 * :param num: receives the number
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10, pfm_get_num_pmcs(3).
 */
extern pfm_err_t pfm_get_num_pmds(unsigned int *num);

/**
 * Get the number of PMC registers.
 *
 * :param num: receives the number
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10, pfm_get_num_pmcs(3).
 */
extern pfm_err_t pfm_get_num_pmcs(unsigned int *num);

/**
 * Get the number of counters.
 *
 * :param num: receives the number
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10, pfm_get_num_counters(3).
 */
extern pfm_err_t pfm_get_num_counters(unsigned int *num);

/**
 * Get the width of a hardware counter.
 *
 * :param width: receives the width in bits
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10, pfm_get_hw_counter_width(3).
 */
extern pfm_err_t pfm_get_hw_counter_width(unsigned int *width);

/**
 * Get the version of the library.  Needs no initialisation.
 *
 * :param version: receives PFMLIB_VERSION: major << 16 | minor
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10, pfm_get_version(3).
 */
extern pfm_err_t pfm_get_version(unsigned int *version);

/**
 * Get the text of a return code.  Needs no initialisation.
 *
 * :param code: any number
 * :return: a static string, never NULL; "unknown error code" for a code that
 *     does not exist
 *
 * Source: libpfm 3.10, pfm_strerror(3).
 */
extern char *pfm_strerror(int code);

/**
 * Get the event that counts processor cycles.
 *
 * :param e: zeroed, then receives the event
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL;
 *     PFMLIB_ERR_NOTSUPP if the PMU has none
 *
 * Source: libpfm 3.10, pfm_get_cycle_event(3).
 */
extern pfm_err_t pfm_get_cycle_event(pfmlib_event_t *e);

/**
 * Get the event that counts retired instructions.
 *
 * :param e: zeroed, then receives the event
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_NOINIT; PFMLIB_ERR_INVAL for a NULL;
 *     PFMLIB_ERR_NOTSUPP if the PMU has none
 *
 * Source: libpfm 3.10, pfm_get_cycle_event(3).
 */
extern pfm_err_t pfm_get_inst_retired_event(pfmlib_event_t *e);

#ifdef __cplusplus
}
#endif

#include <perfmon/pfmlib_regmask.h>

#endif /* __PFMLIB_H__ */
