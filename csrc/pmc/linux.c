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
#include <time.h>
#include <unistd.h>

static int
linux_create(struct pmc_state *state)
{
	(void)state;
	return 0;
}

/* NetBSD's list of errors has no word for a descriptor that the program has closed, nor for a PMU in use. */
static int
linux_error(int ret)
{
	return ret == -EBADF || ret == -EBUSY ? -ENODEV : ret;
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
	return reach == OWN ? counting_set_open_own(&attr, set) : counting_set_open(&attr, set);
}

/*
 * What children have counted is the family's count without the process's own, and two reads are not one.  The
 * family's comes first: what happens in between is not taken for a child's.  But then it is missing, and with other
 * threads at work that can be all: so it is tried until the process has counted nothing in between.  An event that
 * never rests (a clock) is never so: the most that was found in any of the reads is less than the truth by what
 * the process counts in one.
 */
enum { MOST_TRIES = 50, PAUSE = 1000000 /* ns */ };

/* Update the highest count found for the children; return whether the process has rested meanwhile. */
static int
find_children(const struct pmc_counter *counter, uint64_t *found, bool *rests)
{
	uint64_t family, own, before;
	int ret = counting_set_read(counter->own, &own);

	*found = 0;
	*rests = false;
	for (int tries = 0; ret == 0 && !*rests && tries < MOST_TRIES; tries++) {
		before = own;
		ret = counting_set_read(counter->family, &family);
		if (ret == 0)
			ret = counting_set_read(counter->own, &own);
		if (ret == 0 && family > own && family - own > *found)
			*found = family - own;
		*rests = ret == 0 && own == before;
	}
	return ret;
}

/*
 * The kernel counts an event of a thread in the family and then in the process, and may be interrupted in between: for
 * that time it looks like a child's.  So more than before has to be found twice.
 */
static int
children_count(struct pmc_counter *counter, uint64_t *sum)
{
	const struct timespec pause = { 0, PAUSE };
	uint64_t found = 0, again;
	bool rests = false;
	int ret = counter->family ? find_children(counter, &found, &rests) : 0;

	if (ret == 0 && rests && found > counter->children) {
		nanosleep(&pause, NULL);
		ret = find_children(counter, &again, &rests);
		found = ret == 0 && rests && again < found ? again : found;
	}
	if (ret == 0 && found > counter->children)
		counter->children = found;
	*sum = counter->ended + counter->children;
	return ret;
}

static void
close_sets(struct pmc_counter *counter)
{
	counting_set_close(counter->own);
	counting_set_close(counter->family);
	counter->own = counter->family = NULL;
	counter->children = 0;
}

static int
linux_configure(struct pmc_state *state, int ctr, int event)
{
	struct pmc_counter *counter = &state->counters[ctr];
	struct counting_set *own;
	int ret = open_set(&state->machine->table->rows[event], OWN, 0, &own);

	if (ret < 0)
		return linux_error(ret);
	children_count(counter, &counter->ended);
	close_sets(counter);
	counter->own = own;
	return 0;
}

/* The family's set is opened here: children made before the counter first ran have no part in it. */
static int
linux_start(struct pmc_state *state, int ctr)
{
	struct pmc_counter *counter = &state->counters[ctr];
	int ret = 0;

	if (!counter->family)
		ret = open_set(&state->machine->table->rows[counter->event], FAMILY, 0, &counter->family);
	if (ret == 0)
		ret = counting_set_enable(counter->own);
	if (ret == 0)
		ret = counting_set_enable(counter->family);
	if (ret < 0)
		counting_set_disable(counter->own);
	return linux_error(ret);
}

static void
linux_stop(struct pmc_state *state, int ctr)
{
	counting_set_disable(state->counters[ctr].family);
	counting_set_disable(state->counters[ctr].own);
}

static int
linux_value(struct pmc_state *state, int ctr, uint64_t *value)
{
	return linux_error(counting_set_read(state->counters[ctr].own, value));
}

static int
linux_accumulated(struct pmc_state *state, int ctr, uint64_t *value)
{
	return linux_error(children_count(&state->counters[ctr], value));
}

static void
linux_unprofile(struct pmc_state *state, int ctr)
{
	counting_set_close(state->counters[ctr].sampler);
	state->counters[ctr].sampler = NULL;
}

/* Overflows as SIGPROF to the process. */
static int
linux_profile(struct pmc_state *state, int ctr)
{
	struct pmc_counter *counter = &state->counters[ctr];
	int ret =
		open_set(&state->machine->table->rows[counter->profile_event], OWN, counter->period, &counter->sampler);

	if (ret == 0)
		ret = counting_set_signal(counter->sampler, SIGPROF);
	if (ret == 0)
		ret = counting_set_enable(counter->sampler);
	if (ret < 0)
		linux_unprofile(state, ctr);
	return linux_error(ret);
}

static void
linux_destroy(struct pmc_state *state)
{
	for (int ctr = 0; ctr < state->machine->num_counters; ctr++)
		close_sets(&state->counters[ctr]);
}

/* The descriptors are the parent's events: the child opens its own. */
static void
linux_in_child(struct pmc_state *state)
{
	for (int ctr = 0; ctr < state->machine->num_counters; ctr++) {
		struct pmc_counter *counter = &state->counters[ctr];

		close_sets(counter);
		counter->ended = 0;
		counting_set_close(counter->sampler);
		counter->sampler = NULL;
		if (!counter->running)
			continue;
		if (linux_configure(state, ctr, counter->event) < 0 || linux_start(state, ctr) < 0) {
			close_sets(counter);
			counter->configured = counter->running = false;
		}
	}
}

const struct pmc_backend pmc_linux_backend = {
	.create = linux_create,
	.destroy = linux_destroy,
	.configure = linux_configure,
	.start = linux_start,
	.stop = linux_stop,
	.value = linux_value,
	.accumulated = linux_accumulated,
	.profile = linux_profile,
	.unprofile = linux_unprofile,
	.in_child = linux_in_child,
};
