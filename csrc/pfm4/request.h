/*
 * Private: pieces of the encoding that the PMUs share.
 */
#ifndef PFM4_REQUEST_H
#define PFM4_REQUEST_H

#include "pfm4.h"

/* Append a text to the string: what fits, cutting the rest. */
void pfm4_append(struct pfm4_request *r, const char *text);

/* Append prefix and number, in decimal or hexadecimal. */
void pfm4_append_number(struct pfm4_request *r, const char *prefix, uint64_t value, unsigned int base);

/* Append :name=value. */
void pfm4_append_value(struct pfm4_request *r, const char *name, uint64_t value);

/* Append the modifiers of the event that are the PMU's own, with their values. */
void pfm4_append_hw_modifiers(struct pfm4_request *r, const uint64_t *values);

/* Sort the entries by attribute index and append the unit masks to the string. */
void pfm4_append_umasks(struct pfm4_request *r);

/* Add a default unit mask to the entries. */
void pfm4_add_default(struct pfm4_request *r, int umask);

/* Find an event of a table by the first len bytes of its name: struct pfm4_pmu.match. */
int pfm4_match(const struct pfm4_pmu *pmu, const char *name, size_t len, uint64_t *raw);

#endif /* PFM4_REQUEST_H */
