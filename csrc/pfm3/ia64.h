/*
 * Private: the stages of the encoding that the Itanium family shares.
 *
 * They work on struct pfm3_extras, so that it does not matter whose structures
 * the request came in; the register numbers are the model's.
 */
#ifndef PFM3_IA64_H
#define PFM3_IA64_H

#include "ranges.h"

/* Whether the structures fit together and the events support what is used. */
pfm_err_t pfm3_check_extras(struct pfm3_job *job);

/* Which counter each event has. */
struct pfm3_placement {
	unsigned int counter[PFM3_MAX_COUNTERS];
};

/* The rules of a model that look at the whole. */
struct pfm3_placement_rules {
	/* By group: counters that are for its events only, if the request has some. */
	unsigned int kept[PFM3_NUM_GROUPS];
	/* Whether a placement of all events keeps the rules. */
	int (*holds)(const struct pfm3_job *job, const struct pfm3_placement *p);
};

/* Place the events on available counters that can measure them; of the placements that keep the
 * rules (NULL: of all), the first in lexicographic order.  0 if there is none. */
int pfm3_place(const struct pfm3_job *job, const struct pfm3_placement_rules *rules, struct pfm3_placement *p);

/* A counter with its PMD: that of Itanium and Itanium 2, which have an instruction set field. */
pfm_err_t pfm3_emit_counter(struct pfm3_job *job, unsigned int i, unsigned int num, unsigned int thres,
			    unsigned int ism);

/* Settings of an EAR: the caller's, else those that an event of the kinds implies.  0 if there is
 * nothing to program. */
int pfm3_ear_settings(const struct pfm3_job *job, const struct pfm3_ear *given, unsigned int kinds,
		      struct pfm3_ear *ear);

/* The instruction EAR: PMC and two PMDs, if there is anything to program. */
pfm_err_t pfm3_instruction_ear(struct pfm3_job *job);

/* The data EAR: PMC and three PMDs, if there is anything to program. */
pfm_err_t pfm3_data_ear(struct pfm3_job *job);

/* The code ranges: the model's encoder computes the debug registers and the PMC. */
pfm_err_t pfm3_code_ranges(struct pfm3_job *job, pfm3_range_encoder encoder);

/* Emit the PMC of the code ranges. */
pfm_err_t pfm3_emit_irange(struct pfm3_job *job, uint64_t value);

/* The data ranges, and the PMC for data and code ranges. */
pfm_err_t pfm3_data_ranges(struct pfm3_job *job);

/* The PMC of the branch trace buffer; *record: its PMDs belong to the answer. */
pfm_err_t pfm3_branches(struct pfm3_job *job, int *record);

/* Emit the PMDs first to last, with a line of verbose output for each. */
void pfm3_emit_shown_pmds(struct pfm3_job *job, unsigned int first, unsigned int last);

#endif /* PFM3_IA64_H */
