/*
 * check.h for programs about libpfm 3: registers as text.
 */
#ifndef TESTS_CHECK_PFM3_H
#define TESTS_CHECK_PFM3_H

#include "check.h"

#include <perfmon/pfmlib.h>

/* Registers as text, "4=0x1228 5=0x868"; the text is good until the next call. */
static inline const char *
show_values(const pfmlib_reg_t *regs, unsigned int count)
{
	static char text[4096];
	int at = 0;

	*text = '\0';
	for (unsigned int i = 0; i < count && i < 64; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%u=0x%llx", i ? " " : "", regs[i].reg_num,
			       regs[i].reg_value);
	return text;
}

/* Register numbers as text, "4 5". */
static inline const char *
show_numbers(const pfmlib_reg_t *regs, unsigned int count)
{
	static char text[1024];
	int at = 0;

	*text = '\0';
	for (unsigned int i = 0; i < count && i < 64; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%u", i ? " " : "", regs[i].reg_num);
	return text;
}

#endif /* TESTS_CHECK_PFM3_H */
