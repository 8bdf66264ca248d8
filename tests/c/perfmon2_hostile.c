/*
 * The back end "host" in programs that take its descriptors from it, or that the kernel does not let count.
 */
#include "perfmon2_events.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <ucontext.h>
#endif

/* The descriptors that are open, but for the one of this list. */
static int
open_files(int *files, int most)
{
	DIR *list = opendir("/proc/self/fd");
	const struct dirent *entry;
	int count = 0;

	while (list && (entry = readdir(list)) && count < most)
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(list))
			files[count++] = atoi(entry->d_name);
	if (list)
		closedir(list);
	return count;
}

/* The numbers of the events' descriptors are the program's pipe: nobody reads from it, nor waits for it. */
static void
replaced(void)
{
	const int fd = counting(0, 0, 0);
	int ends[2], files[256], count = open_files(files, 256);
	char text[64];

	CHECK_EQ(pfm_start(fd, NULL), 0);
	faults(10);
	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(write(ends[1], "0123456789abcdef0123456789abcdef", 32), 32);
	for (int i = 0; i < count; i++)
		if (files[i] > 2 && files[i] != fd && files[i] < 512)
			dup2(ends[0], files[i]);
	usleep(30000); /* the library looks by itself */
	alarm(20);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(pfm_unload_context(fd), 0);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	CHECK_EQ(read(ends[0], text, sizeof(text)), 32);
	for (int i = 0; i < count; i++)
		if (files[i] > 2 && files[i] != fd && files[i] < 512)
			close(files[i]);
	close(ends[0]);
	close(ends[1]);
	close(fd);
	alarm(0);
}

static bool
sleeps(const char *tid)
{
	char path[64], state = '?';
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", tid);
	stat = fopen(path, "r");
	if (stat && fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	if (stat)
		fclose(stat);
	return state == 'S';
}

/* Until the library's thread sleeps: before it does it may hold a lock of AddressSanitizer, which a child would have for ever. */
static void
others_sleep(void)
{
	for (int i = 0, awake = 1; awake && i < 5000; i++) {
		DIR *list = opendir("/proc/self/task");
		const struct dirent *entry;

		awake = 0;
		while (list && (entry = readdir(list)))
			awake += entry->d_name[0] != '.' && atoi(entry->d_name) != getpid() && !sleeps(entry->d_name);
		if (list)
			closedir(list);
		usleep(1000);
	}
}

/* A child that fork() has not made: it has none of its parent's events, and counts its own. */
static void
cloned(void)
{
	const int fd = counting(0, 0, 0);
	pid_t child;

	CHECK_EQ(pfm_start(fd, NULL), 0);
	others_sleep();
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		struct pollfd own = { .events = POLLIN };

		check_failures = 0;
		CHECK_ERRNO(pfm_stop(fd), ESRCH);
		own.fd = counting((uint64_t)-100, PFM_REGFL_OVFL_NOTIFY, 0);
		CHECK_EQ(pfm_start(own.fd, NULL), 0);
		faults(200);
		CHECK_EQ(poll(&own, 1, 5000), 1);
		CHECK_EQ(read_pmd(own.fd, 4), 0);
		check_exit(check_failures);
	}
	CHECK_EQ(wait_for(child), 0);
	faults(50);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK(read_pmd(fd, 4) >= 50);
	close(fd);
}

#ifdef __GLIBC__ /* musl has no makecontext() */
static int counted;
static char *stack_end;
static ucontext_t outside, inside;

/* On a stack that ends a few hundred bytes from here. */
static void
call_at_the_end(void)
{
	pfarg_pmd_t pmd = { .reg_num = 4 };

	CHECK_EQ(pfm_read_pmds(counted, &pmd, 1), 0);
	CHECK_EQ(pmd.reg_value, 12345);
	CHECK_ERRNO(pfm_read_pmds(counted, (void *)(stack_end - 8), 1), EFAULT);
	CHECK_ERRNO(pfm_write_pmds(counted, (void *)(stack_end - 8), 1), EFAULT);
	CHECK_ERRNO(pfm_read_pmds(counted, (void *)(stack_end - sizeof(pmd)), 2), EFAULT);
}

/* What begins in the page of the stack that the calls use, and ends where nothing is. */
static void
beyond_the_stack(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 64 * page;
	char *memory = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	CHECK_EQ(mprotect(memory + size, page, PROT_NONE), 0);
	stack_end = memory + size;
	counted = counting(12345, 0, 0);
	getcontext(&inside);
	inside.uc_stack.ss_sp = memory;
	inside.uc_stack.ss_size = size;
	inside.uc_link = &outside;
	makecontext(&inside, call_at_the_end, 0);
	swapcontext(&outside, &inside);
	close(counted);
	munmap(memory, size + page);
}
#else
static void
beyond_the_stack(void)
{
	printf("no makecontext(): the end of a stack is not tested\n");
}
#endif

int
main(void)
{
	begin_with_events();
	beyond_the_stack();
	cloned();
	replaced();
	return check_result();
}
