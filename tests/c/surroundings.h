/*
 * Surroundings in which a program may have to count: no /proc, or another namespace's; many groups; calls that are refused; few
 * descriptors, little memory.
 */
#ifndef TESTS_SURROUNDINGS_H
#define TESTS_SURROUNDINGS_H

#include "check.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum { NOBODY = 65534 };

/* A process from here on cannot make that call. */
static inline int
refuse(unsigned int number, int code)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(rules) / sizeof(*rules), rules };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -1 : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static inline int
own_mounts(void)
{
	return unshare(CLONE_NEWNS) < 0 ? -1 : mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static inline int
without_proc(void)
{
	return own_mounts() < 0 ? -1 : mount("none", "/proc", "tmpfs", 0, NULL);
}

static inline int
hidden_proc(void)
{
	return own_mounts() < 0 || mount("proc", "/proc", "proc", 0, "hidepid=2") < 0 || setgroups(0, NULL) < 0 ? -1
	       : setresuid(NOBODY, NOBODY, NOBODY) < 0 ? -1
						       : prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* as after exec() */
}

static inline int
many_groups(void)
{
	gid_t groups[1000];

	for (unsigned int i = 0; i < 1000; i++)
		groups[i] = 100000 + i;
	return setgroups(1000, groups);
}

static inline int
empty_root(void)
{
	char name[] = "/tmp/empty-XXXXXX";

	return mkdtemp(name) && chdir(name) == 0 && rmdir(name) == 0 ? chroot(".")
								     : -1; /* which has no name any more */
}

static inline int
no_pidfd(void)
{
	return refuse(SYS_pidfd_open, ENOSYS);
}

static inline int
no_perf(void)
{
	return refuse(SYS_perf_event_open, EACCES);
}

static inline int
neither(void)
{
	return no_pidfd() < 0 ? -1 : no_perf();
}

static inline int
few_descriptors(void)
{
	return setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 20, 20 });
}

static inline int
little_memory(void)
{
	return setrlimit(RLIMIT_AS, &(struct rlimit){ 200 << 20, 200 << 20 });
}

static inline int
nothing(void)
{
	return 0;
}

static const struct surroundings {
	const char *name;
	int (*enter)(void);
	bool is_pid_namespace; /* what runs there is the child of who enters it */
	bool is_without_perf;
} all_surroundings[] = {
	{ "usual", nothing, false, false },
	{ "no /proc", without_proc, false, false },
	{ "a PID namespace, with the /proc of the one before", nothing, true, false },
	{ "a PID namespace without /proc", without_proc, true, false },
	{ "a user from whom /proc hides others", hidden_proc, false, false },
	{ "1,000 groups", many_groups, false, false },
	{ "an empty root directory", empty_root, false, false },
	{ "no pidfd_open()", no_pidfd, false, false },
	{ "no perf_event_open()", no_perf, false, true },
	{ "neither", neither, false, true },
	{ "20 descriptors", few_descriptors, false, false },
	{ "200 MB of addresses", little_memory, false, false },
};

/* Run something there, in a process of its own. */
static inline void
run_in(const struct surroundings *there, void (*run)(const struct surroundings *))
{
	const int failures = check_failures;
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		check_failures = 0;
		if (there->is_pid_namespace && unshare(CLONE_NEWPID) == 0) {
			child = fork();
			if (child > 0) {
				waitpid(child, &status, 0);
				_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
			}
		} else if (there->is_pid_namespace) {
			child = -1;
		}
		if (child < 0 || there->enter() < 0) {
			printf("not tested: %s (%s)\n", there->name, strerror(errno));
			_exit(0);
		}
		run(there);
		check_exit(check_failures);
	}
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	if (check_failures != failures)
		printf("that was in: %s\n", there->name);
}

static inline void
run_everywhere(void (*run)(const struct surroundings *))
{
	setvbuf(stdout, NULL, _IONBF, 0);
	for (size_t i = 0; i < sizeof(all_surroundings) / sizeof(*all_surroundings); i++)
		run_in(&all_surroundings[i], run);
}

#endif /* TESTS_SURROUNDINGS_H */
