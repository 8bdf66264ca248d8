/*
 * The calling thread, and whether it is in a child.
 */
#include "engine.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* A signal handler may ask: so the room must exist already. */
#ifdef __GLIBC__
#define STATIC_TLS __attribute__((tls_model("initial-exec")))
#else
#define STATIC_TLS
#endif

static __thread pid_t known STATIC_TLS;

/* 1; in a child, which gets an empty page from the kernel, however it was made, 0.  Before Linux 4.14: NULL. */
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

/* The system is asked once for each thread, and once more in a child. */
pid_t
own_thread(void)
{
	if (thread_is_in_child())
		return (pid_t)syscall(SYS_gettid);
	if (!known)
		known = (pid_t)syscall(SYS_gettid);
	return known;
}
