/*
 * More children, one after the other and many at a time, than a model has accounts for: 4096; and children
 * that are killed while they count.
 */
#include "pmc_check.h"

#include <sys/mman.h>

enum { IN_TURN = 5000, AT_A_TIME = 200, KILLED = 500, OTHERS = 3 };

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

static void
count_on(volatile long long *counted)
{
	for (;;) {
		pmc_model_advance(DCACHE_MISS, 1);
		++*counted;
	}
}

/* At any moment, while others count, too: all that it has counted is there, or all but what it was counting. */
static void
killed_at_work(void)
{
	volatile long long *counted = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long long before = accumulated(1), sum;
	pid_t others[OTHERS];

	CHECK(counted != MAP_FAILED);
	for (int i = 0; i < OTHERS; i++) {
		others[i] = fork();
		if (others[i] == 0)
			count_on(&counted[1 + i]);
	}
	for (int i = 0; i < KILLED; i++) {
		pid_t child;

		*counted = 0;
		child = fork();
		if (child == 0)
			count_on(counted);
		usleep((useconds_t)(i * 7 % 500));
		CHECK_EQ(kill(child, SIGKILL), 0);
		CHECK_EQ(wait_for(child), -SIGKILL);
		sum = accumulated(1);
		CHECK(sum - before == *counted || sum - before == *counted + 1);
		before = sum;
	}
	for (int i = 0; i < OTHERS; i++) {
		kill(others[i], SIGKILL);
		CHECK_EQ(wait_for(others[i]), -SIGKILL);
		sum = accumulated(1);
		CHECK(sum - before == counted[1 + i] || sum - before == counted[1 + i] + 1);
		before = sum;
	}
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
	killed_at_work();
	CHECK_EQ(value_of(1), 0);
	return check_result();
}
