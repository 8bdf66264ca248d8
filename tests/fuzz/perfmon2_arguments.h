/*
 * What perfmon2_calls.c gives to the calls: numbers near to where something happens, made of an input's bytes.
 */
#ifndef TESTS_PERFMON2_ARGUMENTS_H
#define TESTS_PERFMON2_ARGUMENTS_H

#include "perfmon2_shadow.h"

static const struct shadow_machine *machine; /* the one that there is */

/* Numbers near to where something happens. */
static inline uint64_t
take_value(struct bytes *b)
{
	const uint8_t kind = take_byte(b);
	uint64_t value = 0;

	if (kind < 0x80)
		return 0 - (uint64_t)kind;
	if (kind < 0xe0)
		return kind;
	if (kind < 0xf0)
		return (UINT64_C(1) << machine->width) - (kind & 0xf);
	take(b, &value, sizeof(value));
	return value;
}

static inline uint16_t
take_pmd(struct bytes *b)
{
	const uint8_t kind = take_byte(b);

	return kind < 0xc0 ? 4 + kind % 4 : kind;
}

static inline uint16_t
take_set(struct bytes *b)
{
	const uint8_t kind = take_byte(b);

	return kind < 0xf0 ? kind % 4 : kind % 8;
}

static inline uint64_t
take_vector(struct bytes *b)
{
	const uint8_t kind = take_byte(b);
	uint64_t value = kind < 0xf0 ? (uint64_t)(kind & 0xf) << 4 & machine->pmds : 0;

	if (kind >= 0xf0)
		take(b, &value, sizeof(value));
	return value;
}

static inline uint64_t
take_pmc_value(struct bytes *b)
{
	const uint8_t kind = take_byte(b);
	uint64_t value;

	if (kind < 0xe0) /* an event of few, at level 3 */
		return (uint64_t)(kind & 3) << 8 | PFM_PLM3;
	take(b, &value, sizeof(value));
	return value;
}

static inline pfarg_pmd_t
take_pmd_element(struct bytes *b)
{
	pfarg_pmd_t pmd = { .reg_num = take_pmd(b), .reg_set = take_set(b), .reg_value = take_value(b) };
	const uint8_t kind = take_byte(b);

	pmd.reg_flags = kind < 0xf8 ? kind & 1 : kind & 0x7;
	pmd.reg_ovfl_switch_cnt = kind >> 1 & 3;
	if (kind & 0x80) {
		pmd.reg_long_reset = take_value(b);
		pmd.reg_short_reset = take_value(b);
		pmd.reg_smpl_pmds[0] = take_vector(b);
		pmd.reg_reset_pmds[0] = take_vector(b);
		pmd.reg_random_mask = kind >= 0xf8 ? take_value(b) : 0;
		pmd.reg_smpl_pmds[kind & 3] |= kind == 0xff;
	}
	return pmd;
}

#endif /* TESTS_PERFMON2_ARGUMENTS_H */
