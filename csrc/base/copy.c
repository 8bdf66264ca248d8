/*
 * The caller's memory, through the kernel: a bad address is EFAULT, not a crash.
 */
#include "copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

#include "guard.h"

#ifndef MADV_POPULATE_READ /* Linux 5.14; older kernels refuse them, and C libraries do not name them */
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

static int
open_pipe(int ends[2])
{
#ifdef __APPLE__ /* no pipe2() */
	return pipe(ends) < 0 || fcntl(ends[0], F_SETFD, FD_CLOEXEC) < 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) < 0 ? -1
														    : 0;
#else
	return pipe2(ends, O_CLOEXEC);
#endif
}

/*
 * Where process_vm_readv() is forbidden (seccomp) or missing, a pipe does the same: write() reads
 * the sender's memory, read() writes the receiver's, and each says EFAULT.
 */
static int
through_pipe(void *to, const void *from, size_t size)
{
	const int cancel = guard_hold();
	int ends[2], ret = 0;

	if (open_pipe(ends) < 0) {
		guard_release(cancel);
		return -ENOMEM;
	}
	if (write(ends[1], from, size) != (ssize_t)size || read(ends[0], to, size) != (ssize_t)size)
		ret = -EFAULT;
	close(ends[0]);
	close(ends[1]);
	guard_release(cancel);
	return ret;
}

/*
 * Tell whether a word can be written, by a futex operation that writes the word's own value.  -1: this kernel cannot
 * tell.
 */
static int
can_write(uintptr_t word)
{
#ifdef __linux__
	static uint32_t nobody; /* waits here */
	const long ret = syscall(SYS_futex, &nobody, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0L, word,
				 FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0));

	return ret >= 0 ? 1 : errno == EFAULT ? 0 : -1;
#else
	(void)word;
	return -1;
#endif
}

/* Two words take half of the time that madvise() does. */
bool
copy_is_there(const void *memory, size_t size, bool for_writing)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)memory, begin = first & ~(page - 1);
	const uintptr_t end = (first + size + page - 1) & ~(page - 1), last = (first + size - 1) & ~(uintptr_t)3;
	const uintptr_t stack = (uintptr_t)__builtin_frame_address(0) & ~(page - 1);
	int found = -1;

	if (begin == stack && end == stack + page) /* this function's own variables are on that page */
		return true;
	if (for_writing && first % 4 == 0 && end > begin && end - begin <= 2 * page)
		found = can_write(last);
	if (found == 1 && end - begin > page)
		found = can_write(first);
	return found >= 0 ? found
			  : end > begin && madvise((void *)begin, end - begin,
						   for_writing ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0;
}

int
copy_in(void *to, const void *from, size_t size)
{
#ifdef __linux__
	struct iovec local = { to, size }, remote = { (void *)(uintptr_t)from, size };
	ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	if (got >= 0 || errno == EFAULT)
		return got == (ssize_t)size ? 0 : -EFAULT;
#endif
	return through_pipe(to, from, size);
}

int
copy_out(void *to, const void *from, size_t size)
{
#ifdef __linux__
	struct iovec local = { (void *)(uintptr_t)from, size }, remote = { to, size };
	ssize_t got = process_vm_writev(getpid(), &local, 1, &remote, 1, 0);

	if (got >= 0 || errno == EFAULT) {
		if (got != (ssize_t)size)
			return -EFAULT;
		memcpy(to, from, size); /* once more, for tools that follow memory: valgrind, sanitizers */
		return 0;
	}
#endif
	return through_pipe(to, from, size);
}
