/*
 * One call of pfm_dispatch_events() under way: its events, the registers emitted.
 */
#include "job.h"

#include <stdarg.h>

void
pfm3_job_init(struct pfm3_job *job, const struct pfm3_model *model,
	      const struct pfm3_settings *settings, const pfmlib_input_param_t *in,
	      const void *model_in, pfmlib_output_param_t *out, void *model_out)
{
	job->model = model;
	job->settings = settings;
	job->in = in;
	job->model_in = model_in;
	job->out = out;
	job->model_out = model_out;
	job->count = in->pfp_event_count;
	job->pmcs = job->pmds = 0;
	job->extras = (struct pfm3_extras){ 0 };
	if (model_in && model->read_extras)
		model->read_extras(job);
	job->kinds = job->groups = 0;
	for (unsigned int i = 0; i < job->count; i++) {
		job->events[i] = &model->table->events[in->pfp_events[i].event];
		job->kinds |= 1u << job->events[i]->kind;
		job->groups |= 1u << job->events[i]->group;
	}
}

pfm_err_t
pfm3_job_run(struct pfm3_job *job, const pfm3_stage *stages, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		pfm_err_t ret = stages[i](job);

		if (ret != PFMLIB_SUCCESS)
			return ret;
		job->out->pfp_pmc_count = job->pmcs;
		job->out->pfp_pmd_count = job->pmds;
	}
	return PFMLIB_SUCCESS;
}

unsigned int
pfm3_plm(const struct pfm3_job *job, unsigned int plm)
{
	return plm ? plm : job->in->pfp_dfl_plm;
}

unsigned int
pfm3_systemwide(const struct pfm3_job *job)
{
	return job->in->pfp_flags & PFMLIB_PFP_SYSTEMWIDE;
}

int
pfm3_unavailable(const struct pfm3_job *job, unsigned int pmc)
{
	const unsigned int bits = 8 * sizeof(pfmlib_regmask_bits_t);

	return (int)(job->in->pfp_unavail_pmcs.bits[pmc / bits] >> pmc % bits & 1);
}

static void
fill_register(pfmlib_reg_t *reg, unsigned int num, uint64_t value, struct pfm3_addresses at)
{
	reg->reg_num = num;
	reg->reg_value = value;
	reg->reg_addr = at.addr;
	reg->reg_alt_addr = at.alt_addr;
}

pfm_err_t
pfm3_emit_pmc_at(struct pfm3_job *job, unsigned int num, uint64_t value, struct pfm3_addresses at)
{
	if (pfm3_unavailable(job, num))
		return PFMLIB_ERR_NOASSIGN;
	fill_register(&job->out->pfp_pmcs[job->pmcs++], num, value, at);
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm3_emit_pmc(struct pfm3_job *job, unsigned int num, uint64_t value)
{
	return pfm3_emit_pmc_at(job, num, value, (struct pfm3_addresses){ num, num });
}

void
pfm3_emit_pmd_at(struct pfm3_job *job, unsigned int num, struct pfm3_addresses at)
{
	fill_register(&job->out->pfp_pmds[job->pmds++], num, 0, at);
}

void
pfm3_emit_pmds(struct pfm3_job *job, unsigned int first, unsigned int last)
{
	for (unsigned int num = first; num <= last; num++)
		pfm3_emit_pmd_at(job, num, (struct pfm3_addresses){ num, num });
}

void
pfm3_trace(const struct pfm3_job *job, const char *format, ...)
{
	va_list args;

	if (!job->settings->verbose)
		return;
	va_start(args, format);
	vfprintf(job->settings->verbose, format, args);
	va_end(args);
}

void
pfm3_notice(const struct pfm3_job *job, const char *format, ...)
{
	va_list args;

	if (!job->settings->notices)
		return;
	va_start(args, format);
	vfprintf(job->settings->notices, format, args);
	va_end(args);
}

const struct pfm3_event *
pfm3_last_of_kinds(const struct pfm3_job *job, unsigned int kinds)
{
	for (unsigned int i = job->count; kinds & job->kinds && i > 0; i--)
		if (kinds >> job->events[i - 1]->kind & 1)
			return job->events[i - 1];
	return NULL;
}

const struct pfm3_event *
pfm3_first_of_kinds(const struct pfm3_job *job, unsigned int kinds)
{
	for (unsigned int i = 0; kinds & job->kinds && i < job->count; i++)
		if (kinds >> job->events[i]->kind & 1)
			return job->events[i];
	return NULL;
}

unsigned int
pfm3_count_codes(const struct pfm3_job *job, const unsigned char *codes, size_t n)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < job->count; i++)
		for (size_t c = 0; c < n; c++)
			found += job->events[i]->code == codes[c];
	return found;
}

int
pfm3_tagged_pairs(const struct pfm3_job *job, unsigned int code)
{
	int pairs = 0;

	for (unsigned int i = 0; i < job->count; i++)
		if (job->events[i]->code == code)
			pairs |= 1 << job->events[i]->umask;
	return pairs;
}

uint64_t
pfm3_counter_value(const struct pfm3_job *job, unsigned int i, unsigned int thres)
{
	const struct pfm3_event *event = job->events[i];
	/* The unit mask of an EAR event belongs to the EAR's own PMC. */
	unsigned int umask = PFM3_EAR_KINDS >> event->kind & 1 ? 0 : event->umask;

	return pfm3_field(pfm3_plm(job, job->in->pfp_events[i].plm), 0, 4) |
	       pfm3_field(pfm3_systemwide(job), 6, 1) |
	       pfm3_field(event->code, 8, 8) |
	       pfm3_field(umask, 16, 4) |
	       pfm3_field(thres, 20, 3);
}

int
pfm3_is_kind(const struct pfm3_model *model, unsigned int idx, unsigned int kinds)
{
	const struct pfm3_event *event = pfm3_event_at(model, idx);

	return event && kinds >> event->kind & 1;
}

int
pfm3_has_flag(const struct pfm3_model *model, unsigned int idx, unsigned int flag)
{
	const struct pfm3_event *event = pfm3_event_at(model, idx);

	return event && event->flags & flag;
}

int
pfm3_ear_mode_of(unsigned int kind)
{
	switch (kind) {
	case PFM3_IEAR_CACHE:
	case PFM3_DEAR_CACHE:
		return 0;
	case PFM3_IEAR_TLB:
	case PFM3_DEAR_TLB:
		return 1;
	case PFM3_DEAR_ALAT:
		return 2;
	default:
		return -1;
	}
}

int
pfm3_ear_mode(const struct pfm3_model *model, unsigned int idx)
{
	const struct pfm3_event *event = pfm3_event_at(model, idx);

	return event ? pfm3_ear_mode_of(event->kind) : -1;
}

int
pfm3_is_fine(const pfmlib_output_param_t *out, unsigned int pmc)
{
	if (!out || out->pfp_pmc_count >= PFMLIB_MAX_PMCS)
		return 0;
	for (unsigned int i = 0; i < out->pfp_pmc_count; i++)
		if (out->pfp_pmcs[i].reg_num == pmc)
			return (int)(out->pfp_pmcs[i].reg_value >> 13 & 1);
	return 0;
}
