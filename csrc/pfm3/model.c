/*
 * Lookup of events and unit masks, for the queries of all models.
 */
#include "encoder.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int
pfm3_find_name(const struct pfm3_model *model, const char *name, size_t len)
{
	const struct pfm3_table *table = model->table;

	return names_find(&table->names, &table->events[0].name, sizeof(*table->events), name, len);
}

const struct pfm3_event *
pfm3_event_at(const struct pfm3_model *model, unsigned int idx)
{
	return idx < model->table->count ? &model->table->events[idx] : NULL;
}

unsigned int
pfm3_num_masks(const struct pfm3_model *model, const struct pfm3_event *event)
{
	return event->flags & PFM3_MESI ? model->num_masks : 0;
}

uint64_t
pfm3_mask_set(const pfmlib_event_t *e)
{
	const uint64_t none = (uint64_t)1 << 63;
	uint64_t set = 0;

	if (e->num_masks > PFMLIB_MAX_MASKS_PER_EVENT)
		return none;
	for (unsigned int i = 0; i < e->num_masks; i++)
		set |= e->unit_masks[i] < 63 ? (uint64_t)1 << e->unit_masks[i] : none;
	return set;
}

/* Read a whole token, which a colon or the end of the string follows, as a C
 * number; 0 if it is none. */
static int
parse_number(const char *str, size_t len, unsigned long *value)
{
	char *end;

	*value = strtoul(str, &end, 0);
	/* strtoul() returns ULONG_MAX on overflow: no unit mask has that code. */
	return end != str && end == str + len && *value != ULONG_MAX;
}

pfm_err_t
pfm3_find_mask(const struct pfm3_model *model, const struct pfm3_event *event, const char *str, size_t len,
	       unsigned int *mask_idx)
{
	unsigned int masks = pfm3_num_masks(model, event);
	unsigned long code;

	for (unsigned int i = 0; i < masks; i++) {
		if (names_equal(model->masks[i].name, str, len)) {
			*mask_idx = i;
			return PFMLIB_SUCCESS;
		}
	}
	if (parse_number(str, len, &code))
		for (unsigned int i = 0; i < masks; i++)
			if (model->masks[i].code == code) {
				*mask_idx = i;
				return PFMLIB_SUCCESS;
			}
	return PFMLIB_ERR_UMASK;
}

/* Add a unit mask to an event unless it is there. */
static pfm_err_t
add_mask(pfmlib_event_t *e, unsigned int mask)
{
	for (unsigned int i = 0; i < e->num_masks; i++)
		if (e->unit_masks[i] == mask)
			return PFMLIB_SUCCESS;
	if (e->num_masks == PFMLIB_MAX_MASKS_PER_EVENT)
		return PFMLIB_ERR_TOOMANY;
	e->unit_masks[e->num_masks++] = mask;
	return PFMLIB_SUCCESS;
}

/* Add the unit masks that a number is made of: all its bits must be accounted for. */
static pfm_err_t
add_combined_masks(const struct pfm3_model *model, const struct pfm3_event *event, unsigned long value,
		   pfmlib_event_t *e)
{
	unsigned int masks = pfm3_num_masks(model, event);
	unsigned long seen = 0;
	pfm_err_t ret = PFMLIB_SUCCESS;

	for (unsigned int i = 0; i < masks; i++)
		if (!(model->masks[i].code & ~value))
			seen |= model->masks[i].code;
	if (seen != value) /* then the event is left as it is */
		return PFMLIB_ERR_UMASK;
	for (unsigned int i = 0; i < masks && ret == PFMLIB_SUCCESS; i++)
		if (!(model->masks[i].code & ~value))
			ret = add_mask(e, i);
	return ret;
}

/* Add the unit masks that one token of NAME:TOKEN:TOKEN names. */
static pfm_err_t
add_token(const struct pfm3_model *model, const struct pfm3_event *event, const char *token, size_t len,
	  pfmlib_event_t *e)
{
	unsigned int mask;
	unsigned long value;

	if (pfm3_find_mask(model, event, token, len, &mask) == PFMLIB_SUCCESS)
		return add_mask(e, mask);
	if (!parse_number(token, len, &value))
		return PFMLIB_ERR_UMASK;
	return add_combined_masks(model, event, value, e);
}

pfm_err_t
pfm3_find_full_event(const struct pfm3_model *model, const char *str, pfmlib_event_t *e)
{
	size_t len = strcspn(str, ":");
	const struct pfm3_event *event;
	pfm_err_t ret = PFMLIB_SUCCESS;
	int idx;

	memset(e, 0, sizeof(*e));
	idx = pfm3_find_name(model, str, len);
	if (idx < 0)
		return PFMLIB_ERR_NOTFOUND;
	e->event = (unsigned int)idx;
	event = &model->table->events[idx];
	if (pfm3_num_masks(model, event) == 0)
		return str[len] ? PFMLIB_ERR_UMASK : PFMLIB_SUCCESS;
	if (!str[len])
		return PFMLIB_ERR_UMASK; /* unit masks are mandatory */
	for (const char *token = str + len; *token == ':' && ret == PFMLIB_SUCCESS; token += len) {
		token++;
		len = strcspn(token, ":");
		ret = add_token(model, event, token, len, e);
	}
	return ret;
}

int
pfm3_is_kind(const struct pfm3_model *model, unsigned int idx, unsigned int kinds)
{
	const struct pfm3_event *event = pfm3_event_at(model, idx);

	return event && kinds >> event->kind & 1;
}

int
pfm3_has_flag(const struct pfm3_model *model, unsigned int idx, unsigned int flag)
{
	const struct pfm3_event *event = pfm3_event_at(model, idx);

	return event && event->flags & flag;
}

int
pfm3_ear_mode_of(unsigned int kind)
{
	switch (kind) {
	case PFM3_IEAR_CACHE:
	case PFM3_DEAR_CACHE:
		return 0;
	case PFM3_IEAR_TLB:
	case PFM3_DEAR_TLB:
		return 1;
	case PFM3_DEAR_ALAT:
		return 2;
	default:
		return -1;
	}
}

int
pfm3_ear_mode(const struct pfm3_model *model, unsigned int idx)
{
	const struct pfm3_event *event = pfm3_event_at(model, idx);

	return event ? pfm3_ear_mode_of(event->kind) : -1;
}

const char *
pfm3_error_name(int code)
{
#define ERROR_NAME(name, text) \
	if (code == (name)) \
		return #name;
	PFMLIB_ERROR_LIST(ERROR_NAME)
#undef ERROR_NAME
	return NULL;
}
