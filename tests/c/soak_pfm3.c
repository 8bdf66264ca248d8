/*
 * The re-entrant entry points of libpfm 3 (csrc/pfm3/model.h) from many threads, and the functions that
 * only ask: soak_pfm3 [CALLS]
 */
#include "soak.h"

#include "model.h"
#include "pfm3_models.h"

enum { NUM_CALLS = 16384, EVENTS = 3 };
enum { CODE_RANGE = 1, DATA_RANGE = 2, EAR = 4, NO_MODEL = 8 };

/* A model's structures, filled in for a request. */
union input {
#define INPUT(name, tag, type, fine) pfmlib_##tag##_input_param_t tag;
	PFM3_MODELS(INPUT)
};

union output {
#define OUTPUT(name, tag, type, fine) pfmlib_##tag##_output_param_t tag;
	PFM3_MODELS(OUTPUT)
};

#define FILL(name, tag, type, fine) \
	static void fill_##tag(union input *in, unsigned int what, unsigned long at) \
	{ \
		in->tag.pfp_##tag##_irange.rr_used = (what & CODE_RANGE) != 0; \
		in->tag.pfp_##tag##_irange.rr_limits[0].rr_start = 0x4000000000000000 + 16 * at; \
		in->tag.pfp_##tag##_irange.rr_limits[0].rr_end = 0x4000000000000000 + 48 * at + 64; \
		in->tag.pfp_##tag##_drange.rr_used = (what & DATA_RANGE) != 0; \
		in->tag.pfp_##tag##_drange.rr_limits[0].rr_start = 8 * at; \
		in->tag.pfp_##tag##_drange.rr_limits[0].rr_end = 24 * at + 1; \
		in->tag.pfp_##tag##_iear.ear_used = (what & EAR) != 0; \
		in->tag.pfp_##tag##_iear.ear_umask = at & 0xff; \
		for (int i = 0; i < EVENTS; i++) \
			in->tag.pfp_##tag##_counters[i].flags = 1; /* no check of qualifiers */ \
	}
PFM3_MODELS(FILL)

#define MODEL(name, tag, type, fine) { &pfm3_##name, fill_##tag },
static const struct {
	const struct pfm3_model *model;
	void (*fill)(union input *in, unsigned int what, unsigned long at);
} models[] = { PFM3_MODELS(MODEL) };

enum { NUM_MODELS = sizeof(models) / sizeof(models[0]) };

static uint64_t
hash_registers(uint64_t hash, const pfmlib_reg_t *regs, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		hash = soak_hash(hash, &regs[i].reg_num, sizeof(regs[i].reg_num));
		hash = soak_hash(hash, &regs[i].reg_value, sizeof(regs[i].reg_value));
	}
	return hash;
}

static uint64_t
dispatch(unsigned int which, unsigned int seed)
{
	static _Thread_local pfmlib_input_param_t in; /* too big for a stack */
	static _Thread_local pfmlib_output_param_t out;
	const struct pfm3_settings settings = { .fine_mode_bug = seed & 1 };
	const struct pfm3_model *model = models[which].model;
	union input model_in;
	union output model_out;
	unsigned int what = seed >> 1 & 0xf, given = !(what & NO_MODEL);
	uint64_t hash;
	pfm_err_t ret;

	memset(&model_in, 0, sizeof(model_in));
	memset(&model_out, 0, sizeof(model_out));
	models[which].fill(&model_in, what, seed % 1009);
	in.pfp_dfl_plm = PFM_PLM3;
	in.pfp_event_count = 1 + seed % EVENTS;
	for (unsigned int i = 0; i < in.pfp_event_count; i++) {
		in.pfp_events[i].event = (seed * 17 + i * 101) % model->table->count;
		in.pfp_events[i].num_masks = pfm3_num_masks(model, &model->table->events[in.pfp_events[i].event]) != 0;
	}
	ret = pfm3_dispatch(model, &settings, &in, given ? &model_in : NULL, &out, given ? &model_out : NULL, NULL);
	hash = soak_hash(which, &ret, sizeof(ret));
	if (ret != PFMLIB_SUCCESS)
		return hash;
	hash = hash_registers(hash, out.pfp_pmcs, out.pfp_pmc_count);
	return soak_hash(hash_registers(hash, out.pfp_pmds, out.pfp_pmd_count), &model_out, sizeof(model_out));
}

static uint64_t
find(unsigned int which, unsigned int seed)
{
	const struct pfm3_model *model = models[which].model;
	const struct pfm3_event *event = pfm3_event_at(model, seed % model->table->count);
	pfmlib_event_t e;
	unsigned int mask = 0;
	char text[256];
	uint64_t hash;
	int ret;

	snprintf(text, sizeof(text), "%s%s", event->name, pfm3_num_masks(model, event) ? ":M:E" : "");
	if (seed & 0x400) {
		ret = pfm3_find_name(model, event->name, strlen(event->name));
		return soak_hash(which, &ret, sizeof(ret));
	}
	ret = pfm3_find_full_event(model, text, &e);
	hash = soak_hash(which, &ret, sizeof(ret));
	pfm3_find_mask(model, event, "S", 1, &mask);
	hash = soak_hash(hash, &mask, sizeof(mask));
	ret = pfm3_ear_mode(model, seed % model->table->count);
	return soak_hash(soak_hash(hash, &ret, sizeof(ret)), &e, sizeof(e));
}

/* The public functions, on the one PMU that was chosen before the threads began. */
static uint64_t
ask(unsigned int seed)
{
	pfmlib_regmask_t counters;
	char name[256];
	unsigned int idx = 0;
	int code = 0, ret = pfm_get_event_name(seed % models[0].model->table->count, name, sizeof(name));
	uint64_t hash = soak_hash(seed, &ret, sizeof(ret));

	ret = pfm_find_event(name, &idx);
	pfm_get_event_code(idx, &code);
	pfm_get_event_counters(idx, &counters);
	hash = soak_hash(soak_hash(hash, &ret, sizeof(ret)), &code, sizeof(code));
	return soak_hash(soak_hash(hash, &idx, sizeof(idx)), &counters, sizeof(counters));
}

static uint64_t
call(unsigned int number)
{
	unsigned int which = number % NUM_MODELS, seed = number / NUM_MODELS;

	if (seed % 16 == 5)
		return ask(seed);
	return seed % 3 ? find(which, seed) : dispatch(which, seed / 3 + (seed << 4));
}

int
main(int argc, char **argv)
{
	for (int code = PFMLIB_SUCCESS; code >= PFMLIB_ERR_NOMEM; code--)
		CHECK(pfm3_error_name(code));
	CHECK(!pfm3_error_name(1));
	CHECK_EQ(pfm_force_pmu(models[0].model->type), PFMLIB_SUCCESS);
	return soak_run(argc, argv, call, NUM_CALLS);
}
