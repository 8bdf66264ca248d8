/* Read from the bytes of an instruction what VEX does not say. */

#include "pub_tool_basics.h"
#include "tool.h"

#include "libvex_guest_offsets.h"

#include <stddef.h>

#if defined(VGA_amd64) || defined(VGA_x86)

enum { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

#if defined(VGA_amd64)
#include "libvex_guest_amd64.h"
enum { WIDE = 1, REGISTER = 8, FIRST = OFFSET_amd64_RAX };
enum { XMM = offsetof(VexGuestAMD64State, guest_YMM0), XMM_SIZE = 32, MMX = offsetof(VexGuestAMD64State, guest_FPREG) };
#else
#include "libvex_guest_x86.h"
enum { WIDE = 0, REGISTER = 4, FIRST = OFFSET_x86_EAX };
enum { XMM = offsetof(VexGuestX86State, guest_XMM0), XMM_SIZE = 16, MMX = offsetof(VexGuestX86State, guest_FPREG) };
#endif

/* An instruction's prefixes, taken apart. */
struct reader {
	const UChar *at, *end;
	UInt map;
	UChar opcode, rex;         /* as in the prefix: bit 1 extends the index, bit 0 the base */
	Bool rep, segment, vector; /* vector: the prefix 66, or VEX */
	Bool wide, narrow;         /* vectors of 32 bytes; an address of half a register */
};

static UChar
next_byte(struct reader *r)
{
	return r->at < r->end ? *r->at++ : 0;
}

static void
read_vex(struct reader *r, UChar first)
{
	UChar byte = next_byte(r);
	r->map = MAP_0F;
	r->vector = True;
	if (first == 0xc4) {
		r->rex = (UChar)((~byte >> 5) & 7);
		r->map = byte & 31;
		byte = next_byte(r);
	}
	r->wide = byte >> 2 & 1;
	r->opcode = next_byte(r);
}

static void
read_opcode(struct reader *r)
{
	UChar byte = next_byte(r);
	for (;; byte = next_byte(r)) {
		if (byte == 0xf2 || byte == 0xf3)
			r->rep = True;
		else if (byte == 0x64 || byte == 0x65)
			r->segment = True;
		else if (byte == 0x66)
			r->vector = True;
		else if (byte == 0x67)
			r->narrow = True;
		else if (byte != 0xf0 && byte != 0x2e && byte != 0x36 && byte != 0x3e && byte != 0x26)
			break;
	}
	if (WIDE && (byte & 0xf0) == 0x40) {
		r->rex = byte & 15;
		byte = next_byte(r);
	}
	if ((byte == 0xc4 || byte == 0xc5) && r->at < r->end && (WIDE || *r->at >= 0xc0)) {
		read_vex(r, byte);
		return;
	}
	if (byte == 0x0f) {
		byte = next_byte(r);
		r->map = byte == 0x38 ? MAP_0F38 : byte == 0x3a ? MAP_0F3A : MAP_0F;
		if (r->map != MAP_0F)
			byte = next_byte(r);
	}
	r->opcode = byte;
}

static Long
read_number(struct reader *r, UInt size)
{
	ULong number = 0;
	for (UInt i = 0; i < size; i++)
		number |= (ULong)next_byte(r) << 8 * i;
	return size == 1 ? (Char)number : size == 4 ? (Int)number : 0;
}

/* The operand in memory of a ModRM byte: False: there is none. */
static Bool
read_operand(struct reader *r, struct code *code, Addr next)
{
	UChar modrm = next_byte(r), mod = modrm >> 6, base = modrm & 7;
	if (mod == 3)
		return False;
	code->base = code->index = -1;
	if (base == 4) {
		UChar sib = next_byte(r), index = (UChar)((sib >> 3 & 7) | (r->rex & 2) << 2);
		base = sib & 7;
		code->scale = sib >> 6;
		if (index != 4)
			code->index = FIRST + index * REGISTER;
	} else if (base == 5 && mod == 0) {
		code->offset = read_number(r, 4) + (WIDE ? (Long)next : 0);
		return True;
	}
	if (base == 5 && mod == 0) {
		code->offset = read_number(r, 4);
		return True;
	}
	code->base = FIRST + (base | (r->rex & 1) << 3) * REGISTER;
	code->offset = read_number(r, mod == 1 ? 1 : mod == 2 ? 4 : 0);
	return True;
}

/* A register whose bytes say by their upper bits what is stored. */
static void
read_mask(const struct reader *r, struct code *code)
{
	Int number = r->at < r->end ? *r->at & 7 : 0;
	code->mask = r->vector ? XMM + (number | (r->rex & 1) << 3) * XMM_SIZE : MMX + number * 8;
	code->mask_words = r->vector ? 2 : 1;
}

/*
 * How many bytes an instruction loads of which VEX may say nothing, as its result does not always depend on them: and
 * with 0, or with ones, a blend of nothing.  0: it is another one.
 */
/* clang-format gives each case a line. */
/* clang-format off */
static UInt
loads_anyway(const struct reader *r, UChar which)
{
	UInt word = !(r->opcode & 1) ? 1 : r->rex & 8 ? 8 : r->vector ? 2 : 4, vector = r->wide ? 32 : 16;
	switch (r->map << 8 | r->opcode) {
	case 0x08: case 0x09: case 0x0a: case 0x0b: case 0x20: case 0x21: case 0x22: case 0x23: /* or, and */
	case 0x84: case 0x85: /* test */
		return word;
	case 0x80: case 0x81: case 0x83:
		return which == 1 || which == 4 ? word : 0;
	case 0xf6: case 0xf7:
		return which <= 1 ? word : 0;
	case MAP_0F << 8 | 0x54: case MAP_0F << 8 | 0x55: /* andps, andnps, cmpps, shufps */
	case MAP_0F << 8 | 0xc2: case MAP_0F << 8 | 0xc6:
		return vector;
	case MAP_0F << 8 | 0xdb: case MAP_0F << 8 | 0xdf: case MAP_0F << 8 | 0xeb: /* pand, pandn, por */
		return r->vector ? vector : 8;
	case MAP_0F3A << 8 | 0x02: case MAP_0F3A << 8 | 0x0c: case MAP_0F3A << 8 | 0x0d: case MAP_0F3A << 8 | 0x0e:
	case MAP_0F3A << 8 | 0x0f: /* blends, palignr */
	case MAP_0F3A << 8 | 0x06: case MAP_0F3A << 8 | 0x46: /* vperm2f128, vperm2i128 */
	case MAP_0F3A << 8 | 0x40: case MAP_0F3A << 8 | 0x41: /* dpps, dppd */
		return vector;
	case MAP_0F3A << 8 | 0x21: /* insertps */
		return 4;
	default:
		return 0;
	}
}
/* clang-format on */

static Bool
is_string(UChar opcode)
{
	return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf) ||
	       (opcode >= 0x6c && opcode <= 0x6f);
}

struct code
code_read(const UChar *bytes, SizeT size, Addr address)
{
	struct code code = { 0 };
	struct reader r = { .at = bytes, .end = bytes + size };
	read_opcode(&r);
	UChar which = r.at < r.end ? *r.at >> 3 & 7 : 0;
	if (r.map == MAP_ONE) {
		code.conditional = (r.opcode & 0xf0) == 0x70 || (r.opcode >= 0xe0 && r.opcode <= 0xe3);
		code.repeated = r.rep && is_string(r.opcode);
		code.indirect = r.opcode == 0xc2 || r.opcode == 0xc3 || (r.opcode == 0xff && which >= 2 && which <= 5);
		code.apart = !WIDE && (r.opcode == 0x60 || r.opcode == 0x61); /* pusha, popa */
		code.call_and_pop = !WIDE && r.opcode == 0xe8 && size == 6;
	} else if (r.map == MAP_0F) {
		code.conditional = (r.opcode & 0xf0) == 0x80;
		code.together = r.opcode == 0xae; /* xsave, xrstor */
		if (r.opcode == 0xf7)             /* maskmovdqu, maskmovq */
			read_mask(&r, &code);
		code.operations = r.opcode == 0xd0; /* addsubps, addsubpd: VEX adds and subtracts all */
		UInt prefetch = r.opcode == 0x18 && which < 4 ? 1
				: r.opcode == 0x0d            ? which == 1 || which == 2 ? 2 : 1
							      : 0;
		if (prefetch && !r.segment && read_operand(&r, &code, address + size))
			code.prefetch = prefetch;
	} else if (r.map == MAP_0F3A) {
		code.operations = r.opcode == 0x40 || r.opcode == 0x41 ? 2 : 0; /* dpps, dppd */
	}
	UInt loads = loads_anyway(&r, which);
	if (loads && !r.segment && !r.narrow && read_operand(&r, &code, address + size))
		code.loads = loads;
	return code;
}

#elif defined(VGA_arm64)

struct code
code_read(const UChar *bytes, SizeT size, Addr address)
{
	struct code code = { .base = -1, .index = -1 };
	UInt word = 0;
	for (SizeT i = 0; i < 4 && i < size; i++)
		word |= (UInt)bytes[i] << 8 * i;
	code.conditional = word >> 24 == 0x54 || (word & 0x7e000000) == 0x34000000 || (word & 0x7e000000) == 0x36000000;
	code.indirect = (word & 0xfe000000) == 0xd6000000;
	if ((word & 0xffc00000) == 0xf9800000) /* prfm, an unsigned offset */
		code.offset = (Long)(word >> 10 & 0xfff) * 8;
	else if ((word & 0xffe00c00) == 0xf8800000) /* prfum */
		code.offset = (Long)(Int)(word << 11) >> 23;
	else
		return code;
	code.base = OFFSET_arm64_X0 + (Int)(word >> 5 & 31) * 8; /* 31 is the stack pointer, which follows */
	code.prefetch = (word & 0x18) == 0x10 ? 2 : (word & 0x18) == 0 ? 1 : 0;
	return code;
}

#else
#error "valgrind's r10k: x86-64, x86 and AArch64 only"
#endif
