/* The plugin r10k of qemu: what its parts know of each other.  The file that a process's counts are in: ../tool/file.h. */
#ifndef PERFEX_PLUGIN_H
#define PERFEX_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../tool/file.h"

extern struct header *header;

/* ---- mips.c ---- */

enum jump {
	JUMP_NONE,
	JUMP_BRANCH, /* conditional */
	JUMP_CALL,
	JUMP_RETURN,
	JUMP_OTHER,
};

/* The effects of an instruction, as far as its 32 bits show them. */
struct code {
	int8_t weights[R10K_I1mr]; /* the counts before I1mr, each time that it is executed */
	enum jump jump;
	bool links;         /* a branch that is a call, if it is taken */
	bool likely;        /* the instruction that follows is executed if the branch is taken */
	bool loads, stores; /* its accesses are of these kinds, whatever else qemu does for it */
	uint8_t size;       /* of an access in bytes; 1: of each byte or part, where an access is not aligned */
	bool conditional;   /* it stores if nobody else has */
	uint8_t result; /* the register in which such an instruction leaves 1 or 0, or that a branch compares with 0 */
	bool if_zero;   /* the branch is taken if that register is 0 */
	uint8_t prefetch; /* 1: to load; 2: to store */
	uint8_t base;     /* of the address of an access or a prefetch: a register, and what is added */
	int16_t offset;
};

struct code mips_code(uint32_t word);

/* ---- file.c ---- */

/* Open the file of this process.  If it cannot have one, it runs all the same, and does not count. */
void file_open(const char *directory, const char *program);
/* In a child of fork(), between a call in the parent before: a file of its own, where all is 0. */
void file_before_fork(void);
void file_fork(void);
/* Room for an item, all 0; NULL: there is none. */
void *file_item(enum kind kind, size_t size);
/* The file that code is of, once: its address, and where it is in this process. */
void file_object(uint64_t address, const void *here);
uint32_t file_reference(const void *inside);
void *file_at(uint32_t reference);

/* ---- calls.c ---- */

struct calls *calls_new(void);
/* The thread begins at an address, if it has not begun. */
void calls_root(struct calls *calls, uint64_t address);
/* A function is called that will return to an address; something returns to one.  now: what the thread has counted. */
void calls_begin(struct calls *calls, uint64_t callee, uint64_t back, const uint64_t *now);
void calls_return(struct calls *calls, uint64_t to, const uint64_t *now);
/* Write what has been counted so far of the calls that have not returned. */
void calls_settle(struct calls *calls, const uint64_t *now);
/* In a child of fork(), where all counts are 0. */
void calls_fork(struct calls *calls);

/* ---- guest.c ---- */

/* Set the processor, by qemu's name: mips64el, x86_64. */
void guest_is(const char *target);
bool guest_is_mips(void);
bool guest_is_big_endian(void);
void guest_at(uint64_t base);
/* Whether a system call is execve(). */
bool guest_executes(int64_t number);
/* Execute what execve() has been asked to, if it is a program of this kind; returns if it is not, or if that fails. */
void guest_execute(uint64_t file, uint64_t arguments, uint64_t environment);
/*
 * Answer a request of libperfex's (../valgrind.c), which ends with a store: three words before its address are the number of
 * the request and its arguments, and in its place the answer is to be.
 */
void guest_answer(uint64_t address, const uint64_t *counts, bool fine);

#endif
