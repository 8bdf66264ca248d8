/* Caches and TLB of the R10000: each cache is 2-way set-associative with LRU replacement, the
   data cache is write-back and write-allocate, the secondary cache holds all that the primary
   caches hold, and an entry of the TLB maps two adjacent pages.  Addresses are virtual ones. */

#include "r10k.h"

#include <stdlib.h>
#include <string.h>

enum {
	WAYS = 2,
	PRIMARY_SIZE = 32 << 10,
	I_SHIFT = 6, /* log2 of the line size in bytes */
	D_SHIFT = 5,
	L2_SHIFT = 7,
	I_SETS = PRIMARY_SIZE / WAYS >> I_SHIFT,
	D_SETS = PRIMARY_SIZE / WAYS >> D_SHIFT,
	PREDICTIONS = 8192, /* bits of the way prediction table */
	TLB_ENTRIES = 64,
};

#define NOTHING UINT64_MAX /* no line, no page: addresses are shifted right, so none is this */

struct set {
	uint64_t line[WAYS]; /* address >> line shift */
	bool dirty[WAYS];
	uint8_t recent; /* the way used last */
};

struct tlb {
	uint64_t pair[TLB_ENTRIES]; /* address >> (page shift + 1) */
	uint64_t used[TLB_ENTRIES];
	uint64_t clock;
	unsigned last[2]; /* entry of the last data access, of the last fetch */
};

struct r10k {
	struct r10k_counts counts;
	struct set icache[I_SETS];
	struct set dcache[D_SETS];
	struct set *l2;
	size_t l2_sets;
	uint8_t prediction[PREDICTIONS]; /* the way where a line of the secondary cache is looked for first */
	struct tlb tlb;
	unsigned pair_shift;
	bool random;
	uint64_t state; /* of the random numbers */
};

static void
empty_sets(struct set *sets, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		sets[i] = (struct set){ .line = { NOTHING, NOTHING } };
}

void
r10k_empty(struct r10k *m)
{
	empty_sets(m->icache, I_SETS);
	empty_sets(m->dcache, D_SETS);
	empty_sets(m->l2, m->l2_sets);
	memset(m->prediction, 0, sizeof m->prediction);
	m->tlb = (struct tlb){ 0 };
	for (unsigned i = 0; i < TLB_ENTRIES; i++)
		m->tlb.pair[i] = NOTHING;
}

struct r10k *
r10k_new(const struct r10k_config *config)
{
	struct r10k *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	m->l2_sets = (size_t)(config->l2 / WAYS >> L2_SHIFT);
	m->l2 = calloc(m->l2_sets, sizeof *m->l2);
	if (!m->l2) {
		free(m);
		return NULL;
	}
	m->pair_shift = 1;
	while ((uint64_t)1 << m->pair_shift < 2 * config->page)
		m->pair_shift++;
	m->random = config->random;
	m->state = config->seed;
	r10k_empty(m);
	return m;
}

void
r10k_free(struct r10k *m)
{
	if (m)
		free(m->l2);
	free(m);
}

const struct r10k_counts *
r10k_count(const struct r10k *m)
{
	return &m->counts;
}

/* splitmix64: the same sequence for the same seed on every machine. */
static uint64_t
random_number(struct r10k *m)
{
	uint64_t z = m->state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static unsigned
tlb_victim(struct r10k *m)
{
	const struct tlb *tlb = &m->tlb;
	unsigned oldest = 0;
	for (unsigned i = 0; i < TLB_ENTRIES; i++) {
		if (tlb->pair[i] == NOTHING)
			return i;
		if (tlb->used[i] < tlb->used[oldest])
			oldest = i;
	}
	return m->random ? (unsigned)(random_number(m) % TLB_ENTRIES) : oldest;
}

static void
tlb_access(struct r10k *m, uint64_t address, bool fetch)
{
	struct tlb *tlb = &m->tlb;
	uint64_t pair = address >> m->pair_shift;
	unsigned i = tlb->last[fetch];
	if (tlb->pair[i] != pair) {
		for (i = 0; i < TLB_ENTRIES && tlb->pair[i] != pair; i++)
			;
		if (i == TLB_ENTRIES) {
			m->counts.TLBm++;
			i = tlb_victim(m);
			tlb->pair[i] = pair;
		}
		tlb->last[fetch] = i;
	}
	tlb->used[i] = ++tlb->clock;
}

/* The way that holds a line, or -1. */
static inline int
way_of_line(const struct set *set, uint64_t line)
{
	return set->line[0] == line ? 0 : set->line[1] == line ? 1 : -1;
}

/* The way to be filled: an empty one, or the one not used last. */
static inline int
way_to_fill(const struct set *set)
{
	int empty = way_of_line(set, NOTHING);
	return empty >= 0 ? empty : !set->recent;
}

static struct set *
l2_set(const struct r10k *m, uint64_t line)
{
	return &m->l2[line & (m->l2_sets - 1)];
}

/* A line leaves the secondary cache: the primary caches lose their parts of it.  Whether it is dirty. */
static bool
l2_evict(struct r10k *m, uint64_t line, bool dirty)
{
	for (uint64_t i = line << (L2_SHIFT - I_SHIFT); i < (line + 1) << (L2_SHIFT - I_SHIFT); i++) {
		struct set *set = &m->icache[i % I_SETS];
		int way = way_of_line(set, i);
		if (way >= 0)
			set->line[way] = NOTHING;
	}
	for (uint64_t i = line << (L2_SHIFT - D_SHIFT); i < (line + 1) << (L2_SHIFT - D_SHIFT); i++) {
		struct set *set = &m->dcache[i % D_SETS];
		int way = way_of_line(set, i);
		if (way < 0)
			continue;
		m->counts.D1wb += set->dirty[way];
		set->line[way] = NOTHING;
		set->dirty[way] = false;
	}
	return dirty;
}

/* A primary cache asks the secondary cache for a line of it. */
static void
l2_read(struct r10k *m, uint64_t address, enum r10k_access kind)
{
	uint64_t line = address >> L2_SHIFT;
	struct set *set = l2_set(m, line);
	uint8_t *prediction = &m->prediction[line & (m->l2_sets - 1) & (PREDICTIONS - 1)];
	int way = way_of_line(set, line);
	if (way >= 0) {
		if (*prediction != way)
			(*(kind == R10K_FETCH ? &m->counts.ILway : &m->counts.DLway))++;
	} else {
		struct r10k_counts *c = &m->counts;
		way = way_to_fill(set);
		bool back = set->line[way] != NOTHING && l2_evict(m, set->line[way], set->dirty[way]);
		switch (kind) {
		case R10K_FETCH:
			c->ILmr++, c->ILdmr += back;
			break;
		case R10K_STORE:
			c->DLmw++, c->DLdmw += back;
			break;
		default:
			c->DLmr++, c->DLdmr += back;
			break;
		}
		set->line[way] = line;
		set->dirty[way] = kind == R10K_STORE; /* fetched to be written */
	}
	*prediction = set->recent = (uint8_t)way;
}

static void
access_instructions(struct r10k *m, uint64_t line)
{
	struct set *set = &m->icache[line % I_SETS];
	int way = way_of_line(set, line);
	if (way < 0) {
		m->counts.I1mr++;
		l2_read(m, line << I_SHIFT, R10K_FETCH);
		way = way_to_fill(set);
		set->line[way] = line;
	}
	set->recent = (uint8_t)way;
}

/* The first store to a line of the data cache: the secondary cache has to know. */
static void
make_dirty(struct r10k *m, struct set *set, int way)
{
	uint64_t line = set->line[way] >> (L2_SHIFT - D_SHIFT);
	struct set *below = l2_set(m, line);
	int there = way_of_line(below, line);
	set->dirty[way] = true;
	if (there >= 0 && !below->dirty[there]) {
		m->counts.DLclean++;
		below->dirty[there] = true;
	}
}

static void
access_data(struct r10k *m, uint64_t line, enum r10k_access kind)
{
	struct set *set = &m->dcache[line % D_SETS];
	int way = way_of_line(set, line);
	if (way < 0) {
		(*(kind == R10K_STORE ? &m->counts.D1mw : &m->counts.D1mr))++;
		l2_read(m, line << D_SHIFT, kind);
		way = way_to_fill(set);
		m->counts.D1wb += set->dirty[way];
		set->line[way] = line;
		set->dirty[way] = false;
	}
	set->recent = (uint8_t)way;
	if (kind >= R10K_STORE && !set->dirty[way])
		make_dirty(m, set, way);
}

void
r10k_access(struct r10k *m, enum r10k_access kind, uint64_t address, uint64_t size)
{
	if (!size || size > R10K_LONGEST)
		return;
	uint64_t last = address + size - 1;
	if (last < address)
		last = UINT64_MAX;
	uint64_t page = (uint64_t)1 << m->pair_shift;
	for (uint64_t a = address & ~(page - 1); a <= last; a += page) {
		tlb_access(m, a, kind == R10K_FETCH);
		if (a + page < a)
			break;
	}
	if (kind == R10K_FETCH) {
		m->counts.Ir++;
		for (uint64_t line = address >> I_SHIFT; line <= last >> I_SHIFT; line++)
			access_instructions(m, line);
		return;
	}
	m->counts.Dr += kind != R10K_STORE;
	m->counts.Dw += kind != R10K_LOAD;
	for (uint64_t line = address >> D_SHIFT; line <= last >> D_SHIFT; line++)
		access_data(m, line, kind);
}
