/* A table of instructions for each process: a growing array, and an open hash table of indices into it.
   Each instruction remembers which one came next, so that the table is rarely asked.  The array has an
   upper limit: when it is full, all of it is written out, and it begins anew. */

#include "records.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FIRST_ROOM = 1 << 10,
	LAST_ROOM = 1 << 20, /* instructions of a process: 80 MiB */
	BUFFER = 1 << 16,
	LONGEST_LINE = 512, /* of an instruction */
	CLOSE_TO_OVERFLOW = 4096, /* one access brings fewer lines than that */
};

struct stream {
	int fd;
	unsigned traces; /* how many have begun */
	unsigned current; /* the one whose lines are being written */
	bool broken; /* nobody reads it any more */
	uint64_t bytes;
	size_t length;
	char buffer[BUFFER];
};

struct record {
	uint64_t address;
	uint32_t follower, target; /* what came next the last time, in sequence or not: index + 1, or 0 */
#define RECORD_MEMBER(name, what) uint32_t name;
	RECORD_COUNTS(RECORD_MEMBER)
#undef RECORD_MEMBER
	uint16_t size;
	uint8_t state; /* counter of two bits: 2 and 3 predict that it is taken */
};

struct records {
	struct stream *stream;
	unsigned number; /* of the trace */
	long pid;
	struct record *all;
	uint32_t used, room; /* of `all`; the hash table has twice the room, a power of two */
	uint32_t *table; /* index + 1, or 0 */
	uint32_t last; /* the instruction fetched last: index + 1, or 0 */
	uint64_t lost;
	struct r10k_counts seen; /* when the last misses were ascribed */
};

/* ---- the stream -------------------------------------------------------------------------- */

struct stream *
stream_new(int fd)
{
	struct stream *s = calloc(1, sizeof *s);
	if (s)
		s->fd = fd;
	return s;
}

uint64_t
stream_flush(struct stream *s)
{
	for (size_t done = 0; done < s->length && !s->broken;) {
		ssize_t written = write(s->fd, s->buffer + done, s->length - done);
		if (written > 0)
			done += (size_t)written;
		else if (errno != EINTR)
			s->broken = true;
	}
	s->bytes += s->length;
	s->length = 0;
	return s->bytes;
}

void
stream_free(struct stream *s)
{
	free(s);
}

/* Room for that many bytes. */
static char *
stream_room(struct stream *s, size_t length)
{
	if (BUFFER - s->length < length)
		stream_flush(s);
	return s->buffer + s->length;
}

static void
write_text(struct stream *s, const char *text, size_t length)
{
	if (length <= BUFFER) {
		memcpy(stream_room(s, length), text, length);
		s->length += length;
	}
}

static void
write_process(struct records *r)
{
	char line[64];
	if (r->stream->current == r->number)
		return;
	r->stream->current = r->number;
	write_text(r->stream, line, (size_t)snprintf(line, sizeof line, "process %u %ld\n", r->number, r->pid));
}

static void
write_word(struct records *r, const char *line)
{
	write_process(r);
	write_text(r->stream, line, strlen(line));
}

void
records_note(struct records *r, const char *text, size_t length)
{
	write_word(r, "note ");
	write_text(r->stream, text, length);
	write_text(r->stream, "\n", 1);
}

static char *
put_hex(char *p, uint64_t value)
{
	unsigned shift = 60;
	while (shift && !(value >> shift))
		shift -= 4;
	for (;; shift -= 4) {
		*p++ = "0123456789abcdef"[value >> shift & 15];
		if (!shift)
			return p;
	}
}

static char *
put_number(char *p, uint32_t value)
{
	char digits[10];
	int n = 0;
	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	*p++ = ' ';
	while (n)
		*p++ = digits[--n];
	return p;
}

/* Write a record's counts, and set them to 0. */
static void
write_record(struct records *r, struct record *record)
{
#define VALUE(name, what) record->name,
	const uint32_t values[] = { RECORD_COUNTS(VALUE) };
#undef VALUE
	size_t count = sizeof values / sizeof *values;
	while (count && !values[count - 1])
		count--;
	if (!count)
		return;
	write_process(r);
	char *begin = stream_room(r->stream, LONGEST_LINE), *p = begin;
	*p++ = '+';
	p = put_number(put_hex(p, record->address), record->size);
	for (size_t i = 0; i < count; i++)
		p = put_number(p, values[i]);
	*p++ = '\n';
	r->stream->length += (size_t)(p - begin);
#define CLEAR(name, what) record->name = 0;
	RECORD_COUNTS(CLEAR)
#undef CLEAR
}

void
records_write(struct records *r)
{
	for (uint32_t i = 0; i < r->used; i++)
		write_record(r, &r->all[i]);
	if (r->lost) {
		char line[64];
		snprintf(line, sizeof line, "lost %llu\n", (unsigned long long)r->lost);
		write_word(r, line);
		r->lost = 0;
	}
}

/* ---- the table --------------------------------------------------------------------------- */

static void
empty_table(struct records *r)
{
	if (r->table)
		memset(r->table, 0, 2 * (size_t)r->room * sizeof *r->table);
	r->used = r->last = 0;
}

static inline uint32_t *
slot_of(uint32_t *table, uint32_t room, const struct record *all, uint64_t address)
{
	uint32_t mask = 2 * room - 1;
	uint32_t i = (uint32_t)(address * 0x9e3779b97f4a7c15 >> 32) & mask;
	while (table[i] && all[table[i] - 1].address != address)
		i = (i + 1) & mask;
	return &table[i];
}

/* Room for more records.  False: there is none. */
static bool
grow_table(struct records *r)
{
	uint32_t room = r->room ? 2 * r->room : FIRST_ROOM;
	if (room > LAST_ROOM)
		return false;
	uint32_t *table = calloc(2 * (size_t)room, sizeof *table);
	struct record *all = table ? realloc(r->all, room * sizeof *all) : NULL;
	if (!all) {
		free(table);
		return false;
	}
	for (uint32_t i = 0; i < r->used; i++)
		*slot_of(table, room, all, all[i].address) = i + 1;
	free(r->table);
	r->table = table;
	r->all = all;
	r->room = room;
	return true;
}

/* The record of an address: index + 1; 0: no memory. */
static uint32_t
find_record(struct records *r, uint64_t address, uint64_t size)
{
	uint32_t *slot = r->room ? slot_of(r->table, r->room, r->all, address) : NULL;
	if (slot && *slot)
		return *slot;
	if (r->used == r->room && !grow_table(r)) {
		if (!r->room)
			return 0;
		records_write(r);
		empty_table(r);
	}
	r->all[r->used] = (struct record){ .address = address, .size = (uint16_t)size };
	slot = slot_of(r->table, r->room, r->all, address);
	return *slot = ++r->used;
}

/* What the instruction fetched last has done: it was followed by that one. */
static void
judge_last(struct record *last, uint32_t next, bool taken)
{
	if (!taken) {
		last->follower = next;
		last->mispredicted += last->state >= 2;
		last->state = (uint8_t)(last->state - (last->state > 0));
		return;
	}
	last->taken++;
	last->mispredicted += last->state < 2;
	last->state = (uint8_t)(last->state + (last->state < 3));
	last->retargeted += last->target != next;
	last->target = next;
}

static void
fetch(struct records *r, uint64_t address, uint64_t size)
{
	struct record *last = r->last ? &r->all[r->last - 1] : NULL;
	bool taken = last && address != last->address + last->size;
	uint32_t next = !last ? 0 : taken ? last->target : last->follower;
	if (!next || r->all[next - 1].address != address)
		next = find_record(r, address, size);
	if (r->last) /* a table that is full has begun anew */
		judge_last(&r->all[r->last - 1], next, taken);
	r->last = next;
	if (!next) {
		r->lost++;
		return;
	}
	struct record *record = &r->all[next - 1];
	if (record->size != size) { /* other code stands there now */
		write_record(r, record);
		*record = (struct record){ .address = address, .size = (uint16_t)size };
	}
	record->executions++;
}

static void
ascribe_misses(struct records *r, struct record *record, const struct r10k_counts *counts)
{
	if (record) {
#define ASCRIBE(name) record->name += (uint32_t)(counts->name - r->seen.name)
		ASCRIBE(I1mr);
		ASCRIBE(D1mr);
		ASCRIBE(D1mw);
		ASCRIBE(ILmr);
		ASCRIBE(DLmr);
		ASCRIBE(DLmw);
		ASCRIBE(TLBm);
#undef ASCRIBE
	}
	r->seen = *counts;
}

/* Whether an access has missed; a miss of the secondary cache is one of a primary cache, too. */
static inline bool
missed(const struct r10k_counts *now, const struct r10k_counts *before)
{
	return now->I1mr + now->D1mr + now->D1mw + now->TLBm !=
	       before->I1mr + before->D1mr + before->D1mw + before->TLBm;
}

static bool
nearly_full(const struct record *record)
{
	const uint32_t limit = UINT32_MAX - CLOSE_TO_OVERFLOW;
#define HIGH(name, what) record->name > limit ||
	return RECORD_COUNTS(HIGH) false;
#undef HIGH
}

void
records_access(struct records *r, enum r10k_access kind, uint64_t address, uint64_t size,
	       const struct r10k_counts *counts)
{
	if (kind == R10K_FETCH)
		fetch(r, address, size);
	struct record *record = r->last ? &r->all[r->last - 1] : NULL;
	bool miss = missed(counts, &r->seen);
	if (miss)
		ascribe_misses(r, record, counts);
	if (!record)
		return;
	if (kind != R10K_FETCH) {
		record->loads += kind != R10K_STORE;
		record->stores += kind != R10K_LOAD;
	}
	if ((miss || (record->executions | record->loads | record->stores) >> 31) && nearly_full(record))
		write_record(r, record);
}

/* ---- records of a process ------------------------------------------------------------------- */

struct records *
records_new(struct stream *stream, long pid)
{
	struct records *r = calloc(1, sizeof *r);
	if (r) {
		r->stream = stream;
		r->number = ++stream->traces;
		r->pid = pid;
	}
	return r;
}

void
records_gap(struct records *r)
{
	r->last = 0;
}

void
records_renew(struct records *r)
{
	records_write(r);
	empty_table(r);
}

void
records_forget(struct records *r)
{
	empty_table(r);
	r->lost = 0;
	r->seen = (struct r10k_counts){ 0 };
	write_word(r, "forget\n");
}

void
records_end(struct records *r)
{
	records_write(r);
	write_word(r, "end\n");
}

void
records_free(struct records *r)
{
	if (!r)
		return;
	free(r->all);
	free(r->table);
	free(r);
}
