/*
 * The generic API of libpfm 3 (perfmon/pfmlib.h): one global state, applied to
 * the re-entrant functions of model.h.
 */
#include "../base/processor.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "../base/environment.h"
#include "for_perfmon2.h"

/* All that the library remembers between calls.  Not locked: as in the
 * reference, initialise before starting threads. */
static struct {
	const struct pfm3_model *model; /* the selected PMU; NULL: not initialised */
	pfmlib_options_t options;
	int options_fixed;            /* they came from the environment */
	int forced_type;              /* by LIBPFM_FORCE_PMU; -1: detect */
	int fine_mode_bug;            /* an Itanium 2 was detected once */
	struct pfm3_gen_ia64 generic; /* the generic PMU, once it was initialised */
	FILE *stream;                 /* of messages; NULL before pfm_initialize() */
} state = { .forced_type = PFMLIB_NO_PMU };

/* Stop a function unless a PMU is selected. */
#define REQUIRE_MODEL() \
	do { \
		if (!state.model) \
			return PFMLIB_ERR_NOINIT; \
	} while (0)

static FILE *
verbose_stream(void)
{
	if (!state.options.pfm_verbose)
		return NULL;
	return state.stream ? state.stream : stderr;
}

pfm_err_t
pfm_set_options(pfmlib_options_t *opt)
{
	if (!opt)
		return PFMLIB_ERR_INVAL;
	if (!state.options_fixed)
		state.options = *opt;
	return PFMLIB_SUCCESS;
}

/* 1 if a variable starts with a digit, whose lowest bit is the value (quirk). */
static int
read_digit(const char *variable, unsigned int *bit)
{
	const char *value = environment(variable);

	if (!value || *value < '0' || *value > '9')
		return 0;
	*bit = (unsigned int)(*value - '0') & 1;
	return 1;
}

/*
 * The type that LIBPFM_FORCE_PMU names, else the one of an earlier call.  A number is read as by the reference, up to
 * its end, or it is a name; text that is neither gives 0, which no PMU has.
 */
static int
forced_type(void)
{
	const char *value = environment("LIBPFM_FORCE_PMU");
	const struct pfm3_model *model;
	char *end;
	long number;

	if (!value)
		return state.forced_type;
	number = strtol(value, &end, 10);
	if (end != value)
		return (int)number;
	model = pfm3_model_by_name(value);
	return model ? model->type : 0;
}

static void
read_environment(void)
{
	unsigned int bit;

	if (read_digit("LIBPFM_VERBOSE", &bit)) {
		state.options.pfm_verbose = bit & 1;
		state.options_fixed = 1;
	}
	if (read_digit("LIBPFM_DEBUG", &bit)) {
		state.options.pfm_debug = bit & 1;
		state.options_fixed = 1;
	}
	state.stream = environment("LIBPFM_DEBUG_STDOUT") ? stdout : stderr;
	state.forced_type = forced_type();
}

/* Read a file of one line; an empty string if there is none. */
static void
read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(line, size, f))
		*line = '\0';
	if (f)
		fclose(f);
}

/* The description of a perfmon2 kernel; it is only shown. */
static void
show_kernel_interface(void)
{
	char line[64];
	long base, major = 3, minor = 0;
	char *end;

	if (!verbose_stream())
		return;
	read_line("/sys/kernel/perfmon/syscall", line, sizeof(line));
	base = strtol(line, NULL, 10);
	read_line("/sys/kernel/perfmon/version", line, sizeof(line));
	if (*line) {
		major = strtol(line, &end, 10);
		minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	}
	fprintf(verbose_stream(), "sycall base %ld\nmajor version %ld\nminor version %ld\n", base, major, minor);
}

/* The model of this processor, or NULL. */
static const struct pfm3_model *
find_processor(void)
{
	const struct pfm3_model *model;
	unsigned long cpuid3;

	if (!ia64_cpuid3(&cpuid3))
		return NULL;
	for (unsigned int i = 0; (model = pfm3_model_at(i)); i++)
		if (model->family == PFM3_ANY_FAMILY || ia64_family(cpuid3) == model->family)
			return model;
	return NULL;
}

static const struct pfm3_model *
detect(void)
{
	const struct pfm3_model *model = find_processor();

	if (model && model->has_fine_mode_bug)
		state.fine_mode_bug = 1;
	return model;
}

/* Read the description of the generic PMU on this host, from the kernel or from a file in its place. */
static pfm_err_t
initialize_generic(void)
{
	/* For a forced PMU nothing is read. */
	const char *path = state.forced_type == PFMLIB_NO_PMU ? ia64_pal_path() : NULL;

	return pfm3_gen_ia64_init(&state.generic, path, stderr);
}

/* No PMU was found: say what was looked for, and how to select one on any host. */
static void
explain_nothing_found(FILE *out)
{
	const char *cpuid3 = environment("LIBPFM_IA64_CPUID3"), *force = environment("LIBPFM_FORCE_PMU");
	const struct pfm3_model *model;

	if (state.forced_type != PFMLIB_NO_PMU)
		fprintf(out, "no PMU: LIBPFM_FORCE_PMU=%s is none of libpfm 3\n",
			force ? force : "(of an earlier call)");
	else if (cpuid3)
		fprintf(out, "no PMU: LIBPFM_IA64_CPUID3=%s is no number, CPUID register 3 of an IA-64 processor\n",
			cpuid3);
	else
		fprintf(out, "no PMU: this host is no IA-64, and LIBPFM_IA64_CPUID3 does not stand for one\n");
	fprintf(out, "LIBPFM_FORCE_PMU selects a PMU on any host:");
	for (unsigned int i = 0; (model = pfm3_model_at(i)); i++)
		fprintf(out, " %s (%d)", model->short_names[0], model->type);
	fprintf(out, "\n");
}

/*
 * Select a model of the list.  The generic one has empty tables until pfm_initialize() fills them; pfm_force_pmu() does
 * not (quirk).
 */
static const struct pfm3_model *
selected(const struct pfm3_model *model)
{
	return model == &pfm3_gen_ia64 && state.generic.model.table ? &state.generic.model : model;
}

const struct pfm3_model *
pfm3_current_model(void)
{
	return state.model;
}

const struct pfm3_model *
pfm3_model_of_type(int type)
{
	const struct pfm3_model *model = pfm3_model_by_type(type);

	return model ? selected(model) : NULL;
}

/* Of an interface where several PMUs exist side by side, and so none is selected. */
static _Thread_local int used_type = PFMLIB_NO_PMU;

void
pfm3_use_pmu(int type)
{
	used_type = type;
}

int
pfm3_verbose_fd(void)
{
	unsigned int verbose = state.options.pfm_verbose;
	FILE *stream = state.stream;

	if (!stream) { /* perfmon calls need no initialisation */
		read_digit("LIBPFM_VERBOSE", &verbose);
		stream = environment("LIBPFM_DEBUG_STDOUT") ? stdout : stderr;
	}
	return verbose ? fileno(stream) : -1;
}

int
pfm3_pmu_type(void)
{
	const struct pfm3_model *model = state.model;

	if (used_type != PFMLIB_NO_PMU)
		model = pfm3_model_by_type(used_type);
	else if (!model)
		model = forced_type() == PFMLIB_NO_PMU ? find_processor() : pfm3_model_by_type(forced_type());
	return model ? model->type : -1;
}

pfm_err_t
pfm_initialize(void)
{
	const struct pfm3_model *model;

	read_environment();
	show_kernel_interface();
	if (state.forced_type == PFMLIB_NO_PMU)
		model = detect();
	else
		model = pfm3_model_by_type(state.forced_type);
	if (!model) {
		if (verbose_stream())
			explain_nothing_found(verbose_stream());
		return PFMLIB_ERR_NOTSUPP;
	}
	if (state.forced_type != PFMLIB_NO_PMU && verbose_stream())
		fprintf(verbose_stream(), "PMU forced to %s\n", model->name);
	/* A generic PMU may have answered when it was initialised before. */
	if (selected(model)->num_pmcs >= PFMLIB_MAX_PMCS || selected(model)->num_pmds >= PFMLIB_MAX_PMDS)
		return PFMLIB_ERR_NOTSUPP;
	if (model == &pfm3_gen_ia64) {
		pfm_err_t ret = initialize_generic();

		if (ret != PFMLIB_SUCCESS)
			return ret;
	}
	state.model = selected(model);
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_list_supported_pmus(int (*pf)(const char *fmt, ...))
{
	const struct pfm3_model *model;

	if (!pf)
		return PFMLIB_ERR_INVAL;
	(*pf)("supported PMU models: ");
	for (unsigned int i = 0; (model = pfm3_model_at(i)); i++)
		(*pf)("[%s] ", model->name);
	(*pf)("\ndetected host PMU: %s\n", state.model ? state.model->name : "not detected yet");
	return PFMLIB_SUCCESS;
}

/* Copy a name, cut if it must be, and clear the rest of the buffer. */
static void
copy_cut(char *to, const char *from, size_t maxlen)
{
	size_t len = strlen(from);

	if (len > maxlen - 1)
		len = maxlen - 1;
	memcpy(to, from, len);
	memset(to + len, 0, maxlen - len);
}

pfm_err_t
pfm_get_pmu_name(char *name, int maxlen)
{
	REQUIRE_MODEL();
	if (!name || maxlen < 1)
		return PFMLIB_ERR_INVAL;
	copy_cut(name, state.model->name, (size_t)maxlen);
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_get_pmu_type(int *type)
{
	REQUIRE_MODEL();
	if (!type)
		return PFMLIB_ERR_INVAL;
	*type = state.model->type;
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_get_pmu_name_bytype(int type, char *name, size_t maxlen)
{
	const struct pfm3_model *model = pfm3_model_by_type(type);

	if (!name || maxlen < 1 || !model)
		return PFMLIB_ERR_INVAL;
	copy_cut(name, model->name, maxlen);
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_is_pmu_supported(int type)
{
	REQUIRE_MODEL();
	return pfm3_model_by_type(type) ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTSUPP;
}

pfm_err_t
pfm_force_pmu(int type)
{
	const struct pfm3_model *model = pfm3_model_by_type(type);

	if (!model)
		return PFMLIB_ERR_NOTSUPP;
	state.model = selected(model);
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_find_event_byname(const char *name, unsigned int *idx)
{
	int found;

	REQUIRE_MODEL();
	if (!name || !idx)
		return PFMLIB_ERR_INVAL;
	found = pfm3_find_name(state.model, name, strcspn(name, ":"));
	if (found < 0)
		return PFMLIB_ERR_NOTFOUND;
	*idx = (unsigned int)found;
	return PFMLIB_SUCCESS;
}

/* Find the lowest index from first on with a code. */
static pfm_err_t
find_code(int code, unsigned int first, unsigned int *idx)
{
	const struct pfm3_table *table = state.model->table;

	for (unsigned int i = first; i < table->count; i++)
		if (table->events[i].code == code) {
			*idx = i;
			return PFMLIB_SUCCESS;
		}
	return PFMLIB_ERR_NOTFOUND;
}

pfm_err_t
pfm_find_event_bycode(int code, unsigned int *idx)
{
	REQUIRE_MODEL();
	if (!idx)
		return PFMLIB_ERR_INVAL;
	return find_code(code, 0, idx);
}

pfm_err_t
pfm_find_event_bycode_next(int code, unsigned int start, unsigned int *next)
{
	REQUIRE_MODEL();
	if (!next)
		return PFMLIB_ERR_INVAL;
	return find_code(code, start + 1, next); /* 0xffffffff wraps to 0 */
}

pfm_err_t
pfm_find_event(const char *str, unsigned int *idx)
{
	unsigned long code;
	char *end;

	REQUIRE_MODEL();
	if (!str || !idx)
		return PFMLIB_ERR_INVAL;
	if (*str < '0' || *str > '9')
		return pfm_find_event_byname(str, idx);
	code = strtoul(str, &end, 0); /* ULONG_MAX on overflow */
	if (*end || code > 2147483647)
		return PFMLIB_ERR_INVAL;
	return find_code((int)code, 0, idx);
}

pfm_err_t
pfm_find_event_mask(unsigned int event_idx, const char *str, unsigned int *mask_idx)
{
	const struct pfm3_event *event;

	REQUIRE_MODEL();
	event = pfm3_event_at(state.model, event_idx);
	if (!str || !mask_idx || !event)
		return PFMLIB_ERR_INVAL;
	return pfm3_find_mask(state.model, event, str, strlen(str), mask_idx);
}

pfm_err_t
pfm_find_full_event(const char *str, pfmlib_event_t *e)
{
	REQUIRE_MODEL();
	if (!str || !e)
		return PFMLIB_ERR_INVAL;
	return pfm3_find_full_event(state.model, str, e);
}

pfm_err_t
pfm_get_max_event_name_len(size_t *len)
{
	const struct pfm3_table *table;
	size_t all_masks = 0;

	REQUIRE_MODEL();
	if (!len)
		return PFMLIB_ERR_INVAL;
	for (unsigned int i = 0; i < state.model->num_masks; i++)
		all_masks += 1 + strlen(state.model->masks[i].name);
	table = state.model->table;
	*len = 0;
	for (unsigned int i = 0; i < table->count; i++) {
		size_t longest = strlen(table->events[i].name);

		if (pfm3_num_masks(state.model, &table->events[i]))
			longest += all_masks;
		if (longest > *len)
			*len = longest;
	}
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_get_num_events(unsigned int *count)
{
	REQUIRE_MODEL();
	if (!count)
		return PFMLIB_ERR_INVAL;
	*count = state.model->table->count;
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_get_num_event_masks(unsigned int event_idx, unsigned int *count)
{
	const struct pfm3_event *event;

	REQUIRE_MODEL();
	event = pfm3_event_at(state.model, event_idx);
	if (!event || !count)
		return PFMLIB_ERR_INVAL;
	*count = pfm3_num_masks(state.model, event);
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_get_event_name(unsigned int idx, char *name, size_t maxlen)
{
	const struct pfm3_event *event;

	REQUIRE_MODEL();
	event = pfm3_event_at(state.model, idx);
	if (!event || !name || maxlen < 1 || maxlen - 1 < strlen(event->name))
		return PFMLIB_ERR_INVAL;
	strcpy(name, event->name);
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_get_full_event_name(pfmlib_event_t *e, char *name, size_t maxlen)
{
	const char *part;
	size_t used = 0;
	pfm_err_t ret;

	REQUIRE_MODEL();
	if (!e || !name || maxlen < 1)
		return PFMLIB_ERR_INVAL;
	ret = pfm3_check_event(state.model, e->event, pfm3_mask_set(e));
	if (ret != PFMLIB_SUCCESS)
		return ret;
	*name = '\0';
	part = state.model->table->events[e->event].name;
	for (unsigned int i = 0;; i++) {
		size_t len = strlen(part), colon = i > 0;

		if (used + colon + len > maxlen - 1)
			return PFMLIB_ERR_FULL;
		if (colon)
			name[used++] = ':';
		memcpy(name + used, part, len + 1);
		used += len;
		if (i == e->num_masks)
			return PFMLIB_SUCCESS;
		part = state.model->masks[e->unit_masks[i]].name;
	}
}

pfm_err_t
pfm_get_event_code(unsigned int idx, int *code)
{
	return pfm_get_event_code_counter(idx, 0xffffffff, code);
}

pfm_err_t
pfm_get_event_code_counter(unsigned int idx, unsigned int cnt, int *code)
{
	const struct pfm3_event *event;

	REQUIRE_MODEL();
	event = pfm3_event_at(state.model, idx);
	if (!event || !code)
		return PFMLIB_ERR_INVAL;
	if (cnt != 0xffffffff && !(cnt < 64 && state.model->impl_counters >> cnt & 1))
		return PFMLIB_ERR_INVAL;
	*code = event->code;
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_get_event_mask_code(unsigned int idx, unsigned int mask_idx, unsigned int *code)
{
	const struct pfm3_event *event;

	REQUIRE_MODEL();
	event = pfm3_event_at(state.model, idx);
	if (!event || !code)
		return PFMLIB_ERR_INVAL;
	if (state.model->num_masks == 0) { /* any mask_idx will do (quirk) */
		*code = 0;
		return PFMLIB_SUCCESS;
	}
	if (mask_idx >= pfm3_num_masks(state.model, event))
		return PFMLIB_ERR_INVAL;
	*code = state.model->masks[mask_idx].code;
	return PFMLIB_SUCCESS;
}

/* Store the words of a register set. */
static void
store_mask(pfmlib_regmask_t *mask, unsigned long bits)
{
	memset(mask, 0, sizeof(*mask));
	mask->bits[0] = bits;
}

pfm_err_t
pfm_get_event_counters(unsigned int idx, pfmlib_regmask_t *counters)
{
	const struct pfm3_event *event;

	REQUIRE_MODEL();
	event = pfm3_event_at(state.model, idx);
	if (!event || !counters)
		return PFMLIB_ERR_INVAL;
	if (state.model->event_counters)
		state.model->event_counters(state.model, idx, counters);
	else
		store_mask(counters, event->counters);
	return PFMLIB_SUCCESS;
}

/* The text for a missing description. */
static const char no_description[] = "no description available";

/* Store a copy that the caller frees; the target is untouched if there is no memory. */
static pfm_err_t
store_copy(const char *text, char **str)
{
	char *copy = strdup(text);

	if (!copy)
		return PFMLIB_ERR_NOMEM;
	*str = copy;
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_get_event_description(unsigned int idx, char **str)
{
	const struct pfm3_event *event;

	REQUIRE_MODEL();
	event = pfm3_event_at(state.model, idx);
	if (!event || !str)
		return PFMLIB_ERR_INVAL;
	return store_copy(state.model->undescribed ? no_description : event->description, str);
}

pfm_err_t
pfm_get_event_mask_name(unsigned int event_idx, unsigned int mask_idx, char *name, size_t maxlen)
{
	const struct pfm3_event *event;
	unsigned int masks;

	REQUIRE_MODEL();
	event = pfm3_event_at(state.model, event_idx);
	if (!event || !name || maxlen < 1)
		return PFMLIB_ERR_INVAL;
	masks = pfm3_num_masks(state.model, event);
	if (masks == 0)
		return PFMLIB_ERR_NOTSUPP;
	if (mask_idx >= masks)
		return PFMLIB_ERR_INVAL;
	if (strlen(state.model->masks[mask_idx].name) >= maxlen - 1) /* one byte too strict (quirk) */
		return PFMLIB_ERR_FULL;
	strcpy(name, state.model->masks[mask_idx].name);
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_get_event_mask_description(unsigned int event_idx, unsigned int mask_idx, char **desc)
{
	const struct pfm3_event *event;

	REQUIRE_MODEL();
	event = pfm3_event_at(state.model, event_idx);
	if (!event || !desc)
		return PFMLIB_ERR_INVAL;
	if (state.model->num_masks == 0) /* any mask_idx will do (quirk) */
		return store_copy(no_description, desc);
	if (mask_idx >= pfm3_num_masks(state.model, event))
		return PFMLIB_ERR_INVAL;
	return store_copy(state.model->masks[mask_idx].description, desc);
}

pfm_err_t
pfm_dispatch_events(pfmlib_input_param_t *p, void *model_in, pfmlib_output_param_t *q, void *model_out)
{
	struct pfm3_settings settings = {
		.fine_mode_bug = state.fine_mode_bug,
		.verbose = verbose_stream(),
		.notices = stdout,
	};

	REQUIRE_MODEL();
	return pfm3_dispatch(state.model, &settings, p, model_in, q, model_out, NULL);
}

pfm_err_t
pfm_get_impl_pmcs(pfmlib_regmask_t *impl_pmcs)
{
	REQUIRE_MODEL();
	if (!impl_pmcs)
		return PFMLIB_ERR_INVAL;
	*impl_pmcs = state.model->impl_pmcs;
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_get_impl_pmds(pfmlib_regmask_t *impl_pmds)
{
	REQUIRE_MODEL();
	if (!impl_pmds)
		return PFMLIB_ERR_INVAL;
	*impl_pmds = state.model->impl_pmds;
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_get_impl_counters(pfmlib_regmask_t *impl_counters)
{
	REQUIRE_MODEL();
	if (!impl_counters)
		return PFMLIB_ERR_INVAL;
	store_mask(impl_counters, state.model->impl_counters);
	return PFMLIB_SUCCESS;
}

/* Store a number, for the getters below. */
static pfm_err_t
store_number(unsigned int value, unsigned int *to)
{
	if (!to)
		return PFMLIB_ERR_INVAL;
	*to = value;
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_get_num_pmds(unsigned int *num)
{
	REQUIRE_MODEL();
	return store_number(state.model->num_pmds, num);
}

pfm_err_t
pfm_get_num_pmcs(unsigned int *num)
{
	REQUIRE_MODEL();
	return store_number(state.model->num_pmcs, num);
}

pfm_err_t
pfm_get_num_counters(unsigned int *num)
{
	REQUIRE_MODEL();
	return store_number(state.model->num_counters, num);
}

pfm_err_t
pfm_get_hw_counter_width(unsigned int *width)
{
	REQUIRE_MODEL();
	return store_number(state.model->counter_width, width);
}

pfm_err_t
pfm_get_version(unsigned int *version)
{
	return store_number(PFMLIB_VERSION, version);
}

char *
pfm_strerror(int code)
{
#define ERROR_TEXT(name, text) { text, name },
	static const struct {
		const char *text;
		int code;
	} texts[] = { PFMLIB_ERROR_LIST(ERROR_TEXT) };
#undef ERROR_TEXT

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].code == code)
			return (char *)texts[i].text;
	return (char *)"unknown error code";
}

/* Zero an event and set its index. */
static pfm_err_t
store_event(unsigned int idx, pfmlib_event_t *e)
{
	if (!e)
		return PFMLIB_ERR_INVAL;
	memset(e, 0, sizeof(*e));
	e->event = idx;
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm_get_cycle_event(pfmlib_event_t *e)
{
	REQUIRE_MODEL();
	return store_event(state.model->cycle_event, e);
}

pfm_err_t
pfm_get_inst_retired_event(pfmlib_event_t *e)
{
	REQUIRE_MODEL();
	return store_event(state.model->inst_retired_event, e);
}
