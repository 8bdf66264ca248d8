/*
 * Instructions of MIPS I to IV, and what later processors have added, by their encoding.
 *
 * Source: MIPS IV Instruction Set; MIPS R10000 Microprocessor User's Manual (what graduates as what, what is not issued).
 */
#include "plugin.h"

/* Encodings of a field, as bits of a set. */
#define BIT(n) ((uint64_t)1 << (n))
#define RANGE(first, last) ((BIT((last) - (first)) * 2 - 1) << (first))
#define HAS(set, n) (((set) >> (n)) & 1)

/* clang-format gives each constant a line. */
/* clang-format off */
/* Opcodes: bits 31 to 26. */
enum { SPECIAL = 0, REGIMM = 1, J = 2, JAL = 3, BEQ = 4, BNE = 5, COP0 = 16, COP1 = 17, COP1X = 19, BEQL = 20, BNEL = 21,
       LL = 48, PREF = 51, LLD = 52, SC = 56, SCD = 60 };
/* clang-format on */
#define BRANCHES (RANGE(4, 7) | RANGE(20, 23))
#define LIKELY RANGE(20, 23)
#define LOADS \
	(RANGE(26, 27) | RANGE(32, 39) | RANGE(48, 50) | RANGE(52, 55)) /* ldl ldr, lb to lwu, ll to lwc2, lld to ld */
#define STORES (RANGE(40, 46) | RANGE(56, 58) | RANGE(60, 63))          /* sb to swr, sc to swc2, scd to sd */

/* Functions of SPECIAL and of COP1X: bits 5 to 0. */
enum { JR = 8, JALR = 9, SYSCALL = 12, BREAK = 13, MULT = 24, DDIVU = 31, PREFX = 15 };
#define X_LOADS (BIT(0) | BIT(1) | BIT(5)) /* lwxc1 ldxc1 luxc1 */
#define X_WORDS (BIT(0) | BIT(8))
#define X_STORES (BIT(8) | BIT(9) | BIT(13))

/* Functions of COP1 with operands of floating point: add sub mul div sqrt, recip rsqrt. */
#define OPERATIONS (RANGE(0, 4) | RANGE(21, 22))

static uint32_t
field(uint32_t word, unsigned int from, unsigned int bits)
{
	return word >> from & ((1u << bits) - 1);
}

static void
accesses(struct code *c, bool stores, uint8_t size)
{
	c->size = size;
	c->stores = stores;
	c->loads = !stores;
	c->weights[stores ? R10K_Dw : R10K_Dr] = 1;
}

static void
branches(struct code *c, bool likely)
{
	c->jump = JUMP_BRANCH;
	c->likely = likely;
	c->weights[R10K_Bc] = 1;
}

/* Hints: 1, 5 and 7 are to store, the others to load. */
static void
prefetches(struct code *c, uint32_t hint)
{
	c->prefetch = hint == 1 || hint == 5 || hint == 7 ? 2 : 1;
	c->weights[R10K_Pf] = 1;
}

static void
special(struct code *c, uint32_t word)
{
	const uint32_t function = field(word, 0, 6), source = field(word, 21, 5), link = field(word, 11, 5);

	switch (function) {
	case JR:
		c->jump = source == 31 ? JUMP_RETURN : JUMP_OTHER;
		c->weights[R10K_Bi] = 1;
		break;
	case JALR:
		c->jump = link ? JUMP_CALL : JUMP_OTHER; /* jalr without a link is jr of later processors */
		c->weights[R10K_Bi] = 1;
		break;
	case SYSCALL:
	case BREAK:
		c->weights[R10K_Ni] = 1;
		break;
	default:
		if (function >= MULT && function <= DDIVU) /* both halves of the result are an instruction */
			c->weights[R10K_Ir] = 2;
		break;
	}
}

static void
floating_point(struct code *c, uint32_t word)
{
	enum { BC = 8, FORMATS = 16 };
	const uint32_t format = field(word, 21, 5), function = field(word, 0, 6);

	if (format == BC) {
		branches(c, field(word, 17, 1));
	} else if (format >= FORMATS) {
		c->weights[R10K_Fp] = 1;
		c->weights[R10K_Fo] = (int8_t)HAS(OPERATIONS, function);
	}
}

static void
floating_point_indexed(struct code *c, uint32_t word)
{
	const uint32_t function = field(word, 0, 6);

	if (function == PREFX) {
		prefetches(c, field(word, 11, 5));
	} else if (HAS(X_LOADS | X_STORES, function)) {
		accesses(c, HAS(X_STORES, function), HAS(X_WORDS, function) ? 4 : 8);
	} else if (function >= 32) { /* multiply-add and the like */
		c->weights[R10K_Fp] = 1;
		c->weights[R10K_Fo] = 2;
	}
}

/* A branch that compares a register with 0. */
static void
compares(struct code *c, uint32_t opcode, uint32_t word)
{
	const uint32_t first = field(word, 21, 5), second = field(word, 16, 5);

	if (opcode != BEQ && opcode != BNE && opcode != BEQL && opcode != BNEL)
		return;
	c->result = (uint8_t)(second == 0 ? first : first == 0 ? second : 0);
	c->if_zero = opcode == BEQ || opcode == BEQL;
}

/* Bytes of an access; of lwl and the like qemu shows the parts. */
static uint8_t
size_of(uint32_t opcode)
{
	static const uint64_t halves = BIT(33) | BIT(37) | BIT(41);
	static const uint64_t words = BIT(35) | BIT(39) | BIT(43) | RANGE(48, 50) | RANGE(56, 58);
	static const uint64_t doubles = RANGE(52, 55) | RANGE(60, 63);
	return HAS(doubles, opcode) ? 8 : HAS(words, opcode) ? 4 : HAS(halves, opcode) ? 2 : 1;
}

/* Opcodes that have no functions of their own. */
static void
plain(struct code *c, uint32_t opcode, uint32_t word)
{
	if (HAS(BRANCHES, opcode)) {
		branches(c, HAS(LIKELY, opcode));
		compares(c, opcode, word);
	} else if (HAS(LOADS | STORES, opcode)) {
		accesses(c, HAS(STORES, opcode), size_of(opcode));
		c->conditional = opcode == SC || opcode == SCD;
		c->weights[R10K_Sc] = c->conditional;
		c->result = (uint8_t)field(word, 16, 5);
	} else if (opcode == PREF) {
		prefetches(c, field(word, 16, 5));
	}
}

struct code
mips_code(uint32_t word)
{
	enum { LINKS = 16 }; /* of REGIMM: bltzal and others */
	const uint32_t opcode = field(word, 26, 6), which = field(word, 16, 5);
	struct code c = { .weights = { [R10K_Ir] = 1 },
			  .base = (uint8_t)field(word, 21, 5),
			  .offset = (int16_t)(uint16_t)word };

	if (word == 0) { /* nop */
		c.weights[R10K_Ni] = 1;
		return c;
	}
	switch (opcode) {
	case SPECIAL:
		special(&c, word);
		break;
	case REGIMM:
		if (HAS(RANGE(0, 3) | RANGE(LINKS, LINKS + 3), which))
			branches(&c, which & 2);
		c.links = c.jump && which >= LINKS;
		break;
	case J:
	case JAL:
		c.jump = opcode == JAL ? JUMP_CALL : JUMP_OTHER;
		c.weights[R10K_Ni] = 1;
		break;
	case COP0:
		c.weights[R10K_Ni] = 1;
		break;
	case COP1:
		floating_point(&c, word);
		break;
	case COP1X:
		floating_point_indexed(&c, word);
		break;
	default:
		plain(&c, opcode, word);
		break;
	}
	return c;
}
