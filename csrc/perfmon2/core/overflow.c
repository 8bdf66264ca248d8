/*
 * Overflows: which counters are reset, which set comes next, who is notified, and when
 * counting stops.
 */
#include "context.h"

/* A good enough sequence, the same in each context. */
static uint64_t
next_random(struct context *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return c->random;
}

/* The minimal standard generator, as perfmonctl(2) has it. */
static uint32_t
carta(uint64_t seed)
{
	const uint64_t product = 16807 * (seed & UINT32_MAX);
	const uint32_t sum = (uint32_t)((product & 0x7fffffff) + (product >> 31));

	return sum & 0x80000000 ? (sum & 0x7fffffff) + 1 : sum;
}

static uint64_t
ctl_random(struct pmd *pmd)
{
	const uint64_t seed = pmd->seed;

	pmd->seed = carta(seed) | (pmd->random_mask >> 32 ? (uint64_t)carta(seed >> 32) << 32 : 0);
	return seed;
}

static void
reset_one(struct context *c, struct pmd *pmd, bool long_reset)
{
	uint64_t value = long_reset ? pmd->long_reset : pmd->short_reset, random;

	if (pmd->flags & PFM_REGFL_RANDOM) {
		random = c->is_ctl ? ctl_random(pmd) : next_random(c);
		value -= (pmd->random_mask >> 32 ? random : random & UINT32_MAX) & pmd->random_mask;
	}
	pmd->value = pmd->lval = value;
}

void
reset_pmds(struct context *c, struct set *set, bool long_reset)
{
	for (unsigned int i = 0; i < PERFMON2_PMDS; i++)
		if (set->pending_reset >> i & 1)
			reset_one(c, &set->pmds[i], long_reset);
	set->pending_reset = 0;
	if (c->is_ctl)
		set->ovfl_pmds = 0;
}

/* Collect the actions that overflowed counters ask for; true: a switch of sets is due. */
static bool
note_overflow(struct set *set, uint64_t wrapped)
{
	bool is_due = false;

	set->pending_reset = 0;
	for (unsigned int i = 0; i < PERFMON2_PMDS; i++) {
		struct pmd *pmd = &set->pmds[i];

		if (!(wrapped >> i & 1))
			continue;
		if (set->flags & PFM_SETFL_OVFL_SWITCH && pmd->swcnt)
			is_due |= pmd->swcnt-- == 1;
		set->pending_reset |= UINT64_C(1) << i | pmd->reset_pmds;
	}
	set->ovfl_pmds = wrapped;
	return is_due;
}

static bool
record_all(struct context *c, uint64_t wrapped, const struct where *where)
{
	bool is_full = false;

	for (unsigned int i = 0; i < PERFMON2_PMDS; i++)
		if (wrapped >> i & 1)
			is_full |= sample_record(c, i, where);
	return is_full;
}

static void
mask(struct context *c)
{
	duration_update(c);
	c->state = MASKED;
}

/*
 * Overflow as in perfmonctl(2): a counter that does not notify restarts at once, unless the buffer is full; if one
 * notifies, all wait.
 */
static void
ctl_overflow(struct context *c, uint64_t wrapped, const struct where *where)
{
	struct set *set = c->active;
	uint64_t resets = 0, stays = 0, waiting = 0;
	bool masks = false;

	note_overflow(set, wrapped);
	for (unsigned int i = 0; i < PERFMON2_PMDS; i++) {
		const uint64_t bit = wrapped & UINT64_C(1) << i, all = bit | set->pmds[i].reset_pmds;

		if (!bit)
			continue;
		if (c->buffer ? sample_record(c, i, where) : (set->ovfl_notify & bit) != 0) {
			masks |= (set->ovfl_notify & bit) != 0;
			stays |= bit;
			waiting |= all;
		} else {
			resets |= all;
		}
	}
	if (masks) {
		mask(c);
		c->notice = (struct notice){ true, 0, wrapped & set->ovfl_notify, *where };
	} else {
		set->pending_reset = resets;
		reset_pmds(c, set, false);
		set->pending_reset = waiting; /* for a restart, until the next overflow */
		set->ovfl_pmds = stays;
	}
}

/* Overflow as in versions 2.8 and 3.0. */
static void
pfm_overflow(struct context *c, uint64_t wrapped, const struct where *where)
{
	struct set *set = c->active;
	const bool switch_is_due = note_overflow(set, wrapped);
	const bool notify = (set->ovfl_pmds & set->ovfl_notify) != 0;
	const bool is_full = c->buffer && record_all(c, wrapped, where);
	const bool masks = c->buffer ? is_full : notify || !switch_is_due;
	bool resets = c->buffer && !is_full;
	const uint16_t id = set->id; /* the message has the set that was active */

	if (masks) {
		mask(c);
		set->switch_at_restart |= switch_is_due; /* a mark that no restart has found remains */
	} else if (switch_is_due) {
		set_switch(c, set_after(c, c->active), false);
	}
	if (notify && masks) {
		c->notice = (struct notice){ true, id, wrapped, *where };
		resets = false;
	}
	if (resets)
		reset_pmds(c, c->active, false);
}

void
context_overflow(struct context *c, uint64_t wrapped, const struct where *where)
{
	(c->is_ctl ? ctl_overflow : pfm_overflow)(c, wrapped, where);
}
