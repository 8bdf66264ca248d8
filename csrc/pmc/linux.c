/*
 * The machine linux: counters of this host, through perf_event_open(2).
 *
 * A counter is two sets of events: of this process's threads, and of these with all
 * child processes, which the kernel lets inherit; the difference is what children have
 * counted.  It follows a child through exec, and keeps its count when a signal ends it.
 */
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int
create(struct pmc_state *state)
{
	(void)state;
	return 0;
}

/* What the manual allows for: no such event here, or no memory. */
static int
error(int ret)
{
	return ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM ? -ENOMEM : ret < 0 ? -ENODEV : 0;
}

enum reach { OWN, FAMILY };

static int
open_set(const struct pmc_row *row, enum reach reach, uint64_t period, struct counting_set **set)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = row->type;
	attr.config = row->config;
	attr.inherit = 1;
	attr.sample_period = period;
	attr.wakeup_events = period != 0;
	return error(reach == OWN ? counting_set_open_own(&attr, set) : counting_set_open(&attr, set));
}

static int
ended(struct pmc_counter *counter, uint64_t *sum)
{
	uint64_t family = 0, own = 0;
	int ret;

	*sum = counter->ended;
	if (!counter->family)
		return 0;
	/* In this order, what happens in between is not taken for a child's. */
	ret = counting_set_read(counter->family, &family);
	if (ret == 0)
		ret = counting_set_read(counter->own, &own);
	if (ret == 0 && family > own)
		*sum += family - own;
	return error(ret);
}

static void
drop(struct pmc_counter *counter)
{
	counting_set_close(counter->own);
	counting_set_close(counter->family);
	counter->own = counter->family = NULL;
}

static int
configure(struct pmc_state *state, int ctr, int event)
{
	struct pmc_counter *counter = &state->counters[ctr];
	struct counting_set *own;
	int ret = open_set(&state->machine->table->rows[event], OWN, 0, &own);

	if (ret < 0)
		return ret;
	ended(counter, &counter->ended);
	drop(counter);
	counter->own = own;
	return 0;
}

/* The family's set is opened here: children made before the counter first ran have no part in it. */
static int
start(struct pmc_state *state, int ctr)
{
	struct pmc_counter *counter = &state->counters[ctr];
	int ret = 0;

	if (!counter->family)
		ret = open_set(&state->machine->table->rows[counter->event], FAMILY, 0, &counter->family);
	if (ret == 0)
		ret = error(counting_set_enable(counter->own));
	if (ret == 0)
		ret = error(counting_set_enable(counter->family));
	if (ret < 0)
		counting_set_disable(counter->own);
	return ret;
}

static void
stop(struct pmc_state *state, int ctr)
{
	counting_set_disable(state->counters[ctr].family);
	counting_set_disable(state->counters[ctr].own);
}

static int
value(struct pmc_state *state, int ctr, uint64_t *value)
{
	return error(counting_set_read(state->counters[ctr].own, value));
}

static int
accumulated(struct pmc_state *state, int ctr, uint64_t *value)
{
	return ended(&state->counters[ctr], value);
}

/* Overflows as SIGPROF to the process. */
static int
profile(struct pmc_state *state, int ctr)
{
	struct pmc_counter *counter = &state->counters[ctr];
	int ret = open_set(&state->machine->table->rows[counter->profile_event], OWN, counter->period, &counter->sampler);

	if (ret == 0) {
		ret = error(counting_set_signal(counter->sampler, SIGPROF));
		if (ret == 0)
			ret = error(counting_set_enable(counter->sampler));
		if (ret < 0)
			counting_set_close(counter->sampler);
	}
	if (ret < 0)
		counter->sampler = NULL;
	return ret;
}

static void
unprofile(struct pmc_state *state, int ctr)
{
	counting_set_close(state->counters[ctr].sampler);
	state->counters[ctr].sampler = NULL;
}

static void
destroy(struct pmc_state *state)
{
	for (int ctr = 0; ctr < state->machine->num_counters; ctr++)
		drop(&state->counters[ctr]);
}

/* The descriptors are the parent's events: the child opens its own. */
static void
in_child(struct pmc_state *state)
{
	for (int ctr = 0; ctr < state->machine->num_counters; ctr++) {
		struct pmc_counter *counter = &state->counters[ctr];

		drop(counter);
		counter->ended = 0;
		counting_set_close(counter->sampler);
		counter->sampler = NULL;
		if (!counter->running)
			continue;
		if (configure(state, ctr, counter->event) < 0 || start(state, ctr) < 0) {
			drop(counter);
			counter->configured = counter->running = false;
		}
	}
}

const struct pmc_backend pmc_linux_backend = {
	.create = create, .destroy = destroy, .configure = configure, .start = start, .stop = stop,
	.value = value, .accumulated = accumulated, .profile = profile, .unprofile = unprofile,
	.in_child = in_child,
};
