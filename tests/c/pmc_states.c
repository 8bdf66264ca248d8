/*
 * More states than a model has accounts for, and more ancestors than an account can name
 * (csrc/pmc/machine.h): a child that finds no place has no counters, and its ancestors say that they do
 * not know what it counted; a place that is free again is used.
 */
#include "pmc_check.h"

#include "machine.h"

#include <sys/prctl.h>

static struct pmc_state *states[PMC_NUM_ACCOUNTS];

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
	uint64_t count;

	CHECK_ERRNO(pmc_state_control(state, 1, PMC_OP_START, NULL), ENXIO); /* it did not go on */
	CHECK_ERRNO(pmc_state_get_info(state, 1, PMC_INFO_ACCUMULATED_COUNTER_VALUE, &count), ENXIO);
	CHECK_ERRNO(run(state), ENOMEM);
	pmc_state_free(states[0]); /* without an account, too */
	CHECK_ERRNO(run(state), ENOMEM);
}

/* How far a counter may be advanced, between its own overflow and another's. */
static void
steps(void)
{
	struct pmc_counter_cfg each = { .event_id = DCACHE_MISS, .reset_value = 100 };
	struct pmc_counter_cfg instructions = { .event_id = INSTRUCTIONS, .reset_value = 30 },
			       clocks = { .event_id = 0x101, .reset_value = 7 };
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

/* Each counts one, and has a child: as many as there may be one below the other, or one more. */
static int
chain(struct pmc_state *state, int length)
{
	if (pmc_state_advance(state, DCACHE_MISS, 1) != 0)
		return 1;
	if (length > 0 && check_fork())
		_exit(chain(state, length - 1));
	return length > 0 ? wait_for(check_child) : 0;
}

static void
deep(void)
{
	struct pmc_state *state = pmc_state_new("xscale");
	uint64_t count;

	CHECK_EQ(run(state), 0);
	CHECK_EQ(chain(state, PMC_LONGEST_LINEAGE - 1), 0);
	CHECK_EQ(value(state, PMC_INFO_ACCUMULATED_COUNTER_VALUE), PMC_LONGEST_LINEAGE - 1);
	CHECK_EQ(chain(state, PMC_LONGEST_LINEAGE), 0);
	CHECK_ERRNO(pmc_state_get_info(state, 1, PMC_INFO_ACCUMULATED_COUNTER_VALUE, &count), ENOMEM);
	pmc_state_free(state);
}

/* As a daemon does, again and again: its parent has ended. */
static void
generations(struct pmc_state *state, int count, int done)
{
	while (count-- > 0) {
		pmc_state_advance(state, DCACHE_MISS, 1);
		if (count > 0 && fork() != 0)
			_exit(0);
	}
	_exit(write(done, "", 1) != 1);
}

static void
many_generations(void)
{
	enum { GENERATIONS = 3 * PMC_LONGEST_LINEAGE };
	struct pmc_state *state = pmc_state_new("xscale");
	int done[2];
	char byte;

	CHECK_EQ(run(state), 0);
	CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	CHECK_EQ(pipe(done), 0);
	if (fork() == 0)
		generations(state, GENERATIONS, done[1]);
	CHECK_EQ(read(done[0], &byte, 1), 1);
	while (waitpid(-1, NULL, 0) > 0)
		;
	CHECK_EQ(value(state, PMC_INFO_ACCUMULATED_COUNTER_VALUE), GENERATIONS);
	pmc_state_free(state);
	close(done[0]);
	close(done[1]);
}

/* A child counts on below an account that is another state's by now. */
static void
parent_is_freed(void)
{
	struct pmc_state *first = pmc_state_new("xscale"), *second;
	struct pmc_account *place = first->account;
	int go[2];
	char byte;

	CHECK_EQ(run(first), 0);
	CHECK_EQ(pipe(go), 0);
	if (check_fork()) {
		CHECK_EQ(read(go[0], &byte, 1), 1);
		CHECK_EQ(pmc_state_advance(first, DCACHE_MISS, 5), 0);
		check_exit(check_failures);
	}
	pmc_state_free(first);
	second = pmc_state_new("xscale");
	CHECK(second->account == place);
	CHECK_EQ(run(second), 0);
	CHECK_EQ(write(go[1], "", 1), 1);
	CHECK_EQ(wait_for(check_child), 0);
	CHECK_EQ(value(second, PMC_INFO_ACCUMULATED_COUNTER_VALUE), 0);
	pmc_state_free(second);
	close(go[0]);
	close(go[1]);
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
	uint64_t lost;
	int count;

	check_begin("xscale");
	CHECK(pmc_state_new(NULL) == NULL && errno == ENXIO);
	CHECK(pmc_state_new("vax") == NULL && errno == ENXIO);
	CHECK(pmc_machine_at(0) && !pmc_machine_at(5));
	pmc_state_free(NULL);
	signal(SIGPROF, SIG_IGN);
	steps();
	IN_CHILD(empty_name(););
	deep();
	many_generations();
	parent_is_freed();

	for (count = 0; count < PMC_NUM_ACCOUNTS && (states[count] = pmc_state_new("xscale")); count++)
		;
	CHECK_EQ(count, PMC_NUM_ACCOUNTS);
	errno = 0;
	CHECK(pmc_state_new("xscale") == NULL && errno == ENOMEM);
	CHECK_EQ(run(states[7]), 0);
	CHECK_EQ(pmc_state_advance(states[7], DCACHE_MISS, 5), 0);
	IN_CHILD(without_an_account(states[7]););
	CHECK_EQ(value(states[7], PMC_INFO_COUNTER_VALUE), 5);
	/* A child is lost: what it may have counted is not known, and that is said. */
	CHECK_ERRNO(pmc_state_get_info(states[7], 1, PMC_INFO_ACCUMULATED_COUNTER_VALUE, &lost), ENOMEM);

	pmc_state_free(states[9]);
	states[9] = pmc_state_new("xscale");
	CHECK(states[9] != NULL);
	CHECK_EQ(run(states[9]), 0);
	CHECK_EQ(value(states[9], PMC_INFO_COUNTER_VALUE), 0);
	while (count--)
		pmc_state_free(states[count]);
	return check_result();
}
