/*
 * libpfm 4.13.0: event strings to event codes.
 *
 * Names, values, layouts and return codes are those of libpfm 4.13.0, so that a
 * program written for it compiles and runs unchanged.  The structures carry
 * their own size: set size to 0 or to sizeof() before a call.
 */
#ifndef __PFMLIB_H__
#define __PFMLIB_H__

#ifndef PYPFM_CDEF	/* what cffi reads: no system headers */
#include <sys/types.h>
#include <unistd.h>
#include <inttypes.h>
#include <stdio.h>
#endif
#include <perfmon/pfmlib_pmu_ids.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LIBPFM_VERSION		(4 << 16 | 0)
#define PFM_MAJ_VERSION(v)	((v) >> 16)
#define PFM_MIN_VERSION(v)	((v) & 0xffff)
#define LIBPFM_ABI_VERSION	0

/* Members that have no name in C have one for SWIG. */
#ifdef SWIG
#define SWIG_NAME(x)	x
#else
#define SWIG_NAME(x)
#endif

/* Privilege levels: bits of dfl_plm. */
#define PFM_PLM0	0x01	/* kernel */
#define PFM_PLM1	0x02
#define PFM_PLM2	0x04
#define PFM_PLM3	0x08	/* user */
#define PFM_PLMH	0x10	/* hypervisor */

/** Kind of a PMU. */
typedef enum {
	PFM_PMU_TYPE_UNKNOWN = 0,
	PFM_PMU_TYPE_CORE = 1,
	PFM_PMU_TYPE_UNCORE = 2,
	PFM_PMU_TYPE_OS_GENERIC = 3,
	PFM_PMU_TYPE_MAX = 4
} pfm_pmu_type_t;

/** Kind of an event attribute. */
typedef enum {
	PFM_ATTR_NONE = 0,
	PFM_ATTR_UMASK = 1,		/* unit mask */
	PFM_ATTR_MOD_BOOL = 2,		/* modifier, y or n */
	PFM_ATTR_MOD_INTEGER = 3,	/* modifier with a number */
	PFM_ATTR_RAW_UMASK = 4,		/* unit mask given as a number; never reported */
	PFM_ATTR_MAX = 5
} pfm_attr_t;

/** Type of what an event counts. */
typedef enum {
	PFM_DTYPE_UNKNOWN = 0,
	PFM_DTYPE_UINT64 = 1,
	PFM_DTYPE_INT64 = 2,
	PFM_DTYPE_DOUBLE = 3,
	PFM_DTYPE_FIXED = 4,
	PFM_DTYPE_RATIO = 5,
	PFM_DTYPE_CHAR8 = 6,
	PFM_DTYPE_MAX = 7
} pfm_dtype_t;

/** Who interprets an attribute. */
typedef enum {
	PFM_ATTR_CTRL_UNKNOWN = 0,
	PFM_ATTR_CTRL_PMU = 1,
	PFM_ATTR_CTRL_PERF_EVENT = 2,
	PFM_ATTR_CTRL_MAX = 3
} pfm_attr_ctrl_t;

/** Operating system interface that an encoding is for. */
typedef enum {
	PFM_OS_NONE = 0,		/* raw PMU codes: pfm_pmu_encode_arg_t */
	PFM_OS_PERF_EVENT = 1,		/* perf_event: pfm_perf_encode_arg_t */
	PFM_OS_PERF_EVENT_EXT = 2,	/* perf_event with its own modifiers */
	PFM_OS_MAX = 3
} pfm_os_t;

/** Whether an event counts speculative execution. */
typedef enum {
	PFM_EVENT_INFO_SPEC_NA = 0,
	PFM_EVENT_INFO_SPEC_TRUE = 1,
	PFM_EVENT_INFO_SPEC_FALSE = 2
} pfm_event_info_spec_t;

/* Return codes. */
#define PFM_SUCCESS      0
#define PFM_ERR_NOTSUPP  (-1)
#define PFM_ERR_INVAL    (-2)
#define PFM_ERR_NOINIT   (-3)
#define PFM_ERR_NOTFOUND (-4)
#define PFM_ERR_FEATCOMB (-5)
#define PFM_ERR_UMASK    (-6)
#define PFM_ERR_NOMEM    (-7)
#define PFM_ERR_ATTR     (-8)
#define PFM_ERR_ATTR_VAL (-9)
#define PFM_ERR_ATTR_SET (-10)
#define PFM_ERR_TOOMANY  (-11)
#define PFM_ERR_TOOSMALL (-12)

/* Their texts, as X(name, text): pfm_strerror() is made from this list. */
#define PFM_ERROR_LIST(X) \
	X(PFM_SUCCESS,      "success") \
	X(PFM_ERR_NOTSUPP,  "not supported") \
	X(PFM_ERR_INVAL,    "invalid parameters") \
	X(PFM_ERR_NOINIT,   "pfmlib not initialized") \
	X(PFM_ERR_NOTFOUND, "event not found") \
	X(PFM_ERR_FEATCOMB, "invalid combination of model specific features") \
	X(PFM_ERR_UMASK,    "invalid or missing unit mask") \
	X(PFM_ERR_NOMEM,    "out of memory") \
	X(PFM_ERR_ATTR,     "invalid event attribute") \
	X(PFM_ERR_ATTR_VAL, "invalid event attribute value") \
	X(PFM_ERR_ATTR_SET, "attribute value already set") \
	X(PFM_ERR_TOOMANY,  "too many parameters") \
	X(PFM_ERR_TOOSMALL, "parameter is too small")

typedef int pfm_err_t;
typedef int os_err_t;

/** What is known of a PMU. */
typedef struct {
	const char	*name;		/* name, as in NAME::EVENT */
	const char	*desc;		/* description */
	size_t		size;		/* size of this structure, in and out */
	pfm_pmu_t	pmu;		/* identifier */
	pfm_pmu_type_t	type;		/* core, uncore, operating system */
	int		nevents;	/* number of events */
	int		first_event;	/* opaque index of the first event */
	int		max_encoding;	/* number of 64-bit codes of an event at most */
	int		num_cntrs;	/* generic counters */
	int		num_fixed_cntrs;	/* fixed counters */
	struct {
		unsigned int is_present:1;	/* the PMU is active */
		unsigned int is_dfl:1;
		unsigned int reserved_bits:30;
	} SWIG_NAME(flags);
} pfm_pmu_info_t;

/** What is known of an event. */
typedef struct {
	const char	*name;		/* name */
	const char	*desc;		/* description */
	const char	*equiv;		/* what it is another name of, or NULL */
	size_t		size;		/* size of this structure, in and out */
	uint64_t	code;		/* event code */
	pfm_pmu_t	pmu;		/* its PMU */
	pfm_dtype_t	dtype;		/* type of the count */
	int		idx;		/* opaque index */
	int		nattrs;		/* number of attributes */
	int		reserved;	/* 0 */
	struct {
		unsigned int is_precise:1;
		unsigned int is_speculative:2;
		unsigned int support_hw_smpl:1;
		unsigned int reserved_bits:28;
	} SWIG_NAME(flags);
} pfm_event_info_t;

/** What is known of an attribute of an event. */
typedef struct {
	const char	*name;		/* name */
	const char	*desc;		/* description */
	const char	*equiv;		/* unit masks that it stands for, or NULL */
	size_t		size;		/* size of this structure, in and out */
	uint64_t	code;		/* bits of a unit mask, number of a modifier */
	pfm_attr_t	type;		/* unit mask or modifier */
	int		idx;		/* attribute index */
	pfm_attr_ctrl_t	ctrl;		/* who interprets it */
	struct {
		unsigned int is_dfl:1;
		unsigned int is_precise:1;
		unsigned int is_speculative:2;
		unsigned int support_hw_smpl:1;
		unsigned int reserved_bits:27;
	} SWIG_NAME(flags);
	union {
		uint64_t	dfl_val64;
		const char	*dfl_str;
		int		dfl_bool;
		int		dfl_int;
	} SWIG_NAME(defaults);
} pfm_event_attr_info_t;

/** Argument of pfm_get_os_event_encoding() for PFM_OS_NONE. */
typedef struct {
	uint64_t	*codes;		/* array, or NULL: one is allocated for the caller to free */
	char		**fstr;		/* receives the fully qualified string to free, or NULL */
	size_t		size;		/* size of this structure */
	int		count;		/* elements of codes, in and out */
	int		idx;		/* receives the opaque index of the event */
} pfm_pmu_encode_arg_t;

#if defined(__LP64__) || defined(PYPFM_CDEF)
#define PFM_PMU_INFO_ABI0	56
#define PFM_EVENT_INFO_ABI0	64
#define PFM_ATTR_INFO_ABI0	64
#define PFM_RAW_ENCODE_ABI0	32
#else
#define PFM_PMU_INFO_ABI0	44
#define PFM_EVENT_INFO_ABI0	48
#define PFM_ATTR_INFO_ABI0	48
#define PFM_RAW_ENCODE_ABI0	20
#endif

/* Loops over the attributes of an event and over all PMU identifiers. */
#define pfm_for_each_event_attr(x, z) \
	for ((x) = 0; (x) < (z)->nattrs; (x)++)
#define pfm_for_all_pmus(x) \
	for ((x) = PFM_PMU_NONE; (x) < PFM_PMU_MAX; (x)++)

/**
 * Initialise the library: read the environment, detect the PMUs.  Again without
 * pfm_terminate() it does nothing and answers what it answered.
 *
 * :return: PFM_SUCCESS
 *
 * Source: libpfm 4.13.0, pfm_initialize(3).
 */
extern pfm_err_t pfm_initialize(void);

/**
 * End the use of the library.  PMUs that were active stay so when it is
 * initialised again.
 *
 * Source: libpfm 4.13.0, pfm_terminate(3).
 */
extern void pfm_terminate(void);

/**
 * Get the text of a return code.  Needs no initialisation.
 *
 * :param code: any number
 * :return: a static string, never NULL
 *
 * Source: libpfm 4.13.0, pfm_strerror(3).
 */
extern const char *pfm_strerror(int code);

/**
 * Get the version of the library.  Needs no initialisation.
 *
 * :return: LIBPFM_VERSION: major << 16 | minor
 *
 * Source: libpfm 4.13.0, pfm_get_version(3).
 */
extern int pfm_get_version(void);

/**
 * Get what is known of a PMU.
 *
 * :param pmu: its identifier
 * :param output: receives the answer; size must be set
 * :return: PFM_SUCCESS; PFM_ERR_NOINIT; PFM_ERR_INVAL for an identifier that
 *     does not exist, a NULL or a bad size; PFM_ERR_NOTSUPP for a PMU that is
 *     not known here
 *
 * Source: libpfm 4.13.0, pfm_get_pmu_info(3).
 */
extern pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *output);

/**
 * Get the event behind another one.
 *
 * :param idx: opaque index of an event
 * :return: opaque index of the next event of the same PMU, or -1
 *
 * Source: libpfm 4.13.0, pfm_get_event_next(3).
 */
extern int pfm_get_event_next(int idx);

/**
 * Check a PMU's event table: encode each event with each unit mask.
 *
 * :param pmu_id: PMU
 * :param fp: receives one line for each problem
 * :return: PFM_SUCCESS; PFM_ERR_INVAL for a NULL or a PMU that is not known;
 *     else the last error of an encoding
 *
 * Source: libpfm 4.13.0, pfm_pmu_validate(3).
 */
extern pfm_err_t pfm_pmu_validate(pfm_pmu_t pmu_id, FILE *fp);

/**
 * Find an event.  Unit masks and modifiers are parsed but not combined.
 *
 * :param str: [PMU::]EVENT[:ATTRIBUTE...]
 * :return: opaque index of the event (of an alias: of its target), at least 0;
 *     PFM_ERR_NOINIT; PFM_ERR_INVAL; PFM_ERR_NOTFOUND; PFM_ERR_ATTR;
 *     PFM_ERR_ATTR_VAL; PFM_ERR_ATTR_SET; PFM_ERR_TOOMANY
 *
 * Source: libpfm 4.13.0, pfm_find_event(3).
 */
extern int pfm_find_event(const char *str);

/**
 * Get what is known of an event.
 *
 * :param idx: opaque index
 * :param os: interface for which attributes are counted
 * :param output: receives the answer; size must be set
 * :return: PFM_SUCCESS; PFM_ERR_NOINIT; PFM_ERR_INVAL for a bad index,
 *     interface or size or a NULL; PFM_ERR_NOTSUPP for an inactive interface
 *
 * Source: libpfm 4.13.0, pfm_get_event_info(3).
 */
extern pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *output);

/**
 * Get what is known of an attribute of an event.
 *
 * :param eidx: opaque index of the event
 * :param aidx: attribute, from 0 to nattrs, exclusive
 * :param os: interface
 * :param output: receives the answer; size must be set
 * :return: PFM_SUCCESS; PFM_ERR_NOINIT; PFM_ERR_INVAL for a bad index,
 *     interface or size or a NULL; PFM_ERR_NOTSUPP for an inactive interface
 *
 * Source: libpfm 4.13.0, pfm_get_event_attr_info(3).
 */
extern pfm_err_t pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os, pfm_event_attr_info_t *output);

/**
 * Encode an event string.
 *
 * :param str: [PMU::]EVENT[:ATTRIBUTE...]
 * :param dfl_plm: privilege levels where the string names none, PFM_PLM*
 * :param os: interface: decides what args is
 * :param args: pfm_pmu_encode_arg_t (PFM_OS_NONE) or pfm_perf_encode_arg_t
 * :return: PFM_SUCCESS; PFM_ERR_NOINIT; PFM_ERR_INVAL; PFM_ERR_NOTSUPP for an
 *     inactive interface; PFM_ERR_NOTFOUND; PFM_ERR_ATTR; PFM_ERR_ATTR_VAL;
 *     PFM_ERR_ATTR_SET; PFM_ERR_UMASK; PFM_ERR_FEATCOMB; PFM_ERR_TOOMANY;
 *     PFM_ERR_TOOSMALL; PFM_ERR_NOMEM
 *
 * Source: libpfm 4.13.0, pfm_get_os_event_encoding(3); libpfm_intel_glm(3).
 */
extern pfm_err_t pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t os, void *args);

/**
 * Encode an event string to raw codes: the older form for PFM_OS_NONE.
 *
 * :param str: [PMU::]EVENT[:ATTRIBUTE...]
 * :param dfl_plm: privilege levels where the string names none, PFM_PLM*
 * :param fstr: receives the fully qualified string to free, or NULL
 * :param idx: receives the opaque index of the event, or NULL
 * :param codes: array of *count elements; or NULL with *count 0: one is
 *     allocated for the caller to free
 * :param count: elements of the array, in and out
 * :return: as pfm_get_os_event_encoding(); PFM_ERR_INVAL also where *codes and
 *     *count do not fit together
 *
 * Source: libpfm 4.13.0, pfm_get_event_encoding(3).
 */
extern pfm_err_t pfm_get_event_encoding(const char *str, int dfl_plm, char **fstr, int *idx,
					uint64_t **codes, int *count);

#ifdef __cplusplus
}
#endif

#endif /* __PFMLIB_H__ */
