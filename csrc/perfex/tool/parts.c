/*
 * The part of a block that is executed: where an instruction fails (a signal), what came before it has not been counted,
 * as the end of the part was not reached.
 */
#include "pub_tool_basics.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_mallocfree.h"

#include "tool.h"

struct record *part;

/* ---- records that are not in the file ---- */

/* Those of a block; it begins as a node of a table of valgrind's does. */
struct block {
	struct block *next;
	UWord hash;
	ULong key;
	struct record records[];
};

/* Room that is never given back, and so needs no administration: of a block that is executed records are needed. */
static UChar *room;
static SizeT left;

static Word
compare_keys(const void *one, const void *other)
{
	return ((const struct block *)one)->key != ((const struct block *)other)->key;
}

struct record *
parts_block(ULong key, SizeT number, Bool *known)
{
	static VgHashTable *blocks;
	key += number;
	struct block wanted = { .hash = (UWord)key, .key = key };
	if (!blocks)
		blocks = VG_(HT_construct)("r10k.blocks");
	struct block *found = VG_(HT_gen_lookup)(blocks, &wanted, compare_keys);
	*known = found != NULL;
	if (found)
		return found->records;
	SizeT size = sizeof *found + number * sizeof(struct record);
	if (size > left) {
		left = size + (1u << 20);
		room = VG_(calloc)("r10k.room", 1, left);
	}
	found = (struct block *)room;
	*found = wanted;
	VG_(HT_add_node)(blocks, found);
	return found->records;
}

void
parts_end(struct record *end)
{
	left -= (SizeT)((UChar *)end - room);
	room = (UChar *)end;
}

/* ---- an instruction fails ---- */

static void
count_once(struct record *record, const Char weights[R10K_I1mr])
{
	for (UInt i = 0; i < R10K_I1mr; i++) {
		header->now[i] += (uint64_t)(Long)weights[i];
		site[i] = options.lines ? (uint64_t)(Long)weights[i] : 0;
	}
	if (options.lines)
		settle(record);
}

void
parts_failed(Addr at)
{
	static const Char back[R10K_I1mr] = { [R10K_Ir] = -1 };
	struct record *first = part;
	UInt n = 0;
	part = NULL;
	while (first && first[n].address && first[n].first == n && first[n].address != at)
		n++;
	if (!first || !first[n].address || first[n].first != n)
		return;
	for (UInt i = 0; i < n; i++)
		count_once(&first[i], first[i].weights);
	if (first[n].weights[R10K_Ir] <= 0) /* one that is repeated was counted before its first access */
		count_once(&first[n], back);
}
