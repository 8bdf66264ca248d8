/*
 * Covering address ranges with debug registers, and the values of the PMCs that say which are in use.
 *
 * A pair of debug registers matches an aligned block of a power of two bytes:
 * the even register holds its address, the odd one a mask of the address bits to
 * compare.  All arithmetic is on 64 bits and wraps, as in the reference; a shift
 * by 64 or more gives 0, as on IA-64.
 */
#include "encoder.h"

#define MASK_BITS 56 /* of a mask word: the rest is privilege levels and flags */

/* Flags of code ranges, which agree in the models (PFMLIB_ITA2_RR_*, PFMLIB_MONT_RR_*). */
enum { INVERTED = 1, NO_FINE_MODE = 2 };

/* The covering of a list of ranges under way. */
struct cover {
	const struct pfm3_encoder *e;
	const struct pfm3_ranges *in;
	struct pfm3_debug_regs *out;
	uint32_t *pairs;         /* that each range takes */
	int n;                   /* ranges */
	unsigned int addr_shift; /* what addresses exceed the numbers of registers by */
	int fine, inverted;      /* for verbose output */
	unsigned int plm;        /* of the range under way */
	unsigned int reg;        /* next debug register, = registers written (several pairs) */
};

/* 2^p, or 0 from 2^64 on. */
static uint64_t
block_size(unsigned int p)
{
	return p < 64 ? (uint64_t)1 << p : 0;
}

static uint64_t
round_down(uint64_t address, unsigned int p)
{
	return address & ~(block_size(p) - 1);
}

/*
 * Binary exponent of x after conversion to an IEEE double, x not being 0: rounds
 * up just below a power of two from 2^54 - 1 on.  The reference takes it so.
 */
static unsigned int
exponent(uint64_t x)
{
	unsigned int h = 63 - (unsigned int)__builtin_clzll(x);
	uint64_t next = block_size(h + 1);

	return h >= 53 && x >= next - block_size(h - 53) ? h + 1 : h;
}

/* ---- the list ------------------------------------------------------------------------ */

/* Read the ranges up to the end marker: their number, or a negative code.
 * PFMLIB_ERR_IRRINVAL: empty or reversed; PFMLIB_ERR_IRRALIGN: not a multiple of align. */
static int
count_ranges(const struct pfm3_ranges *in, uint64_t align)
{
	int n;

	for (n = 0; n < PFM3_MAX_RANGES; n++) {
		uint64_t start = in->limits[n].start, end = in->limits[n].end;

		if (start == 0 && end == 0)
			break;
		if (start >= end)
			return PFMLIB_ERR_IRRINVAL;
		if (start % align || end % align)
			return PFMLIB_ERR_IRRALIGN;
	}
	return n;
}

/* 1 if start and end of each range agree in the bits of the mask. */
static int
ranges_in_page(const struct cover *c, uint64_t mask)
{
	for (int i = 0; i < c->n; i++)
		if ((c->in->limits[i].start ^ c->in->limits[i].end) & mask)
			return 0;
	return 1;
}

/* Begin with the code ranges of a request; each end is a multiple of a bundle. */
static pfm_err_t
start_code(const struct pfm3_encoder *e, struct cover *c)
{
	struct pfm3_answer *answer = e->answer;

	*c = (struct cover){ .e = e, .in = &e->request->code, .out = &answer->code, .pairs = answer->code_pairs };
	c->n = count_ranges(c->in, 16);
	if (c->n < 0)
		return c->n;
	return c->n ? PFMLIB_SUCCESS : PFMLIB_ERR_IRRINVAL;
}

/* ---- one pair ------------------------------------------------------------------------ */

static void
fill_debug_register(const struct cover *c, unsigned int at, unsigned int num, uint64_t value)
{
	pfmlib_reg_t *reg = &c->out->regs[at];

	reg->reg_num = num;
	reg->reg_value = value;
	reg->reg_addr = num + c->addr_shift;
	reg->reg_alt_addr = num + c->addr_shift;
}

/* Write pair r to a place: an address, and the address bits to compare with the privilege levels.
 * PFMLIB_ERR_TOOMANY if the place is not inside. */
static pfm_err_t
put_pair(const struct cover *c, unsigned int at, unsigned int r, uint64_t address, uint64_t mask)
{
	uint64_t word = ia64_field(mask, 0, MASK_BITS) | ia64_field(pfm3_plm(c->e, c->plm), MASK_BITS, 4);

	if (at > PFM3_NUM_DEBUG_REGS - 2)
		return PFMLIB_ERR_TOOMANY;
	fill_debug_register(c, at, r, address);
	fill_debug_register(c, at + 1, r + 1, word);
	return PFMLIB_SUCCESS;
}

/* Append a pair to those in use. */
static pfm_err_t
append_pair(const struct cover *c, unsigned int r, uint64_t address, uint64_t mask)
{
	pfm_err_t ret = put_pair(c, c->out->count, r, address, mask);

	if (ret == PFMLIB_SUCCESS)
		c->out->count += 2;
	return ret;
}

/* One line for a pair of debug registers. */
static void
trace_pair(const struct cover *c, const pfmlib_reg_t *pair)
{
	unsigned int r = pair->reg_num;
	uint64_t mask = pair[1].reg_value & (((uint64_t)1 << MASK_BITS) - 1);

	pfm3_trace(c->e, "brp%u:  db%u: 0x%016llx db%u: plm=0x%llx mask=0x%016llx", r / 2, r, pair->reg_value, r + 1,
		   pair[1].reg_value >> MASK_BITS & 0xf, (unsigned long long)mask);
	if (!c->fine)
		pfm3_trace(c->e, " end=0x%016llx", pair->reg_value + (((uint64_t)1 << MASK_BITS) - mask) - 1);
	pfm3_trace(c->e, "\n");
}

/* Show a range with the registers from first to last that cover it. */
static void
trace_range(const struct cover *c, const struct pfm3_limit *limit, const struct pfm3_offsets *offsets,
	    unsigned int first, unsigned int last)
{
	if (!pfm3_verbose(c->e))
		return;
	pfm3_trace(c->e, "[0x%llx-0x%llx): %u register pair(s)%s%s\nstart offset: -0x%llx end_offset: +0x%llx\n",
		   (unsigned long long)limit->start, (unsigned long long)limit->end, (last - first) / 2,
		   c->fine ? ", fine_mode" : "", c->inverted ? ", inversed" : "", (unsigned long long)offsets->start,
		   (unsigned long long)offsets->end);
	for (unsigned int r = first; r < last; r += 2)
		trace_pair(c, &c->out->regs[r]);
}

/* ---- fine mode: two pairs hold the first and the last bundle ---------------------------- */

static pfm_err_t
cover_fine(struct cover *c, unsigned int base, const struct pfm3_code_rules *rules)
{
	pfm_err_t ret = PFMLIB_SUCCESS;

	for (int i = 0; i < c->n && ret == PFMLIB_SUCCESS; i++) {
		const struct pfm3_limit *limit = &c->in->limits[i];
		uint64_t first = limit->start, last = limit->end - 16;
		unsigned int r = base + 2 * (unsigned int)i;

		if (rules->whole_lines || c->e->settings->fine_mode_bug) {
			first -= first % 32;
			last += last % 32 ? 0 : 16;
		}
		c->plm = limit->plm;
		/* Bits 55:32 of the mask are 0 (quirk). */
		ret = append_pair(c, r, first, rules->page);
		if (ret == PFMLIB_SUCCESS)
			ret = append_pair(c, r + 4, last, rules->page);
		/* Always entry 0 (quirk). */
		c->out->offsets[0].start = limit->start - first;
		c->out->offsets[0].end = last - limit->end + 16;
		c->pairs[i] += 2;
		if (ret == PFMLIB_SUCCESS)
			trace_range(c, limit, &c->out->offsets[0], c->out->count - 4, c->out->count);
	}
	return ret;
}

/* ---- one block ---------------------------------------------------------------------------- */

/* Cover the first range with one aligned power-of-two block in pair base. */
static pfm_err_t
cover_single(struct cover *c, unsigned int base)
{
	const struct pfm3_limit *limit = &c->in->limits[0];
	struct pfm3_offsets *offsets = &c->out->offsets[0];
	unsigned int p = exponent(limit->end - limit->start);
	pfm_err_t ret;

	if ((limit->end - limit->start) & (block_size(p) - 1)) {
		if (p > 62) {
			if (c->e->settings->notices)
				fprintf(c->e->settings->notices, "range: [0x%llx-0x%llx] too big\n",
					(unsigned long long)limit->start, (unsigned long long)limit->end);
			return PFMLIB_ERR_IRRTOOBIG;
		}
		p++;
	}
	for (; p < 64; p++) {
		uint64_t start = round_down(limit->start, p);
		uint64_t end = start + block_size(p);

		if (end < limit->end)
			continue;
		offsets->start = limit->start - start;
		offsets->end = end - limit->end;
		c->plm = limit->plm;
		ret = append_pair(c, base, start, ~(block_size(p) - 1));
		c->pairs[0]++;
		if (ret == PFMLIB_SUCCESS)
			trace_range(c, limit, offsets, c->out->count - 2, c->out->count);
		return ret;
	}
	return PFMLIB_ERR_IRRINVAL;
}

/* ---- as many pairs as it takes ------------------------------------------------------------ */

/* Which end of a range a single block has to meet exactly. */
enum side { LEFT, RIGHT };

/*
 * Cover [start, end): the biggest aligned block inside, then what is left of it
 * and right of it with the remaining pairs, the bigger rest getting the odd one.
 * PFMLIB_ERR_TOOMANY: there is no room; what was written stays.
 */
static pfm_err_t
cover_interval(struct cover *c, uint64_t start, uint64_t end, unsigned int pairs, enum side side)
{
	uint64_t edge, left, right, lsize, rsize;
	unsigned int p, lpairs, rpairs;
	pfm_err_t ret;

	if (pairs == 0 || end <= start)
		return PFMLIB_SUCCESS;
	p = exponent(end - start);
	edge = round_down(end, p);
	left = edge - block_size(p);
	if (left < start) {
		p--;
		left = edge + block_size(p) <= end ? edge : edge - block_size(p);
	}
	lsize = left - start;
	rsize = end - left - block_size(p);
	/* The last pair takes a block of twice the size, aligned or not (quirk). */
	if (pairs == 1 && side == LEFT && lsize != 0) {
		p++;
		left = end - block_size(p);
	} else if (pairs == 1 && side == RIGHT && rsize != 0) {
		p++;
		left = start;
	}
	right = left + block_size(p);
	lsize = left - start;
	rsize = end - right;
	ret = put_pair(c, c->out->count + c->reg, c->reg, left, ~(block_size(p) - 1));
	if (ret != PFMLIB_SUCCESS)
		return ret;
	c->reg += 2;
	pairs--;
	lpairs = rpairs = pairs / 2;
	if (pairs % 2 && lsize > rsize)
		lpairs++;
	else if (pairs % 2)
		rpairs++;
	ret = cover_interval(c, start, left, lpairs, LEFT);
	return ret == PFMLIB_SUCCESS ? cover_interval(c, right, end, rpairs, RIGHT) : ret;
}

/* How far the pairs from first to last exceed a range, as the reference sees it. */
static void
note_offsets(const struct cover *c, unsigned int first, unsigned int last, const struct pfm3_limit *limit,
	     struct pfm3_offsets *offsets)
{
	const uint64_t size_limit = (uint64_t)1 << MASK_BITS;

	offsets->start = offsets->end = 0;
	for (unsigned int r = first; r < last; r += 2) {
		uint64_t address = c->out->regs[r].reg_value;
		uint64_t mask = c->out->regs[r + 1].reg_value % size_limit;
		/* Blocks of 2^56 bytes and more count as 0 (quirk). */
		uint64_t end = address + (size_limit - mask) % size_limit;

		if (address <= limit->start)
			offsets->start = limit->start - address;
		if (end >= limit->end)
			offsets->end = end - limit->end;
	}
}

/* Cover all ranges, from debug register 0 on. */
static pfm_err_t
cover_several(struct cover *c)
{
	/* A count that the caller left behind may have any value. */
	if (c->out->count > PFM3_NUM_DEBUG_REGS)
		return PFMLIB_ERR_TOOMANY;
	for (int i = 0; i < c->n; i++) {
		const struct pfm3_limit *limit = &c->in->limits[i];
		unsigned int first = c->out->count + c->reg, last;
		pfm_err_t ret;

		if (c->reg == PFM3_NUM_DEBUG_REGS)
			return PFMLIB_ERR_TOOMANY;
		c->plm = limit->plm;
		ret = cover_interval(c, limit->start, limit->end, (PFM3_NUM_DEBUG_REGS - c->reg) / 2, LEFT);
		if (ret != PFMLIB_SUCCESS)
			return ret;
		last = c->out->count + c->reg;
		c->pairs[i] = (last - first) / 2;
		note_offsets(c, first, last, limit, &c->out->offsets[i]);
		trace_range(c, limit, &c->out->offsets[i], first, last);
	}
	c->out->count += c->reg;
	return PFMLIB_SUCCESS;
}

/* ---- code ranges, and their PMC ------------------------------------------------------------- */

/* The pair of an address register, or -1 for a mask register or a stale number. */
static int
pair_of(const pfmlib_reg_t *reg)
{
	return reg->reg_num % 2 == 0 && reg->reg_num < PFM3_NUM_DEBUG_REGS ? (int)reg->reg_num / 2 : -1;
}

/* The unit masks (0 to 3, each naming a pair) of the events of retired instructions, as a set. */
static unsigned int
tagged_pairs(const struct pfm3_encoder *e)
{
	unsigned int pairs = 0;

	for (unsigned int i = 0; i < e->count; i++)
		if (e->events[i]->code == PFM3_CODE_RETIRED)
			pairs |= 1u << e->events[i]->umask;
	return pairs;
}

/* The PMC: pairs in use, fine mode.  Of retired instructions only, each pair outside fine mode needs an event. */
static pfm_err_t
code_range_value(const struct pfm3_encoder *e, int retired_only, uint64_t *value)
{
	/* A set bit switches the pair off: bits 1, 4, 7 and 10. */
	static const unsigned int off_bit[4] = { 1, 4, 7, 10 };
	const struct pfm3_debug_regs *code = &e->answer->code;
	unsigned int tagged = retired_only ? tagged_pairs(e) : 0xf;
	uint64_t v = 0xdb6;

	for (unsigned int i = 0; i < code->count; i++) {
		int pair = pair_of(&code->regs[i]);

		if (pair >= 0)
			v &= ~((uint64_t)1 << off_bit[pair]);
	}
	for (int pair = 0; pair < 4; pair++)
		if (!e->fine && !(v >> off_bit[pair] & 1) && !(tagged >> pair & 1))
			return PFMLIB_ERR_IRRINVAL;
	*value = v | ia64_field(e->fine != 0, 13, 1);
	return PFMLIB_SUCCESS;
}

/* Choose how the ranges are covered, and cover them. */
static pfm_err_t
cover_by_rules(struct cover *c, int retired_only)
{
	const struct pfm3_code_rules *rules = &c->e->model->code_rules;
	struct pfm3_fetches f;
	pfm_err_t ret;

	if (c->n > (c->fine ? 2 : retired_only ? 4 : 1))
		return PFMLIB_ERR_IRRTOOMANY;
	ret = rules->fetches(c->e, &f);
	if (ret != PFMLIB_SUCCESS)
		return ret;
	if (!c->fine && retired_only)
		return cover_several(c);
	if (!c->fine && (rules->prefetch_only || f.events) && f.events + pfm3_count_retired(c->e) != c->e->count)
		return PFMLIB_ERR_FEATCOMB; /* also of events that need one pair only (quirk) */
	if (c->fine && f.events && c->n > 1)
		return PFMLIB_ERR_IRRTOOMANY;
	c->addr_shift = rules->addr_shift;
	ret = c->fine ? cover_fine(c, f.base, rules) : cover_single(c, f.base);
	if (ret == PFMLIB_SUCCESS && f.both) /* outside fine mode the same pair once more (quirk) */
		ret = c->fine ? cover_fine(c, f.base + 2, rules) : cover_single(c, f.base);
	return ret;
}

pfm_err_t
pfm3_cover_code(struct pfm3_encoder *e, uint64_t *value)
{
	const struct pfm3_code_rules *rules = &e->model->code_rules;
	int retired_only = pfm3_count_retired(e) == e->count; /* also without any event (quirk) */
	struct cover c;
	pfm_err_t ret = start_code(e, &c);

	if (ret != PFMLIB_SUCCESS)
		return ret;
	/* The end is exclusive, so that a range up to the end of its page is not fine; and bits above 31
	 * are not compared (quirks). */
	e->fine = c.fine = !(c.in->flags & NO_FINE_MODE) && ranges_in_page(&c, rules->page);
	c.inverted = (c.in->flags & INVERTED) != 0;
	ret = cover_by_rules(&c, retired_only);
	if (ret == PFMLIB_ERR_TOOMANY)
		ret = PFMLIB_ERR_IRRTOOMANY;
	if (ret == PFMLIB_SUCCESS && retired_only && rules->check_matchers)
		ret = rules->check_matchers(e);
	return ret == PFMLIB_SUCCESS ? code_range_value(e, retired_only, value) : ret;
}

pfm_err_t
pfm3_cover_coarse_code(const struct pfm3_encoder *e)
{
	struct cover c;
	pfm_err_t ret = start_code(e, &c);

	if (ret == PFMLIB_SUCCESS)
		ret = cover_several(&c);
	return ret == PFMLIB_ERR_TOOMANY ? PFMLIB_ERR_IRRTOOMANY : ret;
}

/* ---- data ranges, and their PMC --------------------------------------------------------------- */

pfm_err_t
pfm3_cover_data(const struct pfm3_encoder *e)
{
	struct pfm3_answer *answer = e->answer;
	struct cover c = { .e = e, .in = &e->request->data, .out = &answer->data, .pairs = answer->data_pairs };
	pfm_err_t ret;

	c.inverted = (c.in->flags & INVERTED) != 0; /* printed, and nothing else (quirk) */
	c.n = count_ranges(c.in, 1);
	if (c.n < 0)
		return c.n; /* PFMLIB_ERR_IRRINVAL even for data (quirk) */
	if (c.n == 0)
		return PFMLIB_ERR_DRRINVAL;
	ret = cover_several(&c);
	return ret == PFMLIB_ERR_TOOMANY ? PFMLIB_ERR_DRRTOOMANY : ret;
}

/* Mark the first pairs (all, or only the lower bounds of fine mode) that are in use. */
static void
mark_pairs(const struct pfm3_debug_regs *regs, int pairs, unsigned int what, unsigned int part[4])
{
	for (unsigned int i = 0; i < regs->count; i++) {
		int pair = pair_of(&regs->regs[i]);

		if (pair >= 0 && pair < pairs)
			part[pair] |= what;
	}
}

uint64_t
pfm3_data_range_value(const struct pfm3_encoder *e)
{
	/* The settings that use a pair, and the tag of each combination. */
	enum { DATA = 1, OPCODE = 2, CODE = 4 };
	static const unsigned int tag[8] = { 3, 2, 3, 0, 1, 0, 1, 0 };
	const struct pfm3_request *request = e->request;
	unsigned int part[4] = { 0 };
	uint64_t v = 0x78e6e6e6e6;

	if (request->data.used == 1)
		mark_pairs(&e->answer->data, 4, DATA, part);
	/* In fine mode pairs 2 and 3 only hold the upper bounds. */
	if (request->code.used == 1)
		mark_pairs(&e->answer->code, e->fine ? 2 : 4, CODE, part);
	for (unsigned int pair = 0; pair < 4; pair++) {
		if (part[pair] && request->matchers[pair % 2].used)
			part[pair] |= OPCODE;
		v |= ia64_field(tag[part[pair]], 3 + 8 * pair, 2);
		v |= ia64_field(part[pair] != 0, 45 + pair, 1);
	}
	return v;
}
