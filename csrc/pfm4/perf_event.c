/*
 * From a request to struct perf_event_attr: event, levels, sampling, flags.
 */
#include "request.h"

#include <limits.h>

/* The settings that the operating system's modifiers of a string make. */
struct os_selection {
	unsigned int plm; /* levels named */
	int plm_given;
	int guest, host; /* mentioned */
	int pinned;
};

static pfm_err_t
set_period(struct perf_event_attr *attr, uint64_t value)
{
	if (value == 0 || attr->freq)
		return PFM_ERR_ATTR_VAL;
	attr->sample_period = value;
	return PFM_SUCCESS;
}

static pfm_err_t
set_freq(struct perf_event_attr *attr, uint64_t value)
{
	if (value == 0 || attr->sample_period) /* the same bytes as sample_freq */
		return PFM_ERR_ATTR_VAL;
	attr->sample_freq = value;
	attr->freq = 1;
	return PFM_SUCCESS;
}

static void
add_level(struct os_selection *s, unsigned int level, uint64_t value)
{
	s->plm_given = 1;
	if (value)
		s->plm |= level;
}

/* Apply one modifier of the operating system. */
static pfm_err_t
apply_modifier(struct os_selection *s, const struct pfm4_entry *entry, struct perf_event_attr *attr, int *cpu)
{
	uint64_t value = entry->value;

	switch (entry->modifier->code) {
	case PFM4_OS_U:
		add_level(s, PFM_PLM3, value);
		break;
	case PFM4_OS_K:
		add_level(s, PFM_PLM0, value);
		break;
	case PFM4_OS_H:
		add_level(s, PFM_PLMH, value);
		break;
	case PFM4_OS_PERIOD:
		return set_period(attr, value);
	case PFM4_OS_FREQ:
		return set_freq(attr, value);
	case PFM4_OS_PRECISE:
		if (value > 3)
			return PFM_ERR_ATTR_VAL;
		attr->precise_ip = value & 3;
		break;
	case PFM4_OS_EXCL:
		attr->exclusive |= value & 1; /* a bit that was set stays */
		break;
	case PFM4_OS_MG:
		s->guest = 1; /* whatever its value (quirk) */
		break;
	case PFM4_OS_MH:
		s->host = 1;
		break;
	case PFM4_OS_CPU:
		if (value >= INT_MAX)
			return PFM_ERR_ATTR_VAL;
		*cpu = (int)value;
		break;
	case PFM4_OS_PINNED:
		s->pinned = value != 0;
		break;
	case PFM4_OS_HW_SMPL:
		attr->precise_ip = value & 1; /* of precise and hw_smpl the last one counts */
		break;
	}
	return PFM_SUCCESS;
}

static pfm_err_t
apply_modifiers(const struct pfm4_request *r, struct os_selection *s, struct perf_event_attr *attr, int *cpu)
{
	pfm_err_t ret = PFM_SUCCESS;

	for (int i = 0; i < r->num_entries && ret == PFM_SUCCESS; i++) {
		const struct pfm4_entry *entry = &r->entries[i];

		if (entry->modifier && entry->modifier->ctrl == PFM_ATTR_CTRL_PERF_EVENT)
			ret = apply_modifier(s, entry, attr, cpu);
	}
	return ret;
}

/* The six bits that are always written; the levels, unsupported ones added. */
static unsigned int
set_exclusions(const struct pfm4_request *r, const struct os_selection *s, struct perf_event_attr *attr)
{
	unsigned int plm = s->plm_given ? s->plm : r->dfl_plm;
	int host = s->host || !s->guest;

	/* A level that the PMU lacks cannot be excluded. */
	plm |= (PFM_PLM0 | PFM_PLM3 | PFM_PLMH) & ~r->plm;
	attr->exclude_user = !(plm & PFM_PLM3);
	attr->exclude_kernel = !(plm & PFM_PLM0);
	attr->exclude_hv = !(plm & PFM_PLMH);
	attr->exclude_guest = !s->guest;
	attr->exclude_host = !host;
	attr->pinned = s->pinned != 0;
	return plm;
}

/* Apply the modifiers, after the PMU's part of the string. */
static void
append_modifier(struct pfm4_request *r, const struct pfm4_modifier *m, unsigned int plm,
		const struct perf_event_attr *attr)
{
	switch (m->code) {
	case PFM4_OS_U:
		pfm4_append_value(r, m->name, (plm & PFM_PLM3) != 0);
		break;
	case PFM4_OS_K:
		pfm4_append_value(r, m->name, (plm & PFM_PLM0) != 0);
		break;
	case PFM4_OS_H:
		pfm4_append_value(r, m->name, (plm & PFM_PLMH) != 0);
		break;
	case PFM4_OS_PERIOD: /* both are shown, whichever was given (quirk) */
	case PFM4_OS_FREQ:
		if (attr->sample_period)
			pfm4_append_value(r, m->name, attr->sample_period);
		break;
	case PFM4_OS_PRECISE:
	case PFM4_OS_HW_SMPL:
		pfm4_append_value(r, m->name, attr->precise_ip);
		break;
	case PFM4_OS_EXCL:
		pfm4_append_value(r, m->name, attr->exclusive);
		break;
	case PFM4_OS_MG:
		pfm4_append_value(r, m->name, !attr->exclude_guest);
		break;
	case PFM4_OS_MH:
		pfm4_append_value(r, m->name, !attr->exclude_host);
		break;
	}
}

/* The common part of all interfaces: parse, then let the PMU encode. */
static pfm_err_t
parse_and_encode(const struct pfm4_context *context, const char *str, pfm_os_t os, unsigned int dfl_plm,
		 struct pfm4_request *r)
{
	pfm_err_t ret = pfm4_parse(context, str, os, r);

	r->dfl_plm = dfl_plm;
	r->string_len = 0;
	r->string[0] = '\0';
	return ret == PFM_SUCCESS ? r->pmu->encode(r) : ret;
}

pfm_err_t
pfm4_encode_raw(const struct pfm4_context *context, const char *str, unsigned int dfl_plm, struct pfm4_request *r)
{
	return parse_and_encode(context, str, PFM_OS_NONE, dfl_plm, r);
}

/* The codes in an attribute. */
static void
set_config(const struct pfm4_request *r, struct perf_event_attr *attr)
{
	attr->type = r->event->perf_type;
	attr->config = r->codes[0] & ~r->pmu->not_in_config;
	if (r->num_codes > 1)
		attr->config1 = r->codes[1];
	if (r->pmu->clears_config)
		attr->config1 = attr->config2 = 0;
}

pfm_err_t
pfm4_attr_of_raw(const struct pfm4_request *r, struct perf_event_attr *attr)
{
	const struct os_selection s = { 0 };

	if (r->pmu->is_driven && !r->pmu->is_driven(r))
		return PFM_ERR_NOTSUPP;
	set_config(r, attr);
	set_exclusions(r, &s, attr);
	return PFM_SUCCESS;
}

pfm_err_t
pfm4_encode_perf(const struct pfm4_context *context, const char *str, unsigned int dfl_plm, pfm_os_t os,
		 struct perf_event_attr *attr, int *cpu, struct pfm4_request *r)
{
	struct os_selection s = { 0 };
	unsigned int plm;
	pfm_err_t ret = parse_and_encode(context, str, os, dfl_plm, r);

	if (ret != PFM_SUCCESS)
		return ret;
	set_config(r, attr);
	*cpu = -1;
	ret = apply_modifiers(r, &s, attr, cpu);
	if (ret != PFM_SUCCESS)
		return ret;
	plm = set_exclusions(r, &s, attr);
	for (int i = 0; i < r->num_modifiers && r->want_string; i++)
		if (r->modifiers[i]->ctrl == PFM_ATTR_CTRL_PERF_EVENT)
			append_modifier(r, r->modifiers[i], plm, attr);
	return PFM_SUCCESS;
}
