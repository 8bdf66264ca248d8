/*
 * Steps whose time is measured.
 */
#include "calibrate.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 4096 };

/* Of this thread: what others do meanwhile is not in it. */
static double
now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Call a function of BLOCK steps twice as often as before, until that takes long enough: ns of a step. */
static double
pace_of(void (*block)(void *), void *state)
{
	double took = 0;
	size_t blocks = 1;

	for (; took < MEASURE_NS; blocks *= 2) {
		const double begin = now_ns();

		for (size_t i = 0; i < blocks; i++)
			block(state);
		took = now_ns() - begin;
	}
	return took / (double)(blocks / 2 * BLOCK);
}

/* ---- loads that wait for one another ---- */

static void
chase(void *state)
{
	struct cycle *cycle = state;
	void **at = cycle->starts[0];

	for (int i = 0; i < BLOCK; i += 8) {
		at = *at;
		at = *at;
		at = *at;
		at = *at;
		at = *at;
		at = *at;
		at = *at;
		at = *at;
	}
	HIDE(at);
	cycle->starts[0] = at;
}

static void
chase_several(void *state)
{
	struct cycle *cycle = state;
	void **a = cycle->starts[0], **b = cycle->starts[1], **c = cycle->starts[2], **d = cycle->starts[3];
	void **e = cycle->starts[4], **f = cycle->starts[5], **g = cycle->starts[6], **h = cycle->starts[7];

	for (int i = 0; i < BLOCK; i += CHAINS) {
		a = *a;
		b = *b;
		c = *c;
		d = *d;
		e = *e;
		f = *f;
		g = *g;
		h = *h;
	}
	cycle->starts[0] = a;
	cycle->starts[1] = b;
	cycle->starts[2] = c;
	cycle->starts[3] = d;
	cycle->starts[4] = e;
	cycle->starts[5] = f;
	cycle->starts[6] = g;
	cycle->starts[7] = h;
	ORDER();
}

double
pace_chase(struct cycle *cycle)
{
	return pace_of(chase, cycle);
}

double
pace_chases(struct cycle *cycle)
{
	return pace_of(chase_several, cycle);
}

/* ---- loads and stores in order ---- */

struct sweep {
	char *at;
	size_t size, apart, next;
};

/* The place of the next SWEEP ones. */
static char *
advance(struct sweep *sweep)
{
	char *at = sweep->at + sweep->next;

	sweep->next += SWEEP * sweep->apart;
	if (sweep->next >= sweep->size)
		sweep->next = 0;
	return at;
}

static uint64_t
loaded(const char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void
load(void *state)
{
	struct sweep sweep = *(struct sweep *)state;
	uint64_t sum = 0, more = 0;

	for (int i = 0; i < BLOCK; i += SWEEP) {
		const char *at = advance(&sweep);

		for (size_t k = 0; k < SWEEP; k += 2) {
			sum += loaded(at + k * sweep.apart);
			HIDE(sum);
			more += loaded(at + (k + 1) * sweep.apart);
			HIDE(more);
		}
	}
	((struct sweep *)state)->next = sweep.next;
}

static void
store(void *state)
{
	struct sweep sweep = *(struct sweep *)state;

	for (int i = 0; i < BLOCK; i += SWEEP) {
		char *at = advance(&sweep);

		for (size_t k = 0; k < SWEEP; k++) {
			memcpy(at + k * sweep.apart, &i, sizeof(i));
			ORDER(); /* one after the other: no memset() is made of them */
		}
	}
	((struct sweep *)state)->next = sweep.next;
}

double
pace_loads(char *at, size_t size, size_t apart)
{
	struct sweep sweep = { at, size, apart, 0 };

	return pace_of(load, &sweep);
}

double
pace_stores(char *at, size_t size, size_t apart)
{
	struct sweep sweep = { at, size, apart, 0 };

	return pace_of(store, &sweep);
}

/* ---- instructions ---- */

/* An addend in a register: some processors have done with a constant one before it is executed. */
static void
add_dependent(void *state)
{
	uint64_t *value = state, sum = *value, more = *value | 1;

	for (int i = 0; i < BLOCK; i += 8) {
		sum += more;
		HIDE(sum);
		sum += more;
		HIDE(sum);
		sum += more;
		HIDE(sum);
		sum += more;
		HIDE(sum);
		sum += more;
		HIDE(sum);
		sum += more;
		HIDE(sum);
		sum += more;
		HIDE(sum);
		sum += more;
		HIDE(sum);
	}
	*value = sum;
}

static void
add_independent(void *state)
{
	uint64_t *value = state, more = *value | 1, a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;

	for (int i = 0; i < BLOCK; i += 8) {
		a += more;
		b += more;
		c += more;
		d += more;
		HIDE(a);
		HIDE(b);
		HIDE(c);
		HIDE(d);
		e += more;
		f += more;
		g += more;
		h += more;
		HIDE(e);
		HIDE(f);
		HIDE(g);
		HIDE(h);
	}
	*value = a + b + c + d + e + f + g + h;
}

double
pace_dependent_adds(void)
{
	uint64_t value = 3;

	return pace_of(add_dependent, &value);
}

double
pace_adds(void)
{
	uint64_t value = 3;

	return pace_of(add_independent, &value);
}

/* ---- branches ---- */

struct branches {
	uint64_t random, chance, pattern, taken;
};

/* The same instructions for both: masks choose which bit decides. */
static void
branch(void *state)
{
	struct branches *branches = state;
	uint64_t random = branches->random, taken = branches->taken;

	for (uint64_t i = 0; i < BLOCK; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		if (((random >> 20 & branches->chance) ^ (i & branches->pattern)) & 1) {
			taken++;
			HIDE(taken); /* so that it stays a branch */
		} else {
			taken += 2;
			HIDE(taken);
		}
	}
	branches->random = random;
	branches->taken = taken;
}

double
pace_branches(bool by_chance)
{
	struct branches branches = { UINT64_C(0x2545f4914f6cdd1d), by_chance ? ~UINT64_C(0) : 0,
				     by_chance ? 0 : ~UINT64_C(0), 0 };

	return pace_of(branch, &branches);
}

/* ---- floating point ---- */

static void
fp_add(void *state)
{
	const double more = *(double *)state;
	double a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7;

	for (int i = 0; i < BLOCK; i += 8) {
		a += more;
		b += more;
		c += more;
		d += more;
		HIDE_FP(a);
		HIDE_FP(b);
		HIDE_FP(c);
		HIDE_FP(d);
		e += more;
		f += more;
		g += more;
		h += more;
		HIDE_FP(e);
		HIDE_FP(f);
		HIDE_FP(g);
		HIDE_FP(h);
	}
}

static void
fp_add_dependent(void *state)
{
	const double more = *(double *)state;
	double sum = 0;

	for (int i = 0; i < BLOCK; i++) {
		sum += more;
		HIDE_FP(sum);
	}
}

static void
fp_root(void *state)
{
	double number = *(double *)state;

	for (int i = 0; i < BLOCK; i++) {
		number = 1.0 / sqrt(number + 0.5);
		HIDE_FP(number);
	}
}

double
pace_fp_adds(void)
{
	double value = 1.25;

	return pace_of(fp_add, &value);
}

double
pace_dependent_fp_adds(void)
{
	double value = 1.25;

	return pace_of(fp_add_dependent, &value);
}

double
pace_reciprocal_roots(void)
{
	double value = 1.25;

	return pace_of(fp_root, &value);
}
