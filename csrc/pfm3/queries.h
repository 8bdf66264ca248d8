/*
 * The event queries that each model of the family has under its own name
 * (pfm_ita2_is_ear, pfm_mont_is_ear ...), written once.  None of them needs
 * initialisation; the headers of the models document them.
 */
#ifndef PFM3_QUERIES_H
#define PFM3_QUERIES_H

#include "encoder.h"

/* int name(i): whether event i is of one of some kinds */
#define PFM3_QUERY_KIND(name, model, kinds) \
	int name(unsigned int i) \
	{ \
		return pfm3_is_kind(&(model), i, kinds); \
	}

/* int name(i): whether event i has a flag */
#define PFM3_QUERY_FLAG(name, model, flag) \
	int name(unsigned int i) \
	{ \
		return pfm3_has_flag(&(model), i, flag); \
	}

/* int name(i, answer): a member of event i */
#define PFM3_QUERY_MEMBER(name, model, type, member) \
	int name(unsigned int i, type *answer) \
	{ \
		const struct pfm3_event *event = pfm3_event_at(&(model), i); \
\
		if (!event || !answer) \
			return PFMLIB_ERR_INVAL; \
		*answer = event->member; \
		return PFMLIB_SUCCESS; \
	}

/* int name(i, mode): what an EAR event records */
#define PFM3_QUERY_EAR_MODE(name, model, type) \
	int name(unsigned int i, type *m) \
	{ \
		int mode = pfm3_ear_mode(&(model), i); \
\
		if (mode < 0 || !m) \
			return PFMLIB_ERR_INVAL; \
		*m = (type)mode; \
		return PFMLIB_SUCCESS; \
	}

/* The queries that all models share; the branch buffer has a name of its own in each. */
#define PFM3_QUERIES(tag, model) \
	PFM3_QUERY_KIND(pfm_##tag##_is_ear, model, PFM3_EAR_KINDS) \
	PFM3_QUERY_KIND(pfm_##tag##_is_dear, model, PFM3_DEAR_KINDS) \
	PFM3_QUERY_KIND(pfm_##tag##_is_dear_tlb, model, 1u << PFM3_DEAR_TLB) \
	PFM3_QUERY_KIND(pfm_##tag##_is_dear_cache, model, 1u << PFM3_DEAR_CACHE) \
	PFM3_QUERY_KIND(pfm_##tag##_is_iear, model, PFM3_IEAR_KINDS) \
	PFM3_QUERY_KIND(pfm_##tag##_is_iear_tlb, model, 1u << PFM3_IEAR_TLB) \
	PFM3_QUERY_KIND(pfm_##tag##_is_iear_cache, model, 1u << PFM3_IEAR_CACHE) \
	PFM3_QUERY_FLAG(pfm_##tag##_support_opcm, model, PFM3_OPCM) \
	PFM3_QUERY_FLAG(pfm_##tag##_support_iarr, model, PFM3_IARR) \
	PFM3_QUERY_FLAG(pfm_##tag##_support_darr, model, PFM3_DARR) \
	PFM3_QUERY_MEMBER(pfm_##tag##_get_event_maxincr, model, unsigned int, maxincr) \
	PFM3_QUERY_MEMBER(pfm_##tag##_get_event_umask, model, unsigned long, umask) \
	PFM3_QUERY_EAR_MODE(pfm_##tag##_get_ear_mode, model, pfmlib_##tag##_ear_mode_t)

/*
 * Further queries of Itanium 2 and Montecito: ALAT events, groups and sets, and the names that the text of their manual
 * pages has.
 */
#define PFM3_QUERIES_2(tag, model) \
	PFM3_QUERIES(tag, model) \
	PFM3_QUERY_KIND(pfm_##tag##_is_dear_alat, model, 1u << PFM3_DEAR_ALAT) \
	PFM3_QUERY_MEMBER(pfm_##tag##_get_event_group, model, int, group) \
	PFM3_QUERY_MEMBER(pfm_##tag##_get_event_grp, model, int, group) \
	PFM3_QUERY_MEMBER(pfm_##tag##_get_event_set, model, int, set) \
	PFM3_QUERY_EAR_MODE(pfm_##tag##_get_event_ear_mode, model, pfmlib_##tag##_ear_mode_t)

#endif
