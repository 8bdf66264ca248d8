/*
 * Counts of a model's processes, in memory that parents and children share.
 *
 * A process adds what it counts to its own account and to those of its ancestors.  The
 * counts of its ended descendants are then the counts of all of them without those of the
 * living ones.  So nothing has to be done when a process ends, and it can be killed at any
 * time.
 */
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/shared_lock.h"

#ifndef MAP_NORESERVE /* of Linux */
#define MAP_NORESERVE 0
#endif

/* At the same address in every process that shares it. */
static struct arena {
	struct shared_lock lock;
	uint64_t taken; /* accounts, as often as it was done */
	size_t top;     /* accounts from here on were never used */
	struct pmc_account accounts[PMC_NUM_ACCOUNTS];
} *arena;

static bool
create_arena(void)
{
	void *memory;

	if (arena)
		return true;
	memory = mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	arena = memory;
	shared_lock_make(&arena->lock);
	return true;
}

/*
 * A process that is killed with the lock leaves nothing to repair: the number it was adding is in some accounts, or in
 * none.
 */
static void
lock_arena(void)
{
	(void)shared_lock_take(&arena->lock);
}

/* A text of /proc of which the first kilobytes matter. */
static bool
read_text(const char *path, char *text, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[got < 0 ? 0 : got] = '\0';
	return got >= 0;
}

/* Read the stat file of a process; false if it is gone, or there is no /proc. */
static bool
look_at(const char *path, struct pmc_process *process)
{
	char text[1024], state;
	const char *after;
	long threads;

	if (!read_text(path, text, sizeof(text)))
		return false;
	process->pid = (pid_t)strtol(text, NULL, 10);
	after = strrchr(text, ')'); /* the name may hold anything */
	if (!after ||
	    sscanf(after + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
		   &state, &threads, &process->started) != 3)
		return false;
	process->ended = (state == 'Z' || state == 'X') && threads <= 1; /* a zombie with threads lives */
	process->elsewhere = process->pid != getpid();
	return true;
}

/* If /proc knows nothing of a process, the process may be hidden, or there is no /proc. */
static bool
has_ended(const struct pmc_process *process)
{
	struct pmc_process now;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/stat", process->pid);
	if (look_at(path, &now))
		return now.ended || (process->started && process->started != now.started);
	if (process->elsewhere)
		return look_at("/proc/self/stat", &now);
	return kill(process->pid, 0) < 0 && errno == ESRCH;
}

/* An account whose process has ended is free. */
static bool
is_used(struct pmc_account *account)
{
	if (account->id && has_ended(&account->process))
		account->id = 0;
	return account->id != 0;
}

/* Find the account with that id; NULL: its process has ended, and another one may have the place. */
static struct pmc_account *
account_of(uint64_t id)
{
	struct pmc_account *account = &arena->accounts[id % PMC_NUM_ACCOUNTS];

	return account->id == id ? account : NULL;
}

static struct pmc_account *
free_account(void)
{
	for (size_t i = 0; i < arena->top; i++)
		if (!arena->accounts[i].id)
			return &arena->accounts[i];
	if (arena->top < PMC_NUM_ACCOUNTS)
		return &arena->accounts[arena->top++];
	for (size_t i = 0; i < arena->top; i++)
		if (!is_used(&arena->accounts[i]))
			return &arena->accounts[i];
	return NULL;
}

/* Give this process an account; write the id last, when all else is there. */
static void
take_account(struct pmc_account *account, struct pmc_lineage *lineage)
{
	const uint64_t id = ++arena->taken * PMC_NUM_ACCOUNTS + (uint64_t)(account - arena->accounts);

	memset(account, 0, sizeof(*account));
	if (!look_at("/proc/self/stat", &account->process))
		account->process.pid = getpid();
	account->ancestors = *lineage;
	__atomic_store_n(&account->id, id, __ATOMIC_RELEASE);
	lineage->ids[lineage->depth++] = id;
}

struct pmc_account *
pmc_account_open(struct pmc_lineage *lineage)
{
	struct pmc_account *account;
	size_t living = 0;

	if (!create_arena())
		return NULL;
	lock_arena();
	for (size_t i = 0; i < lineage->depth; i++)
		if ((account = account_of(lineage->ids[i])) && is_used(account))
			lineage->ids[living++] = lineage->ids[i];
	lineage->depth = living;
	account = living < PMC_LONGEST_LINEAGE ? free_account() : NULL;
	if (account)
		take_account(account, lineage);
	for (size_t i = 0; !account && i < living; i++)
		account_of(lineage->ids[i])->lost = true;
	shared_lock_release(&arena->lock);
	return account;
}

void
pmc_account_close(struct pmc_account *account)
{
	if (account && !account->ancestors.depth)
		__atomic_store_n(&account->id, 0, __ATOMIC_RELEASE);
}

void
pmc_account_add(struct pmc_account *account, int ctr, uint64_t count)
{
	struct pmc_account *ancestor;

	lock_arena();
	account->own[ctr] += count;
	for (size_t i = 0; i < account->ancestors.depth; i++)
		if ((ancestor = account_of(account->ancestors.ids[i])))
			ancestor->descendants[ctr] += count;
	shared_lock_release(&arena->lock);
}

static bool
is_below(const struct pmc_account *account, uint64_t id)
{
	for (size_t i = 0; i < account->ancestors.depth; i++)
		if (account->ancestors.ids[i] == id)
			return true;
	return false;
}

int
pmc_account_ended(const struct pmc_account *account, int ctr, uint64_t *value)
{
	lock_arena();
	*value = account->descendants[ctr];
	for (struct pmc_account *a = arena->accounts; a < arena->accounts + arena->top; a++)
		if (is_below(a, account->id) && is_used(a))
			*value -= a->own[ctr];
	shared_lock_release(&arena->lock);
	return account->lost ? -ENOMEM : 0;
}
