/*
 * Private: PMUs, event tables and one event string under way, for libpfm 4.
 *
 * Parsing and encoding are functions of a context (which PMUs are active, what
 * they support) and of the string; they read no other state.  The public API
 * (api.c) has one global context, the Pythonic layer makes its own.
 */
#ifndef PFM4_H
#define PFM4_H

#include "public.h"
#include "../base/names.h"

/* Set if the kernel has perf_event_open(). */
#define PFM4_PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* Sizes and limits. */
enum {
	PFM4_NUM_PMUS = 7,     /* at most: those of list.c */
	PFM4_MAX_ENTRIES = 64, /* attributes of a string */
	PFM4_MAX_GROUPS = 8,   /* of the unit masks of an event */
	PFM4_MAX_DEFAULTS = 8, /* unit masks added to them */
	PFM4_MAX_MODIFIERS = 17,
	PFM4_NUM_MESI = 5, /* pfm4_mesi_umasks */
	PFM4_MAX_CODES = 2,
	PFM4_STRING_SIZE = 256, /* of the string after PMU:: */
	PFM4_ALL_PLM = 0x1f,
	PFM4_RAW_INDEX = 0x7fff /* attribute index of a raw unit mask: after all others */
};

/* Flags of events and unit masks. */
enum pfm4_flag {
	PFM4_DFL = 1,             /* default of its group */
	PFM4_NCOMBO = 2,          /* alone in its group */
	PFM4_PEBS = 4,            /* precise */
	PFM4_EXCL_GRP_GT = 8,     /* forbids groups of a higher number */
	PFM4_GRP_DFL_NONE = 16,   /* its group may stay empty */
	PFM4_EXCL_GRP_BUT_0 = 32, /* forbids all groups but its own and 0 */
	PFM4_NHM_OFFCORE = 64,    /* unit masks go into a second code */
	PFM4_FIXED = 128,
	PFM4_PRECISE = 256,        /* reported as precise (perf) */
	PFM4_OTHER_REGISTERS = 512 /* needs registers beside the counter (IA-64: EARs, BTB) */
};

struct pfm4_umask {
	const char *name;
	const char *desc;
	const char *equiv; /* names that it stands for, or NULL */
	uint64_t code;
	const unsigned char *members; /* the same as indices */
	unsigned char num_members;
	unsigned char group;
	unsigned short flags;
};

struct pfm4_event {
	const char *name;
	const char *desc;  /* what the C API returns */
	const char *text;  /* description in words */
	const char *equiv; /* what it is another name of, or NULL */
	uint64_t code;
	const struct pfm4_umask *umasks;
	unsigned char num_umasks;
	unsigned char num_groups;
	unsigned char modifiers; /* bit n: hardware modifier with code n */
	unsigned short flags;
	unsigned char perf_type;      /* PERF_TYPE_* */
	short target;                 /* index of the event meant: its own, or the alias's */
	const unsigned char *implied; /* unit masks that the alias brings */
	unsigned char num_implied;
	unsigned char umask;         /* IA-64: in the counter's PMC */
	unsigned char max_threshold; /* IA-64 */
};

struct pfm4_table {
	const struct pfm4_event *events;
	int count;
	struct name_index names;
};

/* Numbers of the hardware modifiers. */
enum pfm4_hw_modifier { PFM4_K, PFM4_U, PFM4_E, PFM4_I, PFM4_C, PFM4_THRES, PFM4_ALL, PFM4_NUM_HW_MODIFIERS };

/* Numbers of the operating system's modifiers, in their order. */
enum pfm4_os_modifier {
	PFM4_OS_U,
	PFM4_OS_K,
	PFM4_OS_H,
	PFM4_OS_PERIOD,
	PFM4_OS_FREQ,
	PFM4_OS_PRECISE,
	PFM4_OS_EXCL,
	PFM4_OS_MG,
	PFM4_OS_MH,
	PFM4_OS_CPU,
	PFM4_OS_PINNED,
	PFM4_OS_HW_SMPL
};

struct pfm4_modifier {
	const char *name;
	const char *desc;
	pfm_attr_t type;
	pfm_attr_ctrl_t ctrl;
	int code; /* enum pfm4_hw_modifier or pfm4_os_modifier */
};

struct pfm4_request;
struct pfm4_context;

struct pfm4_pmu {
	const char *name;
	const char *desc;
	pfm_pmu_t id;
	pfm_pmu_type_t type;
	const struct pfm4_table *table;
	int max_encoding;
	int num_cntrs;
	int num_fixed_cntrs;
	unsigned int levels; /* privilege levels that it may have */
	int retired;         /* not on this kind of host: a name that others begin with is theirs */
	unsigned int family; /* of the processor (IA-64) */
	uint64_t always;     /* bits of every code (IA-64) */
	const struct pfm4_modifier *hw_modifiers; /* in the order of attributes; the last has no name. NULL: none */
	int levels_of_core;                       /* of these, only the ones of an active core PMU */
	int raw_umasks;                           /* 0x... is taken as a unit mask */
	int shows_defaults;                       /* default unit masks are reported as such */
	uint64_t not_in_config;                   /* bits of a code that do not go into attr.config */
	int clears_config;                        /* attr.config1 and config2 do not stay as the caller preset them */
	/* Modifiers of the operating system that an event lacks: a set of enum pfm4_os_modifier. */
	unsigned int (*lacks)(const struct pfm4_event *event);
	/* Find an event by the first len bytes of a name: its index, or -1. */
	int (*match)(const struct pfm4_pmu *pmu, const char *name, size_t len, uint64_t *raw);
	pfm_err_t (*encode)(struct pfm4_request *r);
	/* Tell whether the kernel's driver counts the event of a string; NULL: it counts all. */
	int (*is_driven)(const struct pfm4_request *r);
	/* Tell whether the host has it; further findings go into the context. */
	int (*detect)(const struct pfm4_pmu *pmu, struct pfm4_context *context);
	/* The code of an event; NULL: that of the table. */
	uint64_t (*code)(const struct pfm4_context *context, const struct pfm4_event *event);
};

/* The result of initialisation for one PMU; it survives pfm_terminate(). */
struct pfm4_pmu_state {
	int known;
	int active;
	unsigned int plm; /* privilege levels that it supports */
};

struct pfm4_context {
	struct pfm4_pmu_state pmus[PFM4_NUM_PMUS];
	int encode_inactive;                     /* PMU::EVENT works for inactive PMUs */
	int perf_layers;                         /* the perf_event interfaces are active */
	unsigned char cycles_code, retired_code; /* gen_ia64: from the kernel; 0: the usual ones */
};

/* One attribute of a string. */
struct pfm4_entry {
	int index;                      /* place in the attribute list, PFM4_RAW_INDEX */
	const struct pfm4_umask *umask; /* one of the two, or none: a raw unit mask */
	const struct pfm4_modifier *modifier;
	uint64_t value; /* of a modifier or of a raw unit mask */
};

/* An event string under way: parsed, then encoded. */
struct pfm4_request {
	const struct pfm4_pmu *pmu;
	unsigned int plm; /* levels that the PMU supports */
	pfm_os_t os;
	unsigned int dfl_plm;
	const struct pfm4_event *event;
	int idx;       /* opaque index */
	uint64_t raw;  /* number of an event of perf_raw */
	uint64_t code; /* of the event */
	const struct pfm4_modifier *modifiers[PFM4_MAX_MODIFIERS];
	int num_modifiers;
	struct pfm4_entry entries[PFM4_MAX_ENTRIES + PFM4_MAX_DEFAULTS];
	int num_entries;
	uint64_t codes[PFM4_MAX_CODES];
	int num_codes;
	int want_string; /* the string below is asked for */
	char string[PFM4_STRING_SIZE];
	int string_len;
};

extern const struct pfm4_umask pfm4_mesi_umasks[PFM4_NUM_MESI];
extern const struct pfm4_table pfm4_gen_ia64_table, pfm4_ita_table, pfm4_ita2_table, pfm4_mont_table, pfm4_glm_table,
	pfm4_perf_table;
/* The PMUs that a library has: list.c, or another one with fewer. */
extern const struct pfm4_pmu *const pfm4_pmus[];
extern const int pfm4_num_pmus;

extern const struct pfm4_pmu pfm4_gen_ia64, pfm4_ita, pfm4_ita2, pfm4_mont, pfm4_glm, pfm4_perf, pfm4_perf_raw;

/* ---- pmus.c: the list of PMUs, the modifiers of their events, detection ---- */

/* The PMU at a place of the list, or NULL. */
const struct pfm4_pmu *pfm4_pmu_at(int place);

/* The place of a PMU in the list, or -1. */
int pfm4_place_of(pfm_pmu_t id);

/* Levels of a PMU; of one that was never active, all that it may have. */
unsigned int pfm4_levels(const struct pfm4_pmu *pmu, const struct pfm4_pmu_state *pmu_state);

/* The code of an event. */
uint64_t pfm4_event_code(const struct pfm4_context *context, const struct pfm4_pmu *pmu,
			 const struct pfm4_event *event);

/* Opaque index of an event. */
int pfm4_opaque(const struct pfm4_pmu *pmu, int n);

/* A context in which one PMU is active, on any host. */
void pfm4_context_for(struct pfm4_context *context, const struct pfm4_pmu *pmu);

/* The modifiers of an event for an interface, in order; their number. */
int pfm4_modifiers(const struct pfm4_pmu *pmu, unsigned int plm, const struct pfm4_event *event, pfm_os_t os,
		   const struct pfm4_modifier **list);

/* Initialisation: what the environment and the host say. */
void pfm4_initialize(struct pfm4_context *context, unsigned int *disabled);

/* ---- parse.c: event string to request ---- */

pfm_err_t pfm4_parse(const struct pfm4_context *context, const char *str, pfm_os_t os, struct pfm4_request *r);

/* ---- perf_event.c: request to perf_event_attr ---- */

/* Parse and encode a string for a perf_event interface.  attr is the 128-byte
 * structure, preset by the caller; *cpu receives cpu= or -1. */
pfm_err_t pfm4_encode_perf(const struct pfm4_context *context, const char *str, unsigned int dfl_plm, pfm_os_t os,
			   struct perf_event_attr *attr, int *cpu, struct pfm4_request *r);

/* Parse and encode a string to raw codes. */
pfm_err_t pfm4_encode_raw(const struct pfm4_context *context, const char *str, unsigned int dfl_plm,
			  struct pfm4_request *r);

/* The attribute of codes that pfm4_encode_raw() has made: the levels are the default ones. */
pfm_err_t pfm4_attr_of_raw(const struct pfm4_request *r, struct perf_event_attr *attr);

/* The string with the PMU's name, to be freed; NULL if there is no memory. */
char *pfm4_full_string(const struct pfm4_request *r);

/* Name of a return code (PFM_ERR_...), or NULL. */
const char *pfm4_error_name(int code);

#endif /* PFM4_H */
