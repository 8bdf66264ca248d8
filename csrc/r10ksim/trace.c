#include "trace.h"

#include <stdio.h>
#include <string.h>

struct messages messages = { .left = 64 };

static void
pass_message(const char *line, size_t length)
{
	for (size_t i = 0; messages.left && i < messages.count; i++) {
		if (memmem(line, length, messages.texts[i], strlen(messages.texts[i]))) {
			messages.left--;
			fprintf(stderr, "%.*s\n", (int)length, line);
			return;
		}
	}
}

/* A hexadecimal digit's value, or 16. */
static inline unsigned
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

/* "I  04000000,3", " L 1ffe,8", " S ...", " M ...": false if the line is none of them. */
static bool
access_line(struct trace *t, const char *p, const char *end)
{
	enum r10k_access kind;
	if (end - p < 6 || p[2] != ' ')
		return false;
	switch (p[0] == ' ' ? p[1] : p[0] == 'I' && p[1] == ' ' ? 'I' : 0) {
	case 'I':
		kind = R10K_FETCH;
		break;
	case 'L':
		kind = R10K_LOAD;
		break;
	case 'S':
		kind = R10K_STORE;
		break;
	case 'M':
		kind = R10K_MODIFY;
		break;
	default:
		return false;
	}
	uint64_t address = 0, size = 0;
	const char *start = p += 3;
	for (unsigned d; p < end && (d = hex_digit(*p)) < 16; p++)
		address = address << 4 | d;
	if (p == start || p - start > 16 || p == end || *p++ != ',')
		return false;
	for (start = p; p < end && *p >= '0' && *p <= '9' && p - start < 6; p++)
		size = size * 10 + (uint64_t)(*p - '0');
	if (p == start || p != end || !size || size > R10K_LONGEST)
		return false;
	t->lines++;
	if (t->counting) {
		r10k_access(t->machine, kind, address, size);
		if (t->records)
			records_access(t->records, kind, address, size, r10k_count(t->machine));
	}
	return true;
}

/* Messages about what is in the memory of the process; a line of the records is of what was there before. */
static void
note_message(struct records *r, const char *line, size_t length)
{
	enum { SAYS, CHANGES, RENEWS };
	static const struct {
		const char *text;
		int what;
	} notes[] = {
		{ " Lackey, ", RENEWS },   { " Command: ", SAYS },
		{ " Parent PID: ", SAYS }, { " Reading syms from ", CHANGES },
		{ "    svma ", SAYS },	   { " Discarding syms at ", CHANGES },
	};
	const char *end = line + length, *p = line + 2; /* "==123== " or "--123-- " */
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	if (end - p < 2 || p[0] != line[0] || p[1] != line[0])
		return;
	p += 2;
	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
		size_t prefix = strlen(notes[i].text);
		if ((size_t)(end - p) < prefix || memcmp(p, notes[i].text, prefix) != 0)
			continue;
		if (notes[i].what == RENEWS)
			records_renew(r);
		else if (notes[i].what == CHANGES)
			records_write(r);
		records_note(r, line, length);
		return;
	}
}

static void
whole_line(struct trace *t, const char *line, size_t length)
{
	static const char first[] = "== Lackey, "; /* said first by every program */
	static const char vex[] = "vex ";    /* about an instruction that valgrind does not know */
	if (!length)
		return;
	t->closed = !access_line(t, line, line + length);
	if (!t->closed)
		return;
	pass_message(line, length);
	if (length >= 2 && line[0] == line[1] && (line[0] == '=' || line[0] == '-' || line[0] == '*')) {
		if (memmem(line, length, first, sizeof first - 1))
			r10k_empty(t->machine);
		if (t->records)
			note_message(t->records, line, length);
	} else if (length < sizeof vex || memcmp(line, vex, sizeof vex - 1) != 0) {
		t->malformed++;
	}
}

/* Keep the first part of a line whose end has not arrived yet. */
static void
keep_bytes(struct trace *t, const char *bytes, size_t length)
{
	if (length > sizeof t->line - t->length) {
		t->overlong = true;
		length = sizeof t->line - t->length;
	}
	memcpy(t->line + t->length, bytes, length);
	t->length += length;
}

/* The line kept has ended. */
static void
end_kept_line(struct trace *t)
{
	/* The command line is the only long line; what is cut off does not matter. */
	whole_line(t, t->line, t->length);
	t->length = 0;
	t->overlong = false;
}

void
trace_read(struct trace *t, const char *bytes, size_t length)
{
	const char *end = bytes + length;
	while (bytes < end) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		if (!newline) {
			keep_bytes(t, bytes, (size_t)(end - bytes));
			return;
		}
		if (t->length) {
			keep_bytes(t, bytes, (size_t)(newline - bytes));
			end_kept_line(t);
		} else {
			whole_line(t, bytes, (size_t)(newline - bytes));
		}
		bytes = newline + 1;
	}
}

void
trace_end(struct trace *t)
{
	t->length = 0;
	t->overlong = false;
}
