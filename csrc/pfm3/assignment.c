/*
 * The assignment of events to counters: a search in which the model's rules decide.
 */
#include "encoder.h"

/* An assignment under way. */
struct search {
	const struct pfm3_encoder *e;
	const struct pfm3_assignment_rules *rules;
	unsigned int candidates[PFM3_MAX_EVENTS]; /* counters of each event */
	struct pfm3_assignment *a;
};

/* Give event i and the later ones free counters. */
static int
assign_from(const struct search *s, unsigned int i, unsigned int free)
{
	if (i == s->e->count || i == PFM3_MAX_EVENTS) /* there are not more */
		return !s->rules || s->rules->holds(s->e, s->a);
	for (unsigned int candidates = s->candidates[i] & free; candidates; candidates &= candidates - 1) {
		unsigned int lowest = candidates & -candidates;

		s->a->counter[i] = (unsigned int)__builtin_ctz(candidates);
		if (assign_from(s, i + 1, free & ~lowest))
			return 1;
	}
	return 0;
}

pfm_err_t
pfm3_assign(const struct pfm3_encoder *e, const struct pfm3_assignment_rules *rules, struct pfm3_assignment *a)
{
	struct search s = { .e = e, .rules = rules, .a = a };
	unsigned int kept = 0;

	for (unsigned int group = 0; rules && group < PFM3_NUM_GROUPS; group++)
		kept |= e->groups >> group & 1 ? rules->kept[group] : 0;
	for (unsigned int i = 0; i < e->count && i < PFM3_MAX_EVENTS; i++) {
		const struct pfm3_event *event = e->events[i];

		s.candidates[i] = event->counters & ~(kept ? kept & ~rules->kept[event->group] : 0);
	}
	return assign_from(&s, 0, ~(unsigned int)e->request->unavailable_pmcs) ? PFMLIB_SUCCESS : PFMLIB_ERR_NOASSIGN;
}
