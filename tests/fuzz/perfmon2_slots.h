/*
 * The descriptors of perfmon2_calls.c, each with the shadow of its context, and what has to hold after each call.
 */
#ifndef TESTS_PERFMON2_SLOTS_H
#define TESTS_PERFMON2_SLOTS_H

#include "perfmon2_shadow.h"

#include <sys/ioctl.h>

#include "engine.h"

enum { SLOTS = 5, CONTEXTS = SLOTS };

struct slot {
	int fd; /* -1: free */
	struct shadow *c;
};

static struct shadow contexts[CONTEXTS];
static struct slot slots[SLOTS];
static pid_t self, other;
static int cpu;
static char *edge; /* the byte after the last that can be read and written */

/* ---- what has to hold after each call ------------------------------------------------------- */

static inline void
check_documented(int code)
{
	static const int documented[] = { EBADF,  EFAULT, E2BIG,  ENOMEM, EMFILE, ENFILE,
					  EINVAL, EBUSY,  EEXIST, ESRCH,  EPERM };

	for (size_t i = 0; i < sizeof(documented) / sizeof(*documented); i++)
		if (code == documented[i])
			return;
	fprintf(stderr, "errno %d\n", code);
	abort();
}

static inline void
check_sets(const struct context *c)
{
	unsigned int last = 0;

	for (unsigned int i = 0; i < c->num_sets; i++) {
		const struct set *set = c->sets[i];

		HOLDS(set->at == i && (i == 0 || set->id > last));
		HOLDS(!(set->used_pmds & ~c->machine->pmds) && !(set->ovfl_pmds & ~c->machine->counters));
		last = set->id;
	}
	HOLDS(c->active == (c->num_sets ? c->sets[c->active->at] : NULL));
}

/* The engine's context is as the shadow is. */
static inline void
check_context(struct context *is, const struct shadow *c)
{
	unsigned int count = 0;
	int waiting = -1;

	check_sets(is);
	HOLDS(is->state != UNLOADED || (!is->started && is->can_restart == 0));
	HOLDS(ioctl(is->writer, FIONREAD, &waiting) == 0);
	if (!c->known)
		return;
	HOLDS((int)is->state == (int)c->state && is->started == c->started && is->can_restart == c->can_restart);
	HOLDS((unsigned int)waiting == (c->is_ctl ? 56 : 64) * c->waiting);
	HOLDS(c->state == SHADOW_UNLOADED || is->active->id == c->active);
	for (unsigned int i = 0; i < SHADOW_SETS; i++) {
		const struct set *set = set_find(is, i);

		HOLDS((set != NULL) == c->sets[i].there);
		count += set != NULL;
		if (set)
			shadow_check_set(set, &c->sets[i], c->machine->counters);
	}
	HOLDS(count == is->num_sets);
	shadow_check_buffer(is, c);
}

static inline void
check_all(void)
{
	for (unsigned int i = 0; i < SLOTS; i++) {
		struct context *c;

		if (slots[i].fd < 0)
			continue;
		engine_enter();
		c = context_find(slots[i].fd);
		HOLDS(c);
		check_context(c, slots[i].c);
		engine_leave();
	}
}

/* The call's result is what the shadow says; what it did to the shadow counts. */
static inline void
settle(struct shadow *c, const struct shadow *after, int predicted, int ret)
{
	const int code = errno;

	HOLDS(ret == 0 || ret == -1);
	if (ret < 0)
		check_documented(code);
	if (!c || !c->known)
		return;
	if (predicted == SHADOW_ANY_ERRNO) {
		memmove(c, after, sizeof(*c));
		c->known &= ret == 0;
		return;
	}
	if (ret != (predicted < 0 ? -1 : 0) || (ret < 0 && code != -predicted))
		fprintf(stderr, "%d, errno %d, not %d\n", ret, code, predicted);
	HOLDS(ret == (predicted < 0 ? -1 : 0) && (ret == 0 || code == -predicted));
	memmove(c, after, sizeof(*c));
}

#endif /* TESTS_PERFMON2_SLOTS_H */
