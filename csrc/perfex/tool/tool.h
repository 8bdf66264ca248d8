/* The valgrind tool r10k: what its parts know of each other.  The file that a process's counts are in: file.h. */
#ifndef PERFEX_TOOL_H
#define PERFEX_TOOL_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "file.h"

extern struct header *header;

/* ---- of libcoregrind, in no public header: the same in all versions since 3.13 ---- */

extern SysRes VG_(do_syscall)(UWord number, RegWord, RegWord, RegWord, RegWord, RegWord, RegWord);
extern Int VG_(safe_fd)(Int fd);
extern Addr VG_(brk_base), VG_(brk_limit); /* the heap of brk() */
extern Addr VG_(clstk_end);                /* the last byte of the first thread's stack */
extern UWord VG_(clstk_max_size);

/* ---- main.c ---- */

struct options {
	Bool lines;    /* items are written */
	Bool calls;    /* calls, too */
	Bool switched; /* perfex says when it counts */
	Bool asked;    /* the program says it */
	Bool regions;  /* it says so with libperfex */
	Bool fine;     /* each thread has a processor, and they take turns often */
	ULong line;    /* bytes of a line of the primary instruction cache, 64 at most */
};

extern struct options options;
extern struct r10k *machine;           /* the processor that runs */
extern uint64_t site[R10K_NUM_COUNTS]; /* what it counts for a record, with options.lines */
extern Int turn;                       /* blocks until another thread may run, with options.fine */

/* By how many bytes the processor sees memory moved (--layout), as a kernel moves it from run to run; 0: not. */
extern struct layout {
	ULong stack, heap, mappings;
} layout;

/* Where the processor sees an address: the program stays where it is. */
static inline ULong
seen_at(Addr address)
{
	if (!layout.stack)
		return address;
	if (VG_(clstk_end) - address < VG_(clstk_max_size))
		return address + layout.stack;
	if (address - VG_(brk_base) < VG_(brk_limit) - VG_(brk_base))
		return address + layout.heap;
	return address < VG_(brk_base) ? address : address + layout.mappings;
}

/* The counts of the running thread from before it began to run; without threads, those of the process. */
const uint64_t *thread_counts(void);

/* ---- calls.c ---- */

struct stack;

/* Called by code at calls, returns and jumps to other functions, with the function it is in, the target and the stack. */
VG_REGPARM(3) void calls_call(UWord caller, Addr target, Addr stack);
VG_REGPARM(2) void calls_return(UWord unused, Addr stack);
VG_REGPARM(3) void calls_jump(UWord from, Addr target, Addr stack);
/* Stacks of threads: a new one; the one that runs; what it has counted is added up; in a child of fork(); all have
 * returned; the end. */
struct stack *calls_new(void);
void calls_run(struct stack *stack);
void calls_settle(struct stack *stack);
void calls_fork(struct stack *stack);
void calls_forget(struct stack *stack);
void calls_end(struct stack *stack);

/* ---- instrument.c ---- */

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
		 const VexArchInfo *host, IRType guest_word, IRType host_word);
/* Add what was counted in site to the record. */
void settle(struct record *record);

/* ---- parts.c ---- */

/* The records of what is executed begin here; none come after those of a block. */
extern struct record *part;
/* Without options.lines, instead of output_block(); afterwards, if they were not known: after those that were made. */
struct record *parts_block(ULong key, SizeT number, Bool *known);
void parts_end(struct record *end);
/* An instruction has failed: what its part has done before counts. */
void parts_failed(Addr at);

/* ---- client.c ---- */

/* Before the program begins: its environment is without what is valgrind's. */
void client_environment(void);

/* ---- flops.c ---- */

UInt flops(IROp op, Bool *multiplies);

/* ---- output.c ---- */

/* Open the file of this process in a directory.  If it cannot have one, it runs all the same, and does not count. */
void output_open(const HChar *directory, const HChar *program);
/* Whether counting was to be on in the program that this process executed before. */
Bool output_was_wanted(void);
/* Before fork(), and after it in the child: a file of its own, where all is 0. */
void output_before_fork(void);
void output_fork(void);
/* Room for an item, all 0; NULL: there is none. */
void *output_item(enum kind kind, SizeT size);
UInt output_reference(const void *inside);
void *output_at(UInt reference);
UInt output_text(const HChar *text);
/* A hash of 64 bits (FNV-1a), begun with HASH_START, of bytes that follow those that it is of. */
#define HASH_START 0xcbf29ce484222325ULL
ULong output_hash(ULong hash, const void *bytes, SizeT size);
/* The function that has an address. */
UInt output_function(DiEpoch epoch, Addr address);
/* Records of a block, all 0 or, if they are known, as they were made when it was translated before.  NULL: no room. */
struct record *output_block(ULong key, SizeT number, Bool *known);
/* The calls of one function by another; caller 0: by any.  NULL: no room. */
struct call *output_call(UInt caller, UInt callee);
/* Function, file and line of a record. */
void output_place(struct record *record, DiEpoch epoch);
/* All instructions and calls begin at 0 again; threads and the process go on. */
void output_clear(void);

/* ---- machine code (code.c) ---- */

struct code {
	Bool conditional; /* a branch */
	Bool repeated; /* an instruction of strings with a prefix, which is one instruction however often it is repeated */
	Bool indirect;        /* a jump, call or return to an address that VEX may know */
	Bool apart, together; /* its accesses are as many as VEX has; are one, though they do not touch */
	Bool call_and_pop;    /* a call of the pop that follows, which VEX makes one instruction without accesses */
	/* A store, if the upper bit of one of its bytes is 1: offset of the mask in the guest's state, 8 bytes each. */
	Int mask;
	UInt mask_words; /* 0: there is no mask */
	UInt operations; /* floating-point: this many by element, whatever VEX makes of it; 0: as many as VEX does */
	UInt prefetch;   /* 1: to load; 2: to store */
	UInt loads;      /* this many bytes, whatever VEX makes of it; 0: what VEX does */
	/* The address of that, or of a prefetch: registers are offsets in the guest's state, or -1. */
	Int base, index;
	UInt scale; /* a shift */
	Long offset;
};

/* Read from the bytes of an instruction what VEX does not say. */
struct code code_read(const UChar *bytes, SizeT size, Addr address);

/*
 * The client requests that a program can make: arguments, and what is returned.
 *
 * READ: where to, and how many counts there is room for.  Returned is the number of counts that there are, and in bit 8
 * whether each thread has a processor.
 */
#define REQUEST_READ ((UInt)('R' << 24 | 'K' << 16))

/*
 * REGION, with --asked=yes or --regions=yes: one of enum region.  Returned is 1, and from bit 8 on how many threads
 * and, from bit 20 on, processes the program has made so far, modulo 4096 each.
 */
#define REQUEST_REGION (REQUEST_READ + 1)

enum region {
	REGION_LOOK,  /* change nothing */
	REGION_OFF,   /* count no longer */
	REGION_ON,    /* count from the next block on */
	REGION_CLEAR, /* what instructions and calls have counted is forgotten: a region begins */
	/* With --regions=yes only, of libperfex's start_counters() and read_counters(): as ON and OFF, and one region may
	 * lie in another. */
	REGION_START,
	REGION_READ,
	REGION_NOT_BEGUN, /* start_counters() has failed */
};

#endif
