/*
 * The public structures of the models, and pfm_dispatch_events(): the one file that knows them.
 *
 * It is compiled once for each form of the structures (PFMLIB_MANUAL_LAYOUT); all other files see struct
 * pfm3_request and struct pfm3_answer.  What is not used by a request is neither read nor written.
 */
#include "encoder.h"

#include <string.h>

/* The functions between a model's structures and the encoder. */
struct abi {
	int type;
	void (*read)(const void *model_in, struct pfm3_request *request);
	/* Copy the debug registers of the caller's output, and back. */
	void (*read_debug_regs)(const void *model_out, const struct pfm3_request *request, struct pfm3_answer *answer);
	void (*write_debug_regs)(const struct pfm3_answer *answer, const struct pfm3_request *request, void *model_out);
};

/* ---- what the structures of all models have, under names of their own -------------------- */

#define READ_EAR(in, to) \
	do { \
		(to)->used = (in)->ear_used; \
		(to)->mode = (uint32_t)(in)->ear_mode; \
		(to)->plm = (in)->ear_plm; \
		(to)->umask = (in)->ear_umask; \
	} while (0)

#define READ_RANGES(in, to) \
	do { \
		(to)->used = (in)->rr_used; \
		for (int i = 0; (to)->used && i < PFM3_MAX_RANGES; i++) \
			(to)->limits[i] = (struct pfm3_limit){ .start = (in)->rr_limits[i].rr_start, \
							       .end = (in)->rr_limits[i].rr_end, \
							       .plm = (in)->rr_limits[i].rr_plm }; \
	} while (0)

#define READ_DEBUG_REGS(rr, to) \
	do { \
		(to)->count = (rr)->rr_nbr_used; \
		for (int i = 0; i < PFM3_MAX_RANGES; i++) \
			(to)->offsets[i] = \
				(struct pfm3_offsets){ (rr)->rr_infos[i].rr_soff, (rr)->rr_infos[i].rr_eoff }; \
		memcpy((to)->regs, (rr)->rr_br, sizeof((to)->regs)); \
	} while (0)

#define WRITE_DEBUG_REGS(from, rr) \
	do { \
		(rr)->rr_nbr_used = (from)->count; \
		for (int i = 0; i < PFM3_MAX_RANGES; i++) { \
			(rr)->rr_infos[i].rr_soff = (from)->offsets[i].start; \
			(rr)->rr_infos[i].rr_eoff = (from)->offsets[i].end; \
		} \
		memcpy((rr)->rr_br, (from)->regs, sizeof((from)->regs)); \
	} while (0)

/* <tag>_abi, after <tag>_read(). */
#define ABI(type, tag) \
	static void tag##_read_debug_regs(const void *model_out, const struct pfm3_request *request, \
					  struct pfm3_answer *answer) \
	{ \
		const pfmlib_##tag##_output_param_t *out = model_out; \
\
		if (request->code.used) \
			READ_DEBUG_REGS(&out->pfp_##tag##_irange, &answer->code); \
		if (request->data.used) \
			READ_DEBUG_REGS(&out->pfp_##tag##_drange, &answer->data); \
	} \
\
	static void tag##_write_debug_regs(const struct pfm3_answer *answer, const struct pfm3_request *request, \
					   void *model_out) \
	{ \
		pfmlib_##tag##_output_param_t *out = model_out; \
\
		if (request->code.used) \
			WRITE_DEBUG_REGS(&answer->code, &out->pfp_##tag##_irange); \
		if (request->data.used) \
			WRITE_DEBUG_REGS(&answer->data, &out->pfp_##tag##_drange); \
	} \
\
	static const struct abi tag##_abi = { type, tag##_read, tag##_read_debug_regs, tag##_write_debug_regs };

/* ---- Itanium ----------------------------------------------------------------------------- */

static void
ita_read(const void *model_in, struct pfm3_request *request)
{
	const pfmlib_ita_input_param_t *in = model_in;
	const pfmlib_ita_btb_t *btb = &in->pfp_ita_btb;

	for (unsigned int i = 0; i < PMU_ITA_NUM_COUNTERS; i++) {
		request->events[i].flags = in->pfp_ita_counters[i].flags;
		request->events[i].threshold = in->pfp_ita_counters[i].thres;
		request->events[i].ism = (uint32_t)in->pfp_ita_counters[i].ism;
	}
	request->matchers[0].used = in->pfp_ita_pmc8.opcm_used;
	request->matchers[0].value = in->pfp_ita_pmc8.pmc_val;
	request->matchers[1].used = in->pfp_ita_pmc9.opcm_used;
	request->matchers[1].value = in->pfp_ita_pmc9.pmc_val;
	READ_EAR(&in->pfp_ita_iear, &request->iear);
	READ_EAR(&in->pfp_ita_dear, &request->dear);
	request->iear.ism = (uint32_t)in->pfp_ita_iear.ear_ism;
	request->dear.ism = (uint32_t)in->pfp_ita_dear.ear_ism;
	request->branches = (struct pfm3_branches){
		.used = btb->btb_used,
		.plm = btb->btb_plm,
		.ds = btb->btb_tar,
		.tm = btb->btb_tm,
		.ptm = btb->btb_ptm,
		.ppm = btb->btb_ppm,
		.brt = (uint8_t)((btb->btb_tac & 1) | (btb->btb_bac & 1) << 1),
	};
	READ_RANGES(&in->pfp_ita_irange, &request->code);
	READ_RANGES(&in->pfp_ita_drange, &request->data);
}

ABI(PFMLIB_ITANIUM_PMU, ita)

/* ---- Itanium 2 --------------------------------------------------------------------------- */

static void
ita2_read(const void *model_in, struct pfm3_request *request)
{
	const pfmlib_ita2_input_param_t *in = model_in;
	const pfmlib_ita2_btb_t *btb = &in->pfp_ita2_btb;

	for (unsigned int i = 0; i < PMU_ITA2_NUM_COUNTERS; i++) {
		request->events[i].flags = in->pfp_ita2_counters[i].flags;
		request->events[i].threshold = in->pfp_ita2_counters[i].thres;
		request->events[i].ism = (uint32_t)in->pfp_ita2_counters[i].ism;
	}
	request->matchers[0].used = in->pfp_ita2_pmc8.opcm_used;
	request->matchers[0].value = in->pfp_ita2_pmc8.pmc_val;
	request->matchers[1].used = in->pfp_ita2_pmc9.opcm_used;
	request->matchers[1].value = in->pfp_ita2_pmc9.pmc_val;
	READ_EAR(&in->pfp_ita2_iear, &request->iear);
	READ_EAR(&in->pfp_ita2_dear, &request->dear);
	request->iear.ism = (uint32_t)in->pfp_ita2_iear.ear_ism;
	request->dear.ism = (uint32_t)in->pfp_ita2_dear.ear_ism;
	request->branches = (struct pfm3_branches){
		.used = btb->btb_used,
		.plm = btb->btb_plm,
		.ds = btb->btb_ds,
		.tm = btb->btb_tm,
		.ptm = btb->btb_ptm,
		.ppm = btb->btb_ppm,
		.brt = btb->btb_brt,
	};
	READ_RANGES(&in->pfp_ita2_irange, &request->code);
	READ_RANGES(&in->pfp_ita2_drange, &request->data);
	request->code.flags = in->pfp_ita2_irange.rr_flags;
	request->data.flags = in->pfp_ita2_drange.rr_flags;
}

ABI(PFMLIB_ITANIUM2_PMU, ita2)

/* ---- Montecito --------------------------------------------------------------------------- */

static void
mont_read_matcher(const pfmlib_mont_opcm_t *in, struct pfm3_matcher *to)
{
	*to = (struct pfm3_matcher){
		.used = in->opcm_used,
		.m = in->opcm_m,
		.i = in->opcm_i,
		.f = in->opcm_f,
		.b = in->opcm_b,
		.match = in->opcm_match,
		.mask = in->opcm_mask,
	};
}

static void
mont_read(const void *model_in, struct pfm3_request *request)
{
	const pfmlib_mont_input_param_t *in = model_in;
	const pfmlib_mont_etb_t *etb = &in->pfp_mont_etb;
	const pfmlib_mont_ipear_t *ipear = &in->pfp_mont_ipear;

	for (unsigned int i = 0; i < PMU_MONT_NUM_COUNTERS; i++) {
		request->events[i].flags = in->pfp_mont_counters[i].flags;
		request->events[i].threshold = in->pfp_mont_counters[i].thres;
	}
	mont_read_matcher(&in->pfp_mont_opcm1, &request->matchers[0]);
	mont_read_matcher(&in->pfp_mont_opcm2, &request->matchers[1]);
	READ_EAR(&in->pfp_mont_iear, &request->iear);
	READ_EAR(&in->pfp_mont_dear, &request->dear);
	request->branches = (struct pfm3_branches){
		.used = etb->etb_used,
		.plm = etb->etb_plm,
		.tm = etb->etb_tm,
		.ptm = etb->etb_ptm,
		.ppm = etb->etb_ppm,
		.brt = etb->etb_brt,
	};
	request->ipear = (struct pfm3_ipear){
		.used = ipear->ipear_used,
		.plm = ipear->ipear_plm,
		.delay = ipear->ipear_delay,
	};
	READ_RANGES(&in->pfp_mont_irange, &request->code);
	READ_RANGES(&in->pfp_mont_drange, &request->data);
	request->code.flags = in->pfp_mont_irange.rr_flags;
	request->data.flags = in->pfp_mont_drange.rr_flags;
}

ABI(PFMLIB_MONTECITO_PMU, mont)

/* The functions of a model; NULL: it has no structures. */
static const struct abi *
abi_of(const struct pfm3_model *model)
{
	static const struct abi *const abis[] = { &ita2_abi, &mont_abi, &ita_abi };

	for (size_t i = 0; i < sizeof(abis) / sizeof(*abis); i++)
		if (abis[i]->type == model->type)
			return abis[i];
	return NULL;
}

/* ---- a call ------------------------------------------------------------------------------- */

/* Convert the request to one form.  Of events that no PMU has counters for, only the number is needed. */
static void
read_request(const struct abi *abi, const pfmlib_input_param_t *in, const void *model_in, const void *model_out,
	     struct pfm3_request *request)
{
	request->plm = in->pfp_dfl_plm;
	request->system_wide = in->pfp_flags & PFMLIB_PFP_SYSTEMWIDE;
	request->unavailable_pmcs = in->pfp_unavail_pmcs.bits[0];
	request->event_count = in->pfp_event_count;
	request->has_input = model_in != NULL;
	request->has_output = model_out != NULL;
	for (unsigned int i = 0; i < in->pfp_event_count && i < PFM3_MAX_EVENTS; i++)
		request->events[i] = (struct pfm3_requested){
			.event = in->pfp_events[i].event,
			.plm = in->pfp_events[i].plm,
			.unit_masks = pfm3_mask_set(&in->pfp_events[i]),
		};
	/* Member by member: the addresses of ranges that are not used need no zeros, and take longest. */
	request->matchers[0] = request->matchers[1] = (struct pfm3_matcher){ 0 };
	request->iear = request->dear = (struct pfm3_ear){ 0 };
	request->branches = (struct pfm3_branches){ 0 };
	request->ipear = (struct pfm3_ipear){ 0 };
	request->code.used = request->data.used = 0;
	request->code.flags = request->data.flags = 0;
	if (model_in && abi)
		abi->read(model_in, request);
}

pfm_err_t
pfm3_dispatch(const struct pfm3_model *model, const struct pfm3_settings *settings, const pfmlib_input_param_t *in,
	      const void *model_in, pfmlib_output_param_t *out, void *model_out, struct pfm3_answer *answer)
{
	const struct abi *abi = abi_of(model);
	struct pfm3_request request;
	struct pfm3_answer own;
	pfm_err_t ret;

	/* The reference accepts NULL if the model's structure is given, and crashes. */
	if (!in || (!out && !model_out))
		return PFMLIB_ERR_INVAL;
	read_request(abi, in, model_in, model_out, &request);
	ret = pfm3_check_request(model, &request);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	if (!out)
		return PFMLIB_ERR_INVAL;
	if (!answer)
		answer = &own;
	if (model_out && abi)
		abi->read_debug_regs(model_out, &request, answer);
	memset(out, 0, sizeof(*out));
	answer->pmcs = out->pfp_pmcs;
	answer->pmds = out->pfp_pmds;
	ret = pfm3_encode_checked(model, settings, &request, answer);
	out->pfp_pmc_count = answer->pmc_count;
	out->pfp_pmd_count = answer->pmd_count;
	if (model_out && abi)
		abi->write_debug_regs(answer, &request, model_out);
	return ret;
}

/* ---- queries about an answer ---------------------------------------------------------------- */

/* 1 if an output holds a code-range PMC in fine mode. */
static int
is_fine(const pfmlib_output_param_t *out, unsigned int pmc)
{
	if (!out || out->pfp_pmc_count >= PFMLIB_MAX_PMCS)
		return 0;
	for (unsigned int i = 0; i < out->pfp_pmc_count; i++)
		if (out->pfp_pmcs[i].reg_num == pmc)
			return (int)(out->pfp_pmcs[i].reg_value >> 13 & 1);
	return 0;
}

int
pfm_ita2_irange_is_fine(pfmlib_output_param_t *outp, pfmlib_ita2_output_param_t *mod_out)
{
	return mod_out && mod_out->pfp_ita2_irange.rr_nbr_used && is_fine(outp, pfm3_itanium2.registers.irange);
}

int
pfm_mont_irange_is_fine(pfmlib_output_param_t *outp, pfmlib_mont_output_param_t *mod_out)
{
	return mod_out && mod_out->pfp_mont_irange.rr_nbr_used && is_fine(outp, pfm3_montecito.registers.irange);
}
