/*
 * Private: one call of pfm_dispatch_events() under way, what it emits and what
 * its events are.
 */
#ifndef PFM3_JOB_H
#define PFM3_JOB_H

#include "model.h"

#include <stdint.h>

/* Settings of an EAR, whichever model they come from. */
struct pfm3_ear {
	int		used;	/* the caller's switch: 0, 1, or another number */
	unsigned int	mode;	/* 0 cache, 1 TLB, 2 ALAT */
	unsigned int	plm;	/* 0: default */
	unsigned int	ism;
	unsigned long	umask;
};

/* Settings of the branch trace buffer, whichever model they come from. */
struct pfm3_branches {
	int		used;
	unsigned int	plm, ds, tm, ptm, ppm, brt;
};

/* The code or data ranges of a model's structures, which have the layout of
 * struct pfm3_rr_in and pfm3_rr_out (layout.c). */
struct pfm3_range_use {
	int		used;	/* 0, 1, or another number */
	unsigned int	flags;
	const void	*in;
	void		*out;	/* NULL if the caller gave no output structure */
};

/* What a request says beside its events, whichever model's structure says it. */
struct pfm3_extras {
	unsigned int		unchecked;	/* bit i: event i need not support the qualifiers */
	int			opcm[2];	/* the opcode matchers are used */
	struct pfm3_ear		iear, dear;
	struct pfm3_branches	branches;
	struct pfm3_range_use	irange, drange;
};

struct pfm3_job {
	const struct pfm3_model		*model;
	const struct pfm3_settings	*settings;
	const pfmlib_input_param_t	*in;
	const void			*model_in;	/* may be NULL */
	pfmlib_output_param_t		*out;
	void				*model_out;	/* may be NULL */
	const struct pfm3_event		*events[PFM3_MAX_COUNTERS];	/* rows of the request */
	unsigned int			count;		/* of events */
	unsigned int			kinds;		/* enum pfm3_kind of the events, as a set */
	unsigned int			groups;		/* cache groups of the events, as a set */
	unsigned int			pmcs, pmds;	/* entries of out that are written */
	struct pfm3_extras		extras;		/* zeros without model_in */
};

/* A stage of the encoding: checks, or computes the value of some registers. */
typedef pfm_err_t (*pfm3_stage)(struct pfm3_job *job);

/* Sets of enum pfm3_kind. */
#define PFM3_IEAR_KINDS		(1u << PFM3_IEAR_TLB | 1u << PFM3_IEAR_CACHE)
#define PFM3_DEAR_KINDS		(1u << PFM3_DEAR_TLB | 1u << PFM3_DEAR_CACHE | 1u << PFM3_DEAR_ALAT)
#define PFM3_EAR_KINDS		(PFM3_IEAR_KINDS | PFM3_DEAR_KINDS)
/* D-EAR kinds that share hardware with the branch trace buffer. */
#define PFM3_BTB_CONFLICTS	(1u << PFM3_DEAR_TLB | 1u << PFM3_DEAR_ALAT)

/* One field of a register: the low bits of a value, at an offset. */
static inline uint64_t
pfm3_field(uint64_t value, unsigned int offset, unsigned int width)
{
	return (value & (((uint64_t)1 << width) - 1)) << offset;
}

/* 1 if what is computed is also printed. */
static inline int
pfm3_verbose(const struct pfm3_job *job)
{
	return job->settings->verbose != NULL;
}

void pfm3_job_init(struct pfm3_job *job, const struct pfm3_model *model,
		   const struct pfm3_settings *settings, const pfmlib_input_param_t *in,
		   const void *model_in, pfmlib_output_param_t *out, void *model_out);

/* Run stages in order; the first error ends it.  Counts in the output move only
 * when a stage has succeeded. */
pfm_err_t pfm3_job_run(struct pfm3_job *job, const pfm3_stage *stages, size_t count);

/* plm, or the default of the request if it is 0. */
unsigned int pfm3_plm(const struct pfm3_job *job, unsigned int plm);

/* 1 if the whole system is measured. */
unsigned int pfm3_systemwide(const struct pfm3_job *job);

/* 1 if a PMC must not be used. */
int pfm3_unavailable(const struct pfm3_job *job, unsigned int pmc);

/* The addresses of a register in the output, of which nearly all are its number. */
struct pfm3_addresses {
	unsigned int	addr, alt_addr;
};

/* Append a PMC to the output; PFMLIB_ERR_NOASSIGN if it must not be used. */
pfm_err_t pfm3_emit_pmc_at(struct pfm3_job *job, unsigned int num, uint64_t value, struct pfm3_addresses at);

/* The same for one whose addresses are its number. */
pfm_err_t pfm3_emit_pmc(struct pfm3_job *job, unsigned int num, uint64_t value);

/* Append a PMD to the output. */
void pfm3_emit_pmd_at(struct pfm3_job *job, unsigned int num, struct pfm3_addresses at);

/* Append the PMDs first to last to the output. */
void pfm3_emit_pmds(struct pfm3_job *job, unsigned int first, unsigned int last);

/* Print to the verbose stream, if there is one. */
void pfm3_trace(const struct pfm3_job *job, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* printf() for what is shown even when not verbose. */
void pfm3_notice(const struct pfm3_job *job, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The last event of the request whose kind is in a set, or NULL. */
const struct pfm3_event *pfm3_last_of_kinds(const struct pfm3_job *job, unsigned int kinds);

/* The first event of the request whose kind is in a set, or NULL. */
const struct pfm3_event *pfm3_first_of_kinds(const struct pfm3_job *job, unsigned int kinds);

/* Number of events of the request that have one of the codes. */
unsigned int pfm3_count_codes(const struct pfm3_job *job, const unsigned char *codes, size_t n);

/* The unit masks (0 to 3, each naming a debug register pair) of the events with a
 * code, as a set. */
int pfm3_tagged_pairs(const struct pfm3_job *job, unsigned int code);

/* Fields of a counter PMC that all models have: plm, pm, es, umask, thres. */
uint64_t pfm3_counter_value(const struct pfm3_job *job, unsigned int i, unsigned int thres);

/* 1 if an event exists and its kind is in a set. */
int pfm3_is_kind(const struct pfm3_model *model, unsigned int idx, unsigned int kinds);

/* 1 if an event exists and has a flag. */
int pfm3_has_flag(const struct pfm3_model *model, unsigned int idx, unsigned int flag);

/* EAR mode of a kind of event: 0 cache, 1 TLB, 2 ALAT; -1 if it is no EAR event. */
int pfm3_ear_mode_of(unsigned int kind);

/* 1 if an output holds a code-range PMC in fine mode. */
int pfm3_is_fine(const pfmlib_output_param_t *out, unsigned int pmc);

#endif /* PFM3_JOB_H */
