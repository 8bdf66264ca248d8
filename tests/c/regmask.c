/*
 * The inline helpers of pfmlib.h for register masks: word borders, the end of a
 * mask, numbers beyond it, NULL, and destinations that are operands too.
 */
#include "check_pfm3.h"

#include <limits.h>

static const unsigned int inside[] = { 0, 1, 31, 32, 63, 64, 127, 128, 510, 511 };
static const unsigned int outside[] = { 512, 513, 1024, 0x80000000u, UINT_MAX };

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A mask between two words that no helper may touch. */
struct guarded {
	unsigned long before;
	pfmlib_regmask_t mask;
	unsigned long after;
};

static void
single_bits(void)
{
	for (size_t i = 0; i < COUNT(inside); i++) {
		pfmlib_regmask_t m = { { 0 } };
		unsigned int b = inside[i], weight = 99;

		CHECK_EQ(pfm_regmask_isset(&m, b), 0);
		CHECK_EQ(pfm_regmask_set(&m, b), PFMLIB_SUCCESS);
		CHECK_EQ(pfm_regmask_isset(&m, b), 1);
		CHECK_EQ(m.bits[b / 64], 1ul << b % 64);
		CHECK_EQ(pfm_regmask_weight(&m, &weight), PFMLIB_SUCCESS);
		CHECK_EQ(weight, 1);
		CHECK_EQ(pfm_regmask_set(&m, b), PFMLIB_SUCCESS);
		CHECK_EQ(pfm_regmask_clr(&m, b), PFMLIB_SUCCESS);
		CHECK_EQ(pfm_regmask_isset(&m, b), 0);
		CHECK_EQ(m.bits[b / 64], 0);
	}
}

static void
behind_the_end(void)
{
	struct guarded g = { .before = ~0ul, .after = ~0ul };
	struct guarded zeros = { 0, { { 0 } }, 0 };
	unsigned int weight = 99;

	for (size_t i = 0; i < COUNT(outside); i++) {
		CHECK_EQ(pfm_regmask_isset(&g.mask, outside[i]), 0);
		CHECK_EQ(pfm_regmask_clr(&g.mask, outside[i]), PFMLIB_ERR_INVAL);
		CHECK_EQ(pfm_regmask_set(&zeros.mask, outside[i]), PFMLIB_ERR_INVAL);
	}
	CHECK_EQ(g.before, ~0ul);
	CHECK_EQ(g.after, ~0ul);
	CHECK_EQ(zeros.before, 0);
	CHECK_EQ(zeros.after, 0);
	CHECK_EQ(pfm_regmask_weight(&zeros.mask, &weight), PFMLIB_SUCCESS);
	CHECK_EQ(weight, 0);
}

static void
complement(void)
{
	struct guarded g = { 0, { { 0 } }, 0 };
	unsigned int weight = 99;

	CHECK_EQ(pfm_regmask_set(&g.mask, 64), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_regmask_not(&g.mask), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_regmask_isset(&g.mask, 0), 1);
	CHECK_EQ(pfm_regmask_isset(&g.mask, 63), 1);
	CHECK_EQ(pfm_regmask_isset(&g.mask, 64), 0);
	CHECK_EQ(pfm_regmask_isset(&g.mask, 511), 1);
	CHECK_EQ(pfm_regmask_isset(&g.mask, 512), 0);
	CHECK_EQ(pfm_regmask_weight(&g.mask, &weight), PFMLIB_SUCCESS);
	CHECK_EQ(weight, 511);
	CHECK_EQ(g.before, 0);
	CHECK_EQ(g.after, 0);
}

/* The masks {0, 63, 511} and {63, 64}. */
static void
operands(pfmlib_regmask_t *a, pfmlib_regmask_t *b)
{
	memset(a, 0, sizeof(*a));
	memset(b, 0, sizeof(*b));
	a->bits[0] = 1ul << 63 | 1;
	a->bits[7] = 1ul << 63;
	b->bits[0] = 1ul << 63;
	b->bits[1] = 1;
}

static void
check_bits(const pfmlib_regmask_t *m, unsigned long first, unsigned long second, unsigned long last)
{
	CHECK_EQ(m->bits[0], first);
	CHECK_EQ(m->bits[1], second);
	for (int i = 2; i < 7; i++)
		CHECK_EQ(m->bits[i], 0);
	CHECK_EQ(m->bits[7], last);
}

typedef int (*operation)(pfmlib_regmask_t *, pfmlib_regmask_t *, pfmlib_regmask_t *);

/* The operation into a third mask, into each operand, and on one mask alone. */
static void
operation_and_aliases(operation f, unsigned long first, unsigned long second, unsigned long last, int keeps_self)
{
	pfmlib_regmask_t a, b, dst, old_a, old_b;

	operands(&a, &b);
	operands(&old_a, &old_b);
	memset(&dst, 0xa5, sizeof(dst));
	CHECK_EQ(f(&dst, &a, &b), PFMLIB_SUCCESS);
	check_bits(&dst, first, second, last);
	CHECK(memcmp(&a, &old_a, sizeof(a)) == 0 && memcmp(&b, &old_b, sizeof(b)) == 0);

	CHECK_EQ(f(&a, &a, &b), PFMLIB_SUCCESS);
	check_bits(&a, first, second, last);
	operands(&a, &b);
	CHECK_EQ(f(&b, &a, &b), PFMLIB_SUCCESS);
	check_bits(&b, first, second, last);

	operands(&a, &b);
	CHECK_EQ(f(&a, &a, &a), PFMLIB_SUCCESS);
	if (keeps_self)
		CHECK_EQ(pfm_regmask_eq(&a, &old_a), 1);
	else
		check_bits(&a, 0, 0, 0);
	CHECK_EQ(f(NULL, &a, &b), PFMLIB_ERR_INVAL);
	CHECK_EQ(f(&dst, NULL, &b), PFMLIB_ERR_INVAL);
	CHECK_EQ(f(&dst, &a, NULL), PFMLIB_ERR_INVAL);
	check_bits(&dst, first, second, last);
}

static void
comparison_and_copy(void)
{
	pfmlib_regmask_t a, b;

	operands(&a, &b);
	CHECK_EQ(pfm_regmask_eq(&a, &b), 0);
	CHECK_EQ(pfm_regmask_eq(&a, &a), 1);
	CHECK_EQ(pfm_regmask_copy(&b, &a), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_regmask_eq(&a, &b), 1);
	CHECK_EQ(pfm_regmask_copy(&b, &b), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_regmask_eq(&a, &b), 1);
	for (size_t i = 0; i < COUNT(inside); i++) { /* each word counts */
		pfmlib_regmask_t x = { { 0 } }, y = { { 0 } };

		CHECK_EQ(pfm_regmask_set(&x, inside[i]), PFMLIB_SUCCESS);
		CHECK_EQ(pfm_regmask_eq(&x, &y), 0);
	}
}

static void
null_pointers(void)
{
	pfmlib_regmask_t m = { { 1 } };
	unsigned int weight = 99;

	CHECK_EQ(pfm_regmask_isset(NULL, 0), 0);
	CHECK_EQ(pfm_regmask_set(NULL, 0), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_regmask_clr(NULL, 0), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_regmask_weight(NULL, &weight), PFMLIB_ERR_INVAL);
	CHECK_EQ(weight, 99);
	CHECK_EQ(pfm_regmask_weight(&m, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_regmask_eq(NULL, &m), 0);
	CHECK_EQ(pfm_regmask_eq(&m, NULL), 0);
	CHECK_EQ(pfm_regmask_eq(NULL, NULL), 0);
	CHECK_EQ(pfm_regmask_copy(NULL, &m), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_regmask_copy(&m, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_regmask_not(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(m.bits[0], 1);
}

int
main(void)
{
	single_bits();
	behind_the_end();
	complement();
	operation_and_aliases(pfm_regmask_and, 1ul << 63, 0, 0, 1);
	operation_and_aliases(pfm_regmask_or, 1ul << 63 | 1, 1, 1ul << 63, 1);
	operation_and_aliases(pfm_regmask_andnot, 1, 0, 1ul << 63, 0);
	comparison_and_copy();
	null_pointers();
	CHECK_EQ(pfmlib_popcnt(0), 0);
	CHECK_EQ(pfmlib_popcnt(~0ul), 64);
	CHECK_EQ(pfmlib_popcnt(1ul << 63 | 1), 2);
	return check_result();
}
