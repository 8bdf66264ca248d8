/*
 * From VEX's code for a block to the same with calls into the processor.
 *
 * A block is cut into parts where it may be left.  What the instructions of a part do each time is added up here and
 * counted once at its end; accesses are told to the processor, each operand of an instruction once, however VEX splits it.
 */
#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"

#include "tool.h"

#include <stddef.h>

#if defined(VGA_amd64)
#include "libvex_guest_amd64.h"
typedef VexGuestAMD64State VexGuestArchState;
#elif defined(VGA_x86)
#include "libvex_guest_x86.h"
typedef VexGuestX86State VexGuestArchState;
#else
#include "libvex_guest_arm64.h"
typedef VexGuestARM64State VexGuestArchState;
#endif

enum { MOST_OPERANDS = 64 };

/* An operand in memory. */
struct operand {
	Bool stores;
	IRExpr *address;
	IRTemp base; /* the address is this and an offset; IRTemp_INVALID: another one */
	Long offset;
	UInt size;
	IRExpr *guard; /* NULL: always */
};

/* A value of the block, as far as it is known. */
struct value {
	IRTemp base; /* it is this and an offset */
	Long offset;
	IRExpr *guard; /* as an address of this instruction it matters if this is true; NULL: always */
	Addr instruction;
};

struct block {
	IRSB *out;
	IRType word;
	DiEpoch epoch;
	Int stack;            /* where the stack pointer is in the guest's state */
	struct value *values; /* of the temporaries that VEX has made */
	IRTemp num_values;
	/* The instruction. */
	Addr address;
	UInt size;
	struct code code;
	struct operand operands[MOST_OPERANDS];
	UInt num_operands;
	Int by_lane, multiplied;    /* floating-point operations, and how many of them are multiplications */
	Bool real, resolved, loads; /* it does something; it is a branch that has been counted; it has loaded */
	IRExpr *operand;            /* the address of what it loads anyway */
	/* The part, and records of it. */
	Int part[R10K_I1mr];
	struct record *records, *record; /* all; that of the instruction, NULL: not made yet */
	Bool known;                      /* records are those of an earlier translation */
	UInt first, made;
	ULong fetched; /* the line that was fetched in this block */
};

/* ---- what the code calls ---- */

/* Add what an access has caused to the counts of the record's instruction. */
__attribute__((noinline)) void
settle(struct record *record)
{
	uint64_t *counts = output_at(record->site);
	if (!counts) {
		counts = output_item(ITEM_SITE, sizeof site);
		record->site = output_reference(counts);
	}
	for (UInt i = 0; i < R10K_NUM_COUNTS; i++) {
		if (counts)
			counts[i] += site[i];
		site[i] = 0;
	}
}

#define CALL(what, argument, where) \
	static VG_REGPARM(3) void call_##what(struct record *record, Addr address, UWord argument) \
	{ \
		if (r10k_##what(machine, where, argument) && record) \
			settle(record); \
	}

CALL(fetch, size, seen_at(address))
CALL(load, size, seen_at(address))
CALL(store, size, seen_at(address))
CALL(prefetch, exclusive, seen_at(address))
CALL(branch, taken, address) /* the predictor looks at the low bits, which stay */
#undef CALL

/* Something that the instruction does not do each time. */
static VG_REGPARM(2) void call_count(struct record *record, UWord what)
{
	header->now[what]++;
	if (record) {
		site[what]++;
		settle(record);
	}
}

/* ---- making code: for all machines, so only with operators that VEX's back end for x86 has ---- */

static void
add(struct block *b, IRStmt *statement)
{
	addStmtToIRSB(b->out, statement);
}

static IRExpr *
let(struct block *b, IRType type, IRExpr *expression)
{
	IRTemp t = newIRTemp(b->out->tyenv, type);
	add(b, IRStmt_WrTmp(t, expression));
	return IRExpr_RdTmp(t);
}

static IRExpr *
word(UWord value)
{
	return mkIRExpr_HWord(value);
}

/* Add to a number of this machine: a number of 64 bits, or a constant. */
static void
add_to(struct block *b, const void *cell, IRExpr *number)
{
	IRExpr *old = let(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, word((UWord)cell)));
	IRExpr *sum = let(b, Ity_I64, IRExpr_Binop(Iop_Add64, old, number));
	add(b, IRStmt_Store(Iend_LE, word((UWord)cell), sum));
}

static void
call(struct block *b, const HChar *name, void *function, IRExpr **arguments, IRExpr *guard)
{
	Int registers = arguments[2] ? 3 : 2;
	IRDirty *dirty = unsafeIRDirty_0_N(registers, name, VG_(fnptr_to_fnentry)(function), arguments);
	if (guard)
		dirty->guard = guard;
	add(b, IRStmt_Dirty(dirty));
}

static IRExpr *
to_32(struct block *b, IRExpr *bit)
{
	return let(b, Ity_I32, IRExpr_Unop(Iop_1Uto32, bit));
}

static IRExpr *
to_64(struct block *b, IRExpr *bit)
{
	return let(b, Ity_I64, IRExpr_Unop(Iop_32Uto64, to_32(b, bit)));
}

static IRExpr *
either(struct block *b, IRExpr *one, IRExpr *other)
{
	if (!one || !other)
		return NULL;
	IRExpr *bits = let(b, Ity_I32, IRExpr_Binop(Iop_Or32, to_32(b, one), to_32(b, other)));
	return let(b, Ity_I1, IRExpr_Binop(Iop_CmpNE32, bits, IRExpr_Const(IRConst_U32(0))));
}

/* ---- records and parts ---- */

/* The record of the instruction in this part; NULL: none are made. */
static struct record *
record_of(struct block *b)
{
	if (b->records && !b->record) {
		b->record = &b->records[b->made];
		b->record->address = b->address;
		b->record->size = (UChar)b->size;
		b->record->first = b->made - b->first;
		b->made++;
		if (!b->known && options.lines)
			output_place(b->record, b->epoch);
	}
	return b->record;
}

/* The record to which is added what the instruction does not do each time. */
static IRExpr *
site_of(struct block *b)
{
	return word(options.lines ? (UWord)record_of(b) : 0);
}

/* The instruction does something each time. */
static void
does(struct block *b, enum r10k_count what, Int times)
{
	if (!times)
		return;
	struct record *record = record_of(b);
	if (record && !b->known)
		record->weights[what] = (Char)(record->weights[what] + times);
	b->part[what] += times;
}

static void
end_part(struct block *b)
{
	for (UInt i = 0; i < R10K_I1mr; i++) {
		if (b->part[i])
			add_to(b, &header->now[i], IRExpr_Const(IRConst_U64((ULong)(Long)b->part[i])));
		b->part[i] = 0;
	}
	if (options.lines && b->records && b->made > b->first)
		add_to(b, &b->records[b->first].executed, IRExpr_Const(IRConst_U64(1)));
	b->first = b->made;
	b->record = NULL;
}

/* From here on the next part is executed. */
static void
begin_part(struct block *b)
{
	if (b->records)
		add(b, IRStmt_Store(Iend_LE, word((UWord)&part), word((UWord)&b->records[b->made])));
}

/* ---- operands ---- */

static struct value *
value_of(struct block *b, const IRExpr *atom)
{
	return atom->tag == Iex_RdTmp && atom->Iex.RdTmp.tmp < b->num_values ? &b->values[atom->Iex.RdTmp.tmp] : NULL;
}

/* Whether an operand touches another one of the same instruction: then they are one. */
static Bool
joins(struct block *b, struct operand *known, const struct operand *more)
{
	Long end = known->offset + known->size, more_end = more->offset + more->size;
	if (known->stores != more->stores || known->base != more->base || more->base == IRTemp_INVALID || b->code.apart)
		return False;
	if ((more->offset > end || known->offset > more_end) && !b->code.together)
		return False;
	if (more->offset < known->offset) {
		known->address = more->address;
		known->offset = more->offset;
	}
	known->size = (UInt)((end > more_end ? end : more_end) - known->offset);
	known->guard = either(b, known->guard, more->guard);
	return True;
}

/* Whether anything is stored under the mask of the instruction. */
static IRExpr *
masked(struct block *b)
{
	IRExpr *bits = let(b, Ity_I64, IRExpr_Get(b->code.mask, Ity_I64));
	if (b->code.mask_words == 2)
		bits = let(b, Ity_I64,
			   IRExpr_Binop(Iop_Or64, bits, let(b, Ity_I64, IRExpr_Get(b->code.mask + 8, Ity_I64))));
	bits = let(b, Ity_I64, IRExpr_Binop(Iop_And64, bits, IRExpr_Const(IRConst_U64(0x8080808080808080))));
	return let(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64, bits, IRExpr_Const(IRConst_U64(0))));
}

static void
access(struct block *b, Bool stores, IRExpr *address, UInt size, IRExpr *guard)
{
	struct value *value = value_of(b, address);
	struct operand more = {
		.stores = stores, .address = address, .base = IRTemp_INVALID, .size = size, .guard = guard
	};
	b->real = True;
	b->loads = b->loads || !stores;
	if (b->code.mask_words) { /* VEX loads, changes and stores all bytes */
		if (!stores)
			return;
		more.guard = guard = masked(b);
	}
	if (value) {
		more.base = value->base;
		more.offset = value->offset;
		if (!guard && value->instruction == b->address) /* others may use what cmov has chosen */
			more.guard = value->guard;
	}
	for (UInt i = 0; i < b->num_operands; i++)
		if (joins(b, &b->operands[i], &more))
			return;
	tl_assert(b->num_operands < MOST_OPERANDS);
	b->operands[b->num_operands++] = more;
}

/* Tell the processor of the operands that have come so far. */
static void
tell_operands(struct block *b)
{
	for (UInt i = 0; i < b->num_operands; i++) {
		struct operand *o = &b->operands[i];
		enum r10k_count what = o->stores ? R10K_Dw : R10K_Dr;
		IRExpr *site = site_of(b);
		if (o->guard)
			call(b, "call_count", call_count, mkIRExprVec_2(site, word(what)), o->guard);
		else
			does(b, what, 1);
		IRExpr **arguments = mkIRExprVec_3(site, o->address, word(o->size));
		if (o->stores)
			call(b, "call_store", call_store, arguments, o->guard);
		else
			call(b, "call_load", call_load, arguments, o->guard);
	}
	b->num_operands = 0;
}

/* ---- instructions ---- */

static IRExpr *
guest_register(struct block *b, Int offset)
{
	return let(b, b->word, IRExpr_Get(offset, b->word));
}

static IRExpr *
sum(struct block *b, IRExpr *one, IRExpr *other)
{
	return let(b, b->word, IRExpr_Binop(b->word == Ity_I64 ? Iop_Add64 : Iop_Add32, one, other));
}

/* The address that the instruction's bytes say. */
static IRExpr *
operand_address(struct block *b)
{
	struct code *c = &b->code;
	IRExpr *address = word((UWord)c->offset);
	if (c->base >= 0)
		address = sum(b, address, guest_register(b, c->base));
	if (c->index >= 0) {
		IROp shift = b->word == Ity_I64 ? Iop_Shl64 : Iop_Shl32;
		IRExpr *index = guest_register(b, c->index);
		index = let(b, b->word, IRExpr_Binop(shift, index, IRExpr_Const(IRConst_U8((UChar)c->scale))));
		address = sum(b, address, index);
	}
	return address;
}

static void
prefetch(struct block *b)
{
	does(b, R10K_Pf, 1);
	IRExpr **arguments = mkIRExprVec_3(site_of(b), operand_address(b), word(b->code.prefetch == 2));
	call(b, "call_prefetch", call_prefetch, arguments, NULL);
	b->real = True;
}

/* The lines of an instruction that were not fetched last. */
static void
fetch(struct block *b)
{
	const ULong line = options.line;
	for (ULong at = b->address & ~(line - 1); at < b->address + b->size; at += line) {
		if (b->fetched == at)
			continue;
		b->fetched = at;
		IRExpr *guard = NULL;
		if (!options.fine) {
			IRExpr *last =
				let(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, word((UWord)r10k_fetched(machine))));
			guard = let(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64, last, IRExpr_Const(IRConst_U64(seen_at(at)))));
		}
		call(b, "call_fetch", call_fetch, mkIRExprVec_3(site_of(b), word((UWord)at), word(1)), guard);
	}
}

static void
begin_instruction(struct block *b, const IRStmt *mark)
{
	b->address = mark->Ist.IMark.addr;
	b->size = mark->Ist.IMark.len;
	b->record = NULL;
	b->resolved = b->loads = False;
	b->by_lane = b->multiplied = 0;
	b->code = code_read((const UChar *)b->address, b->size, b->address);
	b->real = b->code.repeated; /* of one without an element VEX leaves nothing */
	does(b, R10K_Ir, 1);
	fetch(b);
	if (b->code.prefetch)
		prefetch(b);
	if (b->code.loads)
		b->operand = operand_address(b);
	if (b->code.call_and_pop) {
		IRExpr *top = sum(b, guest_register(b, b->stack), word(-sizeof(UWord)));
		does(b, R10K_Ir, 1);
		access(b, True, top, sizeof(UWord), NULL);
		access(b, False, top, sizeof(UWord), NULL);
	}
}

static void
resolve(struct block *b, IRExpr *taken)
{
	does(b, R10K_Bc, 1);
	call(b, "call_branch", call_branch, mkIRExprVec_3(site_of(b), word(b->address), taken), NULL);
	b->resolved = True;
}

static void
end_instruction(struct block *b)
{
	if (!b->size)
		return;
	if (b->code.loads && !b->loads)
		access(b, False, b->operand, b->code.loads, NULL);
	tell_operands(b);
	if (b->by_lane) {
		Int operations = b->code.operations == 1   ? b->by_lane / 2
				 : b->code.operations == 2 ? 2 * b->multiplied
							   : b->by_lane;
		does(b, R10K_Fp, 1);
		does(b, R10K_Fo, operations);
	}
}

/* ---- statements ---- */

static Addr
constant(const IRConst *c)
{
	return c->tag == Ico_U64 ? (Addr)c->Ico.U64 : (Addr)c->Ico.U32;
}

static IROp
operator(const IRExpr *e)
{
	switch (e->tag) {
	case Iex_Unop:
		return e->Iex.Unop.op;
	case Iex_Binop:
		return e->Iex.Binop.op;
	case Iex_Triop:
		return e->Iex.Triop.details->op;
	case Iex_Qop:
		return e->Iex.Qop.details->op;
	default:
		return Iop_INVALID;
	}
}

/* A value is computed. */
static void
compute(struct block *b, IRTemp made, IRExpr *e)
{
	struct value *value = &b->values[made];
	IROp op = operator(e);
	Bool multiplies;
	Int n = (Int)flops(op, &multiplies);
	*value = (struct value){ .base = made };
	b->by_lane += n;
	b->multiplied += multiplies ? n : 0;
	if (e->tag != Iex_Get && e->tag != Iex_Const && e->tag != Iex_RdTmp)
		b->real = True;
	if (e->tag == Iex_Load) {
		access(b, False, e->Iex.Load.addr, (UInt)sizeofIRType(e->Iex.Load.ty), NULL);
	} else if (e->tag == Iex_RdTmp) {
		*value = b->values[e->Iex.RdTmp.tmp];
	} else if (e->tag == Iex_ITE && e->Iex.ITE.iftrue->tag == Iex_RdTmp) {
		value->guard = e->Iex.ITE.cond; /* a lane that is gathered, or else not loaded */
		value->instruction = b->address;
	} else if ((op == Iop_Add64 || op == Iop_Add32) && e->Iex.Binop.arg1->tag == Iex_RdTmp &&
		   e->Iex.Binop.arg2->tag == Iex_Const) {
		const struct value *from = &b->values[e->Iex.Binop.arg1->Iex.RdTmp.tmp];
		const IRConst *c = e->Iex.Binop.arg2->Iex.Const.con;
		value->base = from->base;
		value->offset = from->offset + (op == Iop_Add64 ? (Long)c->Ico.U64 : (Long)(Int)c->Ico.U32);
	}
}

static void
exchange(struct block *b, IRCAS *cas)
{
	UInt size = (UInt)sizeofIRType(typeOfIRExpr(b->out->tyenv, cas->expdLo)) * (cas->dataHi ? 2 : 1);
	access(b, False, cas->addr, size, NULL);
	access(b, True, cas->addr, size, NULL);
	b->values[cas->oldLo] = (struct value){ .base = cas->oldLo };
	if (cas->oldHi != IRTemp_INVALID)
		b->values[cas->oldHi] = (struct value){ .base = cas->oldHi };
	does(b, R10K_Sc, 1);
}

/* After an exchange: whether it has failed. */
static void
exchanged(struct block *b, IRCAS *cas)
{
	IRType type = typeOfIRExpr(b->out->tyenv, cas->expdLo);
	IROp differ = type == Ity_I8    ? Iop_CmpNE8
		      : type == Ity_I16 ? Iop_CmpNE16
		      : type == Ity_I32 ? Iop_CmpNE32
					: Iop_CmpNE64;
	IRExpr *failed = let(b, Ity_I1, IRExpr_Binop(differ, IRExpr_RdTmp(cas->oldLo), cas->expdLo));
	if (cas->dataHi) {
		IRExpr *high = let(b, Ity_I1, IRExpr_Binop(differ, IRExpr_RdTmp(cas->oldHi), cas->expdHi));
		failed = either(b, failed, high);
	}
	call(b, "call_count", call_count, mkIRExprVec_2(site_of(b), word(R10K_Sf)), failed);
}

static void
linked(struct block *b, const IRStmt *s)
{
	IRExpr *data = s->Ist.LLSC.storedata;
	IRType type = data ? typeOfIRExpr(b->out->tyenv, data) : typeOfIRTemp(b->out->tyenv, s->Ist.LLSC.result);
	b->values[s->Ist.LLSC.result] = (struct value){ .base = s->Ist.LLSC.result };
	access(b, data != NULL, s->Ist.LLSC.addr, (UInt)sizeofIRType(type), NULL);
	if (data)
		does(b, R10K_Sc, 1);
}

static void
stored(struct block *b, const IRStmt *s)
{
	if (!s->Ist.LLSC.storedata)
		return;
	IRExpr *failed = let(b, Ity_I1, IRExpr_Unop(Iop_Not1, IRExpr_RdTmp(s->Ist.LLSC.result)));
	call(b, "call_count", call_count, mkIRExprVec_2(site_of(b), word(R10K_Sf)), failed);
}

static void
helped(struct block *b, const IRDirty *d)
{
	IRExpr *guard = d->guard->tag == Iex_Const ? NULL : d->guard;
	b->real = True;
	if (d->tmp != IRTemp_INVALID)
		b->values[d->tmp] = (struct value){ .base = d->tmp };
	if (d->mFx == Ifx_Read || d->mFx == Ifx_Modify)
		access(b, False, d->mAddr, (UInt)d->mSize, guard);
	if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
		access(b, True, d->mAddr, (UInt)d->mSize, guard);
}

/* A repeated instruction goes on if the guard is true: it is still the same one. */
static void
go_on(struct block *b, IRExpr *guard)
{
	end_part(b);
	struct record *record = record_of(b);
	IRExpr *again = to_64(b, guard);
	add_to(b, &header->now[R10K_Ir], let(b, Ity_I64, IRExpr_Binop(Iop_Sub64, IRExpr_Const(IRConst_U64(0)), again)));
	if (record) {
		record->weights[R10K_Ir] = -1;
		if (options.lines)
			add_to(b, &record->executed, again);
		b->first = b->made;
		b->record = NULL;
	}
}

/* The block may be left here. */
static void
instrument_leave(struct block *b, const IRStmt *s)
{
	Addr to = constant(s->Ist.Exit.dst);
	IRExpr *guard = s->Ist.Exit.guard;
	b->real = True;
	if (s->Ist.Exit.jk == Ijk_SigSEGV) /* an operand that is not aligned: parts_failed() */
		return;
	tell_operands(b);
	if (b->code.repeated && to == b->address) {
		go_on(b, guard);
	} else {
		if (b->code.conditional && s->Ist.Exit.jk == Ijk_Boring) {
			if (to == b->address + b->size) /* VEX has turned it round */
				guard = let(b, Ity_I1, IRExpr_Unop(Iop_Not1, guard));
			resolve(b, b->word == Ity_I64 ? to_64(b, guard) : to_32(b, guard));
		}
		end_part(b);
	}
	begin_part(b);
}

static void
statement(struct block *b, IRStmt *s)
{
	IRType type, wide;
	switch (s->tag) {
	case Ist_IMark:
		end_instruction(b);
		if (b->size && !b->real)
			does(b, R10K_Ni, 1);
		begin_instruction(b, s);
		break;
	case Ist_WrTmp:
		compute(b, s->Ist.WrTmp.tmp, s->Ist.WrTmp.data);
		break;
	case Ist_Put:
		b->real = b->real || s->Ist.Put.offset != b->out->offsIP;
		break;
	case Ist_PutI:
	case Ist_MBE:
		b->real = True;
		break;
	case Ist_Store:
		type = typeOfIRExpr(b->out->tyenv, s->Ist.Store.data);
		access(b, True, s->Ist.Store.addr, (UInt)sizeofIRType(type), NULL);
		break;
	case Ist_StoreG:
		type = typeOfIRExpr(b->out->tyenv, s->Ist.StoreG.details->data);
		access(b, True, s->Ist.StoreG.details->addr, (UInt)sizeofIRType(type), s->Ist.StoreG.details->guard);
		break;
	case Ist_LoadG:
		typeOfIRLoadGOp(s->Ist.LoadG.details->cvt, &wide, &type);
		b->values[s->Ist.LoadG.details->dst] = (struct value){ .base = s->Ist.LoadG.details->dst };
		access(b, False, s->Ist.LoadG.details->addr, (UInt)sizeofIRType(type), s->Ist.LoadG.details->guard);
		break;
	case Ist_CAS:
		exchange(b, s->Ist.CAS.details);
		break;
	case Ist_LLSC:
		linked(b, s);
		break;
	case Ist_Dirty:
		helped(b, s->Ist.Dirty.details);
		break;
	case Ist_Exit:
		instrument_leave(b, s);
		break;
	default:
		break;
	}
	add(b, s);
	if (s->tag == Ist_CAS)
		exchanged(b, s->Ist.CAS.details);
	else if (s->tag == Ist_LLSC)
		stored(b, s);
}

/* The block calls, returns, or goes on in another function. */
static void
follow(struct block *b, IRExpr *next, IRJumpKind kind)
{
	UInt own = record_of(b)->function;
	if (kind == Ijk_Boring && next->tag == Iex_Const &&
	    output_function(b->epoch, constant(next->Iex.Const.con)) == own)
		return;
	if (next->tag == Iex_Const)
		next = word(constant(next->Iex.Const.con));
	IRExpr *stack = guest_register(b, b->stack);
	if (kind == Ijk_Call)
		call(b, "calls_call", calls_call, mkIRExprVec_3(word(own), next, stack), NULL);
	else if (kind == Ijk_Ret)
		call(b, "calls_return", calls_return, mkIRExprVec_2(word(0), stack), NULL);
	else if (kind == Ijk_Boring)
		call(b, "calls_jump", calls_jump, mkIRExprVec_3(word(own), next, stack), NULL);
}

static Bool
is_system_call(IRJumpKind kind)
{
	return kind >= Ijk_Sys_syscall && kind <= Ijk_Sys_sysenter;
}

static void
end_block(struct block *b)
{
	const IRExpr *next = b->out->next;
	Bool known = next->tag == Iex_Const;
	IRJumpKind kind = b->out->jumpkind;
	if (!b->size)
		return;
	end_instruction(b);
	if (b->code.conditional && !b->resolved && known) /* VEX knows what it does */
		resolve(b, word(constant(next->Iex.Const.con) != b->address + b->size));
	if (b->code.repeated && known && constant(next->Iex.Const.con) == b->address)
		does(b, R10K_Ir, -1);
	if ((!known || b->code.indirect) && (kind == Ijk_Boring || kind == Ijk_Call || kind == Ijk_Ret)) {
		does(b, R10K_Bi, 1);
		b->real = True;
	}
	if (!b->real || is_system_call(kind))
		does(b, R10K_Ni, 1);
	struct record *last = options.calls ? record_of(b) : NULL;
	end_part(b);
	if (kind >= Ijk_SigILL && kind <= Ijk_SigFPE_IntOvf) /* all of the part has been counted */
		begin_part(b);
	if (last) {
		b->record = last;
		follow(b, b->out->next, kind);
	}
}

/* Now and then another thread gets its turn. */
static void
take_turns(struct block *b, Addr address)
{
	IRConst *to = b->word == Ity_I64 ? IRConst_U64(address) : IRConst_U32((UInt)address);
	IRExpr *before = let(b, Ity_I32, IRExpr_Load(Iend_LE, Ity_I32, word((UWord)&turn)));
	IRExpr *left = let(b, Ity_I32, IRExpr_Binop(Iop_Sub32, before, IRExpr_Const(IRConst_U32(1))));
	add(b, IRStmt_Store(Iend_LE, word((UWord)&turn), left));
	IRExpr *over = let(b, Ity_I1, IRExpr_Binop(Iop_CmpLT32S, left, IRExpr_Const(IRConst_U32(0))));
	add(b, IRStmt_Exit(over, Ijk_Yield, to, b->out->offsIP));
}

/*
 * Where perfex has said since that it is to count, or no longer, all code is translated again.  For that the program
 * seems to say that all of it has changed, which is one of the few things that valgrind does at once and safely.
 */
static void
look_for_switch(struct block *b, Addr address)
{
	IRConst *to = b->word == Ity_I64 ? IRConst_U64(address) : IRConst_U32((UInt)address);
	IRExpr *wanted = let(b, Ity_I32, IRExpr_Load(Iend_LE, Ity_I32, word((UWord)&header->wanted)));
	IRExpr *other = let(b, Ity_I1, IRExpr_Binop(Iop_CmpNE32, wanted, IRExpr_Const(IRConst_U32(header->on))));
	add(b, IRStmt_Put(offsetof(VexGuestArchState, guest_CMSTART), word(0)));
	add(b, IRStmt_Put(offsetof(VexGuestArchState, guest_CMLEN), word(~(UWord)0)));
	add(b, IRStmt_Exit(other, Ijk_InvalICache, to, b->out->offsIP));
}

static UInt
most_records(const IRSB *in)
{
	UInt most = 1;
	for (Int i = 0; i < in->stmts_used; i++)
		most += in->stmts[i]->tag == Ist_IMark ? 1 : in->stmts[i]->tag == Ist_Exit ? 2 : 0;
	return most;
}

/*
 * A block by its place, its bytes and its function: after it has left valgrind's memory, or was switched off, it is
 * translated again.  Two of the same 64 bits are taken for the same.
 */
static ULong
key_of(const VexGuestExtents *extents, DiEpoch epoch)
{
	ULong key = HASH_START ^ (options.lines ? output_function(epoch, extents->base[0]) : 0);
	for (UInt i = 0; i < extents->n_used; i++) {
		Addr address = extents->base[i];
		key = output_hash(key, &address, sizeof address);
		key = output_hash(key, (const void *)address, extents->len[i]);
	}
	return key;
}

IRSB *
instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
	   const VexArchInfo *host, IRType guest_word, IRType host_word)
{
	struct block b = { .word = guest_word,
			   .stack = layout->offset_SP,
			   .fetched = ~0ULL,
			   .num_values = (IRTemp)in->tyenv->types_used };
	Int i = 0;
	tl_assert(guest_word == host_word);
	header->on = header->wanted;
	if (!header->on && !options.switched)
		return in;
	b.out = deepCopyIRSBExceptStmts(in);
	b.epoch = VG_(current_DiEpoch)();
	b.values = LibVEX_Alloc(sizeof *b.values * (SizeT)in->tyenv->types_used);
	for (Int t = 0; t < in->tyenv->types_used; t++)
		b.values[t] = (struct value){ .base = (IRTemp)t };
	if (header->on)
		b.records = (options.lines ? output_block : parts_block)(key_of(extents, b.epoch), most_records(in),
									 &b.known);
	/* What stands before the first instruction is VEX's own. */
	for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		add(&b, in->stmts[i]);
	if (options.switched)
		look_for_switch(&b, closure->nraddr);
	if (options.fine)
		take_turns(&b, closure->nraddr);
	for (; !header->on && i < in->stmts_used; i++)
		add(&b, in->stmts[i]);
	begin_part(&b);
	for (; i < in->stmts_used; i++)
		if (in->stmts[i]->tag != Ist_NoOp)
			statement(&b, in->stmts[i]);
	if (header->on)
		end_block(&b);
	if (header->on && !options.lines && !b.known)
		parts_end(&b.records[b.made + 1]);
	return b.out;
}
