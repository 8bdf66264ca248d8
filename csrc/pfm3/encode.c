/*
 * The encoding of a request: checks, then the stages of the model, which assign counters, cover ranges
 * and write registers.
 */
#include "encoder.h"

#include <stdarg.h>

/* The answer's debug registers stay: new ones are appended. */
static void
start_encoding(struct pfm3_encoder *e)
{
	struct pfm3_answer *answer = e->answer;

	answer->pmc_count = answer->pmd_count = answer->pmcs_written = answer->pmds_written = 0;
	for (int i = 0; i < PFM3_MAX_RANGES; i++)
		answer->code_pairs[i] = answer->data_pairs[i] = 0;
	e->kinds = e->groups = 0;
	e->fine = 0;
	e->count = e->request->event_count;
	for (unsigned int i = 0; i < e->count; i++) {
		e->events[i] = &e->model->table->events[e->request->events[i].event];
		e->kinds |= 1u << e->events[i]->kind;
		e->groups |= 1u << e->events[i]->group;
	}
}

pfm_err_t
pfm3_encode_checked(const struct pfm3_model *model, const struct pfm3_settings *settings,
		    const struct pfm3_request *request, struct pfm3_answer *answer)
{
	struct pfm3_encoder e;

	e.model = model;
	e.settings = settings;
	e.request = request;
	e.answer = answer;
	start_encoding(&e);
	for (const pfm3_stage *stage = model->stages; *stage; stage++) {
		pfm_err_t ret = (*stage)(&e);

		if (ret != PFMLIB_SUCCESS)
			return ret;
		answer->pmc_count = answer->pmcs_written;
		answer->pmd_count = answer->pmds_written;
	}
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm3_encode(const struct pfm3_model *model, const struct pfm3_settings *settings, const struct pfm3_request *request,
	    struct pfm3_encoding *encoding)
{
	pfm_err_t ret = pfm3_check_request(model, request);

	if (ret != PFMLIB_SUCCESS)
		return ret;
	encoding->answer.pmcs = encoding->pmcs;
	encoding->answer.pmds = encoding->pmds;
	return pfm3_encode_checked(model, settings, request, &encoding->answer);
}

unsigned int
pfm3_plm(const struct pfm3_encoder *e, unsigned int plm)
{
	return plm ? plm : e->request->plm;
}

const struct pfm3_event *
pfm3_last_of_kinds(const struct pfm3_encoder *e, unsigned int kinds)
{
	for (unsigned int i = e->count; kinds & e->kinds && i > 0; i--)
		if (kinds >> e->events[i - 1]->kind & 1)
			return e->events[i - 1];
	return NULL;
}

const struct pfm3_event *
pfm3_first_of_kinds(const struct pfm3_encoder *e, unsigned int kinds)
{
	for (unsigned int i = 0; kinds & e->kinds && i < e->count; i++)
		if (kinds >> e->events[i]->kind & 1)
			return e->events[i];
	return NULL;
}

unsigned int
pfm3_count_codes(const struct pfm3_encoder *e, const unsigned char *codes, size_t n)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < e->count; i++)
		for (size_t c = 0; c < n; c++)
			found += e->events[i]->code == codes[c];
	return found;
}

unsigned int
pfm3_count_retired(const struct pfm3_encoder *e)
{
	static const unsigned char retired[] = { PFM3_CODE_RETIRED };

	return pfm3_count_codes(e, retired, sizeof(retired));
}

void
pfm3_trace(const struct pfm3_encoder *e, const char *format, ...)
{
	va_list args;

	if (!e->settings->verbose)
		return;
	va_start(args, format);
	vfprintf(e->settings->verbose, format, args);
	va_end(args);
}
