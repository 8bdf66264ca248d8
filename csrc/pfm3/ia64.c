/*
 * The stages of the encoding that the Itanium family shares: checks, counters,
 * EARs, ranges, branch trace buffer.
 */
#include "ia64.h"

/* One field of a register value, for verbose output. */
static unsigned int
bits(uint64_t value, unsigned int offset, unsigned int width)
{
	return (unsigned int)(value >> offset) & ((1u << width) - 1);
}

pfm_err_t
pfm3_check_extras(struct pfm3_job *job)
{
	const struct pfm3_extras *x = &job->extras;
	unsigned int needed = (x->irange.used ? PFM3_IARR : 0u) | (x->drange.used ? PFM3_DARR : 0u) |
			      (x->opcm[0] || x->opcm[1] ? PFM3_OPCM : 0u);

	if (job->model_out && !job->model_in)
		return PFMLIB_ERR_INVAL;
	for (unsigned int i = 0; needed && i < job->count; i++)
		if (!(x->unchecked >> i & 1) && (needed & ~(unsigned int)job->events[i]->flags))
			return PFMLIB_ERR_FEATCOMB;
	/* With ranges, every event has to be measured at the default level. */
	for (unsigned int i = 0; (x->irange.used || x->drange.used) && i < job->count; i++) {
		unsigned int plm = job->in->pfp_events[i].plm;

		if (plm != 0 && plm != job->in->pfp_dfl_plm)
			return PFMLIB_ERR_FEATCOMB;
	}
	return PFMLIB_SUCCESS;
}

/* A placement under way. */
struct search {
	const struct pfm3_job			*job;
	const struct pfm3_placement_rules	*rules;
	unsigned int				candidates[PFM3_MAX_COUNTERS];	/* counters of each event */
	struct pfm3_placement			*p;
};

/* Place event i and those behind it on free counters. */
static int
place_from(const struct search *s, unsigned int i, unsigned int free)
{
	if (i == s->job->count || i == PFM3_MAX_COUNTERS)	/* there are not more */
		return !s->rules || s->rules->holds(s->job, s->p);
	for (unsigned int candidates = s->candidates[i] & free; candidates; candidates &= candidates - 1) {
		unsigned int lowest = candidates & -candidates;

		s->p->counter[i] = (unsigned int)__builtin_ctz(candidates);
		if (place_from(s, i + 1, free & ~lowest))
			return 1;
	}
	return 0;
}

int
pfm3_place(const struct pfm3_job *job, const struct pfm3_placement_rules *rules, struct pfm3_placement *p)
{
	struct search s = { .job = job, .rules = rules, .p = p };
	unsigned int kept = 0;

	for (unsigned int group = 0; rules && group < PFM3_NUM_GROUPS; group++)
		kept |= job->groups >> group & 1 ? rules->kept[group] : 0;
	for (unsigned int i = 0; i < job->count && i < PFM3_MAX_COUNTERS; i++) {
		const struct pfm3_event *event = job->events[i];

		s.candidates[i] = event->counters & ~(kept ? kept & ~rules->kept[event->group] : 0);
	}
	return place_from(&s, 0, ~(unsigned int)job->in->pfp_unavail_pmcs.bits[0]);
}

pfm_err_t
pfm3_emit_counter(struct pfm3_job *job, unsigned int i, unsigned int num, unsigned int thres,
		  unsigned int ism)
{
	uint64_t value = pfm3_counter_value(job, i, thres) |
			 pfm3_field(1, 5, 1) |	/* oi */
			 pfm3_field(ism, 24, 2);

	if (pfm3_verbose(job))
		pfm3_trace(job, "[PMC%u(pmc%u)=0x%06llx thres=%u es=0x%02x plm=%u umask=0x%x pm=%u ism=0x%x oi=%u] %s\n"
			   "[PMD%u(pmd%u)]\n", num, num, (unsigned long long)value, bits(value, 20, 3),
			   bits(value, 8, 8), bits(value, 0, 4), bits(value, 16, 4), bits(value, 6, 1),
			   bits(value, 24, 2), bits(value, 5, 1), job->events[i]->name, num, num);
	pfm3_emit_pmds(job, num, num);
	return pfm3_emit_pmc(job, num, value);
}

int
pfm3_ear_settings(const struct pfm3_job *job, const struct pfm3_ear *given, unsigned int kinds,
		  struct pfm3_ear *ear)
{
	const struct pfm3_event *event = job->model->registers.last_ear ? pfm3_last_of_kinds(job, kinds)
									: pfm3_first_of_kinds(job, kinds);

	if (given->used) {
		*ear = *given;
		return 1;
	}
	if (!event)
		return 0;
	/* The event's own plm is not used: quirk of the reference. */
	*ear = (struct pfm3_ear){
		.mode = (unsigned int)pfm3_ear_mode_of(event->kind), .umask = event->umask,
	};
	return 1;
}

/* What verbose output says of every EAR, in a model that has an instruction set field or not. */
static void
trace_ear(const struct pfm3_job *job, const struct pfm3_ear *ear, int show_ism)
{
	pfm3_trace(job, " plm=%u pm=%u", pfm3_plm(job, ear->plm), pfm3_systemwide(job));
	if (show_ism)
		pfm3_trace(job, " ism=0x%x", ear->ism);
	pfm3_trace(job, " umask=0x%lx]\n", ear->umask);
}

static pfm_err_t
iear_value(const struct pfm3_job *job, const struct pfm3_ear *ear, uint64_t *value)
{
	*value = pfm3_field(pfm3_plm(job, ear->plm), 0, 4) |
		 pfm3_field(pfm3_systemwide(job), 4, 1) |
		 pfm3_field(ear->ism, 14, 2);
	switch (ear->mode) {
	case 0:		/* cache: ct = 1, 8 bits of unit mask */
		*value |= pfm3_field(ear->umask, 5, 8) | pfm3_field(1, 13, 1);
		return PFMLIB_SUCCESS;
	case 1:		/* TLB: ct = 0, 7 bits of unit mask */
		*value |= pfm3_field(ear->umask, 5, 7);
		return PFMLIB_SUCCESS;
	default:
		return PFMLIB_ERR_INVAL;
	}
}

pfm_err_t
pfm3_instruction_ear(struct pfm3_job *job)
{
	const struct pfm3_registers *regs = &job->model->registers;
	struct pfm3_ear ear;
	uint64_t value;
	pfm_err_t ret;

	if (!pfm3_ear_settings(job, &job->extras.iear, PFM3_IEAR_KINDS, &ear))
		return PFMLIB_SUCCESS;
	ret = iear_value(job, &ear, &value);
	if (ret == PFMLIB_SUCCESS)
		ret = pfm3_emit_pmc(job, regs->iear, value);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	pfm3_trace(job, "[PMC%u(pmc%u)=0x%llx ctb=%s", regs->iear, regs->iear, (unsigned long long)value,
		   ear.mode ? "tlb" : "cache");
	trace_ear(job, &ear, regs->has_ism);
	/* The closing bracket is missing in the reference, too. */
	pfm3_trace(job, "[PMD%u(pmd%u)]\n[PMD%u(pmd%u)\n", regs->iear_pmd, regs->iear_pmd,
		   regs->iear_pmd + 1, regs->iear_pmd + 1);
	pfm3_emit_pmds(job, regs->iear_pmd, regs->iear_pmd + 1);
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm3_data_ear(struct pfm3_job *job)
{
	static const char *const modes[] = { "L1D", "L1DTLB", "ALAT" };
	const struct pfm3_registers *regs = &job->model->registers;
	struct pfm3_ear ear;
	uint64_t value;
	pfm_err_t ret;

	if (!pfm3_ear_settings(job, &job->extras.dear, PFM3_DEAR_KINDS, &ear))
		return PFMLIB_SUCCESS;
	if (ear.mode > 2)
		return PFMLIB_ERR_INVAL;
	ear.ism |= regs->dear_ism;
	value = pfm3_field(pfm3_plm(job, ear.plm), 0, 4) |
		pfm3_field(pfm3_systemwide(job), 6, 1) |
		pfm3_field(ear.mode, 7, 2) |
		pfm3_field(ear.umask, 16, 4) |
		pfm3_field(ear.ism, 24, 2);
	ret = pfm3_emit_pmc(job, regs->dear, value);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	pfm3_trace(job, "[PMC%u(pmc%u)=0x%llx mode=%s", regs->dear, regs->dear, (unsigned long long)value,
		   modes[ear.mode]);
	trace_ear(job, &ear, 1);
	/* Brackets are missing in the reference, too. */
	pfm3_trace(job, "[PMD%u(pmd%u)]\n[PMD%u(pmd%u)\nPMD%u(pmd%u)\n", regs->dear_pmd, regs->dear_pmd,
		   regs->dear_pmd + 1, regs->dear_pmd + 1, regs->dear_pmd3, regs->dear_pmd3);
	pfm3_emit_pmds(job, regs->dear_pmd, regs->dear_pmd + 1);
	pfm3_emit_pmds(job, regs->dear_pmd3, regs->dear_pmd3);
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm3_code_ranges(struct pfm3_job *job, pfm3_range_encoder encoder)
{
	const struct pfm3_range_use *irange = &job->extras.irange;

	if (!irange->used)
		return PFMLIB_SUCCESS;
	if (!irange->out)
		return PFMLIB_ERR_INVAL;
	return pfm3_with_ranges(job, irange->in, irange->out, encoder);
}

pfm_err_t
pfm3_emit_irange(struct pfm3_job *job, uint64_t value)
{
	const struct pfm3_registers *regs = &job->model->registers;
	const char *name = regs->irange_field;

	if (pfm3_verbose(job))
		pfm3_trace(job, "[PMC%u(pmc%u)=0x%llx %s0=%u %s1=%u %s2=%u %s3=%u fine=%u]\n",
			   regs->irange, regs->irange, (unsigned long long)value,
			   name, bits(value, 1, 1), name, bits(value, 4, 1), name, bits(value, 7, 1),
			   name, bits(value, 10, 1), bits(value, 13, 1));
	return pfm3_emit_pmc(job, regs->irange, value);
}

static void
trace_drange(const struct pfm3_job *job, uint64_t value)
{
	const struct pfm3_registers *regs = &job->model->registers;

	pfm3_trace(job, "[PMC%u(pmc%u)=0x%llx", regs->drange, regs->drange, (unsigned long long)value);
	for (unsigned int pair = 0; pair < 4; pair++)
		pfm3_trace(job, " %s%u=%u", regs->drange_field, pair, bits(value, 3 + 8 * pair, 2));
	for (unsigned int pair = 0; pair < 4; pair++)
		pfm3_trace(job, " ena_dbrp%u=%u", pair, bits(value, 45 + pair, 1));
	pfm3_trace(job, "]\n");
}

/* The tests against exactly 1 are the reference's. */
pfm_err_t
pfm3_data_ranges(struct pfm3_job *job)
{
	const struct pfm3_range_use *drange = &job->extras.drange, *irange = &job->extras.irange;
	int data = drange->used == 1, code = irange->used == 1, fine = 0;
	uint64_t value;

	if (!drange->used && !irange->used)
		return PFMLIB_SUCCESS;
	if (data) {
		pfm_err_t ret;

		if (!drange->out)
			return PFMLIB_ERR_INVAL;
		ret = pfm3_with_ranges(job, drange->in, drange->out, pfm3_cover_data);
		if (ret != PFMLIB_SUCCESS)
			return ret;
	}
	if (code)	/* the PMC of the code ranges is the one written last */
		fine = (int)bits(job->out->pfp_pmcs[job->pmcs - 1].reg_value, 13, 1);
	value = pfm3_data_range_value(data ? drange->out : NULL, code ? irange->out : NULL, fine,
				      job->extras.opcm[0], job->extras.opcm[1]);
	if (pfm3_verbose(job))
		trace_drange(job, value);
	return pfm3_emit_pmc(job, job->model->registers.drange, value);
}

pfm_err_t
pfm3_branches(struct pfm3_job *job, int *record)
{
	static const struct pfm3_branches all = { .tm = 3, .ptm = 3, .ppm = 3 };
	const struct pfm3_ear *dear = &job->extras.dear;
	/* A D-EAR in TLB or ALAT mode needs the buffer off; used is compared with exactly 1 (quirk). */
	int conflict = pfm3_first_of_kinds(job, PFM3_BTB_CONFLICTS) != NULL || (dear->used == 1 && dear->mode != 0);
	const struct pfm3_branches *b = job->extras.branches.used ? &job->extras.branches : NULL;
	unsigned int num = job->model->registers.branches;
	uint64_t v = 0;

	if (!b && pfm3_first_of_kinds(job, 1u << PFM3_BTB))
		b = &all;
	*record = b != NULL;
	if (!b && !conflict)
		return PFMLIB_SUCCESS;
	if (b)
		v = pfm3_field(pfm3_plm(job, b->plm), 0, 4) |
		    pfm3_field(pfm3_systemwide(job), 6, 1) |
		    pfm3_field(b->ds, 7, 1) |
		    pfm3_field(b->tm, 8, 2) |
		    pfm3_field(b->ptm, 10, 2) |
		    pfm3_field(b->ppm, 12, 2) |
		    pfm3_field(b->brt, 14, 2);
	if (conflict && v)
		return PFMLIB_ERR_EVTINCOMP;
	if (pfm3_unavailable(job, num))
		return PFMLIB_ERR_NOASSIGN;
	pfm3_trace(job, "[PMC%u(pmc%u)=0x%llx plm=%u pm=%u ds=%u tm=%u ptm=%u ppm=%u brt=%u]\n", num, num,
		   (unsigned long long)v, bits(v, 0, 4), bits(v, 6, 1), bits(v, 7, 1), bits(v, 8, 2),
		   bits(v, 10, 2), bits(v, 12, 2), bits(v, 14, 2));
	return pfm3_emit_pmc(job, num, v);
}

void
pfm3_emit_shown_pmds(struct pfm3_job *job, unsigned int first, unsigned int last)
{
	for (unsigned int num = first; num <= last; num++) {
		pfm3_trace(job, "[PMD%u(pmd%u)]\n", num, num);
		pfm3_emit_pmds(job, num, num);
	}
}
