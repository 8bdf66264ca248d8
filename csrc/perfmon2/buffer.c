/*
 * The sampling buffer, which the program maps.
 *
 * It is memory with a descriptor, sealed when the engine has mapped it: no one else can write to it.  A kernel before
 * 3.17 has no such memory: there it is a file that has lost its name, and is not sealed.
 */
#include "call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/copy.h"

#ifndef F_ADD_SEALS /* glibc before 2.21 */
#define F_ADD_SEALS 1033
#define F_SEAL_SEAL 0x0001
#define F_SEAL_SHRINK 0x0002
#define F_SEAL_GROW 0x0004
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010 /* Linux 5.1; older C libraries do not name it */
#endif

/* Whether the process may lock that much more memory. */
static bool
may_lock(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
	       (size <= limit.rlim_cur && contexts_buffers() <= limit.rlim_cur - size);
}

/* A file without a name where the kernel (before 3.17) or the C library's headers have no memfd_create(). */
static int
unnamed_file(void)
{
	char name[] = "/dev/shm/perfmon-XXXXXX";
	const int fd = mkostemp(name, O_CLOEXEC);

	if (fd >= 0)
		unlink(name);
	else if (errno != EMFILE && errno != ENFILE)
		errno = ENOMEM; /* there is no such directory, or no room in it */
	return fd;
}

/* Not by the C library's function, which glibc has from 2.27 on. */
static int
memory_file(void)
{
#ifdef SYS_memfd_create
	const unsigned long close_on_exec = 1, allow_sealing = 2;
	const int fd = (int)syscall(SYS_memfd_create, "perfmon", close_on_exec | allow_sealing);

	if (fd >= 0 || errno != ENOSYS)
		return fd;
#endif
	return unnamed_file();
}

static int
open_buffer(size_t size)
{
	int fd = memory_file();

	if (fd < 0)
		return -errno;
	fd = descriptor_move_up(fd);
	if (ftruncate(fd, (off_t)size) < 0) {
		close(fd);
		return -ENOMEM;
	}
	return fd;
}

/* Memory for a buffer, mapped here and sealed. */
static int
make_buffer(struct context *c, uint64_t asked, uint64_t least)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t size;
	void *memory;

	if (asked < least)
		return -EINVAL;
	if (asked > SIZE_MAX / 2)
		return -ENOMEM;
	size = (size_t)((asked + page - 1) / page * page);
	if (!may_lock(size))
		return -ENOMEM;
	c->buffer_fd = open_buffer(size);
	if (c->buffer_fd < 0)
		return c->buffer_fd;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, c->buffer_fd, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	c->buffer = memory;
	c->buffer_size = size;
	fcntl(c->buffer_fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	return 0;
}

int
buffer_create(struct context *c, uint64_t size, uint64_t least, uint32_t flags)
{
	const int ret = make_buffer(c, size, least);

	if (ret == 0)
		sample_begin(c, size, flags);
	return ret;
}

/* The program may have unmapped it and mapped something else there: only writes to the buffer itself are seen there. */
static bool
is_mapped_for_program(const struct context *c)
{
	const uint64_t marks[] = { 0x5a5a1234a5a5fedc, 0xa5a5edcb5a5a0123 };
	volatile uint64_t *last = (uint64_t *)c->buffer + sizeof(pfm_default_smpl_hdr_t) / sizeof(*last) - 1;
	const char *theirs = (const char *)c->program_buffer + sizeof(pfm_default_smpl_hdr_t) - sizeof(*last);
	const uint64_t before = *last;
	bool is_same = true;

	for (size_t i = 0; i < 2; i++) {
		uint64_t seen;

		*last = marks[i];
		is_same &= copy_in(&seen, theirs, sizeof(seen)) == 0 && seen == marks[i];
	}
	*last = before;
	return is_same;
}

void
buffer_free(struct context *c)
{
	if (c->program_buffer && c->buffer && is_mapped_for_program(c))
		munmap(c->program_buffer, c->buffer_size);
	if (c->buffer_fd >= 0)
		close(c->buffer_fd);
	if (c->buffer)
		munmap(c->buffer, c->buffer_size);
}

/*
 * A context's descriptor is a pipe.  Others are passed on without the lock: the engine's own mmap() may be pfm_mmap(),
 * see map.c.
 */
int
sample_buffer_of(int fd, size_t len, int prot, int flags)
{
	struct context *c;
	struct stat st;
	int found = -1;

	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return -1;
	engine_enter();
	c = call_context(fd, true);
	if (c && prot & PROT_WRITE)
		found = (flags & MAP_TYPE) == MAP_PRIVATE ? -EINVAL : -EACCES;
	else if (c)
		found = !c->buffer || len > c->buffer_size ? -EINVAL : c->buffer_fd;
	call_done(c, 0);
	return found;
}
