/*
 * The public API of libpfm 4: one global context, applied to the re-entrant
 * functions of pfm4.h; the rules for sizes and arguments.
 */
#include "pfm4.h"

#include <stdlib.h>
#include <string.h>

/* All that the library remembers between calls; not locked, as in the reference. */
static struct {
	int initialised;
	struct pfm4_context context; /* survives pfm_terminate() (quirk) */
	unsigned int disabled;       /* PMUs, as a set of places; survives, too */
} state;

/* Sizes beyond this one are refused: no structure comes near, and a size that
 * was never set must not make the library read all of memory. */
#define MAX_STRUCT_SIZE 4096

/* The size that the library assumes for pfm_event_attr_info_t (quirk). */
#define ATTR_INFO_SIZE 72

pfm_err_t
pfm_initialize(void)
{
	if (state.initialised)
		return PFM_SUCCESS;
	pfm4_initialize(&state.context, &state.disabled);
	state.initialised = 1;
	return PFM_SUCCESS;
}

void
pfm_terminate(void)
{
	state.initialised = 0;
}

const char *
pfm_strerror(int code)
{
#define ERROR_TEXT(name, text) { text, name },
	static const struct {
		const char *text;
		int code;
	} texts[] = { PFM_ERROR_LIST(ERROR_TEXT) };
#undef ERROR_TEXT

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].code == code)
			return texts[i].text;
	return "unknown error code";
}

const char *
pfm4_error_name(int code)
{
#define ERROR_NAME(name, text) \
	if (code == (name)) \
		return #name;
	PFM_ERROR_LIST(ERROR_NAME)
#undef ERROR_NAME
	return NULL;
}

int
pfm_get_version(void)
{
	return LIBPFM_VERSION;
}

/* The size rule: 0 stands for the oldest size, a bigger structure must hold
 * zeros after what the library knows. */
static int
size_is_valid(const void *structure, size_t size, size_t oldest, size_t known)
{
	const unsigned char *bytes = structure;

	if (size == 0)
		size = oldest;
	if (size < oldest || size > MAX_STRUCT_SIZE)
		return 0;
	for (size_t i = known; i < size; i++)
		if (bytes[i])
			return 0;
	return 1;
}

/* The state of a PMU that is known, or NULL. */
static const struct pfm4_pmu_state *
known_pmu(pfm_pmu_t id, const struct pfm4_pmu **pmu)
{
	int place = pfm4_place_of(id);

	if (place < 0 || !state.context.pmus[place].known)
		return NULL;
	*pmu = pfm4_pmu_at(place);
	return &state.context.pmus[place];
}

/* The event of an opaque index, or NULL. */
static const struct pfm4_event *
event_at(int idx, const struct pfm4_pmu **pmu, const struct pfm4_pmu_state **pmu_state)
{
	int n = idx & 0x1fffff;

	if (idx < 0)
		return NULL;
	*pmu_state = known_pmu((pfm_pmu_t)(idx >> 21 & 0x3ff), pmu);
	if (!*pmu_state || n >= (*pmu)->table->count)
		return NULL;
	return &(*pmu)->table->events[n];
}

pfm_err_t
pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *output)
{
	const struct pfm4_pmu_state *pmu_state;
	const struct pfm4_pmu *p;

	if (!state.initialised)
		return PFM_ERR_NOINIT;
	if ((unsigned int)pmu >= PFM_PMU_MAX || !output)
		return PFM_ERR_INVAL;
	if (!size_is_valid(output, output->size, PFM_PMU_INFO_ABI0, sizeof(*output)))
		return PFM_ERR_INVAL;
	pmu_state = known_pmu(pmu, &p);
	if (!pmu_state)
		return PFM_ERR_NOTSUPP;
	*output = (pfm_pmu_info_t){
		.name = p->name,
		.desc = p->desc,
		.size = sizeof(*output),
		.pmu = pmu,
		.type = p->type,
		.nevents = p->table->count,
		.first_event = pfm4_opaque(p, 0),
		.max_encoding = p->max_encoding,
		.num_cntrs = p->num_cntrs,
		.num_fixed_cntrs = p->num_fixed_cntrs,
	};
	output->is_present = pmu_state->active != 0;
	return PFM_SUCCESS;
}

int
pfm_get_event_next(int idx)
{
	const struct pfm4_pmu_state *pmu_state;
	const struct pfm4_pmu *pmu;

	if (!state.initialised || !event_at(idx, &pmu, &pmu_state))
		return -1;
	return (idx & 0x1fffff) + 1 < pmu->table->count ? idx + 1 : -1;
}

int
pfm_find_event(const char *str)
{
	struct pfm4_request r;
	pfm_err_t ret;

	if (!state.initialised)
		return PFM_ERR_NOINIT;
	if (!str)
		return PFM_ERR_INVAL;
	ret = pfm4_parse(&state.context, str, PFM_OS_NONE, &r);
	return ret == PFM_SUCCESS ? r.idx : ret;
}

/* 1 if an interface is active. */
static int
os_is_active(pfm_os_t os)
{
	return os == PFM_OS_NONE || (os < PFM_OS_MAX && state.context.perf_layers);
}

pfm_err_t
pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *output)
{
	const struct pfm4_modifier *modifiers[PFM4_MAX_MODIFIERS];
	const struct pfm4_pmu_state *pmu_state;
	const struct pfm4_event *event;
	const struct pfm4_pmu *pmu;
	unsigned int precise;

	if (!state.initialised)
		return PFM_ERR_NOINIT;
	if ((unsigned int)os >= PFM_OS_MAX)
		return PFM_ERR_INVAL;
	event = event_at(idx, &pmu, &pmu_state);
	if (!event || !output || !size_is_valid(output, output->size, PFM_EVENT_INFO_ABI0, sizeof(*output)))
		return PFM_ERR_INVAL;
	if (!os_is_active(os))
		return PFM_ERR_NOTSUPP;
	*output = (pfm_event_info_t){
		.name = event->name,
		.desc = event->desc,
		.equiv = event->equiv,
		.size = sizeof(*output),
		.code = pfm4_event_code(&state.context, pmu, event),
		.pmu = pmu->id,
		.dtype = PFM_DTYPE_UINT64,
		.idx = idx,
		.nattrs = event->num_umasks + pfm4_modifiers(pmu, pfm4_levels(pmu, pmu_state), event, os, modifiers),
	};
	precise = (event->flags & (PFM4_PEBS | PFM4_PRECISE)) != 0;
	output->is_precise = precise & 1;
	output->support_hw_smpl = precise & 1;
	return PFM_SUCCESS;
}

static void
describe_umask(const struct pfm4_pmu *pmu, const struct pfm4_umask *umask, pfm_event_attr_info_t *output)
{
	unsigned int precise = (umask->flags & PFM4_PEBS) != 0;

	output->name = umask->name;
	output->desc = umask->desc;
	output->equiv = umask->equiv;
	output->code = umask->code;
	output->type = PFM_ATTR_UMASK;
	output->ctrl = PFM_ATTR_CTRL_PMU;
	output->is_dfl = pmu->shows_defaults && umask->flags & PFM4_DFL;
	output->is_precise = precise & 1;
	output->support_hw_smpl = precise & 1;
}

static void
describe_modifier(const struct pfm4_modifier *modifier, pfm_event_attr_info_t *output)
{
	output->name = modifier->name;
	output->desc = modifier->desc;
	output->code = (uint64_t)modifier->code;
	output->type = modifier->type;
	output->ctrl = modifier->ctrl;
}

pfm_err_t
pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os, pfm_event_attr_info_t *output)
{
	const struct pfm4_modifier *modifiers[PFM4_MAX_MODIFIERS];
	const struct pfm4_pmu_state *pmu_state;
	const struct pfm4_event *event;
	const struct pfm4_pmu *pmu;
	int count;

	if (!state.initialised)
		return PFM_ERR_NOINIT;
	if (aidx < 0 || (unsigned int)os >= PFM_OS_MAX)
		return PFM_ERR_INVAL;
	event = event_at(eidx, &pmu, &pmu_state);
	if (!event || !output || !size_is_valid(output, output->size, PFM_ATTR_INFO_ABI0, ATTR_INFO_SIZE))
		return PFM_ERR_INVAL;
	if (!os_is_active(os))
		return PFM_ERR_NOTSUPP;
	count = pfm4_modifiers(pmu, pfm4_levels(pmu, pmu_state), event, os, modifiers);
	if (aidx >= event->num_umasks + count)
		return PFM_ERR_INVAL;
	*output = (pfm_event_attr_info_t){ .size = ATTR_INFO_SIZE, .idx = aidx };
	if (aidx < event->num_umasks)
		describe_umask(pmu, &event->umasks[aidx], output);
	else
		describe_modifier(modifiers[aidx - event->num_umasks], output);
	return PFM_SUCCESS;
}

/* Hand the codes over: into the caller's array, or a new one. */
static pfm_err_t
store_codes(const struct pfm4_request *r, uint64_t **codes, int *count)
{
	if (*codes && *count < r->num_codes)
		return PFM_ERR_TOOSMALL;
	if (!*codes) {
		*codes = malloc((size_t)r->num_codes * sizeof(**codes));
		if (!*codes)
			return PFM_ERR_NOMEM;
	}
	memcpy(*codes, r->codes, (size_t)r->num_codes * sizeof(**codes));
	*count = r->num_codes;
	return PFM_SUCCESS;
}

static pfm_err_t
encode_none(const char *str, unsigned int dfl_plm, pfm_pmu_encode_arg_t *arg)
{
	struct pfm4_request r;
	uint64_t *codes = arg->codes;
	int count = arg->count;
	char *string = NULL;
	pfm_err_t ret;

	if (!size_is_valid(arg, arg->size, PFM_RAW_ENCODE_ABI0, sizeof(*arg)))
		return PFM_ERR_INVAL;
	r.want_string = arg->fstr != NULL;
	ret = pfm4_encode_raw(&state.context, str, dfl_plm, &r);
	if (ret != PFM_SUCCESS)
		return ret;
	if (arg->fstr && !(string = pfm4_full_string(&r)))
		return PFM_ERR_NOMEM;
	ret = store_codes(&r, &codes, &count);
	if (ret != PFM_SUCCESS) {
		free(string);
		return ret;
	}
	arg->codes = codes;
	arg->count = count;
	arg->idx = r.idx;
	if (arg->fstr)
		*arg->fstr = string;
	return PFM_SUCCESS;
}

static pfm_err_t
encode_perf(const char *str, unsigned int dfl_plm, pfm_os_t os, pfm_perf_encode_arg_t *arg)
{
	struct perf_event_attr attr;
	struct pfm4_request r;
	size_t size, copied;
	char *string = NULL;
	pfm_err_t ret;
	int cpu;

	if (!size_is_valid(arg, arg->size, PFM_PERF_ENCODE_ABI0, sizeof(*arg)) || !arg->attr)
		return PFM_ERR_INVAL;
	/* As many bytes as the caller's structure has; 0 is its first version. */
	size = arg->attr->size;
	copied = size == 0 ? PERF_ATTR_SIZE_VER0 : size < sizeof(attr) ? size : sizeof(attr);
	memset(&attr, 0, sizeof(attr));
	memcpy(&attr, arg->attr, copied);
	r.want_string = arg->fstr != NULL;
	ret = pfm4_encode_perf(&state.context, str, dfl_plm, os, &attr, &cpu, &r);
	if (ret != PFM_SUCCESS)
		return ret;
	if (arg->fstr && !(string = pfm4_full_string(&r)))
		return PFM_ERR_NOMEM;
	memcpy(arg->attr, &attr, copied);
	arg->attr->size = (uint32_t)size;
	arg->idx = r.idx;
	arg->cpu = cpu;
	if (arg->fstr)
		*arg->fstr = string;
	return PFM_SUCCESS;
}

pfm_err_t
pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t os, void *args)
{
	if (!state.initialised)
		return PFM_ERR_NOINIT;
	if (!args || !str || dfl_plm & ~PFM4_ALL_PLM)
		return PFM_ERR_INVAL;
	if (!os_is_active(os))
		return PFM_ERR_NOTSUPP;
	if (os == PFM_OS_NONE)
		return encode_none(str, (unsigned int)dfl_plm, args);
	return encode_perf(str, (unsigned int)dfl_plm, os, args);
}

pfm_err_t
pfm_get_event_encoding(const char *str, int dfl_plm, char **fstr, int *idx, uint64_t **codes, int *count)
{
	pfm_pmu_encode_arg_t arg = { .fstr = fstr };
	pfm_err_t ret;

	if (!str || !codes || !count || (*codes == NULL) != (*count == 0))
		return PFM_ERR_INVAL;
	arg.codes = *codes;
	arg.count = *count;
	ret = pfm_get_os_event_encoding(str, dfl_plm, PFM_OS_NONE, &arg);
	if (ret != PFM_SUCCESS)
		return ret;
	*codes = arg.codes;
	*count = arg.count;
	if (idx)
		*idx = arg.idx;
	return PFM_SUCCESS;
}

pfm_err_t
pfm_get_perf_event_encoding(const char *str, int dfl_plm, struct perf_event_attr *attr, char **fstr, int *idx)
{
	pfm_perf_encode_arg_t arg = { .attr = attr, .fstr = fstr };
	pfm_err_t ret;

	if (!state.initialised)
		return PFM_ERR_NOINIT;
	if (!attr)
		return PFM_ERR_INVAL;
	ret = pfm_get_os_event_encoding(str, dfl_plm, PFM_OS_PERF_EVENT_EXT, &arg);
	if (ret == PFM_SUCCESS && idx)
		*idx = arg.idx;
	return ret;
}

/* Encode one string for pfm_pmu_validate(); 1 if there is nothing to complain of. */
static int
is_encodable(const char *string, FILE *fp, pfm_err_t *last)
{
	uint64_t codes[PFM4_MAX_CODES];
	pfm_pmu_encode_arg_t arg = { .codes = codes, .count = PFM4_MAX_CODES };
	pfm_err_t ret = pfm_get_os_event_encoding(string, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &arg);

	if (ret == PFM_SUCCESS)
		return 1;
	if (ret != PFM_ERR_NOTSUPP) {
		fprintf(fp, "cannot encode event %s : %s\n", string, pfm_strerror(ret));
		*last = ret;
	}
	return 0;
}

pfm_err_t
pfm_pmu_validate(pfm_pmu_t pmu_id, FILE *fp)
{
	const struct pfm4_pmu *pmu;
	pfm_err_t last = PFM_SUCCESS;
	char string[PFM4_STRING_SIZE];

	if (!fp || (unsigned int)pmu_id >= PFM_PMU_MAX || !known_pmu(pmu_id, &pmu))
		return PFM_ERR_INVAL;
	for (int n = 0; n < pmu->table->count; n++) {
		const struct pfm4_event *event = &pmu->table->events[n];
		int encoded = 0;

		for (int i = 0; i < event->num_umasks; i++) {
			snprintf(string, sizeof(string), "%s::%s:%s", pmu->name, event->name, event->umasks[i].name);
			encoded += is_encodable(string, fp, &last);
		}
		if (encoded)
			continue;
		snprintf(string, sizeof(string), "%s::%s", pmu->name, event->name);
		is_encodable(string, fp, &last);
	}
	return last;
}
