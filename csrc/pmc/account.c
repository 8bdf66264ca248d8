/*
 * Accounts of a model's counters, one for each process, in memory that parent and
 * children share: what a child counted is there whatever ended it.
 *
 * A process writes to its own account only; when a child has ended, what it and its own
 * ended children have counted is added to the account of the parent.
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
#include <unistd.h>

#define NUM_ACCOUNTS	4096

struct pmc_account {
	bool			used;
	uint32_t		serial;		/* differs each time that the place is used */
	struct pmc_account	*parent;	/* and its serial; still there when the place is free again */
	uint32_t		parent_serial;
	pid_t			pid;
	unsigned long long	started;	/* with pid, a process for good; 0: not known */
	uint64_t		values[PMC_MAX_COUNTERS];
	uint64_t		ended[PMC_MAX_COUNTERS];	/* of ended children */
};

/* At the same address in every process that shares it. */
static struct arena {
	pthread_mutex_t		lock;
	size_t			next;		/* places are used in turn: a freed one stays as it is for long */
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

/* What the stat file of a process says. */
struct process {
	pid_t			pid;	/* in the namespace of /proc, which may be another than getpid()'s */
	char			state;
	long			threads;
	unsigned long long	started;
};

/* false if it is gone, or there is no /proc. */
static bool
look_at(const char *path, struct process *process)
{
	char text[1024];
	const char *after;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	process->pid = (pid_t)strtol(text, NULL, 10);
	after = strrchr(text, ')');	/* the name may hold anything */
	return after && sscanf(after + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
			       &process->state, &process->threads, &process->started) == 3;
}

/* A process whose first thread has ended, and others have not, is a zombie that lives. */
static bool
has_ended(const struct pmc_account *account)
{
	struct process process;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/stat", account->pid);
	if (!look_at(path, &process))
		return kill(account->pid, 0) < 0 && errno == ESRCH;
	return (account->started && process.started != account->started)
		|| ((process.state == 'Z' || process.state == 'X') && process.threads <= 1);
}

/* Nobody counts on an account any more: its parent has what it holds, and its children. */
static void
close_account(struct pmc_account *account)
{
	struct pmc_account *parent = account->parent;

	for (int ctr = 0; parent && ctr < PMC_MAX_COUNTERS; ctr++)
		parent->ended[ctr] += account->values[ctr] + account->ended[ctr];
	for (size_t i = 0; i < arena->top; i++)
		if (arena->accounts[i].used && arena->accounts[i].parent == account) {
			arena->accounts[i].parent = parent;
			arena->accounts[i].parent_serial = account->parent_serial;
		}
	account->used = false;
}

/* Close the accounts of ended children, and of theirs first. */
static void
fold(struct pmc_account *account)
{
	for (size_t i = 0; i < arena->top; i++) {
		struct pmc_account *child = &arena->accounts[i];

		if (child->used && child->parent == account && has_ended(child)) {
			fold(child);
			close_account(child);
		}
	}
}

static struct pmc_account *
free_place(void)
{
	for (size_t i = 0; i < NUM_ACCOUNTS; i++) {
		size_t place = (arena->next + i) % NUM_ACCOUNTS;

		if (arena->accounts[place].used)
			continue;
		arena->next = (place + 1) % NUM_ACCOUNTS;
		if (arena->top <= place)
			arena->top = place + 1;
		return &arena->accounts[place];
	}
	return NULL;
}

/* A place; if all are taken, those of ended processes are free, whoever was to ask for them. */
static struct pmc_account *
take_place(void)
{
	struct pmc_account *account = free_place();
	const struct pmc_account *asked = NULL;
	bool ended = false;

	if (account)
		return account;
	for (size_t i = 0; i < arena->top; i++) {
		account = &arena->accounts[i];
		if (!asked || asked->pid != account->pid || asked->started != account->started)
			ended = has_ended(account);	/* a process may have many, in a row */
		asked = account;
		if (ended)
			close_account(account);
	}
	return free_place();
}

/* The account with that serial, or who has inherited it; NULL if it is not known any more. */
static struct pmc_account *
heir(struct pmc_account *account, uint32_t serial)
{
	while (account && account->serial == serial && !account->used) {
		serial = account->parent_serial;
		account = account->parent;
	}
	return account && account->serial == serial ? account : NULL;
}

/* An account for this process; serial is that of parent before, and its own afterwards. */
struct pmc_account *
pmc_account_new(struct pmc_account *parent, uint32_t *serial)
{
	struct process self = { .pid = getpid() };
	struct pmc_account *account;

	if (!create_arena() || lock_arena())
		return NULL;
	if (!look_at("/proc/self/stat", &self))
		self.started = 0;
	parent = heir(parent, *serial);
	account = take_place();
	if (account) {
		*serial = account->serial + 1;
		*account = (struct pmc_account){
			.used = true, .serial = *serial, .parent = parent, .parent_serial = parent ? parent->serial : 0,
			.pid = self.pid, .started = self.started,
		};
	}
	pthread_mutex_unlock(&arena->lock);
	return account;
}

/* What is for the parent stays until the process has ended. */
void
pmc_account_free(struct pmc_account *account)
{
	if (!account || lock_arena())
		return;
	if (!account->parent)
		close_account(account);
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
