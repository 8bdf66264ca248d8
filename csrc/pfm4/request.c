/*
 * Pieces of the encoding that the PMUs share: the string, default unit masks.
 */
#include "request.h"

#include <stdlib.h>
#include <string.h>

void
pfm4_append(struct pfm4_request *r, const char *text)
{
	size_t room = sizeof(r->string) - 1 - (size_t)r->string_len, len;

	if (!r->want_string)
		return;
	len = strnlen(text, room);
	memcpy(r->string + r->string_len, text, len);
	r->string_len += (int)len;
	r->string[r->string_len] = '\0';
}

void
pfm4_append_number(struct pfm4_request *r, const char *prefix, uint64_t value, unsigned int base)
{
	char digits[24], *d = digits + sizeof(digits);

	if (!r->want_string)
		return;
	*--d = '\0';
	do
		*--d = "0123456789abcdef"[value % base];
	while (value /= base);
	pfm4_append(r, prefix);
	pfm4_append(r, d);
}

void
pfm4_append_value(struct pfm4_request *r, const char *name, uint64_t value)
{
	pfm4_append(r, ":");
	pfm4_append(r, name);
	pfm4_append_number(r, "=", value, 10);
}

void
pfm4_append_hw_modifiers(struct pfm4_request *r, const uint64_t *values)
{
	for (int i = 0; i < r->num_modifiers; i++)
		if (r->modifiers[i]->ctrl == PFM_ATTR_CTRL_PMU)
			pfm4_append_value(r, r->modifiers[i]->name, values[r->modifiers[i]->code]);
}

/* Insertion sort: lists are short and mostly sorted; equal entries keep their order. */
static void
sort_entries(struct pfm4_request *r)
{
	for (int i = 1; i < r->num_entries; i++) {
		struct pfm4_entry entry = r->entries[i];
		int j = i;

		for (; j > 0 && r->entries[j - 1].index > entry.index; j--)
			r->entries[j] = r->entries[j - 1];
		r->entries[j] = entry;
	}
}

void
pfm4_append_umasks(struct pfm4_request *r)
{
	sort_entries(r);
	for (int i = 0; i < r->num_entries; i++) {
		const struct pfm4_entry *entry = &r->entries[i];

		if (entry->umask) {
			pfm4_append(r, ":");
			pfm4_append(r, entry->umask->name);
		} else if (!entry->modifier) {
			pfm4_append_number(r, ":0x", entry->value & 0xffffffff, 16); /* low bits only (quirk) */
		}
	}
}

void
pfm4_add_default(struct pfm4_request *r, int umask)
{
	r->entries[r->num_entries++] = (struct pfm4_entry){
		.index = umask,
		.umask = &r->event->umasks[umask],
	};
}

int
pfm4_match(const struct pfm4_pmu *pmu, const char *name, size_t len, uint64_t *raw)
{
	(void)raw;
	return names_find(&pmu->table->names, &pmu->table->events[0].name, sizeof(*pmu->table->events), name, len);
}

char *
pfm4_full_string(const struct pfm4_request *r)
{
	size_t len = strlen(r->pmu->name);
	char *full = malloc(len + 2 + (size_t)r->string_len + 1);

	if (!full)
		return NULL;
	memcpy(full, r->pmu->name, len);
	memcpy(full + len, "::", 2);
	memcpy(full + len + 2, r->string, (size_t)r->string_len + 1);
	return full;
}
