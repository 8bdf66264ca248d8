/*
 * Requests to valgrind, by its documented way ("Client Request mechanism" of its manual).
 *
 * A request is a sequence of instructions that changes nothing on a processor: a register is
 * rotated by its width in all, and another one is moved to itself.  Valgrind knows the
 * sequence and looks at two more registers: one has the address of six words, the number of
 * the request and its arguments; the other receives the result, and keeps its value if
 * valgrind does not run.  So a request costs a native program some nanoseconds.
 */
#include "valgrind.h"

#include <stdint.h>

enum request { RUNNING_ON_VALGRIND = 0x1001, READ = 'R' << 24 | 'K' << 16, REGION };

#if defined(__x86_64__) && !defined(__ILP32__)
#define WORDS "rax"
#define RESULT "rdx"
#define REQUEST "rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
#elif defined(__i386__)
#define WORDS "eax"
#define RESULT "edx"
#define REQUEST "roll $3, %%edi\n\troll $13, %%edi\n\troll $29, %%edi\n\troll $19, %%edi\n\txchgl %%ebx, %%ebx"
#elif defined(__aarch64__) && !defined(__ILP32__)
#define WORDS "x4"
#define RESULT "x3"
#define REQUEST "ror x12, x12, #3\n\tror x12, x12, #13\n\tror x12, x12, #51\n\tror x12, x12, #61\n\torr x10, x10, x10"
#elif defined(__arm__) && (!defined(__thumb__) || defined(__thumb2__))
#define WORDS "r4"
#define RESULT "r3"
#define REQUEST \
	"mov r12, r12, ror #3\n\tmov r12, r12, ror #13\n\tmov r12, r12, ror #29\n\tmov r12, r12, ror #19\n\t" \
	"orr r10, r10, r10"
#elif defined(__powerpc64__)
#define WORDS "r4"
#define RESULT "r3"
#define REQUEST "rotldi 0, 0, 3\n\trotldi 0, 0, 13\n\trotldi 0, 0, 61\n\trotldi 0, 0, 51\n\tor 1, 1, 1"
#elif defined(__s390x__)
#define WORDS "r2"
#define RESULT "r3"
#define REQUEST "lr 15, 15\n\tlr 1, 1\n\tlr 2, 2\n\tlr 3, 3\n\tlr 2, 2"
#endif

#if defined(__mips__)
/*
 * On MIPS qemu's plugin listens (plugin/), which sees no registers: after instructions that do nothing there is a store,
 * three words after the request, and the answer is put in its place.  They are in one page, so that they are seen together.
 */
static uintptr_t
valgrind_ask(enum request number, uintptr_t first, uintptr_t second)
{
	volatile uintptr_t words[6] = { number, first, second, 0, 0, 0 };

	__asm__ volatile(".set push\n\t.set noreorder\n\t.p2align 5\n\tsrl $0, $0, 13\n\tsrl $0, $0, 29\n\t"
			 "srl $0, $0, 3\n\tsrl $0, $0, 19\n\t"
#ifdef _ABI64
			 "sd"
#else
			 "sw"
#endif
			 " $0, 0(%0)\n\t.set pop"
			 :
			 : "r"(&words[3])
			 : "memory");
	return words[3];
}
#else
/* Execute the sequence and return its result; 0 if valgrind does not run. */
static uintptr_t
valgrind_ask(enum request number, uintptr_t first, uintptr_t second)
{
#ifdef REQUEST
	const volatile uintptr_t words[6] = { number, first, second, 0, 0, 0 };
	register const volatile uintptr_t *at __asm__(WORDS) = words;
	register uintptr_t result __asm__(RESULT) = 0;

	__asm__ volatile(REQUEST : "+r"(result) : "r"(at) : "cc", "memory");
	return result;
#else
	(void)number;
	(void)first;
	(void)second;
	return 0;
#endif
}
#endif

bool
valgrind_runs(void)
{
	return valgrind_ask(RUNNING_ON_VALGRIND, 0, 0) != 0;
}

uintptr_t
valgrind_counts(uint64_t *counts, unsigned int room)
{
	return valgrind_ask(READ, (uintptr_t)counts, room);
}

uintptr_t
valgrind_region(int what)
{
	return valgrind_ask(REGION, (uintptr_t)what, 0);
}
