/* What each instruction of a program has done: executions, jumps, and its part of what the machine counts. */
#ifndef RECORDS_H
#define RECORDS_H

#include "r10k.h"

#include <stddef.h>

/*
 * The counts of an instruction, in the order in which they are written.  Whether it is a branch cannot be
 * seen in a trace: `taken` and what follows from it stand for every instruction, and mean something for
 * branches only.  Two kinds of prediction are simulated, without limits to their tables: a counter of two
 * bits for each instruction (for conditional branches), and the target of the last time (for indirect jumps).
 */
#define RECORD_COUNTS(X) \
	X(executions, "fetches") \
	X(loads, "accesses that load, or load and store") \
	X(stores, "accesses that store, or load and store") \
	X(taken, "executions after which another instruction than the following one came next") \
	X(mispredicted, "executions for which the counter of two bits had said the opposite of `taken`") \
	X(retargeted, "those of `taken` that went to another instruction than the time before") \
	X(I1mr, "lines that its fetches brought into the primary cache") \
	X(D1mr, "lines that its loads brought into the primary data cache") \
	X(D1mw, "lines that its stores brought into the primary data cache") \
	X(ILmr, "lines that its fetches brought into the secondary cache") \
	X(DLmr, "lines that its loads brought into the secondary cache") \
	X(DLmw, "lines that its stores brought into the secondary cache") \
	X(TLBm, "TLB misses of its fetches and accesses")

/*
 * Where the records of all traces go, as lines of text:
 *
 *     process NUMBER PID     the following lines are of that trace (the NUMBERth; PID 0: that of the pipe)
 *     note TEXT              a message of valgrind's about what is in the memory of the process
 *     +ADDRESS SIZE COUNT... an instruction, in hexadecimal, its bytes, and its counts; zeros at the end are
 *                            left out.  What has been counted since its last line: all lines add up.
 *     forget                 what was said of this process's instructions does not count
 *     lost COUNT             executions that were not recorded: no memory
 *     end                    of the trace
 *
 * An instruction's line stands between the notes that were said before and after it was executed.
 */
struct stream;

struct stream *stream_new(int fd);
/* Write out what has been buffered: the number of bytes written by then. */
uint64_t stream_flush(struct stream *stream);
void stream_free(struct stream *stream);

/* The records of a process. */
struct records;

/* NULL: no memory. */
struct records *records_new(struct stream *stream, long pid);

/* An access, which the machine with these counts has seen; data belongs to the instruction fetched last. */
void records_access(struct records *r, enum r10k_access kind, uint64_t address, uint64_t size,
		    const struct r10k_counts *counts);

/* The next instruction does not follow the last one: there is a gap in the trace. */
void records_gap(struct records *r);

/* Write what has been counted, and begin at 0; what is known for predictions stays. */
void records_write(struct records *r);

/* The process executes another program. */
void records_renew(struct records *r);

void records_note(struct records *r, const char *text, size_t length);
void records_forget(struct records *r);
/* Write all, and that it is all. */
void records_end(struct records *r);
void records_free(struct records *r);

#endif
