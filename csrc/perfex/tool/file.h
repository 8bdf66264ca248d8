/*
 * The file that a process's counts are in: what the valgrind tool writes, and the plugin of qemu (../plugin).
 *
 * The file is mapped, so that what has been counted is in it at any time, whatever ends the process.  It begins with a
 * header; with --lines=yes items follow.  Numbers are of this machine's byte order; a reference is an offset in the file
 * divided by 8, and 0 is none.
 */
#ifndef PERFEX_FILE_H
#define PERFEX_FILE_H

#include "r10k.h"

#define FORMAT "r10k002\n" /* the first bytes of a file */

enum state {
	STATE_RUNS,     /* or was killed */
	STATE_ENDED,    /* by itself, or by a signal that valgrind has passed on */
	STATE_REPLACED, /* it executed another program */
};

struct header {
	char format[8];
	uint32_t size; /* of the header in bytes */
	uint32_t num_counts;
	int32_t pid, parent;
	uint32_t state;
	uint32_t full;                 /* there was no room for more items: lines are missing */
	uint32_t lost;                 /* processes that it made have no file */
	uint32_t on, wanted;           /* whether it counts; perfex writes whether it shall */
	uint32_t several;              /* threads have run at once: another run counts something else */
	uint32_t not_begun;            /* regions whose start_counters() has failed, with --regions */
	int32_t running;               /* the thread that runs, with --threads of valgrind's; 0: none */
	uint32_t changing;             /* odd while counts are put down */
	uint64_t used;                 /* bytes of the file, this header included */
	uint64_t now[R10K_NUM_COUNTS]; /* of the thread that runs, since it does; without --threads, of all */
	char names[512];               /* of the counts, with a blank after each */
	char program[512];
};

enum kind {
	ITEM_FILL = 0, /* nothing more */
	ITEM_TEXT,     /* UTF-8, with zeros at its end */
	ITEM_FUNCTION,
	ITEM_BLOCK, /* records */
	ITEM_SITE,  /* R10K_NUM_COUNTS counts of one record */
	ITEM_THREAD,
	ITEM_CALL,
	ITEM_OBJECT,    /* of the plugin, which knows no functions and lines */
	ITEM_JUMP_CALL, /* likewise */
};

/* The beginning of each item. */
struct item {
	uint32_t kind;
	uint32_t size; /* with this, a multiple of 8 */
};

struct function {
	uint32_t name, object, file; /* references to texts */
	uint32_t line;
};

/*
 * An instruction's effects in a part of a block that is executed as a whole: `executed` times what is said here.  An
 * instruction has several of these if it lies in several blocks or parts.  What it does not do each time (misses,
 * accesses under a mask) is in `site`.
 */
struct record {
	uint64_t executed; /* of the first record of a part; of others, 0 */
	uint64_t address;  /* 0: none */
	uint32_t function, file, line;
	uint32_t site;
	int8_t weights[R10K_I1mr]; /* the counts before I1mr */
	uint8_t size;              /* of the instruction */
	uint32_t first;            /* how many records before this one the first of its part is */
};

struct thread {
	int32_t tid; /* the kernel's */
	uint32_t pad;
	uint64_t counts[R10K_NUM_COUNTS];
};

/* Calls of one function by another. */
struct call {
	uint32_t caller, callee; /* references to functions */
	uint64_t calls;
	uint64_t counts[R10K_NUM_COUNTS]; /* what was counted in them, with what the callee has called */
};

/* The same where functions are known by their addresses only; caller: 0: whoever calls it. */
struct jump_call {
	uint64_t caller, callee;
	uint64_t calls;
	uint64_t counts[R10K_NUM_COUNTS];
};

/* A part of a file in the program's memory. */
struct object {
	uint64_t begin, end, offset; /* addresses, and where in the file the first one is */
	char path[512];
};

#endif
