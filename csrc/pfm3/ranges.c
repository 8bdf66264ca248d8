/*
 * Covering address ranges with debug registers.
 *
 * A pair of debug registers matches an aligned block of a power of two bytes:
 * the even register holds its address, the odd one a mask of the address bits to
 * compare.  All arithmetic is on 64 bits and wraps, as in the reference; a shift
 * by 64 or more gives 0, as on IA-64.
 */
#include "ranges.h"

#include <string.h>

#define MASK_BITS 56	/* of a mask word: the rest is privilege levels and flags */

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

pfm_err_t
pfm3_with_ranges(struct pfm3_job *job, const void *model_in, void *model_out,
		 pfm3_range_encoder encoder)
{
	struct pfm3_rr_in in;
	struct pfm3_rr_out out;
	pfm_err_t ret;

	memcpy(&in, model_in, sizeof(in));
	memcpy(&out, model_out, sizeof(out));
	ret = encoder(job, &in, &out);
	memcpy(model_out, &out, sizeof(out));
	return ret;
}

int
pfm3_count_ranges(const struct pfm3_rr_in *in, unsigned long align)
{
	int n;

	for (n = 0; n < 4; n++) {
		unsigned long start = in->limits[n].start, end = in->limits[n].end;

		if (start == 0 && end == 0)
			break;
		if (start >= end)
			return PFMLIB_ERR_IRRINVAL;
		if (start % align || end % align)
			return PFMLIB_ERR_IRRALIGN;
	}
	return n;
}

int
pfm3_ranges_in_page(const struct pfm3_rr_in *in, int n, unsigned long mask)
{
	for (int i = 0; i < n; i++)
		if ((in->limits[i].start ^ in->limits[i].end) & mask)
			return 0;
	return 1;
}

/* Mask word of a pair: address bits to compare, privilege levels. */
static uint64_t
mask_word(const struct pfm3_job *job, uint64_t mask, unsigned int plm)
{
	return pfm3_field(mask, 0, MASK_BITS) | pfm3_field(pfm3_plm(job, plm), MASK_BITS, 4);
}

static void
fill_debug_register(pfmlib_reg_t *reg, unsigned int num, unsigned int shift, uint64_t value)
{
	reg->reg_num = num;
	reg->reg_value = value;
	reg->reg_addr = num + shift;
	reg->reg_alt_addr = num + shift;
}

/* Write a pair at a place of br; PFMLIB_ERR_TOOMANY if it is not inside. */
static pfm_err_t
put_pair(struct pfm3_rr_out *out, unsigned int at, unsigned int r, uint64_t address,
	 uint64_t mask, unsigned int shift)
{
	if (at > PFM3_NUM_DEBUG_REGS - 2)
		return PFMLIB_ERR_TOOMANY;
	fill_debug_register(&out->br[at], r, shift, address);
	fill_debug_register(&out->br[at + 1], r + 1, shift, mask);
	return PFMLIB_SUCCESS;
}

/* Append a pair to those in use. */
static pfm_err_t
append_pair(struct pfm3_rr_out *out, unsigned int r, uint64_t address, uint64_t mask,
	    unsigned int shift)
{
	pfm_err_t ret = put_pair(out, out->nbr_used, r, address, mask, shift);

	if (ret == PFMLIB_SUCCESS)
		out->nbr_used += 2;
	return ret;
}

/* One line for a pair of debug registers. */
static void
trace_pair(const struct pfm3_job *job, const pfmlib_reg_t *pair, int fine)
{
	unsigned int r = pair->reg_num;
	uint64_t mask = pair[1].reg_value & (((uint64_t)1 << MASK_BITS) - 1);

	pfm3_trace(job, "brp%u:  db%u: 0x%016llx db%u: plm=0x%llx mask=0x%016llx", r / 2,
		   r, pair->reg_value, r + 1, pair[1].reg_value >> MASK_BITS & 0xf,
		   (unsigned long long)mask);
	if (!fine)
		pfm3_trace(job, " end=0x%016llx", pair->reg_value + (((uint64_t)1 << MASK_BITS) - mask) - 1);
	pfm3_trace(job, "\n");
}

/* Show an interval with the registers that cover it. */
static void
trace_range(const struct pfm3_job *job, const struct pfm3_limit *limit, uint64_t soff, uint64_t eoff,
	    const pfmlib_reg_t *br, unsigned int count, const char *notes)
{
	int fine = strstr(notes, "fine") != NULL;

	if (!job->settings->verbose)
		return;
	pfm3_trace(job, "[0x%lx-0x%lx): %u register pair(s)%s\nstart offset: -0x%llx end_offset: +0x%llx\n",
		   limit->start, limit->end, count / 2, notes,
		   (unsigned long long)soff, (unsigned long long)eoff);
	for (unsigned int r = 0; r < count; r += 2)
		trace_pair(job, &br[r], fine);
}

/* What is said behind the number of pairs. */
static const char *
range_notes(const struct pfm3_rr_in *in, int fine)
{
	/* Both models have the inversion flag in bit 0. */
	if (in->flags & 1)
		return fine ? ", fine_mode, inversed" : ", inversed";
	return fine ? ", fine_mode" : "";
}

pfm_err_t
pfm3_cover_fine(const struct pfm3_job *job, const struct pfm3_rr_in *in, int n,
		unsigned int base, const struct pfm3_fine_mode *mode, unsigned int shift,
		struct pfm3_rr_out *out)
{
	pfm_err_t ret = PFMLIB_SUCCESS;

	for (int i = 0; i < n && ret == PFMLIB_SUCCESS; i++) {
		const struct pfm3_limit *limit = &in->limits[i];
		uint64_t mask = mask_word(job, mode->mask, limit->plm);
		uint64_t first = limit->start, last = limit->end - 16;
		unsigned int r = base + 2 * (unsigned int)i;

		if (mode->widen) {
			first -= first % 32;
			last += last % 32 ? 0 : 16;
		}
		ret = append_pair(out, r, first, mask, shift);
		if (ret == PFMLIB_SUCCESS)
			ret = append_pair(out, r + 4, last, mask, shift);
		/* Always entry 0 (quirk). */
		out->infos[0].soff = limit->start - first;
		out->infos[0].eoff = last - limit->end + 16;
		if (ret == PFMLIB_SUCCESS)
			trace_range(job, limit, out->infos[0].soff, out->infos[0].eoff,
				    &out->br[out->nbr_used - 4], 4, range_notes(in, 1));
	}
	return ret;
}

/* The multi-pair cover of one request under way. */
struct cover {
	const struct pfm3_job	*job;
	struct pfm3_rr_out	*out;
	unsigned int		reg;	/* next debug register, = registers written */
	unsigned int		plm;	/* of the interval */
	pfm_err_t		ret;	/* PFMLIB_ERR_TOOMANY once there was no room */
};

/* Which end of an interval a single block has to meet exactly. */
enum side { LEFT, RIGHT };

/*
 * Cover [start, end): the biggest aligned block inside, then what is left of it
 * and right of it with the remaining pairs, the bigger rest getting the odd one.
 */
static void
cover(struct cover *c, uint64_t start, uint64_t end, unsigned int pairs, enum side side)
{
	uint64_t edge, left, right, lsize, rsize;
	unsigned int p, lpairs, rpairs;

	if (pairs == 0 || end <= start)
		return;
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
	if (put_pair(c->out, c->out->nbr_used + c->reg, c->reg, left,
		     mask_word(c->job, ~(block_size(p) - 1), c->plm), 0) != PFMLIB_SUCCESS) {
		c->ret = PFMLIB_ERR_TOOMANY;
		return;
	}
	c->reg += 2;
	pairs--;
	lpairs = rpairs = pairs / 2;
	if (pairs % 2 && lsize > rsize)
		lpairs++;
	else if (pairs % 2)
		rpairs++;
	cover(c, start, left, lpairs, LEFT);
	cover(c, right, end, rpairs, RIGHT);
}

/* How far the pairs from first to last exceed the interval, as the reference sees it. */
static void
note_offsets(struct pfm3_rr_out *out, unsigned int first, unsigned int last,
	     const struct pfm3_limit *limit, int i)
{
	const uint64_t size_limit = (uint64_t)1 << MASK_BITS;

	out->infos[i].soff = out->infos[i].eoff = 0;
	for (unsigned int r = first; r < last; r += 2) {
		uint64_t address = out->br[r].reg_value;
		uint64_t mask = out->br[r + 1].reg_value % size_limit;
		/* Blocks of 2^56 bytes and more count as 0 (quirk). */
		uint64_t end = address + (size_limit - mask) % size_limit;

		if (address <= limit->start)
			out->infos[i].soff = limit->start - address;
		if (end >= limit->end)
			out->infos[i].eoff = end - limit->end;
	}
}

pfm_err_t
pfm3_cover_ranges(const struct pfm3_job *job, const struct pfm3_rr_in *in, int n,
		  struct pfm3_rr_out *out)
{
	struct cover c = { .job = job, .out = out };

	/* A count that the caller left behind may be anything. */
	if (out->nbr_used > PFM3_NUM_DEBUG_REGS)
		return PFMLIB_ERR_TOOMANY;
	for (int i = 0; i < n; i++) {
		const struct pfm3_limit *limit = &in->limits[i];
		unsigned int first = out->nbr_used + c.reg;

		if (c.reg == PFM3_NUM_DEBUG_REGS)
			return PFMLIB_ERR_TOOMANY;
		c.plm = limit->plm;
		cover(&c, limit->start, limit->end, (PFM3_NUM_DEBUG_REGS - c.reg) / 2, LEFT);
		if (c.ret != PFMLIB_SUCCESS)
			return c.ret;
		note_offsets(out, first, out->nbr_used + c.reg, limit, i);
		trace_range(job, limit, out->infos[i].soff, out->infos[i].eoff, &out->br[first],
			    out->nbr_used + c.reg - first, range_notes(in, 0));
	}
	out->nbr_used += c.reg;
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm3_cover_single(const struct pfm3_job *job, const struct pfm3_rr_in *in,
		  unsigned int base, unsigned int shift, struct pfm3_rr_out *out)
{
	const struct pfm3_limit *limit = &in->limits[0];
	unsigned int p = exponent(limit->end - limit->start);
	pfm_err_t ret;

	if ((limit->end - limit->start) & (block_size(p) - 1)) {
		if (p > 62) {
			pfm3_notice(job, "range: [0x%lx-0x%lx] too big\n", limit->start, limit->end);
			return PFMLIB_ERR_IRRTOOBIG;
		}
		p++;
	}
	for (; p < 64; p++) {
		uint64_t start = round_down(limit->start, p);
		uint64_t end = start + block_size(p);

		if (end < limit->end)
			continue;
		out->infos[0].soff = limit->start - start;
		out->infos[0].eoff = end - limit->end;
		ret = append_pair(out, base, start,
				  mask_word(job, ~(block_size(p) - 1), limit->plm), shift);
		if (ret == PFMLIB_SUCCESS)
			trace_range(job, limit, limit->start - start, end - limit->end,
				    &out->br[out->nbr_used - 2], 2, range_notes(in, 0));
		return ret;
	}
	return PFMLIB_ERR_IRRINVAL;
}

/* Pair of an address register, or -1 for a mask register or a stale number. */
static int
pair_of(const pfmlib_reg_t *reg)
{
	return reg->reg_num % 2 == 0 && reg->reg_num < PFM3_NUM_DEBUG_REGS ? (int)reg->reg_num / 2 : -1;
}

pfm_err_t
pfm3_code_range_value(const struct pfm3_rr_out *out, int fine, int tagged, uint64_t *value)
{
	/* A set bit switches the pair off: bits 1, 4, 7 and 10. */
	static const unsigned int off_bit[4] = { 1, 4, 7, 10 };
	uint64_t v = 0xdb6;

	for (unsigned int i = 0; i < out->nbr_used; i++) {
		int pair = pair_of(&out->br[i]);

		if (pair >= 0)
			v &= ~((uint64_t)1 << off_bit[pair]);
	}
	if (fine)
		v |= (uint64_t)1 << 13;
	else if (tagged >= 0)
		for (int pair = 0; pair < 4; pair++)
			if (!(v >> off_bit[pair] & 1) && !(tagged >> pair & 1))
				return PFMLIB_ERR_IRRINVAL;
	*value = v;
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm3_cover_data(struct pfm3_job *job, const struct pfm3_rr_in *in, struct pfm3_rr_out *out)
{
	struct pfm3_rr_in data = *in;
	int n = pfm3_count_ranges(in, 1);
	pfm_err_t ret;

	if (n < 0)
		return n;	/* PFMLIB_ERR_IRRINVAL even for data (quirk) */
	if (n == 0)
		return PFMLIB_ERR_DRRINVAL;
	data.flags = 0;		/* ignored */
	ret = pfm3_cover_ranges(job, &data, n, out);
	return ret == PFMLIB_ERR_TOOMANY ? PFMLIB_ERR_DRRTOOMANY : ret;
}

/* Mark the first pairs (all, or only the lower bounds of fine mode) of an output. */
static void
mark_pairs(const void *model_out, int pairs, unsigned int what, unsigned int part[4])
{
	struct pfm3_rr_out out;

	if (!model_out)
		return;
	memcpy(&out, model_out, sizeof(out));
	for (unsigned int i = 0; i < out.nbr_used; i++) {
		int pair = pair_of(&out.br[i]);

		if (pair >= 0 && pair < pairs)
			part[pair] |= what;
	}
}

uint64_t
pfm3_data_range_value(const void *model_drange, const void *model_irange, int fine,
		      int opcm0, int opcm1)
{
	/* What takes part in a pair, and the tag of each combination. */
	enum { DATA = 1, OPCODE = 2, CODE = 4 };
	static const unsigned int tag[8] = { 3, 2, 3, 0, 1, 0, 1, 0 };
	unsigned int part[4] = { 0 };
	uint64_t v = 0x78e6e6e6e6;

	mark_pairs(model_drange, 4, DATA, part);
	/* In fine mode pairs 2 and 3 only hold the upper bounds. */
	mark_pairs(model_irange, fine ? 2 : 4, CODE, part);
	for (unsigned int pair = 0; pair < 4; pair++) {
		if (part[pair] && (pair % 2 ? opcm1 : opcm0))
			part[pair] |= OPCODE;
		v |= pfm3_field(tag[part[pair]], 3 + 8 * pair, 2);
		v |= pfm3_field(part[pair] != 0, 45 + pair, 1);
	}
	return v;
}
