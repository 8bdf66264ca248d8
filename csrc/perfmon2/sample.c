/*
 * The sampling format "default": a buffer that the program maps, and what an overflow writes to it.
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

#ifndef F_ADD_SEALS	/* glibc before 2.21 */
#define F_ADD_SEALS		1033
#define F_SEAL_SEAL		0x0001
#define F_SEAL_SHRINK		0x0002
#define F_SEAL_GROW		0x0004
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE	0x0010	/* Linux 5.1; older C libraries do not name it */
#endif

/* What the largest entry takes. */
static uint64_t
least_space(const struct machine *machine)
{
	return sizeof(pfm_dfl_smpl_entry_t) + machine->num_pmds * sizeof(uint64_t);
}

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
		errno = ENOMEM;	/* there is no such directory, or no room in it */
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
sample_create(struct context *c, const pfm_dfl_smpl_arg_t *argument)
{
	const uint64_t least = least_space(c->machine);
	const int ret = make_buffer(c, argument->buf_size, sizeof(pfm_dfl_smpl_hdr_t) + least);
	pfm_dfl_smpl_hdr_t *header = c->buffer;

	if (ret < 0)
		return ret;
	header->hdr_version = PFM_DFL_SMPL_VERSION;
	header->hdr_buf_size = argument->buf_size;
	header->hdr_buf_flags = argument->buf_flags;
	header->hdr_cur_offs = sizeof(*header);
	header->hdr_min_buf_space = least;
	return 0;
}

int
sample_create_ctl(struct context *c, const pfm_default_smpl_arg_t *argument)
{
	const int ret = make_buffer(c, argument->buf_size, PFM_DEFAULT_SMPL_MIN_BUF_SIZE);
	pfm_default_smpl_hdr_t *header = c->buffer;

	if (ret < 0)
		return ret;
	header->hdr_version = PFM_DEFAULT_SMPL_VERSION;
	header->hdr_buf_size = argument->buf_size;
	header->hdr_cur_offs = sizeof(*header);
	return 0;
}

/* ---- samples: both formats have the same entries but for where the counter's number stands --- */

_Static_assert(sizeof(pfm_dfl_smpl_entry_t) == sizeof(pfm_default_smpl_entry_t), "entries");
_Static_assert(offsetof(pfm_dfl_smpl_entry_t, last_reset_val) == offsetof(pfm_default_smpl_entry_t, last_reset_val), "entries");
_Static_assert(offsetof(pfm_dfl_smpl_entry_t, tgid) == offsetof(pfm_default_smpl_entry_t, tgid), "entries");
_Static_assert(offsetof(pfm_dfl_smpl_hdr_t, hdr_cur_offs) == offsetof(pfm_default_smpl_hdr_t, hdr_cur_offs), "headers");

static bool
is_full(const struct context *c)
{
	const pfm_dfl_smpl_hdr_t *header = c->buffer;
	const pfm_default_smpl_hdr_t *ctl = c->buffer;

	if (c->is_ctl)
		return ctl->hdr_buf_size - ctl->hdr_cur_offs < PFM_DEFAULT_MAX_ENTRY_SIZE;
	return header->hdr_buf_size - header->hdr_cur_offs < header->hdr_min_buf_space;
}

static void
write_number(const struct context *c, pfm_dfl_smpl_entry_t *entry, unsigned int number)
{
	if (c->is_ctl)
		((pfm_default_smpl_entry_t *)(void *)entry)->ovfl_pmd = (uint8_t)number;
	else
		entry->ovfl_pmd = (uint16_t)number;
}

static void
write_entry(struct context *c, pfm_dfl_smpl_hdr_t *header, unsigned int number, const struct where *where)
{
	const struct set *set = c->active;
	const struct pmd *pmd = &set->pmds[number];
	pfm_dfl_smpl_entry_t *entry = (void *)((char *)header + header->hdr_cur_offs);
	uint64_t *values = (uint64_t *)(entry + 1);

	entry->pid = (uint32_t)where->tid;
	entry->tgid = (uint32_t)where->pid;
	write_number(c, entry, number);
	entry->last_reset_val = pmd->lval;
	entry->ip = where->ip;
	entry->tstamp = where->time;
	entry->cpu = (uint16_t)where->cpu;
	entry->set = set->id;
	for (unsigned int i = 0; i < PERFMON2_PMDS; i++)
		if (pmd->smpl_pmds >> i & 1)
			*values++ = set->pmds[i].value;
	header->hdr_cur_offs = (uint64_t)((char *)values - (char *)header);
	header->hdr_count++;
}

bool
sample_record(struct context *c, unsigned int pmd, const struct where *where)
{
	if (!is_full(c)) {
		write_entry(c, c->buffer, pmd, where);
		if (!is_full(c))
			return false;
	}
	if (c->is_ctl)
		((pfm_default_smpl_hdr_t *)c->buffer)->hdr_overflows++;
	else
		((pfm_dfl_smpl_hdr_t *)c->buffer)->hdr_overflows++;
	return true;
}

void
sample_restart(struct context *c)
{
	pfm_dfl_smpl_hdr_t *header = c->buffer;

	header->hdr_count = 0;
	header->hdr_cur_offs = sizeof(*header);
}

/* A context's is a pipe.  Any other is left alone without the lock: the engine's own mmap() may be pfm_mmap(), see map.c. */
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
	call_done(c);
	return found;
}
