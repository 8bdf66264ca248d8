/*
 * pmc_control(2) and pmc_get_info(2): the checks, in the order of the kernel's, and the
 * state that they are about.
 */
#include "machine.h"

#include <errno.h>
#include <stdlib.h>

#include "../base/guard.h"
#include "../base/environment.h"

/* All states. */
static struct {
	struct guard guard;
	struct pmc_state *states;
	struct pmc_state *machine; /* of PMC_MACHINE */
} pmc = { .guard = GUARD_INITIALIZER };

void
pmc_enter(void)
{
	guard_enter(&pmc.guard);
}

void
pmc_leave(void)
{
	guard_leave(&pmc.guard);
}

/* ---- states ---------------------------------------------------------------- */

/* Running counters go on, from zero; counters that are only configured, and profiling, stay with the parent. */
static void
state_in_child(struct pmc_state *state)
{
	for (int ctr = 0; ctr < state->machine->num_counters; ctr++) {
		struct pmc_counter *c = &state->counters[ctr];
		struct pmc_lock parents = c->use;

		c->configured = c->running;
		c->use.fd = -1;
		if (c->running)
			pmc_use_take(state->machine, ctr, false, &c->use);
		pmc_use_release(&parents);
		c->profiling = false;
		pmc_use_release(&c->profile_lock);
	}
	state->machine->backend->in_child(state);
	for (int ctr = 0; ctr < state->machine->num_counters; ctr++)
		if (!state->counters[ctr].running) /* where the back end could not go on */
			pmc_use_release(&state->counters[ctr].use);
}

static void
pmc_in_child(void)
{
	for (struct pmc_state *s = pmc.states; s; s = s->next)
		state_in_child(s);
	pmc_profile_forget();
	pmc_leave();
}

static struct pmc_state *
new_state(const struct pmc_machine *machine)
{
	struct pmc_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->machine = machine;
	for (int ctr = 0; ctr < PMC_MAX_COUNTERS; ctr++)
		state->counters[ctr].use.fd = state->counters[ctr].profile_lock.fd = -1;
	if (guard_fork(&pmc.guard, pmc_enter, pmc_leave, pmc_in_child) < 0 || machine->backend->create(state) < 0) {
		free(state);
		return NULL;
	}
	state->next = pmc.states;
	pmc.states = state;
	return state;
}

struct pmc_state *
pmc_state_new(const char *name)
{
	const struct pmc_machine *machine = pmc_machine_find(name);
	struct pmc_state *state;

	if (!machine)
		return errno = ENXIO, NULL;
	pmc_enter();
	state = new_state(machine);
	pmc_leave();
	if (!state)
		errno = ENOMEM;
	return state;
}

static void
end_profile(struct pmc_state *state, int ctr)
{
	struct pmc_counter *c = &state->counters[ctr];

	if (!c->profiling)
		return;
	state->machine->backend->unprofile(state, ctr);
	__atomic_store_n(&c->profiling, false, __ATOMIC_RELAXED);
	pmc_use_release(&c->profile_lock);
	pmc_profile_end();
}

void
pmc_state_free(struct pmc_state *state)
{
	if (!state)
		return;
	pmc_enter();
	for (struct pmc_state **at = &pmc.states; *at; at = &(*at)->next)
		if (*at == state) {
			*at = state->next;
			break;
		}
	for (int ctr = 0; ctr < state->machine->num_counters; ctr++) {
		end_profile(state, ctr);
		pmc_use_release(&state->counters[ctr].use);
	}
	state->machine->backend->destroy(state);
	pmc_leave();
	free(state);
}

/* ---- pmc_control() ----------------------------------------------------------- */

static bool
has_counter(const struct pmc_state *state, int ctr)
{
	return ctr >= 0 && ctr < state->machine->num_counters;
}

/* The row of an event that the counter can count, or -ENODEV. */
static int
row_of(const struct pmc_state *state, int ctr, pmc_evid_t id)
{
	int event = pmc_machine_event(state->machine, id);

	return event >= 0 && state->machine->table->rows[event].counters >> ctr & 1 ? event : -ENODEV;
}

static int
op_start(struct pmc_state *state, int ctr)
{
	struct pmc_counter *c = &state->counters[ctr];
	int ret;

	if (!c->configured)
		return -ENXIO;
	if (c->running)
		return -EINPROGRESS;
	ret = c->profiling ? -EBUSY : pmc_use_take(state->machine, ctr, false, &c->use);
	if (ret == -EBUSY || ret == -ENOMEM)
		return ret; /* without a place for locks only PROFSTART fails */
	ret = state->machine->backend->start(state, ctr);
	if (ret < 0) {
		pmc_use_release(&c->use);
		return ret;
	}
	c->running = true;
	return 0;
}

static int
op_stop(struct pmc_state *state, int ctr)
{
	struct pmc_counter *c = &state->counters[ctr];

	if (!c->configured)
		return -ENXIO;
	if (c->running) {
		state->machine->backend->stop(state, ctr);
		c->running = false;
		pmc_use_release(&c->use);
	}
	return 0;
}

static int
op_configure(struct pmc_state *state, int ctr, const struct pmc_counter_cfg *cfg)
{
	struct pmc_counter *c = &state->counters[ctr];
	int event, ret;

	if (c->running || c->profiling)
		return -EBUSY;
	ret = pmc_use_ask(state->machine, ctr, false); /* profiling, in any process of this user */
	if (ret == -EBUSY || ret == -ENOMEM)
		return ret;
	event = row_of(state, ctr, cfg->event_id);
	if (event < 0)
		return event;
	ret = state->machine->backend->configure(state, ctr, event);
	if (ret < 0)
		return ret;
	c->event = event;
	c->configured = true;
	return 0;
}

/* Ticks between two overflows of a counter of so many bits; perf's period has 63. */
static uint64_t
profile_period(const struct pmc_machine *machine, pmc_ctr_t reset_value)
{
	uint64_t ticks = machine->width < 64 ? reset_value & ((UINT64_C(1) << machine->width) - 1) : reset_value;

	if (machine->width < 64)
		return ticks ? ticks : UINT64_C(1) << machine->width;
	return ticks == 0 || ticks > INT64_MAX ? INT64_MAX : ticks;
}

/* SIGPROF at each so many events, with event and period set. */
static int
begin_profile(struct pmc_state *state, int ctr)
{
	int ret = pmc_profile_begin();

	if (ret < 0)
		return ret;
	ret = state->machine->backend->profile(state, ctr);
	if (ret < 0)
		pmc_profile_end();
	return ret;
}

static int
op_profstart(struct pmc_state *state, int ctr, const struct pmc_counter_cfg *cfg)
{
	struct pmc_counter *c = &state->counters[ctr];
	int event = state->machine->interrupts ? row_of(state, ctr, cfg->event_id) : -ENODEV;
	int ret;

	if (c->running || c->profiling)
		return -EBUSY;
	ret = event < 0 ? pmc_use_ask(state->machine, ctr, true)
			: pmc_use_take(state->machine, ctr, true, &c->profile_lock);
	if (ret == -EBUSY || ret == -ENOMEM)
		return ret;
	if (ret < 0 || event < 0)
		return -ENODEV;
	c->profile_event = event;
	c->period = profile_period(state->machine, cfg->reset_value);
	ret = begin_profile(state, ctr);
	if (ret < 0)
		pmc_use_release(&c->profile_lock);
	else
		__atomic_store_n(&c->profiling, true, __ATOMIC_RELAXED);
	return ret;
}

static int
counter_control(struct pmc_state *state, int ctr, int op, const struct pmc_counter_cfg *cfg)
{
	if (!has_counter(state, ctr))
		return -EINVAL;
	switch (op) {
	case PMC_OP_START:
		return op_start(state, ctr);
	case PMC_OP_STOP:
		return op_stop(state, ctr);
	case PMC_OP_CONFIGURE:
		return op_configure(state, ctr, cfg);
	case PMC_OP_PROFSTART:
		return op_profstart(state, ctr, cfg);
	default:
		end_profile(state, ctr);
		return 0;
	}
}

static int
system_call_result(int ret)
{
	if (ret >= 0)
		return 0;
	errno = -ret;
	return -1;
}

int
pmc_state_control(struct pmc_state *state, int ctr, int op, void *argp)
{
	struct pmc_counter_cfg cfg;
	int ret = 0;

	if (op < PMC_OP_START || op > PMC_OP_PROFSTOP)
		return system_call_result(-EINVAL);
	if (op == PMC_OP_CONFIGURE || op == PMC_OP_PROFSTART)
		ret = copy_in(&cfg, argp, sizeof(cfg));
	if (ret < 0)
		return system_call_result(ret);
	pmc_enter();
	ret = counter_control(state, ctr, op, &cfg);
	pmc_leave();
	return system_call_result(ret);
}

/* ---- pmc_get_info() ------------------------------------------------------------ */

static int
type_of(const struct pmc_state *state, int ctr)
{
	return state->machine->class_id + (ctr < 0 ? 0 : ctr == 0 && state->machine->cycle_counter ? 1 : 2);
}

static int
read_value(struct pmc_state *state, int ctr, int op, uint64_t *value)
{
	const struct pmc_backend *backend = state->machine->backend;
	int ret;

	pmc_enter();
	if (!state->counters[ctr].configured)
		ret = -ENXIO;
	else if (op == PMC_INFO_ACCUMULATED_COUNTER_VALUE)
		ret = backend->accumulated(state, ctr, value);
	else
		ret = backend->value(state, ctr, value);
	pmc_leave();
	return ret;
}

int
pmc_state_get_info(struct pmc_state *state, int ctr, int op, void *argp)
{
	uint64_t value = 0;
	int number, ret;

	switch (op) {
	case PMC_INFO_NCOUNTERS:
		number = state->machine->num_counters;
		return system_call_result(copy_out(argp, &number, sizeof(number)));
	case PMC_INFO_CPUCTR_TYPE:
		if (ctr != -1 && !has_counter(state, ctr))
			return system_call_result(-EINVAL);
		number = type_of(state, ctr);
		return system_call_result(copy_out(argp, &number, sizeof(number)));
	case PMC_INFO_COUNTER_VALUE:
	case PMC_INFO_ACCUMULATED_COUNTER_VALUE:
		if (!has_counter(state, ctr))
			return system_call_result(-EINVAL);
		ret = read_value(state, ctr, op, &value);
		return system_call_result(ret < 0 ? ret : copy_out(argp, &value, sizeof(value)));
	default:
		return system_call_result(-EINVAL);
	}
}

/* ---- the public API, on the machine of PMC_MACHINE --------------------------------- */

struct pmc_state *
pmc_current(void)
{
	const char *name = environment("PMC_MACHINE");
	const struct pmc_machine *machine;
	struct pmc_state *state;

	pmc_enter();
	state = pmc.machine;
	if (!state) {
		machine = pmc_machine_find(name && *name ? name : "linux");
		state = pmc.machine = machine ? new_state(machine) : NULL;
		if (!state)
			errno = machine ? ENOMEM : ENXIO;
	}
	pmc_leave();
	return state;
}

const struct pmc_machine *
pmc_state_machine(const struct pmc_state *state)
{
	return state->machine;
}

int
pmc_control(int ctr, int op, void *argp)
{
	struct pmc_state *state = pmc_current();

	return state ? pmc_state_control(state, ctr, op, argp) : -1;
}

int
pmc_get_info(int ctr, int op, void *argp)
{
	struct pmc_state *state = pmc_current();

	return state ? pmc_state_get_info(state, ctr, op, argp) : -1;
}
