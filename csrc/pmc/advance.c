/*
 * pmc_model_advance(): how the counters of a model move when the program says that events
 * have happened.
 */
#include "machine.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define CLOCK 0x100
#define CLOCK_DIV_64 0x101

/* Return by how much an event of one kind moves a counter that counts another kind, or the same. */
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

/* Count the overflows of a profiling counter that moves; left receives the events to its next one. */
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

		/* 64 clocks move a counter of 64 clocks by one: then the step is only shorter. */
		if (c->profiling && c->left < step &&
		    (machine->table->events[c->profile_event].val == id || (machine->clocks && id == CLOCK)))
			step = c->left;
	}
	pmc_leave();
	return step;
}

/*
 * Tell whether no handler of SIGPROF is installed; the default action ends the process, which an overflow never does.
 */
static bool
ticks_are_ignored(void)
{
	struct sigaction action;

	return sigaction(SIGPROF, NULL, &action) == 0 && (action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL);
}

/* Send one SIGPROF to the process: to this thread if possible, so that the handler has run; false if it is pending. */
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

/* Send a signal for each, as long as the counter still profiles; a pending one stands for all that follow. */
static void
deliver_ticks(struct pmc_state *state, int ctr, uint64_t ticks)
{
	while (ticks-- && __atomic_load_n(&state->counters[ctr].profiling, __ATOMIC_RELAXED) && !ticks_are_ignored() &&
	       send_tick())
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
			ticks[ctr] = overflows(c, moves(machine, machine->table->events[c->profile_event].val, id,
							count, &c->profile_clocks));
	}
	pmc_leave();
	for (int ctr = 0; ctr < machine->num_counters; ctr++)
		deliver_ticks(state, ctr, ticks[ctr]);
	return 0;
}

int
pmc_model_advance(pmc_evid_t event_id, uint64_t count)
{
	struct pmc_state *state = pmc_current();

	return state ? pmc_state_advance(state, event_id, count) : -1;
}
