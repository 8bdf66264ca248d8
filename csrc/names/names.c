/*
 * Lookup of event names by hash.
 */
#include "names.h"

/* toupper() without the locale. */
static unsigned char
upper(char c)
{
	unsigned char u = (unsigned char)c;

	return u >= 'a' && u <= 'z' ? (unsigned char)(u - 'a' + 'A') : u;
}

unsigned int
names_hash(const char *name, size_t len)
{
	unsigned int hash = 0x811c9dc5;	/* FNV-1a; the same as in csrc/tables/generate.py */

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ upper(name[i])) * 0x01000193;
	return hash;
}

int
names_equal(const char *name, const char *str, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (upper(name[i]) != upper(str[i]))
			return 0;
	return name[len] == '\0';
}

int
names_find(const struct name_index *index, const char *const *first, size_t stride,
	   const char *name, size_t len)
{
	unsigned int at, slot;

	if (len == 0 || len > index->longest_name)
		return -1;
	at = names_hash(name, len) & index->slot_mask;
	for (; (slot = index->slots[at]); at = (at + 1) & index->slot_mask) {
		const char *row = (const char *)first + (slot - 1) * stride;

		if (names_equal(*(const char *const *)(const void *)row, name, len))
			return (int)slot - 1;
	}
	return -1;
}
