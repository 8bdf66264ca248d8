/*
 * Private: the encoding of one request, and the parts of its stages.
 *
 * A stage checks something, or computes some registers; a model names its stages in their
 * order. Here is the code that models share, file by file; a model has its own rules beside
 * that.
 */
#ifndef PFM3_ENCODER_H
#define PFM3_ENCODER_H

#include "../base/processor.h"
#include "model.h"

/* A request under way. */
struct pfm3_encoder {
	const struct pfm3_model *model;
	const struct pfm3_settings *settings;
	const struct pfm3_request *request;
	struct pfm3_answer *answer;
	const struct pfm3_event *events[PFM3_MAX_EVENTS]; /* rows of the request */
	unsigned int count;                               /* of events */
	unsigned int kinds;                               /* enum pfm3_kind of the events, as a set */
	unsigned int groups;                              /* cache groups of the events, as a set */
	int fine;                                         /* the code ranges are in fine mode */
};

/* Sets of enum pfm3_kind. */
#define PFM3_IEAR_KINDS (1u << PFM3_IEAR_TLB | 1u << PFM3_IEAR_CACHE)
#define PFM3_DEAR_KINDS (1u << PFM3_DEAR_TLB | 1u << PFM3_DEAR_CACHE | 1u << PFM3_DEAR_ALAT)
#define PFM3_EAR_KINDS (PFM3_IEAR_KINDS | PFM3_DEAR_KINDS)
/* D-EAR kinds that share hardware with the branch trace buffer. */
#define PFM3_BTB_CONFLICTS (1u << PFM3_DEAR_TLB | 1u << PFM3_DEAR_ALAT)

/* The value of a field of a register. */
static inline unsigned int
pfm3_bits(uint64_t reg, unsigned int offset, unsigned int width)
{
	return (unsigned int)(reg >> offset & (((uint64_t)1 << width) - 1));
}

/* ---- encode.c: the stages in their order; what they ask about the events ------------ */

/* The same for a request that is checked already. */
pfm_err_t pfm3_encode_checked(const struct pfm3_model *model, const struct pfm3_settings *settings,
			      const struct pfm3_request *request, struct pfm3_answer *answer);

/* plm, or the default of the request if it is 0. */
unsigned int pfm3_plm(const struct pfm3_encoder *e, unsigned int plm);

/* The last event of the request whose kind is in a set, or NULL. */
const struct pfm3_event *pfm3_last_of_kinds(const struct pfm3_encoder *e, unsigned int kinds);

/* The first event of the request whose kind is in a set, or NULL. */
const struct pfm3_event *pfm3_first_of_kinds(const struct pfm3_encoder *e, unsigned int kinds);

/* Number of events of the request that have one of the codes. */
unsigned int pfm3_count_codes(const struct pfm3_encoder *e, const unsigned char *codes, size_t n);

/* Retired instructions, on Itanium 2 and Montecito; the unit mask is a pair of debug registers. */
#define PFM3_CODE_RETIRED 0x08

/* Number of events of the request that have this code. */
unsigned int pfm3_count_retired(const struct pfm3_encoder *e);

/* 1 if computed values are also printed. */
static inline int
pfm3_verbose(const struct pfm3_encoder *e)
{
	return e->settings->verbose != NULL;
}

/* Print to the verbose stream, if there is one. */
void pfm3_trace(const struct pfm3_encoder *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- checks.c --------------------------------------------------------------------- */

/* The checks of a request that come before its encoding, and are the same for every model. */
pfm_err_t pfm3_check_request(const struct pfm3_model *model, const struct pfm3_request *request);

/* A stage: whether the structures fit together and the events support what is used. */
pfm_err_t pfm3_check_qualifiers(struct pfm3_encoder *e);

/* ---- assignment.c ----------------------------------------------------------------- */

/* Which counter each event has. */
struct pfm3_assignment {
	unsigned int counter[PFM3_MAX_EVENTS];
};

/* The rules of a model that look at the whole. */
struct pfm3_assignment_rules {
	/* By group: counters that are for its events only, if the request has some. */
	unsigned int kept[PFM3_NUM_GROUPS];
	/* Whether an assignment of all events keeps the rules. */
	int (*holds)(const struct pfm3_encoder *e, const struct pfm3_assignment *a);
};

/*
 * Give the events available counters that can measure them; of the assignments that keep the rules (NULL: of all), the
 * first in lexicographic order.  PFMLIB_ERR_NOASSIGN if there is none.
 */
pfm_err_t pfm3_assign(const struct pfm3_encoder *e, const struct pfm3_assignment_rules *rules,
		      struct pfm3_assignment *a);

/* ---- ranges.c: debug registers ---------------------------------------------------- */

/* How the events that see prefetches want the pairs of code ranges. */
struct pfm3_fetches {
	unsigned int events; /* how many there are */
	unsigned int base;   /* first debug register: 0, or 2 for pair 1 */
	int both;            /* the range has to be in both pairs 0 and 1 */
};

/* Cover the code ranges as the rules of the model say, and compute the value of their PMC. */
pfm_err_t pfm3_cover_code(struct pfm3_encoder *e, uint64_t *value);

/* Cover the code ranges with as many pairs as it takes: of a model without fine mode. */
pfm_err_t pfm3_cover_coarse_code(const struct pfm3_encoder *e);

/* Cover the data ranges. */
pfm_err_t pfm3_cover_data(const struct pfm3_encoder *e);

/* Value of the PMC for data ranges; which of them are in use is compared with exactly 1 (quirk). */
uint64_t pfm3_data_range_value(const struct pfm3_encoder *e);

/* ---- registers.c: PMCs and PMDs --------------------------------------------------- */

/* The addresses of a register in the output, of which nearly all are its number. */
struct pfm3_addresses {
	unsigned int addr, alt_addr;
};

/* Append a PMC to the answer; PFMLIB_ERR_NOASSIGN if it must not be used. */
pfm_err_t pfm3_emit_pmc_at(const struct pfm3_encoder *e, unsigned int num, uint64_t value, struct pfm3_addresses at);

/* The same for one whose addresses are its number. */
pfm_err_t pfm3_emit_pmc(const struct pfm3_encoder *e, unsigned int num, uint64_t value);

/* 1 if a PMC must not be used. */
int pfm3_unavailable(const struct pfm3_encoder *e, unsigned int pmc);

/* Append a PMD to the answer. */
void pfm3_emit_pmd_at(const struct pfm3_encoder *e, unsigned int num, struct pfm3_addresses at);

/* Append the PMDs first to last to the answer. */
void pfm3_emit_pmds(const struct pfm3_encoder *e, unsigned int first, unsigned int last);

/* The same, with a line of verbose output for each. */
void pfm3_emit_shown_pmds(const struct pfm3_encoder *e, unsigned int first, unsigned int last);

/* Fields of a counter PMC that all models have: plm, pm, es, umask, thres. */
uint64_t pfm3_counter_value(const struct pfm3_encoder *e, unsigned int i);

/* Counters with their PMDs: those of Itanium and Itanium 2, which have an instruction set field. */
pfm_err_t pfm3_emit_counters(const struct pfm3_encoder *e, const struct pfm3_assignment *a);

/* Settings of an EAR: the caller's, else those that an event of the kinds implies.  0 if there is
 * nothing to program. */
int pfm3_ear_settings(const struct pfm3_encoder *e, const struct pfm3_ear *given, unsigned int kinds,
		      struct pfm3_ear *ear);

/* A stage: the instruction EAR, PMC and two PMDs, if there is anything to program. */
pfm_err_t pfm3_instruction_ear(struct pfm3_encoder *e);

/* A stage: the data EAR, PMC and three PMDs, if there is anything to program. */
pfm_err_t pfm3_data_ear(struct pfm3_encoder *e);

/* A stage: the debug registers of the code ranges, and their PMC. */
pfm_err_t pfm3_code_ranges(struct pfm3_encoder *e);

/* A stage: the debug registers of the data ranges, and the PMC for data and code ranges. */
pfm_err_t pfm3_data_ranges(struct pfm3_encoder *e);

/* Compute the PMC of the branch trace buffer from its settings. */
uint64_t pfm3_branch_value(const struct pfm3_encoder *e, const struct pfm3_branches *b);

/* The PMC of the branch trace buffer; *record: its PMDs belong to the answer. */
pfm_err_t pfm3_branch_pmc(const struct pfm3_encoder *e, int *record);

/* ---- for the queries ------------------------------------------------------------------ */

/* 1 if an event exists and its kind is in a set. */
int pfm3_is_kind(const struct pfm3_model *model, unsigned int idx, unsigned int kinds);

/* 1 if an event exists and has a flag. */
int pfm3_has_flag(const struct pfm3_model *model, unsigned int idx, unsigned int flag);

/* EAR mode of a kind of event: 0 cache, 1 TLB, 2 ALAT; -1 if it is no EAR event. */
int pfm3_ear_mode_of(unsigned int kind);

#endif /* PFM3_ENCODER_H */
