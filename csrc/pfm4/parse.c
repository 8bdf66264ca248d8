/*
 * Event strings: [PMU::]EVENT[:ATTRIBUTE[=VALUE]...], with : and . between.
 *
 * The result is a list of entries, in the order of the string: unit masks, raw
 * unit masks, modifiers.  What may be combined is decided by the encoder.
 */
#include "pfm4.h"

#include <stdlib.h>
#include <string.h>

/* The attributes of one list of tokens: the string's own, or those of an alias. */
struct run {
	struct pfm4_request *r;
	int raw_seen;
	int named_seen;
};

static size_t
token_length(const char *str)
{
	return strcspn(str, ":.");
}

static pfm_err_t
append_entry(struct pfm4_request *r, struct pfm4_entry entry)
{
	/* The reference has no such limit for unit masks, and crashes. */
	if (r->num_entries == PFM4_MAX_ENTRIES)
		return PFM_ERR_TOOMANY;
	r->entries[r->num_entries++] = entry;
	return PFM_SUCCESS;
}

static pfm_err_t
add_umask(struct pfm4_request *r, int index)
{
	return append_entry(r, (struct pfm4_entry){ .index = index, .umask = &r->event->umasks[index] });
}

/* Add a unit mask, or those that it stands for. */
static pfm_err_t
add_named_umask(struct pfm4_request *r, int index)
{
	const struct pfm4_umask *umask = &r->event->umasks[index];
	pfm_err_t ret = PFM_SUCCESS;

	if (umask->num_members == 0)
		return add_umask(r, index);
	for (int i = 0; i < umask->num_members && ret == PFM_SUCCESS; i++)
		ret = add_umask(r, umask->members[i]);
	return ret;
}

/* Read a number that ends with its token, as strtoull() does: signs, overflow. */
static int
read_number(const char *str, const char *end, uint64_t *value)
{
	char *stop;

	*value = strtoull(str, &stop, 0);
	return stop == end && stop != str;
}

static pfm_err_t
parse_raw_umask(struct run *run, const char *name, const char *name_end, const char *end)
{
	uint64_t value;

	if (run->raw_seen || run->named_seen || !run->r->pmu->raw_umasks)
		return PFM_ERR_ATTR;
	if (!read_number(name, name_end, &value))
		return PFM_ERR_ATTR;
	run->raw_seen = 1;
	if (name_end != end)
		return PFM_ERR_ATTR_VAL;
	return append_entry(run->r, (struct pfm4_entry){ .index = PFM4_RAW_INDEX, .value = value });
}

/* One of yYtT1 or nNfF0. */
static pfm_err_t
parse_bool(const char *str, const char *end, uint64_t *value)
{
	if (end != str + 1)
		return PFM_ERR_ATTR_VAL;
	*value = strchr("yYtT1", *str) != NULL;
	return *value || strchr("nNfF0", *str) ? PFM_SUCCESS : PFM_ERR_ATTR_VAL;
}

/* A modifier: name_end points to its = or is the end of the token. */
static pfm_err_t
parse_modifier(struct pfm4_request *r, int index, const char *name_end, const char *end)
{
	const struct pfm4_modifier *modifier = r->modifiers[index - r->event->num_umasks];
	struct pfm4_entry entry = { .index = index, .modifier = modifier, .value = 1 };
	int has_value = name_end != end;
	pfm_err_t ret = PFM_SUCCESS;

	if (!has_value && modifier->type == PFM_ATTR_MOD_INTEGER)
		return PFM_ERR_ATTR_VAL;
	if (has_value && name_end + 1 == end)
		return PFM_ERR_ATTR_VAL;
	if (r->num_entries == PFM4_MAX_ENTRIES)
		return PFM_ERR_TOOMANY;
	if (has_value && modifier->type == PFM_ATTR_MOD_BOOL)
		ret = parse_bool(name_end + 1, end, &entry.value);
	else if (has_value && !read_number(name_end + 1, end, &entry.value))
		ret = PFM_ERR_ATTR_VAL;
	return ret == PFM_SUCCESS ? append_entry(r, entry) : ret;
}

/* Index of a name in the attribute list, or -1; unit masks have no value. */
static int
find_attribute(const struct pfm4_request *r, const char *name, size_t len, int has_value)
{
	for (int i = 0; i < r->event->num_umasks && !has_value; i++)
		if (names_equal(r->event->umasks[i].name, name, len))
			return i;
	for (int i = 0; i < r->num_modifiers; i++)
		if (names_equal(r->modifiers[i]->name, name, len))
			return r->event->num_umasks + i;
	return -1;
}

static pfm_err_t
parse_token(struct run *run, const char *token, size_t len)
{
	const char *end = token + len, *equals = memchr(token, '=', len);
	const char *name_end = equals ? equals : end;
	int index;

	if (name_end - token >= 2 && token[0] == '0' && (token[1] == 'x' || token[1] == 'X'))
		return parse_raw_umask(run, token, name_end, end);
	if (name_end == token)
		return PFM_ERR_ATTR;
	index = find_attribute(run->r, token, (size_t)(name_end - token), equals != NULL);
	if (index < 0)
		return PFM_ERR_ATTR;
	if (index >= run->r->event->num_umasks)
		return parse_modifier(run->r, index, name_end, end);
	run->named_seen = 1;
	return run->raw_seen ? PFM_ERR_ATTR : add_named_umask(run->r, index);
}

/*
 * Drop repeated attributes.  The one that slides into a dropped entry's place is
 * not looked at, so of three equal ones in a row two stay (quirk).
 */
static pfm_err_t
drop_duplicates(struct pfm4_request *r)
{
	for (int i = 0; i < r->num_entries; i++)
		for (int j = i + 1; j < r->num_entries; j++) {
			if (r->entries[i].index != r->entries[j].index)
				continue;
			if (r->entries[i].value != r->entries[j].value)
				return PFM_ERR_ATTR_SET;
			memmove(&r->entries[j], &r->entries[j + 1],
				(size_t)(r->num_entries - j - 1) * sizeof(*r->entries));
			r->num_entries--;
		}
	return PFM_SUCCESS;
}

/* Substitute the target of an alias, with the unit masks that the alias implies. */
static pfm_err_t
take_event(const struct pfm4_context *context, struct pfm4_request *r, int n)
{
	const struct pfm4_event *found = &r->pmu->table->events[n];
	pfm_err_t ret = PFM_SUCCESS;

	r->event = &r->pmu->table->events[found->target];
	r->idx = pfm4_opaque(r->pmu, found->target);
	r->code = pfm4_event_code(context, r->pmu, r->event);
	r->num_modifiers = pfm4_modifiers(r->pmu, r->plm, r->event, r->os, r->modifiers);
	for (int i = 0; i < found->num_implied && ret == PFM_SUCCESS; i++)
		ret = add_named_umask(r, found->implied[i]);
	return ret == PFM_SUCCESS ? drop_duplicates(r) : ret;
}

/* Find the event among the PMUs that may be used; the PMU's name is NULL if not given. */
static int
find_event(const struct pfm4_context *context, const char *pmu, size_t pmu_len, const char *name, size_t len,
	   struct pfm4_request *r)
{
	for (int i = 0; i < pfm4_num_pmus; i++) {
		const struct pfm4_pmu *candidate = pfm4_pmu_at(i);
		int n;

		if (pmu && !(pmu_len && names_equal(candidate->name, pmu, pmu_len)))
			continue;
		if (!context->pmus[i].active && !(pmu && context->encode_inactive))
			continue;
		n = candidate->match(candidate, name, len, &r->raw);
		if (n < 0)
			continue;
		r->pmu = candidate;
		r->plm = pfm4_levels(candidate, &context->pmus[i]);
		return n;
	}
	return -1;
}

pfm_err_t
pfm4_parse(const struct pfm4_context *context, const char *str, pfm_os_t os, struct pfm4_request *r)
{
	struct run run = { .r = r };
	const char *separator;
	size_t len;
	pfm_err_t ret;
	int n;

	if (strpbrk(str, ", \t\n"))
		return PFM_ERR_INVAL;
	separator = strstr(str, "::");
	r->os = os;
	r->num_entries = 0;
	len = token_length(separator ? separator + 2 : str);
	n = find_event(context, separator ? str : NULL, separator ? (size_t)(separator - str) : 0,
		       separator ? separator + 2 : str, len, r);
	if (n < 0)
		return PFM_ERR_NOTFOUND;
	ret = take_event(context, r, n);
	for (str = (separator ? separator + 2 : str) + len; *str && ret == PFM_SUCCESS; str += len) {
		str++;
		len = token_length(str);
		ret = parse_token(&run, str, len);
	}
	return ret == PFM_SUCCESS ? drop_duplicates(r) : ret;
}
