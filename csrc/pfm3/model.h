/*
 * Private: what a PMU model is, and the re-entrant entry points.
 *
 * A model is one constant struct of data and functions.  The generic API
 * (api.c) applies the entry points below to the library's one global state; the
 * Pythonic layer calls them directly.  None of them reads or writes any state
 * but its arguments, so they can run in any number of threads.
 */
#ifndef PFM3_MODEL_H
#define PFM3_MODEL_H

#include "../base/names.h"
#include "request.h"

/* A model for every processor. */
#define PFM3_ANY_FAMILY 0x100

/* Further properties of an event. */
enum pfm3_kind {
	PFM3_NORMAL,
	PFM3_BTB, /* records branches: BTB, ETB */
	PFM3_IEAR_TLB,
	PFM3_IEAR_CACHE,
	PFM3_DEAR_TLB,
	PFM3_DEAR_CACHE,
	PFM3_DEAR_ALAT
};

/* Qualifiers that an event supports, and whether it has MESI unit masks. */
enum pfm3_flag { PFM3_OPCM = 1, PFM3_IARR = 2, PFM3_DARR = 4, PFM3_ALL = 8, PFM3_MESI = 16 };

/* Groups of cache events: none, L1, L2. */
#define PFM3_NUM_GROUPS 3

/* One row of an event table (csrc/tables). */
struct pfm3_event {
	const char *name;
	const char *description;
	unsigned short umask;
	unsigned short counters; /* bit n: PMCn */
	unsigned char code;
	unsigned char kind; /* enum pfm3_kind */
	unsigned char maxincr;
	unsigned char flags; /* enum pfm3_flag */
	unsigned char group; /* 0 none, 1 L1, 2 L2 */
	signed char set;     /* -1 none */
	unsigned char type;  /* active, floating, causal, self-floating */
};

/* An event table with its name lookup. */
struct pfm3_table {
	const struct pfm3_event *events;
	unsigned int count;
	struct name_index names;
};

/* A unit mask in the sense of the generic API. */
struct pfm3_mask {
	const char *name;
	const char *description;
	unsigned int code;
};

/* Conditions beside the request that change the encoding. */
struct pfm3_settings {
	int fine_mode_bug; /* Itanium 2: widen fine ranges to whole bundle pairs */
	FILE *verbose;     /* one line for each register; NULL: none */
	FILE *notices;     /* "range too big"; NULL: none */
};

struct pfm3_encoder;
struct pfm3_fetches;

/* A stage of the encoding: checks, or computes some registers. */
typedef pfm_err_t (*pfm3_stage)(struct pfm3_encoder *e);

/* Where the shared stages of the encoding (registers.c) put their results. */
struct pfm3_registers {
	unsigned int iear, dear, irange, drange, branches; /* PMCs */
	unsigned int iear_pmd;                             /* first of two */
	unsigned int dear_pmd, dear_pmd3;                  /* first of two, and a third */
	unsigned int dear_ism;                   /* instruction set field of the D-EAR if the caller cannot choose it */
	int has_ism;                             /* the caller's EAR settings have an instruction set */
	int last_ear;                            /* of several EAR events the last decides, not the first */
	const char *irange_field, *drange_field; /* names in verbose output */
};

/* The code ranges of a model that has fine mode (ranges.c). */
struct pfm3_code_rules {
	uint64_t page;           /* address bits that a range in fine mode must not cross */
	unsigned int addr_shift; /* by how much the addresses of debug registers exceed their numbers */
	int whole_lines;         /* fine ranges are widened to 32 bytes; else only by the fine mode bug */
	int prefetch_only;       /* one pair is for fetches and retired instructions, never for other events */
	/* How the events that see prefetches want the pairs. */
	pfm_err_t (*fetches)(const struct pfm3_encoder *e, struct pfm3_fetches *f);
	/* Whether the opcode matchers leave the pairs free (NULL: they do); of retired instructions only. */
	pfm_err_t (*check_matchers)(const struct pfm3_encoder *e);
};

struct pfm3_model {
	const char *name;
	const char *short_names[2]; /* others that LIBPFM_FORCE_PMU takes; the first is shown */
	int type;                   /* PFMLIB_*_PMU */
	unsigned int family;        /* CPUID register 3, bits 31:24; or PFM3_ANY_FAMILY */
	int has_fine_mode_bug;      /* when detected */
	unsigned int num_pmcs;
	unsigned int num_pmds;
	unsigned int num_counters; /* and of events in a request */
	unsigned int counter_width;
	unsigned long impl_counters; /* bit n: PMCn, PMDn */
	pfmlib_regmask_t impl_pmcs;
	pfmlib_regmask_t impl_pmds;
	const struct pfm3_table *table;
	int undescribed;               /* the C API returns no descriptions */
	const struct pfm3_mask *masks; /* of PFM3_MESI events */
	unsigned int num_masks;        /* 0: a PMU without unit masks */
	unsigned int cycle_event;
	unsigned int inst_retired_event;
	struct pfm3_registers registers;
	struct pfm3_code_rules code_rules;
	const pfm3_stage *stages; /* in the order in which they run; the last is NULL */
	/* The counters that pfm_get_event_counters() returns; NULL: those of the table. */
	void (*event_counters)(const struct pfm3_model *model, unsigned int idx, pfmlib_regmask_t *counters);
};

/* A generic IA-64 PMU as initialisation found it: the model points to the rest. */
struct pfm3_gen_ia64 {
	struct pfm3_model model;
	struct pfm3_table table;
	struct pfm3_event events[2];
	pfmlib_regmask_t capable[2]; /* registers that can measure each event */
	unsigned int pairs;          /* of PMCs and PMDs, as the file says */
};

extern const struct pfm3_model pfm3_montecito, pfm3_itanium2, pfm3_itanium, pfm3_gen_ia64;
extern const struct pfm3_table pfm3_montecito_table, pfm3_itanium2_table, pfm3_itanium_table, pfm3_gen_ia64_table;

/* Initialise a generic PMU from a file like the kernel's perfmon_info; path NULL: as if it had
 * been forced.  PFMLIB_ERR_NOTSUPP: the file cannot be read or does not say all; the PMU is
 * untouched then.  notices: where a bad register number is reported, or NULL. */
pfm_err_t pfm3_gen_ia64_init(struct pfm3_gen_ia64 *pmu, const char *path, FILE *notices);

/* The model at a place of the list of supported PMUs; NULL past the end. */
const struct pfm3_model *pfm3_model_at(unsigned int place);

/* The selected PMU (api.c), or NULL; of the generic one, what was found. */
const struct pfm3_model *pfm3_current_model(void);
const struct pfm3_model *pfm3_model_of_type(int type);

/* The model of a PMU type, or NULL. */
const struct pfm3_model *pfm3_model_by_type(int type);

/* The model that has a name, in upper or lower case, or NULL. */
const struct pfm3_model *pfm3_model_by_name(const char *name);

/* Choose the PMU whose registers the calling thread's next contexts have; PFMLIB_NO_PMU: the selected one's. */
void pfm3_use_pmu(int type);

/* Index of the event whose whole name the first len bytes are, or -1. */
int pfm3_find_name(const struct pfm3_model *model, const char *name, size_t len);

/* Row of an event, or NULL if there is none with that index. */
const struct pfm3_event *pfm3_event_at(const struct pfm3_model *model, unsigned int idx);

/* Number of unit masks of an event. */
unsigned int pfm3_num_masks(const struct pfm3_model *model, const struct pfm3_event *event);

/* The unit masks of an event as a set: bit n is unit mask n, bit 63 any that no model has. */
uint64_t pfm3_mask_set(const pfmlib_event_t *e);

/* Check an event and its unit masks: PFMLIB_ERR_INVAL, PFMLIB_ERR_UMASK. */
pfm_err_t pfm3_check_event(const struct pfm3_model *model, unsigned int idx, uint64_t masks);

/* pfm_find_event_mask() for a string of len bytes. */
pfm_err_t pfm3_find_mask(const struct pfm3_model *model, const struct pfm3_event *event, const char *str, size_t len,
			 unsigned int *mask_idx);

/* pfm_find_full_event() for a model. */
pfm_err_t pfm3_find_full_event(const struct pfm3_model *model, const char *str, pfmlib_event_t *e);

/*
 * Encode a request.  The encoding must be all zeros, or hold debug registers to which new ones are appended; debug
 * registers of an earlier answer would remain.
 */
pfm_err_t pfm3_encode(const struct pfm3_model *model, const struct pfm3_settings *settings,
		      const struct pfm3_request *request, struct pfm3_encoding *encoding);

/* pfm_dispatch_events() for a model.  answer, which may be NULL, is valid if it succeeds. */
pfm_err_t pfm3_dispatch(const struct pfm3_model *model, const struct pfm3_settings *settings,
			const pfmlib_input_param_t *in, const void *model_in, pfmlib_output_param_t *out,
			void *model_out, struct pfm3_answer *answer);

/* EAR mode of an event: 0 cache, 1 TLB, 2 ALAT; -1 if it is no EAR event. */
int pfm3_ear_mode(const struct pfm3_model *model, unsigned int idx);

/* Name of a return code (PFMLIB_ERR_...), or NULL. */
const char *pfm3_error_name(int code);

#endif /* PFM3_MODEL_H */
