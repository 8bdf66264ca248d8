/* A process's file is read while it grows, and what has been read is given back to the file
   system.  A process that executes another program truncates its file: what it was before, a copy
   of its parent for the moment between fork and exec, is then not counted at all - it may have
   been read, or not.  So that this moment costs nothing, reading begins late. */

#include "reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	BLOCK = 1 << 16, /* bytes read at once; a file is read when it has that many more */
};

/* The file of a process. */
struct process {
	struct process *next;
	long pid;
	int fd;
	off_t offset;
	bool holes; /* what has been read is a hole in the file */
	struct trace trace;
};

struct reader {
	struct r10k_config config;
	int pipe;
	DIR *directory;
	bool counting;
	struct trace main;
	struct process *processes;
	struct stream *stream; /* NULL: no records */
	struct total ended; /* the counts of processes that have ended */
	bool full;
	uint64_t
		unopened; /* traces, that could not be opened when the directory was last read: no descriptors, no memory */
	unsigned rest; /* steps until the directory is read again */
	char block[BLOCK];
};

static void
add_trace(struct total *total, const struct trace *trace)
{
	const struct r10k_counts *c = r10k_count(trace->machine);
#define ADD(name, what) total->counts.name += c->name;
	R10K_COUNTS(ADD)
#undef ADD
	total->lines += trace->lines;
	total->malformed += trace->malformed;
	total->processes++;
}

struct reader *
reader_new(const struct r10k_config *config, int pipe, const char *directory, struct stream *stream)
{
	struct reader *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	r->config = *config;
	r->pipe = pipe;
	r->counting = r->main.counting = true;
	r->main.machine = r10k_new(config);
	r->stream = stream;
	r->main.records = stream ? records_new(stream, 0) : NULL;
	r->directory = directory ? opendir(directory) : NULL;
	if (r->main.machine && !stream == !r->main.records && !directory == !r->directory)
		return r;
	reader_free(r);
	return NULL;
}

static void
close_process(struct process *p)
{
	if (p->fd >= 0)
		close(p->fd);
	r10k_free(p->trace.machine);
	records_free(p->trace.records);
	free(p);
}

void
reader_free(struct reader *r)
{
	for (struct process *p; (p = r->processes);) {
		r->processes = p->next;
		close_process(p);
	}
	if (r->directory)
		closedir(r->directory);
	r10k_free(r->main.machine);
	records_free(r->main.records);
	free(r);
}

static void
count_trace(struct trace *trace, bool on)
{
	trace->counting = on;
	if (trace->records)
		records_gap(trace->records);
}

void
reader_count(struct reader *r, bool on)
{
	r->counting = on;
	count_trace(&r->main, on);
	for (struct process *p = r->processes; p; p = p->next)
		count_trace(&p->trace, on);
}

void
reader_write_records(struct reader *r)
{
	if (!r->stream)
		return;
	records_write(r->main.records);
	for (struct process *p = r->processes; p; p = p->next)
		records_write(p->trace.records);
}

static struct process *
new_process(struct reader *r, const char *name, long pid)
{
	struct process *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->pid = pid;
	p->trace.counting = r->counting;
	p->trace.machine = r10k_new(&r->config);
	p->fd = openat(dirfd(r->directory), name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	if (p->trace.machine && p->fd >= 0 && !fstat(p->fd, &st) && S_ISREG(st.st_mode) &&
	    (!r->stream || (p->trace.records = records_new(r->stream, pid)))) {
		p->next = r->processes;
		return r->processes = p;
	}
	close_process(p);
	return NULL;
}

/* Whether a process may have failed to write: asked before anything is given back. */
static void
look_for_room(struct reader *r)
{
	struct statvfs fs;
	if (r->processes && !fstatvfs(dirfd(r->directory), &fs) &&
	    (fs.f_bavail * fs.f_frsize < BLOCK || (fs.f_files && !fs.f_favail)))
		r->full = true;
}

/* Look for the files of new processes. */
static void
look_for_traces(struct reader *r)
{
	rewinddir(r->directory);
	r->unopened = 0;
	for (struct dirent *d; (d = readdir(r->directory));) {
		long pid;
		int length = 0;
		if (d->d_type == DT_FIFO || sscanf(d->d_name, "trace.%9ld%n", &pid, &length) != 1 || d->d_name[length])
			continue;
		struct process *p = r->processes;
		while (p && p->pid != pid)
			p = p->next;
		if (!p && !new_process(r, d->d_name, pid))
			r->unopened++;
	}
}

/* Whether another program has begun the file again: it is shorter, or there is data where a hole was. */
static bool
begun_anew(const struct process *p, off_t size)
{
	if (size < p->offset)
		return true;
	off_t first = p->holes ? lseek(p->fd, 0, SEEK_DATA) : p->offset;
	return first >= 0 && first < p->offset / BLOCK * BLOCK;
}

static void
forget_what_was_read(struct process *p, const struct r10k_config *config)
{
	struct r10k *machine = r10k_new(config);
	if (!machine)
		return;
	bool counting = p->trace.counting;
	r10k_free(p->trace.machine);
	struct records *records = p->trace.records;
	if (records)
		records_forget(records);
	p->trace = (struct trace){ .machine = machine, .records = records, .counting = counting };
	p->offset = 0;
	p->holes = false;
}

/* Give back what has been read. */
static void
give_back(struct process *p)
{
	off_t end = p->offset / BLOCK * BLOCK;
	if (!fallocate(p->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, end)) {
		off_t first = lseek(p->fd, 0, SEEK_DATA);
		p->holes = first < 0 || first >= end;
	}
}

static size_t
read_process(struct reader *r, struct process *p, bool all)
{
	struct stat st;
	if (fstat(p->fd, &st))
		return 0;
	if (begun_anew(p, st.st_size))
		forget_what_was_read(p, &r->config);
	size_t bytes = 0;
	while (all || st.st_size - p->offset >= BLOCK) {
		ssize_t got = pread(p->fd, r->block, BLOCK, p->offset);
		if (got <= 0)
			break;
		trace_read(&p->trace, r->block, (size_t)got);
		p->offset += got;
		bytes += (size_t)got;
	}
	if (bytes)
		give_back(p);
	return bytes;
}

/* A process has ended: nothing more comes. */
static void
end_process(struct reader *r, struct process **link)
{
	struct process *p = *link;
	char name[32];
	read_process(r, p, true);
	trace_end(&p->trace);
	if (r->stream)
		records_end(p->trace.records);
	add_trace(&r->ended, &p->trace);
	r->ended.cut += p->trace.lines && !p->trace.closed;
	r->ended.silent += !p->offset;
	*link = p->next;
	snprintf(name, sizeof name, "trace.%ld", p->pid);
	unlinkat(dirfd(r->directory), name, 0);
	close_process(p);
}

static size_t
read_pipe(struct reader *r)
{
	size_t bytes = 0;
	for (int i = 0; i < 64; i++) {
		ssize_t got = read(r->pipe, r->block, BLOCK);
		if (got <= 0)
			break;
		trace_read(&r->main, r->block, (size_t)got);
		bytes += (size_t)got;
		if (got < BLOCK)
			break;
	}
	return bytes;
}

size_t
reader_step(struct reader *r)
{
	size_t bytes = read_pipe(r);
	if (!r->directory)
		return bytes;
	bool looking = !r->rest--;
	if (looking) {
		look_for_traces(r);
		r->rest = 16;
	}
	look_for_room(r);
	for (struct process **link = &r->processes; *link;) {
		bool ended = looking && kill((pid_t)(*link)->pid, 0) && errno == ESRCH;
		if (ended) {
			end_process(r, link);
		} else {
			bytes += read_process(r, *link, false);
			link = &(*link)->next;
		}
	}
	return bytes;
}

void
reader_finish(struct reader *r)
{
	uint64_t unopened = 0;
	while (read_pipe(r))
		;
	trace_end(&r->main);
	if (r->stream)
		records_end(r->main.records);
	r->ended.cut_pipe = r->main.lines && !r->main.closed;
	r->ended.cut += r->ended.cut_pipe;
	if (!r->directory)
		return;
	do { /* what could not be opened may be opened when others have been closed */
		look_for_traces(r);
		look_for_room(r);
		while (r->processes)
			end_process(r, &r->processes);
	} while (r->unopened && r->unopened != unopened && (unopened = r->unopened));
}

struct total
reader_total(struct reader *r)
{
	struct total total = r->ended;
	add_trace(&total, &r->main);
	for (const struct process *p = r->processes; p; p = p->next)
		add_trace(&total, &p->trace);
	total.full = r->full;
	total.records = r->stream ? stream_flush(r->stream) : 0;
	total.silent += r->unopened;
	return total;
}
