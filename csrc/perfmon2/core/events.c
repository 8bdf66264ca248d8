/*
 * The model: events and time that the program reports.
 */
#include "context.h"

static bool
counts(const struct machine *machine, uint64_t pmc, const struct happening *h)
{
	enum { IA32_ONLY = 1 };

	return (pmc & h->plm) && (pmc >> 20 & 7) == 0 && (pmc >> 24 & 3) != IA32_ONLY &&
	       (h->everything || (pmc_es(machine, pmc) == h->es && pmc_umask(pmc) == h->umask));
}

uint64_t
events_move(const struct context *c, const struct set *set, const struct happening *h)
{
	uint64_t found = 0;

	for (EACH_BIT(rest, c->machine->counters & set->used_pmds))
		if (counts(c->machine, set->pmcs[first_bit(rest)], h))
			found |= rest & -rest;
	return found;
}

uint64_t
events_step(struct context *c, const struct happening *h, uint64_t count, const struct where *where)
{
	struct set *set = c->active;
	const uint64_t counters = context_counts(c) ? events_move(c, set, h) : 0;
	uint64_t wrapped = 0;

	for (EACH_BIT(rest, counters)) {
		const uint64_t left = -set->pmds[first_bit(rest)].value;

		if (pmd_interrupts(set, first_bit(rest)) && left && left < count)
			count = left;
	}
	for (EACH_BIT(rest, counters))
		if (count_pmd(c, set, first_bit(rest), count))
			wrapped |= rest & -rest;
	if (wrapped)
		context_overflow(c, wrapped, where);
	return count;
}

void
time_pass(struct context *c, uint64_t ns)
{
	const uint64_t now = c->now;

	while (ns) {
		const uint64_t round = round_time(c), left = round ? ns % round : ns;
		const uint64_t some = timer_runs(c) && c->active->remaining < left ? c->active->remaining : left;

		if (round)
			round_pass(c, ns / round);
		c->now += some;
		ns = left - some;
		timer_pass(c, some);
	}
	if (c->rate) /* its time is that of its thread, which has not run */
		c->now = now;
}
