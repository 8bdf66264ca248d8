/*
 * More states than a model has accounts for (csrc/pmc/machine.h): the next has none, a child that finds
 * none has no counters, and a place that is free again is used.
 */
#include "pmc_check.h"

#include "machine.h"

enum { ACCOUNTS = 4096 };

static struct pmc_state *states[ACCOUNTS];

/* Counter 1 of a state: configured and started. */
static int
run(struct pmc_state *state)
{
	struct pmc_counter_cfg cfg = { .event_id = DCACHE_MISS };
	int ret = pmc_state_control(state, 1, PMC_OP_CONFIGURE, &cfg);

	return ret == 0 ? pmc_state_control(state, 1, PMC_OP_START, NULL) : ret;
}

static uint64_t
value(struct pmc_state *state, int op)
{
	uint64_t count = 12345;

	CHECK_EQ(pmc_state_get_info(state, 1, op, &count), 0);
	return count;
}

static void
without_an_account(struct pmc_state *state)
{
	CHECK_ERRNO(pmc_state_control(state, 1, PMC_OP_START, NULL), ENXIO);	/* it did not go on */
	CHECK_EQ(value(state, PMC_INFO_ACCUMULATED_COUNTER_VALUE), 0);
	CHECK_ERRNO(run(state), ENOMEM);
	pmc_state_free(states[0]);	/* without an account, too */
	CHECK_ERRNO(run(state), ENOMEM);
}

/* How far a counter may be advanced, between its own overflow and another's. */
static void
steps(void)
{
	struct pmc_counter_cfg each = { .event_id = DCACHE_MISS, .reset_value = 100 };
	struct pmc_counter_cfg instructions = { .event_id = INSTRUCTIONS, .reset_value = 30 }, clocks = { .event_id = 0x101, .reset_value = 7 };
	struct pmc_state *state = pmc_state_new("xscale"), *without = pmc_state_new("k7");

	CHECK_EQ(pmc_state_step(state, DCACHE_MISS), UINT64_MAX);
	CHECK_EQ(pmc_state_control(state, 1, PMC_OP_PROFSTART, &each), 0);
	CHECK_EQ(pmc_state_control(state, 2, PMC_OP_PROFSTART, &instructions), 0);
	CHECK_EQ(pmc_state_control(state, 0, PMC_OP_PROFSTART, &clocks), 0);
	CHECK_EQ(pmc_state_step(state, DCACHE_MISS), 100);
	CHECK_EQ(pmc_state_step(state, INSTRUCTIONS), 30);
	CHECK_EQ(pmc_state_step(state, CLOCK), 7);
	CHECK_EQ(pmc_state_step(state, 0x12), UINT64_MAX);
	CHECK_EQ(pmc_state_step(without, CLOCK), UINT64_MAX);
	pmc_state_free(state);
	pmc_state_free(without);
}

/* An empty PMC_MACHINE is this host. */
static void
empty_name(void)
{
	int number = 0;

	setenv("PMC_MACHINE", "", 1);
	CHECK_EQ(pmc_get_info(0, PMC_INFO_NCOUNTERS, &number), 0);
	CHECK_EQ(number, 8);
}

int
main(void)
{
	int count;

	check_begin("xscale");
	CHECK(pmc_state_new(NULL) == NULL && errno == ENXIO);
	CHECK(pmc_state_new("vax") == NULL && errno == ENXIO);
	CHECK(pmc_machine_at(0) && !pmc_machine_at(5));
	pmc_state_free(NULL);
	signal(SIGPROF, SIG_IGN);
	steps();
	IN_CHILD(empty_name(););

	for (count = 0; count < ACCOUNTS && (states[count] = pmc_state_new("xscale")); count++)
		;
	CHECK_EQ(count, ACCOUNTS);
	errno = 0;
	CHECK(pmc_state_new("xscale") == NULL && errno == ENOMEM);
	CHECK_EQ(run(states[7]), 0);
	CHECK_EQ(pmc_state_advance(states[7], DCACHE_MISS, 5), 0);
	IN_CHILD(without_an_account(states[7]););
	CHECK_EQ(value(states[7], PMC_INFO_COUNTER_VALUE), 5);

	pmc_state_free(states[9]);
	states[9] = pmc_state_new("xscale");
	CHECK(states[9] != NULL);
	CHECK_EQ(run(states[9]), 0);
	CHECK_EQ(value(states[9], PMC_INFO_COUNTER_VALUE), 0);
	while (count--)
		pmc_state_free(states[count]);
	return check_result();
}
