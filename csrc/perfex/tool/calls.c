/*
 * Who calls whom, and what is counted meanwhile: for each thread a stack of the calls that have not returned.
 *
 * An entry knows the stack pointer at its call, so that what was left without a return (longjmp(), exceptions) is
 * noticed at the next call or return.  What recursive calls count is added once, for the outermost one.
 */
#include "pub_tool_basics.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "tool.h"

enum { TARGETS = 4096, FIRST_ROOM = 64 };

/* A call that has not returned. */
struct entry {
	Addr stack;
	UInt callee; /* function; 0: not known yet, as it goes through a table of a linker */
	UInt caller;
	struct call *pair, *alone; /* caller and callee; the callee, whoever calls it.  NULL: it is active already */
	uint64_t before[R10K_NUM_COUNTS];
};

/* How often something is on a stack. */
struct active {
	UInt reference, times;
};

struct stack {
	struct entry *entries;
	UInt depth, room;
	struct active *active; /* a hash table */
	UInt num_active, size;
};

static struct stack *current;

/* ---- functions and pairs of them ---- */

/* Whether an address is in a table of a linker, or in what looks for a function at its first call: calls go on there. */
static Bool
passes_on(DiEpoch epoch, Addr address)
{
	static const HChar resolver[] = "_dl_runtime_resolve";
	const HChar *name;
	VgSectKind kind = VG_(DebugInfo_sect_kind)(NULL, address);
	return kind == Vg_SectPLT || kind == Vg_SectGOTPLT ||
	       (VG_(get_fnname)(epoch, address, &name) && VG_(strncmp)(name, resolver, sizeof resolver - 1) == 0);
}

/* The function that has an address; 0: none, calls go on there. */
static UInt
function_at(Addr address)
{
	static struct {
		Addr address;
		DiEpoch epoch;
		UInt function;
	} known[TARGETS];
	UInt slot = (UInt)(address >> 1) % TARGETS;
	DiEpoch epoch = VG_(current_DiEpoch)();
	if (known[slot].address != address || known[slot].epoch.n != epoch.n) {
		known[slot].address = address;
		known[slot].epoch = epoch;
		known[slot].function = passes_on(epoch, address) ? 0 : output_function(epoch, address);
	}
	return known[slot].function;
}

/* ---- what is active ---- */

static struct active *
find_active(struct stack *s, UInt reference)
{
	UInt at = reference * 2654435761u % s->size;
	while (s->active[at].reference && s->active[at].reference != reference)
		at = (at + 1) % s->size;
	return &s->active[at];
}

static void
grow_active(struct stack *s)
{
	struct active *old = s->active;
	UInt size = s->size;
	s->size = size ? 2 * size : 256;
	s->active = VG_(calloc)("r10k.active", s->size, sizeof *old);
	s->num_active = 0;
	for (UInt i = 0; i < size; i++)
		if (old[i].times) {
			*find_active(s, old[i].reference) = old[i];
			s->num_active++;
		}
	VG_(free)(old);
}

/* It is on the stack once more: whether it was not before. */
static Bool
activate(struct stack *s, UInt reference)
{
	if (2 * s->num_active >= s->size)
		grow_active(s);
	struct active *a = find_active(s, reference);
	s->num_active += !a->reference;
	a->reference = reference;
	return a->times++ == 0;
}

/* ---- the stack ---- */

/* Read the counts of the thread. */
static void
read_now(uint64_t counts[R10K_NUM_COUNTS])
{
	const uint64_t *before = thread_counts();
	for (UInt i = 0; i < R10K_NUM_COUNTS; i++)
		counts[i] = header->now[i] + before[i];
}

static void
add_since(struct call *to, const struct entry *e, const uint64_t now[R10K_NUM_COUNTS])
{
	for (UInt i = 0; to && i < R10K_NUM_COUNTS; i++)
		to->counts[i] += now[i] - e->before[i];
}

static void
pop(struct stack *s, const uint64_t now[R10K_NUM_COUNTS])
{
	struct entry *e = &s->entries[--s->depth];
	if (!e->callee)
		return;
	struct call *pair = output_call(e->caller, e->callee), *alone = output_call(0, e->callee);
	add_since(e->pair, e, now);
	add_since(e->alone, e, now);
	find_active(s, output_reference(pair))->times--;
	find_active(s, output_reference(alone))->times--;
}

/* It is known now who is called. */
static void
identify(struct stack *s, struct entry *e, UInt callee)
{
	struct call *pair = output_call(e->caller, callee), *alone = output_call(0, callee);
	if (!pair || !alone) /* no room */
		return;
	e->callee = callee;
	pair->calls++;
	alone->calls++;
	e->pair = activate(s, output_reference(pair)) ? pair : NULL;
	e->alone = activate(s, output_reference(alone)) ? alone : NULL;
}

static struct entry *
push(struct stack *s, UInt caller, UInt callee, Addr stack)
{
	if (s->depth == s->room) {
		s->room = s->room ? 2 * s->room : FIRST_ROOM;
		s->entries = VG_(realloc)("r10k.stack", s->entries, s->room * sizeof *s->entries);
	}
	struct entry *e = &s->entries[s->depth++];
	*e = (struct entry){ .stack = stack, .caller = caller };
	read_now(e->before);
	if (callee)
		identify(s, e, callee);
	return e;
}

static void
pop_below(struct stack *s, Addr stack, Bool and_equal)
{
	uint64_t now[R10K_NUM_COUNTS];
	if (!s->depth || s->entries[s->depth - 1].stack > stack)
		return;
	read_now(now);
	while (s->depth &&
	       (s->entries[s->depth - 1].stack < stack || (and_equal && s->entries[s->depth - 1].stack == stack)))
		pop(s, now);
}

/* ---- what the code calls ---- */

VG_REGPARM(3) void calls_call(UWord caller, Addr target, Addr stack)
{
	pop_below(current, stack, True);
	push(current, (UInt)caller, function_at(target), stack);
}

VG_REGPARM(2) void calls_return(UWord unused, Addr stack)
{
#if defined(VGA_arm64)
	/* A return leaves the stack pointer as it was at the call. */
	pop_below(current, stack, False);
	if (current->depth && current->entries[current->depth - 1].stack == stack) {
		uint64_t now[R10K_NUM_COUNTS];
		read_now(now);
		pop(current, now);
	}
#else
	pop_below(current, stack, False);
#endif
}

/* A jump from one function to another: the last thing that a function does, that of a table, or longjmp(). */
VG_REGPARM(3) void calls_jump(UWord from, Addr target, Addr stack)
{
	struct stack *s = current;
	UInt to = function_at(target);
	if (!to || to == from)
		return;
	pop_below(s, stack, False);
	struct entry *top = s->depth ? &s->entries[s->depth - 1] : NULL;
	if (top && !top->callee && top->stack == stack) {
		identify(s, top, to);
		return;
	}
	if (top && top->callee == to) /* it is active: it goes on */
		return;
	for (UInt i = s->depth; i && s->entries[i - 1].stack == stack; i--)
		if (s->entries[i - 1].callee == to) { /* what came after it has ended */
			uint64_t now[R10K_NUM_COUNTS];
			read_now(now);
			while (s->depth > i)
				pop(s, now);
			return;
		}
	push(s, (UInt)from, to, stack);
}

/* ---- threads and processes ---- */

struct stack *
calls_new(void)
{
	return VG_(calloc)("r10k.calls", 1, sizeof(struct stack));
}

void
calls_run(struct stack *stack)
{
	current = stack;
}

void
calls_settle(struct stack *s)
{
	uint64_t now[R10K_NUM_COUNTS];
	read_now(now);
	for (UInt i = 0; i < s->depth; i++) {
		struct entry *e = &s->entries[i];
		add_since(e->pair, e, now);
		add_since(e->alone, e, now);
		VG_(memcpy)(e->before, now, sizeof e->before);
	}
}

void
calls_fork(struct stack *s)
{
	for (UInt i = 0; i < s->depth; i++)
		VG_(memset)(s->entries[i].before, 0, sizeof s->entries[i].before);
}

void
calls_forget(struct stack *s)
{
	s->depth = s->num_active = 0;
	VG_(memset)(s->active, 0, s->size * sizeof *s->active);
}

void
calls_end(struct stack *s)
{
	calls_settle(s);
	VG_(free)(s->entries);
	VG_(free)(s->active);
	VG_(free)(s);
}
