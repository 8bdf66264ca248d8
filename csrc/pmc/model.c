/*
 * The models: counters that move when the program says that events have happened.
 *
 * A counter's value is the true number of events since CONFIGURE; its width matters for
 * the overflows of profiling only.
 */
#include "machine.h"

#include <errno.h>

static int
model_create(struct pmc_state *state)
{
	state->account = pmc_account_open(&state->lineage);
	return state->account ? 0 : -ENOMEM;
}

static void
model_destroy(struct pmc_state *state)
{
	pmc_account_close(state->account);
}

static int
model_configure(struct pmc_state *state, int ctr, int event)
{
	(void)event;
	if (!state->account && model_create(state) < 0) /* a child in which nothing has counted yet */
		return -ENOMEM;
	pmc_account_add(state->account, ctr, -state->account->own[ctr]);
	state->counters[ctr].clocks = 0;
	return 0;
}

static int
model_start(struct pmc_state *state, int ctr)
{
	(void)state;
	(void)ctr;
	return 0;
}

static void
model_stop(struct pmc_state *state, int ctr)
{
	(void)state;
	(void)ctr;
}

static int
model_value(struct pmc_state *state, int ctr, uint64_t *value)
{
	*value = state->account->own[ctr];
	return 0;
}

static int
model_accumulated(struct pmc_state *state, int ctr, uint64_t *value)
{
	return pmc_account_ended(state->account, ctr, value);
}

static int
model_profile(struct pmc_state *state, int ctr)
{
	state->counters[ctr].left = state->counters[ctr].period;
	state->counters[ctr].profile_clocks = 0;
	return 0;
}

/* A child that counts has an account of its own; if there is none for it, it has no counters. */
static void
model_in_child(struct pmc_state *state)
{
	bool counts = false;

	for (int ctr = 0; ctr < state->machine->num_counters; ctr++) {
		state->counters[ctr].clocks = 0;
		counts |= state->counters[ctr].running;
	}
	state->account = counts ? pmc_account_open(&state->lineage) : NULL;
	for (int ctr = 0; !state->account && ctr < state->machine->num_counters; ctr++)
		state->counters[ctr].configured = state->counters[ctr].running = false;
}

const struct pmc_backend pmc_model_backend = {
	.create = model_create,
	.destroy = model_destroy,
	.configure = model_configure,
	.start = model_start,
	.stop = model_stop,
	.value = model_value,
	.accumulated = model_accumulated,
	.profile = model_profile,
	.unprofile = model_stop,
	.in_child = model_in_child,
};
