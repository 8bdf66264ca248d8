/*
 * SIGKILL at every store that a process makes to the accounts (csrc/pmc/account.c, compiled into this
 * program): what it and its ended children had counted is in its parent's sum, once.
 */
#include "pmc_check.h"

#include "../../csrc/base/shared_lock.c"
#include "../../csrc/pmc/account.c"

#include <sys/ptrace.h>

enum { OWN = 100, CHILD = 30, GRANDCHILD = 5, MORE = 7000, ACCOUNTS = 24 };

static struct pmc_lineage lineage;
static struct pmc_account *account;

/* A child with an account below this process's, which counts so much. */
static pid_t
child(uint64_t count)
{
	pid_t pid = fork();

	if (pid == 0) {
		account = pmc_account_open(&lineage);
		if (!account)
			_exit(2);
		pmc_account_add(account, 1, count);
	}
	return pid;
}

/* Add up what a child has left, count more, or open an account more. */
static void
add_up(void)
{
	uint64_t sum;

	if (pmc_account_ended(account, 1, &sum) < 0 || sum != CHILD + GRANDCHILD)
		_exit(3);
}

static void
count_more(void)
{
	pmc_account_add(account, 1, MORE);
}

static void
open_another(void)
{
	struct pmc_lineage none = { .depth = 0 };

	if (!pmc_account_open(&none))
		_exit(4);
}

/* The process that is ended: its child and grandchild have ended before, unseen. */
static void
traced(void (*operation)(void))
{
	pid_t pid = child(CHILD);

	if (pid == 0) {
		pid = child(GRANDCHILD);
		_exit(pid == 0 ? 0 : wait_for(pid));
	}
	if (wait_for(pid) != 0)
		_exit(5);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(CHECK_SKIPPED);
	raise(SIGSTOP);
	operation();
	_exit(0);
}

/* What is stored to: the lock, this process's account, and those of the others, which come after it. */
struct seen {
	char memory[offsetof(struct arena, accounts) + ACCOUNTS * sizeof(struct pmc_account)];
};

/* Step until the shared memory has changed so often; false if the process has come to its end before. */
static bool
step(pid_t pid, int changes)
{
	struct seen before, now;
	int status;

	memcpy(&before, arena, sizeof(before));
	while (changes > 0) {
		CHECK_EQ(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		if (waitpid(pid, &status, 0) < 0 || check_failures)
			return false;
		if (!WIFSTOPPED(status)) {
			CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
			return false;
		}
		memcpy(&now, arena, sizeof(now));
		if (memcmp(&before, &now, sizeof(now)) != 0) {
			before = now;
			changes--;
		}
	}
	kill(pid, SIGKILL);
	CHECK_EQ(wait_for(pid), -SIGKILL);
	return true;
}

/* How many stores there are.  What the process was counting when it was ended may be in the sum, or not. */
static int
each_store(void (*operation)(void), uint64_t counting)
{
	for (int changes = 1;; changes++) {
		uint64_t before = 0, after = 0;
		pid_t pid;
		int status;
		bool killed;

		CHECK_EQ(pmc_account_ended(account, 1, &before), 0);
		pid = child(OWN);
		if (pid == 0)
			traced(operation);
		if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status)) {
			printf("skipped: ptrace is not allowed here\n");
			exit(CHECK_SKIPPED);
		}
		killed = step(pid, changes);
		CHECK_EQ(pmc_account_ended(account, 1, &after), 0);
		after -= before + OWN + CHILD + GRANDCHILD;
		CHECK(after == counting || (killed && after == 0));
		CHECK(arena->top <= ACCOUNTS);
		if (!killed || check_failures)
			return changes;
	}
}

int
main(void)
{
	int stores;

	check_begin("xscale");
	account = pmc_account_open(&lineage);
	CHECK(account != NULL);
	stores = each_store(add_up, 0);
	printf("adding up: %d stores\n", stores);
	CHECK(stores > 4);
	stores = each_store(count_more, MORE);
	printf("counting: %d stores\n", stores);
	CHECK(stores > 4);
	stores = each_store(open_another, 0);
	printf("a new account: %d stores\n", stores);
	CHECK(stores > 7); /* 8 with the locks of musl, more with those of glibc */
	return check_result();
}
