/*
 * Threads that are monitored: whether they are there, who may look at them, whether they are stopped.
 */
#include "engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../counting/text.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK	18
#endif

/* A signal handler may ask: then there must be room for it already. */
#ifdef __GLIBC__
#define STATIC_TLS	__attribute__((tls_model("initial-exec")))
#else
#define STATIC_TLS
#endif

static __thread pid_t known STATIC_TLS;

/* 1; in a child, which the kernel gives an empty page, however it was made, 0.  Before Linux 4.14: NULL. */
static volatile char *mark;
static volatile pid_t process;

__attribute__((constructor)) static void
make_mark(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED && madvise(memory, page, MADV_WIPEONFORK) == 0)
		mark = memory;
	else if (memory != MAP_FAILED)
		munmap(memory, page);
	thread_forget();
}

bool
thread_is_in_child(void)
{
	return mark ? !*mark : process != getpid();
}

void
thread_forget(void)
{
	known = 0;
	process = getpid();
	if (mark)
		*mark = 1;
}

/* The system is asked once a thread, and once more in a child, which has one. */
pid_t
own_thread(void)
{
	if (thread_is_in_child())
		return (pid_t)syscall(SYS_gettid);
	if (!known)
		known = (pid_t)syscall(SYS_gettid);
	return known;
}

/* A number of a line of a status file; -1: there is no such line. */
static long
status_number(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtol(at + strlen(key), NULL, 10) : -1;
}

/* When a thread began, the 22nd word of its stat file: the second one may have spaces, and ends with the last ). */
static uint64_t
birth_of(pid_t tid)
{
	char path[64], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	if (counting_read_text(path, text, sizeof(text)) < 0 || !(at = strrchr(text, ')')))
		return 0;
	for (int word = 2; word < 22 && at; word++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

int
thread_look(pid_t tid, struct thread_state *state)
{
	char path[64], text[4096];
	const char *at;

	int ret;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	ret = tid <= 0 ? -ESRCH : counting_read_text(path, text, sizeof(text));
	if (ret < 0)
		return ret == -ENOENT ? -ESRCH : ret;
	at = strstr(text, "\nState:\t");
	if (!at)
		return -ESRCH;
	state->state = at[strlen("\nState:\t")];
	state->pid = (pid_t)status_number(text, "\nTgid:");
	state->tracer = (pid_t)status_number(text, "\nTracerPid:");
	state->has_memory = strstr(text, "\nVmSize:") != NULL;
	state->birth = birth_of(tid);
	return 0;
}

int
thread_check(pid_t tid, bool np)
{
	char path[64], target[8];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	if (readlink(path, target, sizeof(target)) < 0 && (errno == EACCES || errno == EPERM))
		return -EPERM;
	return np || thread_is_stopped(tid) ? 0 : -ESRCH;
}

bool
thread_is_stopped(pid_t tid)
{
	struct thread_state state;

	return thread_look(tid, &state) == 0 && state.tracer == own_thread() && state.state == 't';
}

/* The scheduler's account of a thread; of one of this process its clock is cheaper and newer. */
uint64_t
thread_time(pid_t tid)
{
	const clockid_t own = (clockid_t)(~(unsigned int)tid << 3 | 6);
	char path[64], text[128];
	struct timespec now;

	if (clock_gettime(tid == own_thread() ? CLOCK_THREAD_CPUTIME_ID : own, &now) == 0)
		return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)tid);
	return counting_read_text(path, text, sizeof(text)) < 0 ? 0 : strtoull(text, NULL, 10);
}
