/*
 * Caches, TLB and branch predictor.  A set of a cache is an array in the order in which its ways were used, the last
 * one first, so that the least recently used one is replaced.  The data caches are write-back and write-allocate, the
 * secondary cache holds all that the primary ones hold, and addresses are virtual ones.
 */
#include "r10k.h"

#include <string.h>

/* The low bits of an entry of a cache; the others are the address of its line. */
#define VALID ((uint64_t)1)
#define DIRTY ((uint64_t)2)
#define SHARED ((uint64_t)4)
#define WAY ((uint64_t)8) /* which of two; with more ways, none is predicted */
#define FLAGS ((uint64_t)15)

enum {
	PREDICTIONS = 8192, /* of the way of the secondary cache, one bit each */
	RECENT = 64,        /* pages that are found at once */
	BUCKETS = 256,
};

#define NOTHING UINT64_MAX /* no line, no page: addresses are shifted right, so none is this */

struct cache {
	uint64_t *entries;
	uint64_t sets;
	uint32_t ways, shift; /* log2 of the line in bytes */
	bool power;           /* the number of sets is a power of two */
};

/* Entries in lists by their pages; their numbers are counted from 1, and 0 is the end of a list. */
struct tlb {
	uint64_t recent[RECENT]; /* pages that have an entry */
	uint16_t first[BUCKETS];
	uint64_t *page; /* of an entry */
	uint16_t *next;
	uint32_t entries, used, shift;
	uint64_t state; /* of the random numbers */
};

struct r10k {
	uint64_t *counts, *site;
	bool touched;
	uint64_t fetched; /* the address of a line */
	struct cache l1i, l1d, l2;
	struct tlb tlb;
	uint8_t *predictor;
	uint32_t predictor_mask;
	uint8_t ways[PREDICTIONS]; /* where a line of the secondary cache is looked for first */
	struct r10k *next;         /* processor; the last one's is the first */
};

/* ---- counting ---- */

/* Count an event in a processor that an instruction of this or another processor has caused. */
static inline void
count_at(struct r10k *where, enum r10k_count what, uint64_t times, struct r10k *cause)
{
	where->counts[what] += times;
	if (cause->site)
		cause->site[what] += times;
	cause->touched = true;
}

static inline void
count(struct r10k *m, enum r10k_count what)
{
	count_at(m, what, 1, m);
}

/* A dirty line is written back. */
static inline void
count_back(struct r10k *where, const struct cache *from, struct r10k *cause)
{
	count_at(where, from == &where->l2 ? R10K_L2wq : R10K_D1wq, ((uint64_t)1 << from->shift) / 16, cause);
}

/* ---- making ---- */

static uint32_t
log2_of(uint64_t number)
{
	uint32_t log = 0;
	while (number >>= 1)
		log++;
	return log;
}

static bool
is_power(uint64_t number)
{
	return number && !(number & (number - 1));
}

static size_t
shape_size(const struct r10k_shape *shape)
{
	return (size_t)(shape->size / shape->line * sizeof(uint64_t));
}

static bool
shape_wrong(const struct r10k_shape *s)
{
	return !is_power(s->line) || s->line < 16 || s->line > 4096 || !s->ways || s->ways > R10K_MOST_WAYS ||
	       !s->size || s->size > (uint64_t)1 << 32 || s->size % ((uint64_t)s->ways * s->line);
}

struct r10k_config
r10k_r10000(uint64_t l2)
{
	return (struct r10k_config){
		.l1i = { .size = 32 << 10, .ways = 2, .line = 64 },
		.l1d = { .size = 32 << 10, .ways = 2, .line = 32 },
		.l2 = { .size = l2, .ways = 2, .line = 128 },
		.page = 16 << 10,
		.pages = 2,
		.tlb = 64,
		.predictor = 512,
	};
}

struct r10k_config
r10k_r12000(uint64_t l2)
{
	struct r10k_config config = r10k_r10000(l2);
	config.predictor = 2048;
	return config;
}

const char *
r10k_wrong(const struct r10k_config *c)
{
	if (shape_wrong(&c->l1i) || shape_wrong(&c->l1d) || shape_wrong(&c->l2))
		return "a cache has a line of 16 to 4096 bytes, a power of two, 1 to 64 ways, and a size of at most 4g "
		       "that is a "
		       "multiple of ways times line";
	if (c->l2.line < c->l1i.line || c->l2.line < c->l1d.line)
		return "a line of the secondary cache is not shorter than one of the primary caches";
	if (!is_power(c->page) || c->page < 4096 || c->page > 1 << 30)
		return "a page has 4k to 1g bytes, a power of two";
	if (c->pages < 1 || c->pages > 2)
		return "an entry of the TLB is for 1 or 2 pages";
	if (c->tlb < 1 || c->tlb > R10K_MOST_TLB)
		return "a TLB has 1 to 4096 entries";
	if (!is_power(c->predictor) || c->predictor > R10K_MOST_PREDICTOR)
		return "a predictor has 1 to 1048576 counters, a power of two";
	return NULL;
}

size_t
r10k_size(const struct r10k_config *c)
{
	size_t bytes = sizeof(struct r10k) + shape_size(&c->l1i) + shape_size(&c->l1d) + shape_size(&c->l2) +
		       c->tlb * sizeof(uint64_t) + (c->tlb + 1) * sizeof(uint16_t) + c->predictor;
	return (bytes + 7) & ~(size_t)7;
}

static void
make_cache(struct cache *cache, const struct r10k_shape *shape, uint64_t **memory)
{
	*cache = (struct cache){ .entries = *memory, .ways = shape->ways, .shift = log2_of(shape->line) };
	cache->sets = shape->size / shape->line / shape->ways;
	cache->power = is_power(cache->sets);
	for (uint64_t i = 0; i < cache->sets * cache->ways; i++)
		cache->entries[i] = cache->ways == 2 && i & 1 ? WAY : 0;
	*memory += cache->sets * cache->ways;
}

struct r10k *
r10k_make(void *memory, const struct r10k_config *config, struct r10k *beside, uint64_t *counts)
{
	struct r10k *m = memory;
	uint64_t *rest = (uint64_t *)(m + 1);
	memset(m, 0, r10k_size(config));
	m->counts = counts;
	m->fetched = NOTHING;
	make_cache(&m->l1i, &config->l1i, &rest);
	make_cache(&m->l1d, &config->l1d, &rest);
	make_cache(&m->l2, &config->l2, &rest);
	m->tlb.entries = config->tlb;
	m->tlb.shift = log2_of(config->page) + (config->pages == 2);
	m->tlb.state = config->seed;
	m->tlb.page = rest;
	m->tlb.next = (uint16_t *)(rest + config->tlb);
	for (unsigned i = 0; i < RECENT; i++)
		m->tlb.recent[i] = NOTHING;
	m->predictor = (uint8_t *)(m->tlb.next + config->tlb + 1);
	m->predictor_mask = config->predictor - 1;
	m->next = beside ? beside->next : m;
	if (beside)
		beside->next = m;
	return m;
}

void
r10k_alone(struct r10k *m)
{
	m->next = m;
}

void
r10k_count_to(struct r10k *m, uint64_t *counts)
{
	m->counts = counts;
}

void
r10k_count_for(struct r10k *m, uint64_t *site)
{
	m->site = site;
}

const uint64_t *
r10k_fetched(const struct r10k *m)
{
	return &m->fetched;
}

/* ---- TLB ---- */

/* splitmix64: the same sequence for the same seed on every machine. */
static uint64_t
random_number(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static inline unsigned
bucket_of(uint64_t page)
{
	return (unsigned)((page * 0x9e3779b97f4a7c15) >> 56);
}

static bool
tlb_knows(struct tlb *tlb, uint64_t page)
{
	for (unsigned i = tlb->first[bucket_of(page)]; i; i = tlb->next[i])
		if (tlb->page[i - 1] == page) {
			tlb->recent[page % RECENT] = page;
			return true;
		}
	return false;
}

static void
tlb_forget(struct tlb *tlb, unsigned entry)
{
	uint64_t page = tlb->page[entry - 1];
	uint16_t *at = &tlb->first[bucket_of(page)];
	while (*at != entry)
		at = &tlb->next[*at];
	*at = tlb->next[entry];
	if (tlb->recent[page % RECENT] == page)
		tlb->recent[page % RECENT] = NOTHING;
}

static void
tlb_fill(struct tlb *tlb, uint64_t page)
{
	unsigned entry = tlb->used + 1;
	if (tlb->used < tlb->entries)
		tlb->used++;
	else
		tlb_forget(tlb, entry = (unsigned)(random_number(&tlb->state) % tlb->entries) + 1);
	uint16_t *first = &tlb->first[bucket_of(page)];
	tlb->page[entry - 1] = tlb->recent[page % RECENT] = page;
	tlb->next[entry] = *first;
	*first = (uint16_t)entry;
}

static inline bool
tlb_has(struct tlb *tlb, uint64_t page)
{
	return tlb->recent[page % RECENT] == page || tlb_knows(tlb, page);
}

static inline void
translate(struct r10k *m, uint64_t first, uint64_t last)
{
	for (uint64_t page = first >> m->tlb.shift; page <= last >> m->tlb.shift; page++)
		if (!tlb_has(&m->tlb, page)) {
			count(m, R10K_TLBm);
			tlb_fill(&m->tlb, page);
		}
}

/* ---- caches ---- */

static inline uint64_t
number_of_set(const struct cache *c, uint64_t line)
{
	return c->power ? line & (c->sets - 1) : line % c->sets;
}

static inline uint64_t *
set_of(const struct cache *c, uint64_t line)
{
	return c->entries + number_of_set(c, line) * c->ways;
}

static inline uint64_t
tag_of(const struct cache *c, uint64_t line)
{
	return line << c->shift | VALID;
}

/* The entry of a line; NULL: it is not there. */
static inline uint64_t *
r10k_find(const struct cache *c, uint64_t line)
{
	uint64_t *set = set_of(c, line), tag = tag_of(c, line);
	if (c->ways == 2) { /* without a branch on which of them: nothing predicts it */
		const bool second = (set[1] & ~(DIRTY | SHARED | WAY)) == tag;
		return second || (set[0] & ~(DIRTY | SHARED | WAY)) == tag ? set + second : NULL;
	}
	for (unsigned i = 0; i < c->ways; i++)
		if ((set[i] & ~(DIRTY | SHARED | WAY)) == tag)
			return &set[i];
	return NULL;
}

/* An entry is used: it is the first one of its set now. */
static inline uint64_t *
use(const struct cache *c, uint64_t line, const uint64_t *entry)
{
	uint64_t *set = set_of(c, line), used = *entry;
	if (c->ways == 2) {
		set[1] = set[entry == set];
		set[0] = used;
		return set;
	}
	for (const uint64_t *at = entry; at > set; at--)
		set[at - set] = at[-1];
	set[0] = used;
	return set;
}

/* The entry to be replaced: one that is not valid, or the one whose use is longest ago. */
static inline uint64_t *
to_fill(const struct cache *c, uint64_t line)
{
	uint64_t *set = set_of(c, line);
	for (unsigned i = 0; i < c->ways; i++)
		if (!(set[i] & VALID))
			return &set[i];
	return &set[c->ways - 1];
}

/* A line leaves the secondary cache of a processor: its primary caches lose their parts of it. */
static void
r10k_leave(struct r10k *m, uint64_t *entry, struct r10k *cause)
{
	uint64_t address = *entry & ~FLAGS, end = address + ((uint64_t)1 << m->l2.shift);
	for (uint64_t a = address; a != end; a += (uint64_t)1 << m->l1i.shift) {
		uint64_t *part = r10k_find(&m->l1i, a >> m->l1i.shift);
		if (part)
			*part &= WAY;
		if (m->fetched == a)
			m->fetched = NOTHING;
	}
	for (uint64_t a = address; a != end; a += (uint64_t)1 << m->l1d.shift) {
		uint64_t *part = r10k_find(&m->l1d, a >> m->l1d.shift);
		if (part && *part & DIRTY)
			count_back(m, &m->l1d, cause);
		if (part)
			*part &= WAY;
	}
	*entry &= WAY;
}

/* ---- other processors ---- */

/* Another one reads a line: whoever has it alone shares it from now on, unmodified.  Whether anybody has it. */
static bool
ask_to_share(struct r10k *m, uint64_t line)
{
	bool shared = false;
	for (struct r10k *other = m->next; other != m; other = other->next) {
		uint64_t *entry = r10k_find(&other->l2, line);
		if (!entry)
			continue;
		shared = true;
		if (*entry & SHARED)
			continue;
		count_at(other, R10K_Xint, 1, m);
		*entry = (*entry & ~DIRTY) | SHARED;
		uint64_t address = *entry & ~FLAGS, end = address + ((uint64_t)1 << m->l2.shift);
		for (uint64_t a = address; a != end; a += (uint64_t)1 << m->l1d.shift) {
			uint64_t *part = r10k_find(&other->l1d, a >> m->l1d.shift);
			if (part && *part & DIRTY)
				count_back(other, &other->l1d, m);
			if (part)
				*part &= ~DIRTY;
		}
	}
	return shared;
}

/* This one writes a line: all others give it up. */
static void
ask_to_leave(struct r10k *m, uint64_t line)
{
	for (struct r10k *other = m->next; other != m; other = other->next) {
		uint64_t *entry = r10k_find(&other->l2, line);
		if (!entry)
			continue;
		count_at(other, *entry & SHARED ? R10K_Xinv : R10K_Xint, 1, m);
		r10k_leave(other, entry, m);
	}
}

/* ---- accesses ---- */

enum kind { FETCH, LOAD, STORE, PREFETCH, PREFETCH_EXCLUSIVE };

static inline bool
writes(enum kind kind)
{
	return kind == STORE || kind == PREFETCH_EXCLUSIVE;
}

/* A line of the secondary cache that is there is stored to for the first time since it was clean. */
static void
own(struct r10k *m, uint64_t line, uint64_t *entry, enum kind kind)
{
	if (*entry & SHARED) {
		count(m, R10K_DLsh);
		ask_to_leave(m, line);
	} else if (!(*entry & DIRTY)) {
		count(m, R10K_DLce);
	}
	*entry &= ~SHARED;
	if (kind == STORE)
		*entry |= DIRTY;
}

static void
count_l2_miss(struct r10k *m, enum kind kind)
{
	static const enum r10k_count which[] = { [FETCH] = R10K_ILmr, [LOAD] = R10K_DLmr, [STORE] = R10K_DLmw };
	if (kind <= STORE)
		count(m, which[kind]);
}

/* A primary cache asks the secondary cache for a line of it. */
static inline void
ask_l2(struct r10k *m, uint64_t address, enum kind kind)
{
	uint64_t line = address >> m->l2.shift;
	uint8_t *prediction = &m->ways[number_of_set(&m->l2, line) % PREDICTIONS];
	uint64_t *entry = r10k_find(&m->l2, line);
	if (entry) {
		if (*prediction != !!(*entry & WAY))
			count(m, kind == FETCH ? R10K_ILway : R10K_DLway);
		entry = use(&m->l2, line, entry);
	} else {
		count_l2_miss(m, kind);
		entry = to_fill(&m->l2, line);
		if (*entry & VALID) {
			bool dirty = *entry & DIRTY;
			r10k_leave(m, entry, m);
			if (dirty)
				count_back(m, &m->l2, m);
		}
		*entry = tag_of(&m->l2, line) | (*entry & WAY);
		if (writes(kind))
			ask_to_leave(m, line);
		else if (ask_to_share(m, line))
			*entry |= SHARED;
		if (kind == STORE) /* fetched to be written */
			*entry |= DIRTY;
		entry = use(&m->l2, line, entry);
	}
	*prediction = !!(*entry & WAY);
}

static void
fetch_line(struct r10k *m, uint64_t line)
{
	uint64_t *entry = r10k_find(&m->l1i, line);
	if (!entry) {
		count(m, R10K_I1mr);
		ask_l2(m, line << m->l1i.shift, FETCH);
		entry = to_fill(&m->l1i, line);
		*entry = tag_of(&m->l1i, line) | (*entry & WAY);
	}
	use(&m->l1i, line, entry);
	m->fetched = line << m->l1i.shift;
}

static inline void
access_line(struct r10k *m, uint64_t line, enum kind kind)
{
	static const enum r10k_count which[] = {
		[LOAD] = R10K_D1mr, [STORE] = R10K_D1mw, [PREFETCH] = R10K_Pm, [PREFETCH_EXCLUSIVE] = R10K_Pm
	};
	uint64_t *entry = r10k_find(&m->l1d, line);
	if (!entry) {
		count(m, which[kind]);
		ask_l2(m, line << m->l1d.shift, kind);
		entry = to_fill(&m->l1d, line);
		if (*entry & VALID && *entry & DIRTY)
			count_back(m, &m->l1d, m);
		*entry = tag_of(&m->l1d, line) | (*entry & WAY);
	}
	entry = use(&m->l1d, line, entry);
	if (writes(kind) && !(*entry & DIRTY)) {
		uint64_t below = line << m->l1d.shift >> m->l2.shift;
		uint64_t *there = r10k_find(&m->l2, below);
		if (there)
			own(m, below, there, kind);
		if (kind == STORE)
			*entry |= DIRTY;
	}
}

/* The last byte of an access, or nothing: it is none. */
static inline bool
reaches(uint64_t address, uint64_t size, uint64_t *last)
{
	*last = address + size - 1;
	if (*last < address)
		*last = UINT64_MAX;
	return size && size <= R10K_LONGEST;
}

bool
r10k_fetch(struct r10k *m, uint64_t address, uint64_t size)
{
	uint64_t last;
	if (!reaches(address, size, &last))
		return false;
	m->touched = false;
	translate(m, address, last);
	for (uint64_t line = address >> m->l1i.shift; line <= last >> m->l1i.shift; line++)
		fetch_line(m, line);
	return m->touched;
}

static inline bool
access_slowly(struct r10k *m, uint64_t address, uint64_t last, enum kind kind)
{
	m->touched = false;
	translate(m, address, last);
	for (uint64_t line = address >> m->l1d.shift; line <= last >> m->l1d.shift; line++)
		access_line(m, line, kind);
	return m->touched;
}

/* Most accesses are to the line of a set that was used last, in a page that was used lately. */
static inline bool
hits(const struct r10k *m, uint64_t address, uint64_t last, uint64_t flags)
{
	uint64_t line = address >> m->l1d.shift, page = address >> m->tlb.shift;
	return last >> m->l1d.shift == line && m->tlb.recent[page % RECENT] == page &&
	       (*set_of(&m->l1d, line) & ~(WAY | (DIRTY & ~flags))) == (tag_of(&m->l1d, line) | flags);
}

/* Apart, so that what calls the other two is short. */
static __attribute__((noinline)) bool
load_slowly(struct r10k *m, uint64_t address, uint64_t last)
{
	return access_slowly(m, address, last, LOAD);
}

static __attribute__((noinline)) bool
store_slowly(struct r10k *m, uint64_t address, uint64_t last)
{
	return access_slowly(m, address, last, STORE);
}

bool
r10k_load(struct r10k *m, uint64_t address, uint64_t size)
{
	uint64_t last;
	return reaches(address, size, &last) && !hits(m, address, last, 0) && load_slowly(m, address, last);
}

bool
r10k_store(struct r10k *m, uint64_t address, uint64_t size)
{
	uint64_t last;
	return reaches(address, size, &last) && !hits(m, address, last, DIRTY) && store_slowly(m, address, last);
}

bool
r10k_prefetch(struct r10k *m, uint64_t address, bool exclusive)
{
	m->touched = false;
	if (tlb_has(&m->tlb, address >> m->tlb.shift))
		access_line(m, address >> m->l1d.shift, exclusive ? PREFETCH_EXCLUSIVE : PREFETCH);
	return m->touched;
}

/* ---- branches ---- */

/* Bits 3 and up of the address select a counter, which is 2 or 3 where the branch is expected to be taken. */
bool
r10k_branch(struct r10k *m, uint64_t address, bool taken)
{
	uint8_t *counter = &m->predictor[address >> 3 & m->predictor_mask];
	bool wrong = (*counter >= 2) != taken;
	if (wrong)
		count(m, R10K_Bm);
	*counter = (uint8_t)(taken ? *counter + (*counter < 3) : *counter - (*counter > 0));
	return wrong;
}
