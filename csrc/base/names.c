/*
 * Lookup of event names by hash.
 */
#include "names.h"

#include <stdint.h>
#include <string.h>

/* toupper() without the locale. */
static unsigned char
upper_case(char c)
{
	unsigned char u = (unsigned char)c;

	return u >= 'a' && u <= 'z' ? (unsigned char)(u - 'a' + 'A') : u;
}

/* Read eight bytes so that upper and lower case are the same; other characters may become equal, too. */
static uint64_t
fold_case(uint64_t bytes)
{
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		bytes = __builtin_bswap64(bytes);
	return bytes & 0xdfdfdfdfdfdfdfdf;
}

unsigned int
names_hash(const char *name, size_t len)
{
	uint64_t hash = len, word;

	/* FNV-1a, eight bytes at a time; the same as in csrc/tables/generate.py. */
	for (; len >= sizeof(word); name += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, name, sizeof(word));
		hash = (hash ^ fold_case(word)) * 0x100000001b3;
	}
	word = 0;
	memcpy(&word, name, len);
	hash = (hash ^ fold_case(word)) * 0x100000001b3;
	return (unsigned int)(hash >> 32 ^ hash);
}

int
names_equal(const char *name, const char *str, size_t len)
{
	if (len > 0 && upper_case(*name) != upper_case(*str)) /* most other names are ruled out here */
		return 0;
	if (strlen(name) != len)
		return 0;
	if (memcmp(name, str, len) == 0) /* as it is spelt in the table */
		return 1;
	for (size_t i = 0; i < len; i++)
		if (upper_case(name[i]) != upper_case(str[i]))
			return 0;
	return 1;
}

int
names_find(const struct name_index *index, const char *const *first, size_t stride, const char *name, size_t len)
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
