/*
 * Accounts of a model's counters, one for each process, in memory that parent and
 * children share: what a child counted is there whatever ended it.
 *
 * A process writes to its own account only; when a child has ended, the parent adds
 * what the child, and the child's own ended children, have counted to its account.
 */
#include "machine.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#define NUM_ACCOUNTS	4096
#define PENDING_SECONDS	60	/* a fork() that failed, or a child killed before it ran */

enum account_status { ACCOUNT_FREE, ACCOUNT_PENDING, ACCOUNT_LIVE };

struct pmc_account {
	enum account_status	status;
	uint32_t		serial;		/* differs each time that the place is used */
	struct pmc_account	*parent;
	pid_t			pid;
	unsigned long long	started;	/* with pid, a process for good */
	time_t			since;
	uint64_t		values[PMC_MAX_COUNTERS];
	uint64_t		ended[PMC_MAX_COUNTERS];	/* of ended children */
};

/* At the same address in every process that shares it. */
static struct arena {
	pthread_mutex_t		lock;
	size_t			top;		/* accounts above were never used */
	struct pmc_account	accounts[NUM_ACCOUNTS];
} *arena;

static int
lock_arena(void)
{
	int ret = pthread_mutex_lock(&arena->lock);

	if (ret == EOWNERDEAD)	/* each change is complete or without effect */
		ret = pthread_mutex_consistent(&arena->lock);
	return ret;
}

static bool
create_arena(void)
{
	pthread_mutexattr_t attr;
	void *memory;

	if (arena)
		return true;
	memory = mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	arena = memory;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&arena->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return true;
}

/* State and start time of a process: fields 3 and 22 of its stat file; false if it is gone. */
static bool
process(const char *path, char *state, unsigned long long *started)
{
	char text[1024], *at;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	at = strrchr(text, ')');	/* the name may hold anything */
	if (!at || at[1] != ' ')
		return false;
	*state = at[2];
	at += 2;
	for (int field = 3; field < 22; field++) {
		at = strchr(at, ' ');
		if (!at)
			return false;
		at++;
	}
	*started = strtoull(at, NULL, 10);
	return true;
}

static bool
has_ended(const struct pmc_account *account)
{
	unsigned long long started;
	char path[32], state;

	if (account->status == ACCOUNT_PENDING)
		return time(NULL) - account->since > PENDING_SECONDS;
	snprintf(path, sizeof(path), "/proc/%d/stat", account->pid);
	if (!process(path, &state, &started))
		return kill(account->pid, 0) < 0 && errno == ESRCH;
	return started != account->started || state == 'Z' || state == 'X';
}

/* Add what ended children have counted, and theirs; the orphans of ended ones become ours. */
static void
fold(struct pmc_account *account)
{
	for (size_t i = 0; i < arena->top; i++) {
		struct pmc_account *child = &arena->accounts[i];

		if (child->status == ACCOUNT_FREE || child->parent != account || !has_ended(child))
			continue;
		fold(child);
		for (int ctr = 0; ctr < PMC_MAX_COUNTERS; ctr++)
			account->ended[ctr] += child->values[ctr] + child->ended[ctr];
		for (size_t j = 0; j < arena->top; j++)
			if (arena->accounts[j].status != ACCOUNT_FREE && arena->accounts[j].parent == child)
				arena->accounts[j].parent = account;
		child->status = ACCOUNT_FREE;
	}
}

static struct pmc_account *
free_account(void)
{
	for (size_t i = 0; i < arena->top; i++)
		if (arena->accounts[i].status == ACCOUNT_FREE)
			return &arena->accounts[i];
	if (arena->top < NUM_ACCOUNTS)
		return &arena->accounts[arena->top++];
	for (size_t i = 0; i < arena->top; i++)	/* nobody's any more */
		if (!arena->accounts[i].parent && has_ended(&arena->accounts[i]))
			return &arena->accounts[i];
	return NULL;
}

static void
own(struct pmc_account *account)
{
	char state;

	account->pid = getpid();
	if (!process("/proc/self/stat", &state, &account->started))
		account->started = 0;
	account->status = ACCOUNT_LIVE;
}

/* An account: of this process if there is no parent's, else of the child that fork() will make. */
struct pmc_account *
pmc_account_new(struct pmc_account *parent, uint32_t *serial)
{
	struct pmc_account *account;

	if (!create_arena() || lock_arena())
		return NULL;
	if (parent)
		fold(parent);
	account = free_account();
	if (account) {
		*serial = account->serial + 1;
		memset(account, 0, sizeof(*account));
		account->serial = *serial;
		account->parent = parent;
		account->since = time(NULL);
		account->status = ACCOUNT_PENDING;
		if (!parent)
			own(account);
	}
	pthread_mutex_unlock(&arena->lock);
	return account;
}

bool
pmc_account_adopt(struct pmc_account *account, uint32_t serial)
{
	bool ours;

	if (lock_arena())
		return false;
	ours = account->status == ACCOUNT_PENDING && account->serial == serial;
	if (ours)
		own(account);
	pthread_mutex_unlock(&arena->lock);
	return ours;
}

void
pmc_account_free(struct pmc_account *account)
{
	if (!account || lock_arena())
		return;
	account->status = ACCOUNT_FREE;
	for (size_t i = 0; i < arena->top; i++)
		if (arena->accounts[i].parent == account)
			arena->accounts[i].parent = NULL;
	pthread_mutex_unlock(&arena->lock);
}

uint64_t *
pmc_account_values(struct pmc_account *account)
{
	return account->values;
}

uint64_t
pmc_account_ended(struct pmc_account *account, int ctr)
{
	if (lock_arena() == 0) {
		fold(account);
		pthread_mutex_unlock(&arena->lock);
	}
	return account->ended[ctr];
}
