/*
 * More children, one after the other and many at a time, than a model has accounts for: 4096.
 */
#include "pmc_check.h"

enum { IN_TURN = 5000, AT_A_TIME = 200 };

static void
in_turn(void)
{
	for (int i = 0; i < IN_TURN; i++) {
		pid_t child = fork();

		if (child == 0) {
			pmc_model_advance(DCACHE_MISS, 3);
			_exit(0);
		}
		CHECK_EQ(wait_for(child), 0);
	}
}

/* Children that have children, and all of them alive together. */
static void
at_a_time(void)
{
	int go[2], ready[2];
	char byte;

	CHECK_EQ(pipe(go), 0);
	CHECK_EQ(pipe(ready), 0);
	for (int i = 0; i < AT_A_TIME; i++)
		if (fork() == 0) {
			pid_t child = fork();

			pmc_model_advance(DCACHE_MISS, child ? 10 : 1000);
			CHECK_EQ(write(ready[1], "", 1), 1);
			CHECK_EQ(read(go[0], &byte, 1), 1);
			_exit(child ? wait_for(child) : 0);
		}
	for (int i = 0; i < 2 * AT_A_TIME; i++)
		CHECK_EQ(read(ready[0], &byte, 1), 1);
	CHECK_EQ(accumulated(1), 3 * IN_TURN);
	for (int i = 0; i < 2 * AT_A_TIME; i++)
		CHECK_EQ(write(go[1], "", 1), 1);
	for (int i = 0; i < AT_A_TIME; i++)
		CHECK_EQ(wait_for(-1), 0);
}

int
main(void)
{
	check_begin("xscale");
	CHECK_EQ(configure(1, DCACHE_MISS, 0), 0);
	CHECK_EQ(start(1), 0);
	in_turn();
	CHECK_EQ(accumulated(1), 3 * IN_TURN);
	at_a_time();
	CHECK_EQ(accumulated(1), 3 * IN_TURN + AT_A_TIME * 1010);
	in_turn();
	CHECK_EQ(accumulated(1), 6 * IN_TURN + AT_A_TIME * 1010);
	CHECK_EQ(value_of(1), 0);
	return check_result();
}
