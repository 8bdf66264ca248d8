/*
 * The recorded calls of libpfm 3, made from C: replay_pfm3 LINES.txt
 */
#include "replay.h"
#include "replay_fields.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the models ------------------------------------------------------------------ */

struct ranges { /* as in each model's output structure */
	unsigned int count;
	const unsigned long *infos; /* pairs of offsets */
	const pfmlib_reg_t *registers;
};

static const struct model {
	const char *name;
	int type;
	const struct replay_field *fields;
	size_t in_size, out_size;
	int (*fine)(pfmlib_output_param_t *out, void *model_out);
	struct ranges (*drange)(const void *model_out), (*irange)(const void *model_out);
} *model;

#define RANGES(tag, kind) \
	static struct ranges tag##_##kind(const void *model_out) \
	{ \
		const pfmlib_##tag##_output_param_t *out = model_out; \
		const pfmlib_##tag##_output_rr_t *rr = &out->pfp_##tag##_##kind; \
		return (struct ranges){ rr->rr_nbr_used, &rr->rr_infos[0].rr_soff, rr->rr_br }; \
	}

typedef int (*fine_function)(pfmlib_output_param_t *out, void *model_out);

/* NULL, or the model's function with its own type of structure. */
#define FINE(tag, function) \
	static int tag##_fine(pfmlib_output_param_t *out, void *model_out) \
	{ \
		int (*ask)(pfmlib_output_param_t *, pfmlib_##tag##_output_param_t *) = function; \
		return ask ? ask(out, model_out) : -1; \
	}

#define FUNCTIONS(name, tag, type, fine) RANGES(tag, drange) RANGES(tag, irange) FINE(tag, fine)
PFM3_MODELS(FUNCTIONS)

#define MODEL(name, tag, type, fine) \
	{ #name, \
	  type, \
	  replay_##tag##_fields, \
	  sizeof(pfmlib_##tag##_input_param_t), \
	  sizeof(pfmlib_##tag##_output_param_t), \
	  tag##_fine, \
	  tag##_drange, \
	  tag##_irange },
static const struct model models[] = { PFM3_MODELS(MODEL){ NULL, 0, NULL, 0, 0, NULL, NULL, NULL } };

static void
find_model(const char *name)
{
	for (model = models; model->name && strcmp(model->name, name) != 0; model++)
		;
	if (!model->name)
		exit(2);
}

static void
force(char **a)
{
	find_model(a[0]);
	pfm_initialize();
	replay_answer("ret=%d", pfm_force_pmu(model->type));
}

static void
detect(char **a)
{
	int type = -1;
	pfm_err_t ret;

	find_model(a[0]);
	ret = pfm_initialize();
	pfm_get_pmu_type(&type);
	replay_answer("ret=%d", type == model->type ? ret : INT_MIN);
}

/* ---- pfm_dispatch_events() ------------------------------------------------------- */

static pfm_err_t
fill_events(char *text, pfmlib_input_param_t *in)
{
	pfm_err_t ret = PFMLIB_SUCCESS;

	for (char *one; ret == PFMLIB_SUCCESS && (one = replay_part(&text, ','));) {
		pfmlib_event_t *e = &in->pfp_events[in->pfp_event_count++];
		const char *name = replay_part(&one, ':');

		ret = pfm_find_event(name, &e->event);
		e->plm = (unsigned int)strtoul(replay_part(&one, ':'), NULL, 0);
		for (char *mask; (mask = replay_part(&one, ':'));)
			e->unit_masks[e->num_masks++] = (unsigned int)strtoul(mask, NULL, 0);
	}
	return ret;
}

/* Store the low bytes of a number as an integer of that size, on any byte order. */
static void
store_low_bytes(unsigned char *to, uint64_t value, size_t size)
{
	const size_t first = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : sizeof(value) - size;

	memcpy(to, (const unsigned char *)&value + first, size);
}

/* Set the members that a text names; a name that is not known ends the program. */
static void
fill_members(char *text, unsigned char *structure)
{
	for (char *one; (one = replay_part(&text, ' '));) {
		const char *path = replay_part(&one, '=');
		uint64_t value = strtoull(one, NULL, 0);
		const struct replay_field *field = model->fields;

		for (; field->path && strcmp(field->path, path) != 0; field++)
			;
		if (!field->path)
			exit(2);
		store_low_bytes(structure + field->offset, value, field->size);
	}
}

static void
show_registers(const pfmlib_reg_t *regs, unsigned int count, int with_value)
{
	for (unsigned int i = 0; i < count; i++) {
		replay_answer("%s%u:%llu:%lu", i ? "," : "", regs[i].reg_num, regs[i].reg_addr, regs[i].reg_alt_addr);
		if (with_value)
			replay_answer(":0x%llx", regs[i].reg_value);
	}
}

static void
show_ranges(const char *name, struct ranges r)
{
	replay_answer(" %s=%u/", name, r.count);
	for (int i = 0; i < 4; i++)
		replay_answer("%s0x%lx:0x%lx", i ? "," : "", r.infos[2 * i], r.infos[2 * i + 1]);
	replay_answer("/");
	show_registers(r.registers, r.count < 8 ? r.count : 8, 1);
}

static void
show_output(pfmlib_output_param_t *out, void *model_out)
{
	replay_answer(" pmcs=");
	show_registers(out->pfp_pmcs, out->pfp_pmc_count, 1);
	replay_answer(" pmds=");
	show_registers(out->pfp_pmds, out->pfp_pmd_count, 0);
	if (!model_out)
		return;
	show_ranges("drange", model->drange(model_out));
	show_ranges("irange", model->irange(model_out));
	if (model->fine(out, model_out) >= 0)
		replay_answer(" fine=%d", model->fine(out, model_out));
}

/* Levels, flags, events, registers that must not be used, model-specific input, whether output is asked for. */
static void
dispatch(char **a)
{
	/* From the heap, so that a step outside is seen. */
	pfmlib_input_param_t *in = calloc(1, sizeof(*in));
	pfmlib_output_param_t *out = calloc(1, sizeof(*out));
	void *model_in = *a[4] == '~' ? NULL : calloc(1, model->in_size);
	void *model_out = *a[5] == '0' ? NULL : calloc(1, model->out_size);
	pfm_err_t ret;

	if (!in || !out)
		exit(2);
	in->pfp_dfl_plm = (unsigned int)strtoul(a[0], NULL, 0);
	in->pfp_flags = (unsigned int)strtoul(a[1], NULL, 0);
	ret = fill_events(a[2], in);
	for (char *pmc; (pmc = replay_part(&a[3], ','));)
		pfm_regmask_set(&in->pfp_unavail_pmcs, (unsigned int)strtoul(pmc, NULL, 0));
	if (model_in)
		fill_members(a[4], model_in);
	if (ret == PFMLIB_SUCCESS)
		ret = pfm_dispatch_events(in, model_in, out, model_out);
	replay_answer("ret=%d", ret);
	if (ret == PFMLIB_SUCCESS)
		show_output(out, model_out);
	free(in);
	free(out);
	free(model_in);
	free(model_out);
}

/* ---- the generic API ------------------------------------------------------------- */

static unsigned int
number_of(const char *text)
{
	return (unsigned int)strtoll(text, NULL, 0);
}

static void
show_number(pfm_err_t ret, long long value)
{
	replay_answer("ret=%d", ret);
	if (ret == PFMLIB_SUCCESS)
		replay_answer(" value=%lld", value);
}

/* A function with one number as its result, in a variable called v. */
#define NUMBER(function, type, call) \
	static void call_##function(char **a) \
	{ \
		type v = 0; \
		pfm_err_t ret = function call; \
\
		(void)a; \
		show_number(ret, (long long)v); \
	}

NUMBER(pfm_find_event, unsigned int, (replay_string(a[0]), &v))
NUMBER(pfm_find_event_byname, unsigned int, (replay_string(a[0]), &v))
NUMBER(pfm_find_event_bycode, unsigned int, ((int)number_of(a[0]), &v))
NUMBER(pfm_find_event_bycode_next, unsigned int, ((int)number_of(a[0]), number_of(a[1]), &v))
NUMBER(pfm_find_event_mask, unsigned int, (number_of(a[0]), replay_string(a[1]), &v))
NUMBER(pfm_get_event_code, int, (number_of(a[0]), &v))
NUMBER(pfm_get_event_code_counter, int, (number_of(a[0]), number_of(a[1]), &v))
NUMBER(pfm_get_event_mask_code, unsigned int, (number_of(a[0]), number_of(a[1]), &v))
NUMBER(pfm_get_num_event_masks, unsigned int, (number_of(a[0]), &v))
NUMBER(pfm_get_num_events, unsigned int, (&v))
NUMBER(pfm_get_num_pmcs, unsigned int, (&v))
NUMBER(pfm_get_num_pmds, unsigned int, (&v))
NUMBER(pfm_get_num_counters, unsigned int, (&v))
NUMBER(pfm_get_hw_counter_width, unsigned int, (&v))
NUMBER(pfm_get_max_event_name_len, size_t, (&v))
NUMBER(pfm_get_version, unsigned int, (&v))
NUMBER(pfm_get_pmu_type, int, (&v))

/* A function that writes a name into a buffer of just the size that is given. */
#define NAME(function, size_argument, call) \
	static void call_##function(char **a) \
	{ \
		size_t size = number_of(a[size_argument]); \
		char *name = malloc(size ? size : 1); \
		pfm_err_t ret = function call; \
\
		replay_answer("ret=%d", ret); \
		if (ret == PFMLIB_SUCCESS) \
			replay_answer(" value=%s", name); \
		free(name); \
	}

NAME(pfm_get_event_name, 1, (number_of(a[0]), name, size))
NAME(pfm_get_event_mask_name, 2, (number_of(a[0]), number_of(a[1]), name, size))
NAME(pfm_get_pmu_name, 0, (name, (int)size))
NAME(pfm_get_pmu_name_bytype, 1, ((int)number_of(a[0]), name, size))

static pfm_err_t
full_name(unsigned int idx, char *masks, char *name, size_t size)
{
	pfmlib_event_t e = { .event = idx };

	for (const char *mask; (mask = replay_part(&masks, ','));)
		e.unit_masks[e.num_masks++] = number_of(mask);
	return pfm_get_full_event_name(&e, name, size);
}

NAME(full_name, 2, (number_of(a[0]), a[1], name, size))

/* A function that fills in an event. */
#define EVENT(function, call) \
	static void call_##function(char **a) \
	{ \
		pfmlib_event_t e; \
		pfm_err_t ret; \
\
		(void)a; \
		memset(&e, 0, sizeof(e)); \
		ret = function call; \
		replay_answer("ret=%d", ret); \
		if (ret != PFMLIB_SUCCESS) \
			return; \
		replay_answer(" event=%u unit_masks=", e.event); \
		for (unsigned int i = 0; i < e.num_masks; i++) \
			replay_answer("%s%u", i ? "," : "", e.unit_masks[i]); \
	}

EVENT(pfm_find_full_event, (replay_string(a[0]), &e))
EVENT(pfm_get_cycle_event, (&e))
EVENT(pfm_get_inst_retired_event, (&e))

/* A function that fills in a register mask. */
#define MASK(function, call) \
	static void call_##function(char **a) \
	{ \
		pfmlib_regmask_t mask; \
		pfm_err_t ret = function call; \
\
		(void)a; \
		replay_answer("ret=%d", ret); \
		for (size_t i = 0; ret == PFMLIB_SUCCESS && i < sizeof(mask.bits) / sizeof(mask.bits[0]); i++) \
			replay_answer("%s0x%lx", i ? "," : " bits=", mask.bits[i]); \
	}

MASK(pfm_get_event_counters, (number_of(a[0]), &mask))
MASK(pfm_get_impl_pmcs, (&mask))
MASK(pfm_get_impl_pmds, (&mask))
MASK(pfm_get_impl_counters, (&mask))

static void
call_pfm_strerror(char **a)
{
	replay_answer("value=%s", pfm_strerror((int)number_of(a[0])));
}

/* ---- the catalogue --------------------------------------------------------------- */

/* Name, code, counters and unit masks of an event. */
static void
event(char **a)
{
	unsigned int idx = number_of(a[0]), masks = 0;
	pfmlib_regmask_t counters = { { 0 } };
	char name[256] = "";
	int code = 0;

	pfm_get_event_name(idx, name, sizeof(name));
	pfm_get_event_code(idx, &code);
	pfm_get_event_counters(idx, &counters);
	pfm_get_num_event_masks(idx, &masks);
	replay_answer("name=%s code=0x%x counters=0x%lx unit_masks=", name, (unsigned int)code, counters.bits[0]);
	for (unsigned int mask = 0; mask < masks; mask++) {
		unsigned int mask_code = 0;

		pfm_get_event_mask_name(idx, mask, name, sizeof(name));
		pfm_get_event_mask_code(idx, mask, &mask_code);
		replay_answer("%s%s=%u", mask ? " " : "", name, mask_code);
	}
}

/* Every event and every unit mask has a description of some length. */
static void
description(char **a)
{
	unsigned int idx = number_of(a[0]), masks = 0;
	char *text = NULL;
	int good;

	good = pfm_get_event_description(idx, &text) == PFMLIB_SUCCESS && strlen(text) >= 8;
	free(text);
	pfm_get_num_event_masks(idx, &masks);
	for (unsigned int mask = 0; mask < masks; mask++) {
		text = NULL;
		good &= pfm_get_event_mask_description(idx, mask, &text) == PFMLIB_SUCCESS && strlen(text) >= 4;
		free(text);
	}
	replay_answer("%d", good);
}

/* A query of a model, by its name: a predicate, or a value. */
static void
query(char **a)
{
	void *symbol = dlsym(RTLD_DEFAULT, a[0]);
	unsigned int idx = number_of(a[1]);
	union {
		int (*predicate)(unsigned int);
		int (*number)(unsigned int, int *);
		int (*mask)(unsigned int, unsigned long *);
	} call;
	unsigned long mask = 0;
	int number = 0, ret;

	if (!symbol) {
		replay_answer("no function of that name");
		return;
	}
	memcpy(&call, &symbol, sizeof(symbol));
	if (!strstr(a[0], "_get_")) {
		replay_answer("%d", call.predicate(idx) != 0);
		return;
	}
	ret = strstr(a[0], "_umask") ? call.mask(idx, &mask) : call.number(idx, &number);
	if (ret != PFMLIB_SUCCESS)
		replay_answer("err%d", ret);
	else if (strstr(a[0], "_umask"))
		replay_answer("%lu", mask);
	else
		replay_answer("%d", number);
}

#define CALL(function, count) { #function, count, call_##function }
static const struct replay_call calls[] = { { "force", 1, force },
					    { "detect", 1, detect },
					    { "dispatch", 6, dispatch },
					    { "event", 1, event },
					    { "description", 1, description },
					    { "query", 2, query },
					    CALL(pfm_find_event, 1),
					    CALL(pfm_find_event_byname, 1),
					    CALL(pfm_find_event_bycode, 1),
					    CALL(pfm_find_event_bycode_next, 2),
					    CALL(pfm_find_event_mask, 2),
					    CALL(pfm_find_full_event, 1),
					    CALL(pfm_get_event_name, 2),
					    CALL(pfm_get_event_mask_name, 3),
					    { "pfm_get_full_event_name", 3, call_full_name },
					    CALL(pfm_get_event_code, 1),
					    CALL(pfm_get_event_code_counter, 2),
					    CALL(pfm_get_event_mask_code, 2),
					    CALL(pfm_get_num_event_masks, 1),
					    CALL(pfm_get_event_counters, 1),
					    CALL(pfm_get_impl_pmcs, 0),
					    CALL(pfm_get_impl_pmds, 0),
					    CALL(pfm_get_impl_counters, 0),
					    CALL(pfm_get_num_events, 0),
					    CALL(pfm_get_num_pmcs, 0),
					    CALL(pfm_get_num_pmds, 0),
					    CALL(pfm_get_num_counters, 0),
					    CALL(pfm_get_hw_counter_width, 0),
					    CALL(pfm_get_max_event_name_len, 0),
					    CALL(pfm_get_version, 0),
					    CALL(pfm_get_pmu_type, 0),
					    CALL(pfm_get_pmu_name, 1),
					    CALL(pfm_get_pmu_name_bytype, 2),
					    CALL(pfm_get_cycle_event, 0),
					    CALL(pfm_get_inst_retired_event, 0),
					    CALL(pfm_strerror, 1),
					    { NULL, 0, NULL } };

int
main(int argc, char **argv)
{
	return replay_files(argc, argv, calls);
}
