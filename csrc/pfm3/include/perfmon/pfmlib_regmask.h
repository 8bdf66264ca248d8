/*
 * libpfm 3.10: inline helpers for register masks.  Part of pfmlib.h.
 */
#ifndef __PFMLIB_REGMASK_H__
#define __PFMLIB_REGMASK_H__

#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Ask whether a register is in a mask.
 *
 * :param h: mask; NULL holds nothing
 * :param b: register number
 * :return: 1 if bit b is set, else 0; 0 for b above 511
 *
 * Source: libpfm 3.10 header, register masks.
 */
static inline int
pfm_regmask_isset(pfmlib_regmask_t *h, unsigned int b)
{
	const unsigned int bits = 8 * sizeof(pfmlib_regmask_bits_t);

	if (!h || b >= PFMLIB_REG_MAX)
		return 0;
	return (int)(h->bits[b / bits] >> b % bits & 1);
}

/**
 * Put a register into a mask.
 *
 * :param h: mask
 * :param b: register number, 0 to 511
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a NULL or a number above 511
 *
 * Source: libpfm 3.10 header, register masks.
 */
static inline int
pfm_regmask_set(pfmlib_regmask_t *h, unsigned int b)
{
	const unsigned int bits = 8 * sizeof(pfmlib_regmask_bits_t);

	if (!h || b >= PFMLIB_REG_MAX)
		return PFMLIB_ERR_INVAL;
	h->bits[b / bits] |= (pfmlib_regmask_bits_t)1 << b % bits;
	return PFMLIB_SUCCESS;
}

/**
 * Take a register out of a mask.
 *
 * :param h: mask
 * :param b: register number, 0 to 511
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a NULL or a number above 511
 *
 * Source: libpfm 3.10 header, register masks.
 */
static inline int
pfm_regmask_clr(pfmlib_regmask_t *h, unsigned int b)
{
	const unsigned int bits = 8 * sizeof(pfmlib_regmask_bits_t);

	if (!h || b >= PFMLIB_REG_MAX)
		return PFMLIB_ERR_INVAL;
	h->bits[b / bits] &= ~((pfmlib_regmask_bits_t)1 << b % bits);
	return PFMLIB_SUCCESS;
}

/**
 * Count the registers of a mask.
 *
 * :param h: mask
 * :param w: receives the number, 0 to 512
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10 header, register masks.
 */
static inline int
pfm_regmask_weight(pfmlib_regmask_t *h, unsigned int *w)
{
	unsigned int i, sum = 0;

	if (!h || !w)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		sum += (unsigned int)pfmlib_popcnt(h->bits[i]);
	*w = sum;
	return PFMLIB_SUCCESS;
}

/**
 * Compare two masks.
 *
 * :param h1: mask
 * :param h2: mask
 * :return: 1 if they hold the same registers, else 0; 0 for a NULL
 *
 * Source: libpfm 3.10 header, register masks.
 */
static inline int
pfm_regmask_eq(pfmlib_regmask_t *h1, pfmlib_regmask_t *h2)
{
	unsigned int i;

	if (!h1 || !h2)
		return 0;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		if (h1->bits[i] != h2->bits[i])
			return 0;
	return 1;
}

/**
 * Intersect two masks.
 *
 * :param dst: receives the registers that are in both; may be one of them
 * :param h1: mask
 * :param h2: mask
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10 header, register masks.
 */
static inline int
pfm_regmask_and(pfmlib_regmask_t *dst, pfmlib_regmask_t *h1, pfmlib_regmask_t *h2)
{
	unsigned int i;

	if (!dst || !h1 || !h2)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		dst->bits[i] = h1->bits[i] & h2->bits[i];
	return PFMLIB_SUCCESS;
}

/**
 * Subtract a mask from another.
 *
 * :param dst: receives the registers of h1 that are not in h2; may be one of
 *     them
 * :param h1: mask
 * :param h2: mask
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10 header, register masks.
 */
static inline int
pfm_regmask_andnot(pfmlib_regmask_t *dst, pfmlib_regmask_t *h1, pfmlib_regmask_t *h2)
{
	unsigned int i;

	if (!dst || !h1 || !h2)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		dst->bits[i] = h1->bits[i] & ~h2->bits[i];
	return PFMLIB_SUCCESS;
}

/**
 * Unite two masks.
 *
 * :param dst: receives the registers that are in one or both; may be one of
 *     them
 * :param h1: mask
 * :param h2: mask
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10 header, register masks.
 */
static inline int
pfm_regmask_or(pfmlib_regmask_t *dst, pfmlib_regmask_t *h1, pfmlib_regmask_t *h2)
{
	unsigned int i;

	if (!dst || !h1 || !h2)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		dst->bits[i] = h1->bits[i] | h2->bits[i];
	return PFMLIB_SUCCESS;
}

/**
 * Copy a mask.
 *
 * :param dst: receives the registers of src
 * :param src: mask
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10 header, register masks.
 */
static inline int
pfm_regmask_copy(pfmlib_regmask_t *dst, pfmlib_regmask_t *src)
{
	unsigned int i;

	if (!dst || !src)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		dst->bits[i] = src->bits[i];
	return PFMLIB_SUCCESS;
}

/**
 * Complement a mask in place, all 512 bits of it.
 *
 * :param dst: mask
 * :return: PFMLIB_SUCCESS; PFMLIB_ERR_INVAL for a NULL
 *
 * Source: libpfm 3.10 header, register masks.
 */
static inline int
pfm_regmask_not(pfmlib_regmask_t *dst)
{
	unsigned int i;

	if (!dst)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		dst->bits[i] = ~dst->bits[i];
	return PFMLIB_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif /* __PFMLIB_REGMASK_H__ */
