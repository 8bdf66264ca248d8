/*
 * check.h for programs about libpmc: a machine, a runtime directory of the program's own, children.
 */
#ifndef TESTS_PMC_CHECK_H
#define TESTS_PMC_CHECK_H

#include "check.h"

#include <errno.h>
#include <stdbool.h>
#include <pmc.h>
#include <pmc_model.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* XScale's */
#define DCACHE_MISS 0xb
#define INSTRUCTIONS 0x7
#define CLOCK 0x100

static char check_directory[] = "/tmp/pmc-check-XXXXXX";
static pid_t check_process;

static inline void
check_remove(void)
{
	char command[sizeof(check_directory) + 16];

	if (getpid() != check_process)
		return;
	snprintf(command, sizeof(command), "rm -rf %s", check_directory);
	if (system(command) != 0)
		perror(command);
}

/* The machine of this program, and locks that no other program meets. */
static inline void
check_begin(const char *machine)
{
	setvbuf(stdout, NULL, _IONBF, 0); /* nothing for children to print again */
	check_process = getpid();
	setenv("PMC_MACHINE", machine, 1);
	if (!mkdtemp(check_directory))
		perror(check_directory);
	setenv("XDG_RUNTIME_DIR", check_directory, 1);
	atexit(check_remove);
}

static inline int
configure(int ctr, pmc_evid_t event, pmc_ctr_t reset)
{
	struct pmc_counter_cfg cfg = { .event_id = event, .reset_value = reset };

	return pmc_control(ctr, PMC_OP_CONFIGURE, &cfg);
}

static inline int
profile(int ctr, pmc_evid_t event, pmc_ctr_t every)
{
	struct pmc_counter_cfg cfg = { .event_id = event, .reset_value = every };

	return pmc_control(ctr, PMC_OP_PROFSTART, &cfg);
}

static inline int
start(int ctr)
{
	return pmc_control(ctr, PMC_OP_START, NULL);
}

static inline int
stop(int ctr)
{
	return pmc_control(ctr, PMC_OP_STOP, NULL);
}

static inline int
profile_stop(int ctr)
{
	return pmc_control(ctr, PMC_OP_PROFSTOP, NULL);
}

/* A counter's value, and what ended children counted; a failure is -errno. */
static inline long long
value_of(int ctr)
{
	uint64_t value = 0;

	return pmc_get_info(ctr, PMC_INFO_COUNTER_VALUE, &value) < 0 ? -errno : (long long)value;
}

static inline long long
accumulated(int ctr)
{
	uint64_t value = 0;

	return pmc_get_info(ctr, PMC_INFO_ACCUMULATED_COUNTER_VALUE, &value) < 0 ? -errno : (long long)value;
}

/* Wait for a child: its exit status, or minus the signal that ended it. */
static inline int
wait_for(pid_t child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static pid_t check_child; /* the last one of this process */

static inline int
check_fork(void)
{
	check_child = fork();
	if (check_child == 0)
		check_failures = 0;
	return check_child == 0;
}

/* The code in a child, which ends with the number of its failed checks; then wait for it. */
#define IN_CHILD(code) \
	do { \
		if (check_fork()) { \
			code check_exit(check_failures); \
		} \
		CHECK_EQ(wait_for(check_child), 0); \
	} while (0)

#endif /* TESTS_PMC_CHECK_H */
