/*
 * Who calls whom, and what is counted meanwhile: for each thread a stack of the calls that have not returned.
 *
 * The stack pointer is not known here.  A return belongs to the last call that it could come from, by where it goes to; so
 * what was left without a return is noticed at the next one of a caller.  What recursive calls count is added once, for
 * the outermost one.
 */
#define _GNU_SOURCE
#include "plugin.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

/* A call that has not returned. */
struct open_call {
	uint64_t callee, back; /* addresses: of the function, and where it returns to */
	struct jump_call *pair,
		*alone; /* caller and callee; the callee, whoever calls it.  NULL: it is active already */
	uint64_t before[R10K_NUM_COUNTS];
};

struct calls {
	struct open_call *entries;
	size_t depth, room;
	uint64_t root; /* the function that nobody has called */
};

/* ---- pairs of functions ---- */

static int
compare(const void *a, const void *b)
{
	const struct jump_call *x = a, *y = b;
	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

/* Find the record of a pair, or make one; NULL: there is no room. */
static struct jump_call *
find(uint64_t caller, uint64_t callee)
{
	static void *known;
	const struct jump_call key = { .caller = caller, .callee = callee };
	struct jump_call *const *found = tfind(&key, &known, compare);
	if (found)
		return *found;
	struct jump_call *made = file_item(ITEM_JUMP_CALL, sizeof *made);
	if (made) {
		made->caller = caller;
		made->callee = callee;
		tsearch(made, &known, compare);
	}
	return made;
}

/* ---- the stack ---- */

static void
add_since(struct jump_call *to, const struct open_call *e, const uint64_t *now)
{
	for (unsigned int i = 0; to && i < R10K_NUM_COUNTS; i++)
		to->counts[i] += now[i] - e->before[i];
}

static void
pop(struct calls *s, const uint64_t *now)
{
	const struct open_call *e = &s->entries[--s->depth];
	add_since(e->pair, e, now);
	add_since(e->alone, e, now);
}

static uint64_t
caller_at(const struct calls *s, size_t depth)
{
	return depth ? s->entries[depth - 1].callee : s->root;
}

void
calls_begin(struct calls *s, uint64_t callee, uint64_t back, const uint64_t *now)
{
	const uint64_t caller = caller_at(s, s->depth);
	struct jump_call *pair = find(caller, callee), *alone = find(0, callee);
	if (!pair || !alone)
		return;
	pair->calls++;
	alone->calls++;
	for (size_t i = s->depth; i > 0 && pair; i--)
		if (s->entries[i - 1].callee == callee) {
			alone = NULL;
			if (caller_at(s, i - 1) == caller)
				pair = NULL;
		}
	if (s->depth == s->room) {
		s->room = s->room ? 2 * s->room : FIRST_ROOM;
		s->entries = realloc(s->entries, s->room * sizeof *s->entries);
		if (!s->entries)
			abort();
	}
	struct open_call *e = &s->entries[s->depth++];
	*e = (struct open_call){ .callee = callee, .back = back, .pair = pair, .alone = alone };
	memcpy(e->before, now, sizeof e->before);
}

void
calls_return(struct calls *s, uint64_t to, const uint64_t *now)
{
	size_t i = s->depth;
	while (i > 0 && s->entries[i - 1].back != to)
		i--;
	while (i > 0 && s->depth >= i)
		pop(s, now);
}

/* ---- threads and processes ---- */

struct calls *
calls_new(void)
{
	struct calls *made = calloc(1, sizeof *made);
	if (!made)
		abort();
	return made;
}

void
calls_root(struct calls *s, uint64_t address)
{
	if (!s->root)
		s->root = address;
}

void
calls_settle(struct calls *s, const uint64_t *now)
{
	for (size_t i = 0; i < s->depth; i++) {
		struct open_call *e = &s->entries[i];
		add_since(e->pair, e, now);
		add_since(e->alone, e, now);
		memcpy(e->before, now, sizeof e->before);
	}
}

void
calls_fork(struct calls *s)
{
	for (size_t i = 0; i < s->depth; i++)
		memset(s->entries[i].before, 0, sizeof s->entries[i].before);
}
