/*
 * PMCs and PMDs: their fields, and how they get into the answer.
 *
 * The model says which registers they are (struct pfm3_registers).  Values are put together
 * from fields and never from bit-fields, so that they are the same on every byte order.
 */
#include "encoder.h"

/* ---- the answer --------------------------------------------------------------------- */

int
pfm3_unavailable(const struct pfm3_encoder *e, unsigned int pmc)
{
	return (int)(e->request->unavailable_pmcs >> pmc & 1);
}

/* All but the reserved member, which is 0 already. */
static void
fill_register(pfmlib_reg_t *reg, unsigned int num, uint64_t value, struct pfm3_addresses at)
{
	reg->reg_num = num;
	reg->reg_value = value;
	reg->reg_addr = at.addr;
	reg->reg_alt_addr = at.alt_addr;
}

pfm_err_t
pfm3_emit_pmc_at(const struct pfm3_encoder *e, unsigned int num, uint64_t value, struct pfm3_addresses at)
{
	if (pfm3_unavailable(e, num))
		return PFMLIB_ERR_NOASSIGN;
	fill_register(&e->answer->pmcs[e->answer->pmcs_written++], num, value, at);
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm3_emit_pmc(const struct pfm3_encoder *e, unsigned int num, uint64_t value)
{
	return pfm3_emit_pmc_at(e, num, value, (struct pfm3_addresses){ num, num });
}

void
pfm3_emit_pmd_at(const struct pfm3_encoder *e, unsigned int num, struct pfm3_addresses at)
{
	fill_register(&e->answer->pmds[e->answer->pmds_written++], num, 0, at);
}

void
pfm3_emit_pmds(const struct pfm3_encoder *e, unsigned int first, unsigned int last)
{
	for (unsigned int num = first; num <= last; num++)
		pfm3_emit_pmd_at(e, num, (struct pfm3_addresses){ num, num });
}

void
pfm3_emit_shown_pmds(const struct pfm3_encoder *e, unsigned int first, unsigned int last)
{
	for (unsigned int num = first; num <= last; num++) {
		pfm3_trace(e, "[PMD%u(pmd%u)]\n", num, num);
		pfm3_emit_pmds(e, num, num);
	}
}

/* ---- counters ----------------------------------------------------------------------- */

uint64_t
pfm3_counter_value(const struct pfm3_encoder *e, unsigned int i)
{
	const struct pfm3_requested *requested = &e->request->events[i];
	const struct pfm3_event *event = e->events[i];
	/* The unit mask of an EAR event belongs to the EAR's own PMC. */
	unsigned int umask = PFM3_EAR_KINDS >> event->kind & 1 ? 0 : event->umask;

	return ia64_counter_value((struct ia64_counter){
		.plm = pfm3_plm(e, requested->plm),
		.privileged = e->request->system_wide,
		.code = event->code,
		.umask = umask,
		.threshold = requested->threshold,
	});
}

pfm_err_t
pfm3_emit_counters(const struct pfm3_encoder *e, const struct pfm3_assignment *a)
{
	pfm_err_t ret = PFMLIB_SUCCESS;

	for (unsigned int i = 0; i < e->count && ret == PFMLIB_SUCCESS; i++) {
		unsigned int num = a->counter[i];
		uint64_t v = pfm3_counter_value(e, i) | IA64_OI | IA64_ISM(e->request->events[i].ism);

		if (pfm3_verbose(e))
			pfm3_trace(
				e,
				"[PMC%u(pmc%u)=0x%06llx thres=%u es=0x%02x plm=%u umask=0x%x pm=%u ism=0x%x oi=%u] %s\n"
				"[PMD%u(pmd%u)]\n",
				num, num, (unsigned long long)v, pfm3_bits(v, 20, 3), pfm3_bits(v, 8, 8),
				pfm3_bits(v, 0, 4), pfm3_bits(v, 16, 4), pfm3_bits(v, 6, 1), pfm3_bits(v, 24, 2),
				pfm3_bits(v, 5, 1), e->events[i]->name, num, num);
		pfm3_emit_pmds(e, num, num);
		ret = pfm3_emit_pmc(e, num, v);
	}
	return ret;
}

/* ---- event address registers ---------------------------------------------------------- */

int
pfm3_ear_settings(const struct pfm3_encoder *e, const struct pfm3_ear *given, unsigned int kinds, struct pfm3_ear *ear)
{
	const struct pfm3_event *event =
		e->model->registers.last_ear ? pfm3_last_of_kinds(e, kinds) : pfm3_first_of_kinds(e, kinds);

	if (given->used) {
		*ear = *given;
		return 1;
	}
	if (!event)
		return 0;
	/* The event's own plm is not used: quirk of the reference. */
	*ear = (struct pfm3_ear){
		.mode = (unsigned int)pfm3_ear_mode_of(event->kind),
		.umask = event->umask,
	};
	return 1;
}

/*
 * Print the fields of an EAR's register, in a model with or without an instruction set field; its unit mask is at
 * umask_at.
 */
static void
trace_ear(const struct pfm3_encoder *e, uint64_t value, unsigned int ism_at, unsigned int umask_at,
	  unsigned int umask_width)
{
	pfm3_trace(e, " plm=%u pm=%u", pfm3_bits(value, 0, 4), e->request->system_wide);
	if (ism_at)
		pfm3_trace(e, " ism=0x%x", pfm3_bits(value, ism_at, 2));
	pfm3_trace(e, " umask=0x%x]\n", pfm3_bits(value, umask_at, umask_width));
}

pfm_err_t
pfm3_instruction_ear(struct pfm3_encoder *e)
{
	const struct pfm3_registers *regs = &e->model->registers;
	struct pfm3_ear ear;
	unsigned int umask_width;
	uint64_t value;
	pfm_err_t ret;

	if (!pfm3_ear_settings(e, &e->request->iear, PFM3_IEAR_KINDS, &ear))
		return PFMLIB_SUCCESS;
	if (ear.mode > 1)
		return PFMLIB_ERR_INVAL;
	umask_width = ear.mode ? 7 : 8;
	value = ia64_field(pfm3_plm(e, ear.plm), 0, 4) | ia64_field(e->request->system_wide, 4, 1) |
		ia64_field(ear.umask, 5, umask_width) | ia64_field(!ear.mode, 13, 1) | /* ct, two bits in TLB mode: 0 */
		ia64_field(regs->has_ism ? ear.ism : 0, 14, 2);
	ret = pfm3_emit_pmc(e, regs->iear, value);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	pfm3_trace(e, "[PMC%u(pmc%u)=0x%llx ctb=%s", regs->iear, regs->iear, (unsigned long long)value,
		   ear.mode ? "tlb" : "cache");
	trace_ear(e, value, regs->has_ism ? 14 : 0, 5, umask_width);
	/* The closing bracket is missing in the reference, too. */
	pfm3_trace(e, "[PMD%u(pmd%u)]\n[PMD%u(pmd%u)\n", regs->iear_pmd, regs->iear_pmd, regs->iear_pmd + 1,
		   regs->iear_pmd + 1);
	pfm3_emit_pmds(e, regs->iear_pmd, regs->iear_pmd + 1);
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm3_data_ear(struct pfm3_encoder *e)
{
	static const char *const modes[] = { "L1D", "L1DTLB", "ALAT" };
	const struct pfm3_registers *regs = &e->model->registers;
	struct pfm3_ear ear;
	uint64_t value;
	pfm_err_t ret;

	if (!pfm3_ear_settings(e, &e->request->dear, PFM3_DEAR_KINDS, &ear))
		return PFMLIB_SUCCESS;
	if (ear.mode > 2)
		return PFMLIB_ERR_INVAL;
	value = ia64_field(pfm3_plm(e, ear.plm), 0, 4) | ia64_field(e->request->system_wide, 6, 1) |
		ia64_field(ear.mode, 7, 2) | ia64_field(ear.umask, 16, 4) |
		ia64_field(regs->has_ism ? ear.ism : regs->dear_ism, 24, 2);
	ret = pfm3_emit_pmc(e, regs->dear, value);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	pfm3_trace(e, "[PMC%u(pmc%u)=0x%llx mode=%s", regs->dear, regs->dear, (unsigned long long)value,
		   modes[ear.mode]);
	trace_ear(e, value, 24, 16, 4);
	/* Brackets are missing in the reference, too. */
	pfm3_trace(e, "[PMD%u(pmd%u)]\n[PMD%u(pmd%u)\nPMD%u(pmd%u)\n", regs->dear_pmd, regs->dear_pmd,
		   regs->dear_pmd + 1, regs->dear_pmd + 1, regs->dear_pmd3, regs->dear_pmd3);
	pfm3_emit_pmds(e, regs->dear_pmd, regs->dear_pmd + 1);
	pfm3_emit_pmds(e, regs->dear_pmd3, regs->dear_pmd3);
	return PFMLIB_SUCCESS;
}

/* ---- ranges --------------------------------------------------------------------------- */

pfm_err_t
pfm3_code_ranges(struct pfm3_encoder *e)
{
	const struct pfm3_registers *regs = &e->model->registers;
	const char *name = regs->irange_field;
	uint64_t v;
	pfm_err_t ret;

	if (!e->request->code.used)
		return PFMLIB_SUCCESS;
	if (!e->request->has_output)
		return PFMLIB_ERR_INVAL;
	ret = pfm3_cover_code(e, &v);
	if (ret == PFMLIB_SUCCESS)
		ret = pfm3_emit_pmc(e, regs->irange, v);
	if (ret == PFMLIB_SUCCESS && pfm3_verbose(e))
		pfm3_trace(e, "[PMC%u(pmc%u)=0x%llx %s0=%u %s1=%u %s2=%u %s3=%u fine=%u]\n", regs->irange, regs->irange,
			   (unsigned long long)v, name, pfm3_bits(v, 1, 1), name, pfm3_bits(v, 4, 1), name,
			   pfm3_bits(v, 7, 1), name, pfm3_bits(v, 10, 1), pfm3_bits(v, 13, 1));
	return ret;
}

static void
trace_data_ranges(const struct pfm3_encoder *e, uint64_t value)
{
	const struct pfm3_registers *regs = &e->model->registers;

	pfm3_trace(e, "[PMC%u(pmc%u)=0x%llx", regs->drange, regs->drange, (unsigned long long)value);
	for (unsigned int pair = 0; pair < 4; pair++)
		pfm3_trace(e, " %s%u=%u", regs->drange_field, pair, pfm3_bits(value, 3 + 8 * pair, 2));
	for (unsigned int pair = 0; pair < 4; pair++)
		pfm3_trace(e, " ena_dbrp%u=%u", pair, pfm3_bits(value, 45 + pair, 1));
	pfm3_trace(e, "]\n");
}

pfm_err_t
pfm3_data_ranges(struct pfm3_encoder *e)
{
	const struct pfm3_request *request = e->request;
	pfm_err_t ret = PFMLIB_SUCCESS;
	uint64_t value;

	if (!request->data.used && !request->code.used)
		return PFMLIB_SUCCESS;
	/* The test against exactly 1 is the reference's. */
	if (request->data.used == 1)
		ret = request->has_output ? pfm3_cover_data(e) : PFMLIB_ERR_INVAL;
	if (ret != PFMLIB_SUCCESS)
		return ret;
	value = pfm3_data_range_value(e);
	ret = pfm3_emit_pmc(e, e->model->registers.drange, value);
	if (ret == PFMLIB_SUCCESS && pfm3_verbose(e))
		trace_data_ranges(e, value);
	return ret;
}

/* ---- branches ------------------------------------------------------------------------- */

uint64_t
pfm3_branch_value(const struct pfm3_encoder *e, const struct pfm3_branches *b)
{
	return ia64_field(pfm3_plm(e, b->plm), 0, 4) | ia64_field(e->request->system_wide, 6, 1) |
	       ia64_field(b->ds, 7, 1) | ia64_field(b->tm, 8, 2) | ia64_field(b->ptm, 10, 2) |
	       ia64_field(b->ppm, 12, 2) | ia64_field(b->brt, 14, 2);
}

pfm_err_t
pfm3_branch_pmc(const struct pfm3_encoder *e, int *record)
{
	static const struct pfm3_branches all = { .tm = 3, .ptm = 3, .ppm = 3 };
	const struct pfm3_ear *dear = &e->request->dear;
	/* A D-EAR in TLB or ALAT mode needs the buffer off; used is compared with exactly 1 (quirk). */
	int conflict = pfm3_first_of_kinds(e, PFM3_BTB_CONFLICTS) != NULL || (dear->used == 1 && dear->mode != 0);
	const struct pfm3_branches *b = e->request->branches.used ? &e->request->branches : NULL;
	unsigned int num = e->model->registers.branches;
	uint64_t v = 0;
	pfm_err_t ret;

	if (!b && pfm3_first_of_kinds(e, 1u << PFM3_BTB))
		b = &all;
	*record = b != NULL;
	if (!b && !conflict)
		return PFMLIB_SUCCESS;
	if (b)
		v = pfm3_branch_value(e, b);
	if (conflict && v)
		return PFMLIB_ERR_EVTINCOMP;
	ret = pfm3_emit_pmc(e, num, v);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	pfm3_trace(e, "[PMC%u(pmc%u)=0x%llx plm=%u pm=%u ds=%u tm=%u ptm=%u ppm=%u brt=%u]\n", num, num,
		   (unsigned long long)v, pfm3_bits(v, 0, 4), pfm3_bits(v, 6, 1), pfm3_bits(v, 7, 1),
		   pfm3_bits(v, 8, 2), pfm3_bits(v, 10, 2), pfm3_bits(v, 12, 2), pfm3_bits(v, 14, 2));
	return PFMLIB_SUCCESS;
}
