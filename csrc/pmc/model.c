/*
 * The models: counters that move when the program says that events have happened.
 *
 * A counter's value is the true number of events since CONFIGURE; its width matters for
 * the overflows of profiling only.
 */
#include "machine.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define CLOCK		0x100
#define CLOCK_DIV_64	0x101

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
	if (!state->account && model_create(state) < 0)	/* a child in which nothing has counted yet */
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
	.create = model_create, .destroy = model_destroy, .configure = model_configure, .start = model_start,
	.stop = model_stop, .value = model_value, .accumulated = model_accumulated, .profile = model_profile,
	.unprofile = model_stop, .in_child = model_in_child,
};

/* How far count events of one kind move a counter that counts another, or the same. */
static uint64_t
moves(const struct pmc_machine *machine, pmc_evid_t counted, pmc_evid_t id, uint64_t count, uint64_t *clocks)
{
	uint64_t rest;

	if (counted == id)
		return count;
	if (!machine->clocks || counted != CLOCK_DIV_64 || id != CLOCK)
		return 0;
	rest = *clocks + count % 64;
	*clocks = rest % 64;
	return count / 64 + rest / 64;
}

/* Overflows of a profiling counter that moves; its next one is left events away. */
static uint64_t
overflows(struct pmc_counter *counter, uint64_t moved)
{
	uint64_t beyond;

	if (moved < counter->left) {
		counter->left -= moved;
		return 0;
	}
	beyond = moved - counter->left;
	counter->left = counter->period - beyond % counter->period;
	return 1 + beyond / counter->period;
}

uint64_t
pmc_state_step(struct pmc_state *state, pmc_evid_t id)
{
	const struct pmc_machine *machine = state->machine;
	uint64_t step = UINT64_MAX;

	pmc_enter();
	for (int ctr = 0; ctr < machine->num_counters; ctr++) {
		const struct pmc_counter *c = &state->counters[ctr];

		/* Clocks move a counter of 64 of them less: then the step is only shorter. */
		if (c->profiling && c->left < step
		    && (machine->table->events[c->profile_event].val == id || (machine->clocks && id == CLOCK)))
			step = c->left;
	}
	pmc_leave();
	return step;
}

/* Whether nobody handles SIGPROF; its default action ends the process, which an overflow never does. */
static bool
ticks_are_ignored(void)
{
	struct sigaction action;

	return sigaction(SIGPROF, NULL, &action) == 0 && (action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL);
}

/* One SIGPROF to the process: in this thread if it can, so that the handler has run; false if it has to wait. */
static bool
send_tick(void)
{
	sigset_t set;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	if (!sigismember(&set, SIGPROF))
		return raise(SIGPROF) == 0;
	kill(getpid(), SIGPROF);
	return sigpending(&set) == 0 && !sigismember(&set, SIGPROF);
}

/* A signal each, for as long as the counter still profiles; one that waits stands for all that follow. */
static void
deliver_ticks(struct pmc_state *state, int ctr, uint64_t ticks)
{
	while (ticks-- && __atomic_load_n(&state->counters[ctr].profiling, __ATOMIC_RELAXED) && !ticks_are_ignored() && send_tick())
		;
}

int
pmc_state_advance(struct pmc_state *state, pmc_evid_t id, uint64_t count)
{
	const struct pmc_machine *machine = state->machine;
	uint64_t ticks[PMC_MAX_COUNTERS] = { 0 };

	if (machine->backend != &pmc_model_backend || pmc_machine_event(machine, id) < 0)
		return errno = ENODEV, -1;
	pmc_enter();
	for (int ctr = 0; ctr < machine->num_counters; ctr++) {
		struct pmc_counter *c = &state->counters[ctr];

		if (c->running)
			pmc_account_add(state->account, ctr,
					moves(machine, machine->table->events[c->event].val, id, count, &c->clocks));
		if (c->profiling)
			ticks[ctr] = overflows(c, moves(machine, machine->table->events[c->profile_event].val, id, count,
							&c->profile_clocks));
	}
	pmc_leave();
	for (int ctr = 0; ctr < machine->num_counters; ctr++)
		deliver_ticks(state, ctr, ticks[ctr]);
	return 0;
}
