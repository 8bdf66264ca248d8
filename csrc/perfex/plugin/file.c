/*
 * The file of a process: a mapping that is as long as anything will be, of a file that grows.  No descriptor stays open:
 * the program would see it.
 */
#define _GNU_SOURCE
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEP = 64 << 10, MOST_FILES = 1000000, PATH = 4096 };

struct header *header;
static char *base;              /* where the file is mapped; header, but for its type */
static size_t mapped, extended; /* bytes */
static char path[PATH];
static const char *directory;

/* ---- the file ---- */

/* A file that no process has: one that executes programs has several, and numbers begin anew in a namespace. */
static int
create(void)
{
	for (unsigned int i = 0; i < MOST_FILES; i++) {
		const int n = snprintf(path, sizeof path, "%s/%d.%u.r10k", directory, getpid(), i);
		if (n < 0 || (size_t)n >= sizeof path)
			break;
		const int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
		if (made >= 0) {
			fchmod(made, S_IRUSR | S_IWUSR); /* the program's umask is not for it */
			return made;
		}
		if (errno != EEXIST)
			break;
	}
	*path = '\0';
	return -1;
}

/* Whether the file may have that many bytes: more of them would be a signal for the program. */
static bool
allowed(size_t size)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= size;
}

/* Make the file longer: its room on the disk is had here, and not where the memory is touched. */
static bool
extend_to(int fd, size_t size)
{
	const size_t whole = (size + STEP - 1) & ~(size_t)(STEP - 1);
	if (fd < 0 || whole > mapped || !allowed(whole) || posix_fallocate(fd, 0, (off_t)whole) != 0)
		return false;
	extended = whole;
	return true;
}

static bool
extend(size_t size)
{
	if (size <= extended)
		return true;
	const int fd = *path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	const bool done = extend_to(fd, size);
	if (fd >= 0)
		close(fd);
	return done;
}

static void
describe(void)
{
	static const char names[] =
#define NAME(name, what) #name " "
		R10K_COUNTS(NAME)
#undef NAME
		;
	memcpy(header->format, FORMAT, sizeof header->format);
	header->size = (sizeof *header + 7) & ~7u;
	header->num_counts = R10K_NUM_COUNTS;
	header->used = header->size;
	header->pid = getpid();
	header->parent = getppid();
	memcpy(header->names, names, sizeof names);
}

/* Counts that nobody sees: the program runs all the same.  perfex knows by the file that is missing. */
static void
do_without(void)
{
	if (*path)
		unlink(path);
	*path = '\0';
	header->full = 1;
}

/* Map it, in the place of what is there. */
static bool
map(int fd)
{
	void *at = mmap(base, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	if (at == MAP_FAILED)
		return false;
	base = at;
	header = at;
	return true;
}

void
file_open(const char *where, const char *program)
{
	directory = where;
	mapped = sizeof(void *) == 8 ? (size_t)1 << 31 : (size_t)1 << 28;
	base = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED) {
		fputs("perfex: no memory for counts\n", stderr);
		_exit(1);
	}
	header = (struct header *)base;
	const int fd = create();
	const bool done = extend_to(fd, sizeof *header) && map(fd);
	describe();
	header->on = header->wanted = 1;
	snprintf(header->program, sizeof header->program, "%s", program);
	if (!done)
		do_without();
	if (fd >= 0)
		close(fd);
}

/* ---- items ---- */

void *
file_item(enum kind kind, size_t size)
{
	const size_t whole = (sizeof(struct item) + size + 7) & ~(size_t)7;
	struct item *item = (struct item *)(base + header->used);
	if (header->full || header->used + whole + sizeof *item > mapped ||
	    !extend(header->used + whole + sizeof *item)) {
		header->full = 1;
		return NULL;
	}
	item->size = (uint32_t)whole;
	item->kind = kind;
	header->used += whole;
	return item + 1;
}

uint32_t
file_reference(const void *inside)
{
	return inside ? (uint32_t)(((const char *)inside - base) >> 3) : 0;
}

void *
file_at(uint32_t reference)
{
	return reference ? base + ((size_t)reference << 3) : NULL;
}

/* The object that a line of /proc/self/maps is about; false: it is about another place, or no file. */
static bool
is_of(const char *line, uint64_t here, struct object *object)
{
	unsigned long begin, end, offset;
	if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %511[^\n]", &begin, &end, &offset, object->path) != 4)
		return false;
	object->begin = begin;
	object->end = end;
	object->offset = offset;
	return here >= begin && here < end && *object->path == '/';
}

void
file_object(uint64_t address, const void *here)
{
	static uint64_t begin, end; /* the last one */
	char line[PATH];
	struct object found = { 0 };
	if (address >= begin && address < end)
		return;
	FILE *maps = fopen("/proc/self/maps", "re");
	bool known = false;
	while (maps && !known && fgets(line, sizeof line, maps))
		known = is_of(line, (uint64_t)(uintptr_t)here, &found);
	if (maps)
		fclose(maps);
	struct object *made = known ? file_item(ITEM_OBJECT, sizeof *made) : NULL;
	if (!made)
		return;
	*made = found;
	made->begin += address - (uint64_t)(uintptr_t)here; /* as the program sees it */
	made->end += address - (uint64_t)(uintptr_t)here;
	begin = made->begin;
	end = made->end;
}

/* ---- fork ---- */

/* All counts of an item are 0. */
static void
clear(const struct item *item, void *inside)
{
	switch (item->kind) {
	case ITEM_BLOCK:
		for (struct record *r = inside; (char *)(r + 1) <= (char *)item + item->size; r++) {
			r->executed = 0;
			r->site = 0; /* the parent may have made it since */
		}
		break;
	case ITEM_SITE:
		memset(inside, 0, R10K_NUM_COUNTS * sizeof(uint64_t));
		break;
	case ITEM_THREAD:
		((struct thread *)inside)->tid = 0;
		memset(((struct thread *)inside)->counts, 0, R10K_NUM_COUNTS * sizeof(uint64_t));
		break;
	case ITEM_JUMP_CALL:
		((struct jump_call *)inside)->calls = 0;
		memset(((struct jump_call *)inside)->counts, 0, R10K_NUM_COUNTS * sizeof(uint64_t));
		break;
	default:
		break;
	}
}

static size_t used; /* bytes, at the time of fork(): the parent goes on */

void
file_before_fork(void)
{
	used = header->used;
}

/* Write what the parent had into a new file, and map that. */
static bool
copy(int fd)
{
	extended = 0;
	return extend_to(fd, used + sizeof(struct item)) && pwrite(fd, base, used, 0) == (ssize_t)used && map(fd);
}

void
file_fork(void)
{
	struct header *parents = header;
	const int fd = create();
	if (!copy(fd)) {
		/* What this process counts is lost; its parent's file says so. */
		__sync_fetch_and_add(&parents->lost, 1);
		char *kept = malloc(used);
		if (!kept)
			_exit(1);
		memcpy(kept, base, used);
		mmap(base, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		     0);
		memcpy(base, kept, used);
		free(kept);
		do_without();
	}
	if (fd >= 0)
		close(fd);
	for (size_t at = header->size; at < used;) {
		struct item *item = (struct item *)(base + at);
		clear(item, item + 1);
		at += item->size;
	}
	memset(header->now, 0, sizeof header->now);
	header->lost = header->several = 0;
	header->state = STATE_RUNS;
	describe();
	header->used = used;
}
