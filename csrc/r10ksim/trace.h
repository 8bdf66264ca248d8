/* The memory trace of valgrind's lackey (--trace-mem=yes), read in pieces of any size. */
#ifndef TRACE_H
#define TRACE_H

#include "records.h"

/* A trace being read: of one process, or of several one after the other. */
struct trace {
	struct r10k *machine;
	struct records *records; /* NULL: none are kept */
	bool counting; /* else the machine sees nothing */
	uint64_t lines; /* accesses */
	uint64_t malformed; /* lines that are neither an access nor a message of valgrind's */
	bool closed; /* the last line is valgrind's, which has the last word of a process that it sees end */
	size_t length; /* of the incomplete line at the end */
	bool overlong; /* which is longer than any line can be */
	char line[4352]; /* a message may have the name of a file in it */
};

/* Valgrind's messages that have one of these texts in them go to standard error, up to a number of lines. */
struct messages {
	const char *texts[16];
	size_t count;
	unsigned left;
};
extern struct messages messages;

/* Some bytes of the trace. */
void trace_read(struct trace *trace, const char *bytes, size_t length);

/* The end: an incomplete line is that of a process which was killed, and dropped. */
void trace_end(struct trace *trace);

#endif
