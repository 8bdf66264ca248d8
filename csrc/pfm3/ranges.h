/*
 * Private: covering address ranges with debug registers, for every IA-64 model.
 *
 * Itanium 2 and Montecito have range structures of their own with the same
 * layout; the types here stand for both (their equality is asserted in
 * layout.c), so that the work is done once.
 */
#ifndef PFM3_RANGES_H
#define PFM3_RANGES_H

#include "job.h"

struct pfm3_limit {
	unsigned int	plm;
	unsigned long	start, end;
};

struct pfm3_rr_in {
	unsigned int		flags;
	struct pfm3_limit	limits[4];
	unsigned char		used;
};

struct pfm3_rr_out {
	unsigned int	nbr_used;
	struct {
		unsigned long soff, eoff;
	} infos[4];
	pfmlib_reg_t	br[8];
};

#define PFM3_NUM_DEBUG_REGS 8

/* How a model uses the pairs in fine mode. */
struct pfm3_fine_mode {
	uint64_t	mask;	/* of the mask words */
	int		widen;	/* widen each range to whole 32-byte lines */
};

typedef pfm_err_t (*pfm3_range_encoder)(struct pfm3_job *job, const struct pfm3_rr_in *in,
					struct pfm3_rr_out *out);

/* Run an encoder on the range structures of a model (layout.c asserts that they
 * have the layout of the types above); out is updated even if it fails. */
pfm_err_t pfm3_with_ranges(struct pfm3_job *job, const void *model_in, void *model_out,
			   pfm3_range_encoder encoder);

/* Read the intervals up to the end marker: their number, or a negative code.
 * PFMLIB_ERR_IRRINVAL: empty or reversed; PFMLIB_ERR_IRRALIGN: not a multiple of align. */
int pfm3_count_ranges(const struct pfm3_rr_in *in, unsigned long align);

/* 1 if start and end of each of n intervals agree in the bits of the mask. */
int pfm3_ranges_in_page(const struct pfm3_rr_in *in, int n, unsigned long mask);

/* Cover n intervals, each with two pairs that hold its first and its last bundle.
 * shift is what reg_addr and reg_alt_addr exceed reg_num by. */
pfm_err_t pfm3_cover_fine(const struct pfm3_job *job, const struct pfm3_rr_in *in, int n,
			  unsigned int base, const struct pfm3_fine_mode *mode, unsigned int shift,
			  struct pfm3_rr_out *out);

/* Cover n intervals with as many pairs as it takes, from register 0 on. */
pfm_err_t pfm3_cover_ranges(const struct pfm3_job *job, const struct pfm3_rr_in *in, int n,
			    struct pfm3_rr_out *out);

/* Cover the first interval with one aligned power-of-two block in pair base. */
pfm_err_t pfm3_cover_single(const struct pfm3_job *job, const struct pfm3_rr_in *in,
			    unsigned int base, unsigned int shift, struct pfm3_rr_out *out);

/* Value of the code-range PMC: pairs in use, fine mode.  With tagged (a mask of
 * pairs; -1: not needed), every pair in coarse use must be in it. */
pfm_err_t pfm3_code_range_value(const struct pfm3_rr_out *out, int fine, int tagged, uint64_t *value);

/* A range encoder: cover data ranges.  PFMLIB_ERR_DRRINVAL, PFMLIB_ERR_DRRTOOMANY. */
pfm_err_t pfm3_cover_data(struct pfm3_job *job, const struct pfm3_rr_in *in, struct pfm3_rr_out *out);

/* Value of the data-range PMC.  Either output (a structure of a model) may be
 * NULL, not in use; fine is said of the code ranges; opcm0 and opcm1 say whether
 * the opcode matchers of the even and the odd pairs are used. */
uint64_t pfm3_data_range_value(const void *model_drange, const void *model_irange, int fine,
			       int opcm0, int opcm1);

#endif /* PFM3_RANGES_H */
