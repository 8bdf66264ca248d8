/*
 * Steps whose time is measured.
 */
#include "calibrate.h"

#include <math.h>
#include <string.h>

/* The compiler has to have the value in a register here, and knows nothing of what it is afterwards. */
#define HIDE(value) __asm__ volatile("" : "+r"(value))
/* The same of a double. */
#if defined(__SSE2__)
#define HIDE_FP(value) __asm__ volatile("" : "+x"(value))
#elif defined(__aarch64__)
#define HIDE_FP(value) __asm__ volatile("" : "+w"(value))
#elif defined(__riscv) || defined(__powerpc__) || defined(__mips__)
#define HIDE_FP(value) __asm__ volatile("" : "+f"(value))
#else
#define HIDE_FP(value) __asm__ volatile("" : "+m"(value))
#endif
/* All stores are made here, in order: no memset() is made of them. */
#define ORDER() __asm__ volatile("" ::: "memory")

/* Do the statements for each k from 0 to CHAINS - 1, without a loop, until a block is done. */
/* clang-format off */
#define DO(number, ...)	{ enum { k = number }; __VA_ARGS__; }
#define STEPS(...) \
	for (int i = 0; i < BLOCK; i += CHAINS) { \
		DO(0, __VA_ARGS__) DO(1, __VA_ARGS__) DO(2, __VA_ARGS__) DO(3, __VA_ARGS__) \
		DO(4, __VA_ARGS__) DO(5, __VA_ARGS__) DO(6, __VA_ARGS__) DO(7, __VA_ARGS__) \
	}
/* clang-format on */

void
step_chase(struct work *work)
{
	void **at = work->starts[0];

	STEPS(at = *at)
	HIDE(at);
	work->starts[0] = at;
}

void
step_chases(struct work *work)
{
	void **at[CHAINS];

	memcpy(at, work->starts, sizeof(at));
	STEPS(at[k] = *at[k])
	memcpy(work->starts, at, sizeof(at));
	ORDER();
}

/* Return the place of the next CHAINS accesses. */
static char *
advance(struct work *work)
{
	char *at = work->at + work->next;

	work->next += CHAINS * work->apart;
	if (work->next >= work->size)
		work->next = 0;
	return at;
}

void
step_load(struct work *work)
{
	struct work w = *work;
	const char *at = NULL;
	uint64_t value;

	STEPS(if (k == 0) at = advance(&w); memcpy(&value, at + k * w.apart, sizeof(value)); HIDE(value))
	work->next = w.next;
}

void
step_store(struct work *work)
{
	struct work w = *work;
	char *at = NULL;

	STEPS(if (k == 0) at = advance(&w); memcpy(at + k * w.apart, &i, sizeof(i)); ORDER())
	work->next = w.next;
}

/* An addend in a register: some processors have done with a constant one before it is executed. */
void
step_add_dependent(struct work *work)
{
	uint64_t sum = 0, more = work->value;

	STEPS(sum += more; HIDE(sum))
}

void
step_add(struct work *work)
{
	uint64_t sums[CHAINS] = { 0 }, more = work->value;

	STEPS(sums[k] += more; HIDE(sums[k]))
}

/* The same instructions for both kinds: masks choose which bit decides. */
void
step_branch(struct work *work)
{
	uint64_t random = work->value, taken = 0;

	for (uint64_t i = 0; i < BLOCK; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		taken++;
		if (((random >> 20 & work->by_chance) ^ (i & work->in_turns)) & 1)
			HIDE(taken); /* so that it stays a branch */
	}
	work->value = random;
}

void
step_fp_add(struct work *work)
{
	double sums[CHAINS] = { 0, 1, 2, 3, 4, 5, 6, 7 }, more = work->number;

	STEPS(sums[k] += more; HIDE_FP(sums[k]))
}

void
step_fp_add_dependent(struct work *work)
{
	double sum = 0, more = work->number;

	STEPS(sum += more; HIDE_FP(sum))
}

void
step_fp_root(struct work *work)
{
	double number = work->number;

	STEPS(number = 1.0 / sqrt(number + 0.5); HIDE_FP(number))
}
