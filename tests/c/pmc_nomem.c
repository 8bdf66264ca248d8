/*
 * ENOMEM: every call by which the library asks for memory or a descriptor is made to fail, one after
 * the other, until the operation needs no more of them.  Linked with the library's objects and --wrap.
 */
#include "descriptors.h"
#include "nomem.h"
#include "pmc_check.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>

void *__real_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
int __real_open(const char *path, int flags, ...);
int __real_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
int __wrap_open(const char *path, int flags, ...);
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

void *
__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	return nomem_fails() ? MAP_FAILED : __real_mmap(addr, length, prot, flags, fd, offset);
}

int
__wrap_open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	if (strncmp(path, "/proc/self/stat", 15) == 0) /* does without */
		return __real_open(path, flags, mode);
	return nomem_fails() ? (errno = EMFILE, -1) : __real_open(path, flags, mode);
}

int
__wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	return nomem_fails() ? ENOMEM : __real_pthread_atfork(prepare, parent, child);
}

/* The operation fails with ENOMEM as long as one of its needs is not met, and then succeeds; nothing is left over. */
static void
fails_until_all_is_there(const char *what, int (*operation)(void), int at_least)
{
	int needs = 0, ret;

	for (;; needs++) {
		nomem_left = needs;
		nomem_failed = 0;
		errno = 0;
		ret = operation();
		nomem_left = -1;
		if (!nomem_failed)
			break;
		check_errno(ret, ENOMEM, what, __FILE__, __LINE__);
	}
	if (ret != 0 || needs < at_least)
		printf("%s: %d, %s, after %d failures\n", what, ret, strerror(errno), needs);
	CHECK(ret == 0 && needs >= at_least);
}

static int
first_call(void)
{
	int number;

	return pmc_get_info(0, PMC_INFO_NCOUNTERS, &number);
}

static int
configure_1(void)
{
	return configure(1, pmc_get_counter_class() == PMC_CLASS_LINUX ? 0x82 : DCACHE_MISS, 0);
}

static int
start_1(void)
{
	return start(1);
}

static int
profile_2(void)
{
	return profile(2, pmc_get_counter_class() == PMC_CLASS_LINUX ? 0x82 : DCACHE_MISS, 1000000);
}

static void
on(const char *machine, int first, int configures, int starts)
{
	int before = open_descriptors("");

	setenv("PMC_MACHINE", machine, 1);
	fails_until_all_is_there("first call", first_call, first);
	if (configure_1() < 0) {
		printf("%s: %s: counters are not tried\n", machine, strerror(errno));
		return;
	}
	fails_until_all_is_there("CONFIGURE", configure_1, configures);
	fails_until_all_is_there("START", start_1, starts);
	fails_until_all_is_there("PROFSTART", profile_2, starts);
	CHECK_EQ(stop(1), 0);
	CHECK_EQ(profile_stop(2), 0);
	if (strcmp(machine, "linux") != 0)
		CHECK_EQ(open_descriptors(""), before);
}

int
main(void)
{
	check_begin("xscale");
	IN_CHILD(on("xscale", 3, 1, 1););
	IN_CHILD(on("linux", 2, 3, 3););
	return check_result();
}
