/*
 * A second, slow and plain idea of what a perfmon2 context is: states, counters, sets, messages and the header of the
 * sampling buffer, after the interface's description.  perfmon2_calls.c lets it run beside the library,
 * tests/c/perfmon2_core.c beside the core.
 *
 * What it cannot foretell makes a context unknown: random reset values, and what perfmonctl() does to registers that do not count.
 */
#ifndef TESTS_PERFMON2_SHADOW_H
#define TESTS_PERFMON2_SHADOW_H

#include "fuzz.h"
#include "core/context.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

#include <perfmon/perfmon.h>
#include <perfmon/perfmon_compat.h>
#include <perfmon/perfmon_default_smpl.h>

enum { SHADOW_SETS = 6, SHADOW_PMDS = 64, SHADOW_QUEUE = 8, SHADOW_CTL_QUEUE = 31, SHADOW_ANY_ERRNO = 1 };
enum shadow_state { SHADOW_UNLOADED, SHADOW_LOADED, SHADOW_MASKED };

struct shadow_machine {
	int type;
	unsigned int width, code_bits, num_pmds;
	uint64_t counters, pmds, init, reserved; /* of a counter's PMC; */
	uint64_t ctl_init, ctl_reserved;         /* the same as perfmonctl() has it */
};

static const struct shadow_machine shadow_machines[] = {
	{ 3, 47, 8, 18, 0xf0, 0x3ffff, 0x20, 0xfffffffffc8000a0, 0, 0xfffffffff0000080 },
	{ 2, 32, 7, 18, 0xf0, 0x3ffff, 0x20, 0xfffffffffc8000a0, 0, 0 },
	{ 4, 47, 8, 35, 0xfff0, 0xffff00df0000fff0, 0x2000020, 0xffffffff838000a0, 0x2000000, 0xffffffff83800080 },
	{ 1, 47, 8, 4, 0xf0, 0xf0, 0, 0xffffffffffff0080, 0, 0 },
};

struct shadow_pmd {
	uint64_t value, lval, long_reset, short_reset, mask, smpl, reset, swcnt, swref;
	uint32_t flags;
};

struct shadow_set {
	bool there, at_restart;
	uint32_t flags;
	uint64_t timeout, remaining, runs, duration, since, used, notify, ovfl, pending;
	uint64_t pmcs[16];
	struct shadow_pmd pmds[SHADOW_PMDS];
};

struct shadow {
	bool known, is_ctl; /* is_ctl: made by perfmonctl() */
	const struct shadow_machine *machine;
	unsigned int references; /* descriptors */
	uint32_t flags;
	enum shadow_state state;
	bool started;
	uint8_t can_restart;
	pid_t tid; /* 0: system-wide */
	int cpu;
	unsigned int active; /* number of the set */
	struct shadow_set sets[SHADOW_SETS];
	unsigned int waiting; /* messages */
	struct {
		uint16_t set;
		uint64_t pmds;
	} queue[SHADOW_CTL_QUEUE];
	uint64_t buffer_size, offset, count, overflows; /* 0: there is none */
};

static uint64_t shadow_clock;

#define EACH_PMD(i, mask) \
	unsigned int i = 0; \
	i < SHADOW_PMDS; i++) if ((mask) >> i & 1

static inline bool
shadow_is_system(const struct shadow *c)
{
	return (c->flags & PFM_FL_SYSTEM_WIDE) != 0;
}

static inline struct shadow_set *
shadow_set(struct shadow *c, unsigned int id)
{
	return id < SHADOW_SETS && c->sets[id].there ? &c->sets[id] : NULL;
}

static inline uint64_t
shadow_default(const struct shadow *c, unsigned int pmc)
{
	return c->machine->init | (c->machine->type == 3 && pmc == 4 ? 1U << 23 : 0);
}

static inline void
shadow_default_pmcs(struct shadow *c, struct shadow_set *set)
{
	for (unsigned int i = 4; i < 16; i++)
		set->pmcs[i] = shadow_default(c, i);
}

static inline void
shadow_make(struct shadow *c, const struct shadow_machine *machine, uint32_t flags, uint64_t buffer_size)
{
	*c = (struct shadow){ .known = true,
			      .machine = machine,
			      .references = 1,
			      .flags = flags,
			      .buffer_size = buffer_size,
			      .offset = 128 };
	c->sets[0].there = true;
	shadow_default_pmcs(c, &c->sets[0]);
}

/* ---- registers ------------------------------------------------------------------------------ */

static inline int
shadow_write_pmc(struct shadow *c, const pfarg_pmc_t *pmc)
{
	struct shadow_set *set = shadow_set(c, pmc->reg_set);
	uint64_t reserved = c->machine->reserved, value = pmc->reg_value;

	if (pmc->reg_num >= 16 || !(c->machine->counters >> pmc->reg_num & 1))
		return SHADOW_ANY_ERRNO; /* does not count */
	if (pmc->reg_flags & ~(uint32_t)PFM_REGFL_NO_EMUL64 || !set)
		return -EINVAL;
	value = (value & ~reserved) | (shadow_default(c, pmc->reg_num) & reserved);
	if (pmc->reg_flags & PFM_REGFL_NO_EMUL64) {
		if (c->machine->type == 1)
			return -EINVAL;
		value &= ~UINT64_C(0x20);
	}
	value = (value & ~UINT64_C(0x40)) | (shadow_is_system(c) ? 0x40 : 0) | (c->machine->type == 1 ? 0x20 : 0);
	set->pmcs[pmc->reg_num] = value;
	return 0;
}

static inline bool
shadow_is_vector(const struct shadow *c, const uint64_t words[5])
{
	return !(words[0] & ~c->machine->pmds) && !(words[1] | words[2] | words[3] | words[4]);
}

static inline int
shadow_write_pmd(struct shadow *c, const pfarg_pmd_t *pmd, bool value_only)
{
	struct shadow_set *set = shadow_set(c, pmd->reg_set);
	uint64_t bit, used;
	struct shadow_pmd *p;

	if (pmd->reg_num >= SHADOW_PMDS || !(c->machine->pmds >> pmd->reg_num & 1) || pmd->reg_flags & ~3U || !set)
		return -EINVAL;
	if (!value_only && (!shadow_is_vector(c, pmd->reg_smpl_pmds) || !shadow_is_vector(c, pmd->reg_reset_pmds)))
		return -EINVAL;
	bit = used = UINT64_C(1) << pmd->reg_num;
	if (!value_only)
		used |= pmd->reg_smpl_pmds[0] | pmd->reg_reset_pmds[0];
	for (EACH_PMD(i, used & ~set->used))
		set->pmds[i] = (struct shadow_pmd){ 0 };
	set->used |= used;
	p = &set->pmds[pmd->reg_num];
	p->value = p->lval = pmd->reg_value;
	p->flags = pmd->reg_flags;
	set->notify = (set->notify & ~bit) | (pmd->reg_flags & PFM_REGFL_OVFL_NOTIFY ? bit : 0);
	set->ovfl &= ~bit;
	if (value_only)
		return 0;
	p->smpl = pmd->reg_smpl_pmds[0];
	p->reset = pmd->reg_reset_pmds[0];
	p->swcnt = p->swref = pmd->reg_ovfl_switch_cnt;
	p->long_reset = pmd->reg_long_reset;
	p->short_reset = pmd->reg_short_reset;
	p->mask = pmd->reg_random_mask;
	return 0;
}

/* Registers of some PMDs start anew. */
static inline void
shadow_reset(struct shadow *c, struct shadow_set *set, bool is_long)
{
	for (EACH_PMD(i, set->pending)) {
		struct shadow_pmd *p = &set->pmds[i];

		p->value = p->lval = is_long ? p->long_reset : p->short_reset;
		if (p->flags & PFM_REGFL_RANDOM && p->mask)
			c->known = false;
	}
	set->pending = 0;
	if (c->is_ctl)
		set->ovfl = 0;
}

/* ---- registers, as perfmonctl() writes them ---------------------------------------------------- */

/* The only set that it knows. */
static inline struct shadow_set *
shadow_first(struct shadow *c)
{
	for (unsigned int i = 0; i < SHADOW_SETS; i++)
		if (c->sets[i].there)
			return &c->sets[i];
	return NULL;
}

static inline uint64_t
shadow_ctl_default(const struct shadow *c, unsigned int pmc)
{
	return c->machine->ctl_init | (c->machine->type == 3 && pmc == 4 ? 1U << 23 : 0);
}

static inline void
shadow_use(struct shadow_set *set, uint64_t pmds)
{
	for (EACH_PMD(i, pmds & ~set->used))
		set->pmds[i] = (struct shadow_pmd){ 0 };
	set->used |= pmds;
}

static inline int
shadow_ctl_write_pmc(struct shadow *c, const pfarg_reg_t *reg)
{
	struct shadow_set *set = shadow_first(c);
	const uint64_t value = reg->reg_value, reserved = c->machine->ctl_reserved |
							  (c->machine->type == 3 && reg->reg_num == 4 ? 1U << 23 : 0);
	const uint64_t vectors = reg->reg_smpl_pmds[0] | reg->reg_reset_pmds[0], bit = UINT64_C(1) << reg->reg_num % 64;
	uint64_t init;

	if (reg->reg_num >= 16 || !(c->machine->counters >> reg->reg_num & 1))
		return SHADOW_ANY_ERRNO;
	init = shadow_ctl_default(c, reg->reg_num);
	if (!set || (value != init && (value >> 6 & 1) != shadow_is_system(c)) || vectors & ~c->machine->pmds)
		return -EINVAL;
	set->pmcs[reg->reg_num] = (value & ~reserved) | (init & reserved) | 0x20;
	shadow_use(set, bit | vectors);
	set->pmds[reg->reg_num].flags = (uint32_t)reg->reg_flags & (PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM);
	set->pmds[reg->reg_num].smpl = reg->reg_smpl_pmds[0];
	set->pmds[reg->reg_num].reset = reg->reg_reset_pmds[0];
	set->notify = (set->notify & ~bit) | (reg->reg_flags & PFM_REGFL_OVFL_NOTIFY ? bit : 0);
	return 0;
}

static inline int
shadow_ctl_write_pmd(struct shadow *c, const pfarg_reg_t *reg)
{
	struct shadow_set *set = shadow_first(c);
	struct shadow_pmd *pmd;

	if (!set || reg->reg_num >= SHADOW_PMDS || !(c->machine->pmds >> reg->reg_num & 1))
		return -EINVAL;
	if (!(c->machine->counters >> reg->reg_num & 1)) /* others of its group become used */
		return SHADOW_ANY_ERRNO;
	shadow_use(set, UINT64_C(1) << reg->reg_num);
	pmd = &set->pmds[reg->reg_num];
	pmd->value = pmd->lval = reg->reg_value;
	pmd->long_reset = reg->reg_long_reset;
	pmd->short_reset = reg->reg_short_reset;
	pmd->mask = reg->reg_random_mask;
	set->ovfl &= ~(UINT64_C(1) << reg->reg_num);
	return 0;
}

/* ---- what happens with time ----------------------------------------------------------------- */

static inline void
shadow_account(struct shadow *c)
{
	struct shadow_set *set = &c->sets[c->active];

	if (c->state == SHADOW_LOADED && c->started)
		set->duration += shadow_clock - set->since;
	set->since = shadow_clock;
}

static inline unsigned int
shadow_next(const struct shadow *c)
{
	for (unsigned int i = 1; i <= SHADOW_SETS; i++)
		if (c->sets[(c->active + i) % SHADOW_SETS].there)
			return (c->active + i) % SHADOW_SETS;
	return c->active;
}

static inline void
shadow_reload(struct shadow *c, struct shadow_set *set)
{
	if (set->flags & PFM_SETFL_OVFL_SWITCH)
		for (EACH_PMD(i, set->used & c->machine->counters))
			set->pmds[i].swcnt = set->pmds[i].swref;
}

static inline void
shadow_switch(struct shadow *c, unsigned int to, bool is_long)
{
	struct shadow_set *set = &c->sets[to];

	if (to != c->active) {
		shadow_account(c);
		set->since = shadow_clock;
	}
	c->active = to;
	set->runs++;
	shadow_reload(c, set);
	shadow_reset(c, set, is_long);
	if (set->flags & PFM_SETFL_TIME_SWITCH)
		set->remaining = set->timeout;
}

static inline void
shadow_mask(struct shadow *c)
{
	shadow_account(c);
	c->state = SHADOW_MASKED;
}

/* Both sampling formats; true: the buffer is full. */
static inline bool
shadow_sample(struct shadow *c, const struct shadow_set *set, unsigned int pmd)
{
	const uint64_t least = 40 + 8 * (c->is_ctl ? 64 : c->machine->num_pmds);

	if (c->buffer_size - c->offset >= least) {
		c->offset += 40 + 8 * (uint64_t)__builtin_popcountll(set->pmds[pmd].smpl);
		c->count++;
		if (c->buffer_size - c->offset >= least)
			return false;
	}
	c->overflows++;
	return true;
}

static inline void
shadow_tell(struct shadow *c, unsigned int set, uint64_t wrapped)
{
	if (!(c->flags & PFM_FL_OVFL_NO_MSG)) {
		if (c->waiting == (c->is_ctl ? SHADOW_CTL_QUEUE : SHADOW_QUEUE))
			return;
		c->queue[c->waiting].set = (uint16_t)set;
		c->queue[c->waiting++].pmds = wrapped;
	}
	c->can_restart++;
}

/* What perfmonctl() had: a counter that is not told of begins anew, but if the buffer is full; if one is told of all wait. */
static inline void
shadow_ctl_overflow(struct shadow *c, uint64_t wrapped)
{
	struct shadow_set *set = &c->sets[c->active];
	uint64_t anew = 0, rest = 0, stays = 0;
	bool is_told = false;

	for (EACH_PMD(i, wrapped)) {
		const uint64_t bit = UINT64_C(1) << i, all = bit | set->pmds[i].reset;
		const bool notifies = set->notify >> i & 1;

		if (set->flags & PFM_SETFL_OVFL_SWITCH && set->pmds[i].swcnt)
			set->pmds[i].swcnt--;
		if (c->buffer_size ? shadow_sample(c, set, i) : notifies) {
			is_told |= notifies;
			stays |= bit;
			rest |= all;
		} else {
			anew |= all;
		}
	}
	set->ovfl = is_told ? wrapped : stays;
	if (is_told) {
		shadow_mask(c);
		set->pending = anew | rest;
		shadow_tell(c, 0, wrapped & set->notify);
		return;
	}
	set->pending = anew;
	shadow_reset(c, set, false);
	set->ovfl = stays;
	set->pending = rest;
}

static inline void
shadow_overflow(struct shadow *c, uint64_t wrapped)
{
	const unsigned int id = c->active;
	struct shadow_set *set = &c->sets[id];
	bool switches = false, is_full = false, masks, notify;

	if (c->is_ctl) {
		shadow_ctl_overflow(c, wrapped);
		return;
	}
	set->pending = 0;
	for (EACH_PMD(i, wrapped)) {
		if (set->flags & PFM_SETFL_OVFL_SWITCH && set->pmds[i].swcnt && --set->pmds[i].swcnt == 0)
			switches = true;
		set->pending |= set->pmds[i].reset | UINT64_C(1) << i;
	}
	set->ovfl = wrapped;
	notify = (wrapped & set->notify) != 0;
	if (c->buffer_size)
		for (EACH_PMD(i, wrapped))
			is_full |= shadow_sample(c, set, i);
	masks = c->buffer_size ? is_full : notify || !switches;
	if (masks) {
		shadow_mask(c);
		set->at_restart |= switches;
		if (notify)
			shadow_tell(c, id, wrapped);
		return;
	}
	if (switches)
		shadow_switch(c, shadow_next(c), false);
	if (c->buffer_size)
		shadow_reset(c, &c->sets[c->active], false);
}

static inline bool
shadow_counts(const struct shadow *c, uint64_t pmc, unsigned int es, unsigned int umask, unsigned int plm)
{
	return pmc & plm && !(pmc >> 20 & 7) && (pmc >> 24 & 3) != 1 && (pmc >> 16 & 0xf) == umask &&
	       (pmc >> 8 & ((1U << c->machine->code_bits) - 1)) == es;
}

/* Up to the next overflow: how many of the events. */
static inline uint64_t
shadow_step(struct shadow *c, unsigned int es, unsigned int umask, unsigned int plm, uint64_t count)
{
	struct shadow_set *set = &c->sets[c->active];
	uint64_t moving = 0, bound = 0, wrapped = 0, low = (UINT64_C(1) << c->machine->width) - 1;

	if (c->state != SHADOW_LOADED || !c->started)
		return count;
	for (EACH_PMD(i, c->machine->counters & set->used))
		if (shadow_counts(c, set->pmcs[i], es, umask, plm))
			moving |= UINT64_C(1) << i;
	for (EACH_PMD(i, moving))
		if (set->pmcs[i] & 0x20) {
			bound |= UINT64_C(1) << i;
			if (0 - set->pmds[i].value && 0 - set->pmds[i].value < count)
				count = 0 - set->pmds[i].value;
		}
	for (EACH_PMD(i, moving)) {
		const uint64_t before = set->pmds[i].value, after = before + count;

		set->pmds[i].value = bound >> i & 1 ? after : (before & ~low) | (after & low);
		if (bound >> i & 1 && after < before)
			wrapped |= UINT64_C(1) << i;
	}
	if (wrapped)
		shadow_overflow(c, wrapped);
	return count;
}

static inline bool
shadow_timer_runs(const struct shadow *c)
{
	return c->state == SHADOW_LOADED && c->started && c->sets[c->active].flags & PFM_SETFL_TIME_SWITCH;
}

static inline void
shadow_time(struct shadow *c, uint64_t ns)
{
	struct shadow_set *set = &c->sets[c->active];

	if (!shadow_timer_runs(c))
		return;
	set->remaining -= ns;
	if (set->remaining == 0)
		shadow_switch(c, shadow_next(c), false);
}

/* ---- states --------------------------------------------------------------------------------- */

static inline int
shadow_load(struct shadow *c, pid_t tid, int cpu, unsigned int id)
{
	struct shadow_set *set = shadow_set(c, id);

	c->tid = tid;
	c->cpu = cpu;
	for (unsigned int i = 0; i < SHADOW_SETS; i++) {
		c->sets[i].ovfl = 0;
		c->sets[i].at_restart = false;
	}
	c->waiting = 0;
	c->can_restart = 0;
	c->active = id;
	set->runs++;
	shadow_reload(c, set);
	c->state = SHADOW_LOADED;
	c->started = false;
	return 0;
}

static inline void
shadow_unload(struct shadow *c)
{
	if (c->state == SHADOW_UNLOADED)
		return;
	shadow_account(c);
	c->started = false;
	c->can_restart = 0;
	c->state = SHADOW_UNLOADED;
}

static inline int
shadow_start(struct shadow *c, const uint16_t *id, pid_t self)
{
	struct shadow_set *set;

	if (c->state == SHADOW_UNLOADED || (id && !shadow_set(c, *id)))
		return -EINVAL;
	if (id && *id != c->active) {
		if (shadow_is_system(c) || c->tid == self) {
			shadow_switch(c, *id, true);
		} else {
			shadow_account(c);
			c->active = *id;
		}
	}
	set = &c->sets[c->active];
	c->started = true;
	set->since = shadow_clock;
	if (set->flags & PFM_SETFL_TIME_SWITCH)
		set->remaining = set->timeout;
	return 0;
}

static inline int
shadow_stop(struct shadow *c)
{
	if (c->state == SHADOW_UNLOADED)
		return -EINVAL;
	shadow_account(c);
	c->started = false;
	return 0;
}

static inline void
shadow_resume(struct shadow *c)
{
	struct shadow_set *set = &c->sets[c->active];

	c->count = 0;
	c->offset = 128;
	if (set->at_restart) {
		set->at_restart = false;
		shadow_switch(c, shadow_next(c), true);
	} else {
		shadow_reset(c, set, true);
	}
	if (c->state != SHADOW_MASKED)
		return;
	set = &c->sets[c->active];
	c->state = SHADOW_LOADED;
	set->since = shadow_clock;
	if (c->started && set->flags & PFM_SETFL_TIME_SWITCH && set->remaining == 0)
		shadow_switch(c, shadow_next(c), false);
}

static inline int
shadow_restart(struct shadow *c)
{
	if (c->state == SHADOW_UNLOADED || (c->state == SHADOW_LOADED && !c->buffer_size) || c->can_restart == 0)
		return -EBUSY;
	c->can_restart--;
	shadow_resume(c);
	return 0;
}

/* perfmonctl()'s: a thread that restarts itself need not have been told. */
static inline int
shadow_ctl_restart(struct shadow *c, pid_t self)
{
	if (c->state == SHADOW_UNLOADED || (c->state == SHADOW_LOADED && !c->buffer_size))
		return -EBUSY;
	if (!shadow_is_system(c) && c->tid != self && c->state == SHADOW_MASKED && c->can_restart == 0)
		return -EINVAL;
	if (c->can_restart)
		c->can_restart--;
	shadow_resume(c);
	return 0;
}

/* ---- sets ----------------------------------------------------------------------------------- */

static inline int
shadow_change_set(struct shadow *c, unsigned int id, uint32_t flags, uint64_t timeout)
{
	struct shadow_set *set;

	if (id >= SHADOW_SETS) {
		c->known = false;
		return SHADOW_ANY_ERRNO;
	}
	set = &c->sets[id];
	if (!set->there) {
		*set = (struct shadow_set){ .there = true };
		shadow_default_pmcs(c, set);
	}
	if (flags & ~0x70003U || (flags & 0x30000) == 0x30000 || (flags & 0x40000 && !shadow_is_system(c)) ||
	    (flags & 3) == 3 || (flags & PFM_SETFL_TIME_SWITCH && timeout == 0))
		return -EINVAL;
	set->flags = flags;
	set->timeout = flags & PFM_SETFL_TIME_SWITCH ? timeout : 0;
	set->runs = set->duration = 0;
	shadow_default_pmcs(c, set);
	return 0;
}

static inline int
shadow_delete_set(struct shadow *c, unsigned int id)
{
	struct shadow_set *set = shadow_set(c, id);

	if (!set)
		return -EINVAL;
	set->there = false;
	return 0;
}

/* ---- the core is as the shadow is ----------------------------------------------------------- */

static inline void
shadow_check_buffer(const struct context *is, const struct shadow *c)
{
	const pfm_dfl_smpl_hdr_t *header = is->buffer;
	const pfm_default_smpl_hdr_t *old = is->buffer;

	HOLDS((header != NULL) == (c->buffer_size != 0));
	if (!header)
		return;
	HOLDS((c->is_ctl ? old->hdr_buf_size : header->hdr_buf_size) == c->buffer_size);
	HOLDS(header->hdr_cur_offs >= 128 && header->hdr_cur_offs <= c->buffer_size &&
	      header->hdr_cur_offs == c->offset);
	HOLDS(header->hdr_count == c->count &&
	      (c->is_ctl ? old->hdr_overflows : header->hdr_overflows) == c->overflows);
}

static inline void
shadow_check_set(const struct set *is, const struct shadow_set *wanted, uint64_t counters)
{
	HOLDS(is->flags == wanted->flags && is->timeout == wanted->timeout && is->remaining == wanted->remaining);
	HOLDS(is->runs == wanted->runs && is->duration == wanted->duration);
	HOLDS(is->used_pmds == wanted->used && is->ovfl_notify == wanted->notify && is->ovfl_pmds == wanted->ovfl);
	for (EACH_PMD(i, counters))
		HOLDS(is->pmcs[i] == wanted->pmcs[i]);
	for (EACH_PMD(i, wanted->used)) {
		HOLDS(is->pmds[i].value == wanted->pmds[i].value && is->pmds[i].lval == wanted->pmds[i].lval);
		HOLDS(is->pmds[i].swcnt == wanted->pmds[i].swcnt);
	}
}

#endif /* TESTS_PERFMON2_SHADOW_H */
