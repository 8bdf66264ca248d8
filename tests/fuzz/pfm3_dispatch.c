/*
 * pfm_dispatch_events() with arbitrary bytes in every structure, in both layouts.
 *
 * Input: a byte for the model, a byte of switches, the head of the generic structure, its events,
 * the model's structures, the registers that are not available.  Events are short (index, level,
 * one unit mask) or, with RAW, whole structures.
 */
#include "fuzz.h"

#include "model.h"
#include "pfm3_models.h"

enum { NO_MODEL_IN = 1, NO_MODEL_OUT = 2, NO_OUT = 4, NO_IN = 8, RAW = 16, FINE_MODE_BUG = 32, VERBOSE = 64 };
enum { MAX_MODELS = 4 /* so that stored inputs keep their meaning */, MAX_EVENTS = 13 };

#define MODEL(name, tag, type, fine) \
	{ &pfm3_##name, sizeof(pfmlib_##tag##_input_param_t), sizeof(pfmlib_##tag##_output_param_t) },
static const struct {
	const struct pfm3_model *model;
	size_t in_size, out_size;
} models[] = { PFM3_MODELS(MODEL) };
#undef MODEL

static pfmlib_input_param_t in, in_before;
static pfmlib_output_param_t out, out_again;
static FILE *nowhere;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	nowhere = fopen("/dev/null", "w");
	HOLDS(nowhere);
	return 0;
}

static void
take_events(struct bytes *b, int raw)
{
	if (raw) {
		take(b, &in, offsetof(pfmlib_input_param_t, pfp_events));
	} else {
		in.pfp_event_count = take_byte(b);
		in.pfp_dfl_plm = take_byte(b);
		in.pfp_flags = take_byte(b);
	}
	for (unsigned int i = 0; i < MAX_EVENTS && i < in.pfp_event_count; i++) {
		pfmlib_event_t *e = &in.pfp_events[i];
		uint16_t idx;

		if (raw) {
			take(b, e, sizeof(*e));
			continue;
		}
		take(b, &idx, sizeof(idx));
		e->event = idx;
		e->plm = take_byte(b);
		e->unit_masks[0] = take_byte(b);
		e->num_masks = e->unit_masks[0] ? 1 : 0;
		e->unit_masks[0] -= e->num_masks;
	}
}

static int
has(const pfmlib_regmask_t *set, unsigned int num)
{
	return num < PFMLIB_REG_MAX && set->bits[num / 64] >> num % 64 & 1;
}

/* Registers that the model has, and no more than there is room for. */
static void
check_output(const struct pfm3_model *model)
{
	HOLDS(out.pfp_pmc_count <= PFMLIB_MAX_PMCS && out.pfp_pmd_count <= PFMLIB_MAX_PMDS);
	for (unsigned int i = 0; i < out.pfp_pmc_count; i++)
		HOLDS(has(&model->impl_pmcs, out.pfp_pmcs[i].reg_num));
	for (unsigned int i = 0; i < out.pfp_pmd_count; i++)
		HOLDS(has(&model->impl_pmds, out.pfp_pmds[i].reg_num));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	unsigned int which = take_byte(&b) % MAX_MODELS, switches = take_byte(&b);
	struct pfm3_settings settings = {
		.fine_mode_bug = (switches & FINE_MODE_BUG) != 0,
		.verbose = switches & VERBOSE ? nowhere : NULL,
		.notices = nowhere,
	};
	void *model_in, *model_out, *model_out_again;
	struct pfm3_answer answer;
	pfm_err_t ret, again;

	if (which >= sizeof(models) / sizeof(models[0]))
		return 0;
	memset(&in, 0, sizeof(in));
	memset(&out, 0, sizeof(out));
	memset(&out_again, 0, sizeof(out_again));
	take_events(&b, switches & RAW);
	model_in = allocate(models[which].in_size);
	take(&b, model_in, models[which].in_size);
	model_out = allocate(models[which].out_size);
	model_out_again = allocate(models[which].out_size);
	take(&b, &in.pfp_unavail_pmcs, sizeof(in.pfp_unavail_pmcs));
	take(&b, model_out, models[which].out_size);
	memcpy(model_out_again, model_out, models[which].out_size);
	in_before = in;

	ret = pfm3_dispatch(models[which].model, &settings, switches & NO_IN ? NULL : &in,
			    switches & NO_MODEL_IN ? NULL : model_in, switches & NO_OUT ? NULL : &out,
			    switches & NO_MODEL_OUT ? NULL : model_out, &answer);
	HOLDS(pfm3_error_name(ret));
	HOLDS(memcmp(&in, &in_before, sizeof(in)) == 0);
	if (ret == PFMLIB_SUCCESS)
		check_output(models[which].model);
	settings.verbose = NULL;
	again = pfm3_dispatch(models[which].model, &settings, switches & NO_IN ? NULL : &in,
			      switches & NO_MODEL_IN ? NULL : model_in, switches & NO_OUT ? NULL : &out_again,
			      switches & NO_MODEL_OUT ? NULL : model_out_again, NULL);
	HOLDS(again == ret); /* whether it is printed or not, and whether the answer is wanted */
	HOLDS(memcmp(&out, &out_again, sizeof(out)) == 0);
	HOLDS(memcmp(model_out, model_out_again, models[which].out_size) == 0);
	free(model_in);
	free(model_out);
	free(model_out_again);
	return 0;
}
