/* Where traces come from: a pipe, and files that grow while the processes run. */
#ifndef READER_H
#define READER_H

#include "trace.h"

/* What all traces together have counted. */
struct total {
	struct r10k_counts counts;
	uint64_t processes, lines, malformed;
	uint64_t silent; /* processes with an empty trace, or one that could not be opened */
	uint64_t cut; /* processes whose trace has an end without valgrind's last word, */
	bool cut_pipe; /* and whether that of the pipe is among them */
	uint64_t records; /* bytes that have been written to the stream of records */
	bool full; /* the file system of the directory had no room: traces of processes may have gaps */
};

struct reader;

/*
 * Traces of machines of that kind: one from the descriptor `pipe` and, if `directory` is not NULL,
 * those of the files in it named trace.<pid>, one for each process.  What each instruction has done is
 * written to the stream, if that is not NULL.  NULL: no memory, no directory.
 */
struct reader *reader_new(const struct r10k_config *config, int pipe, const char *directory, struct stream *stream);

/* Count from now on, or stop. */
void reader_count(struct reader *reader, bool on);

/* Read what there is to read: how many bytes, 0 at the pipe's end or when there is nothing now. */
size_t reader_step(struct reader *reader);

/* Write what instructions have done until now. */
void reader_write_records(struct reader *reader);

/* Read everything: no more will be written. */
void reader_finish(struct reader *reader);

/* What is buffered of the records is written, too. */
struct total reader_total(struct reader *reader);
void reader_free(struct reader *reader);

#endif
