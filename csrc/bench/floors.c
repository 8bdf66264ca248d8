/*
 * The floors: lookups of the C library, clearing memory.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void
names_add(struct names *n, const char *name)
{
	if (n->count < MAX_NAMES)
		snprintf(n->names[n->count++], NAME_SIZE, "%s", name);
}

void
names_done(struct names *n)
{
	if (!hcreate_r(2 * (size_t)n->count + 1, &n->hash)) {
		perror("pfmtime: hcreate_r");
		exit(1);
	}
	for (unsigned int i = 0; i < n->count; i++) {
		ENTRY entry = { .key = n->names[i], .data = n->names[i] }, *found;

		hsearch_r(entry, ENTER, &found, &n->hash);
	}
}

void
names_clear(struct names *n)
{
	if (n->count)
		hdestroy_r(&n->hash);
	memset(&n->hash, 0, sizeof(n->hash));
	n->count = 0;
}

int
names_hashed(void *names)
{
	struct names *n = names;

	for (unsigned int i = 0; i < n->count; i++) {
		ENTRY entry = { .key = n->names[i] }, *found;

		if (!hsearch_r(entry, FIND, &found, &n->hash))
			return -1;
		use(found);
	}
	return 0;
}

int
names_scanned(void *names)
{
	struct names *n = names;

	for (unsigned int i = 0; i < n->count; i++) {
		unsigned int at = 0;

		while (strcasecmp(n->names[i], n->names[at]) != 0)
			at++;
		use(&at);
	}
	return 0;
}

int
area_clear(void *area)
{
	struct area *a = area;

	for (unsigned int i = 0; i < sizeof(a->parts) / sizeof(*a->parts); i++)
		if (a->parts[i]) {
			memset(a->parts[i], 0, a->sizes[i]);
			use(a->parts[i]);
		}
	return 0;
}
