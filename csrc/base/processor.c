/*
 * An IA-64 processor: its family, from CPUID, and its architected counters, from the kernel.
 */
#include "processor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"

/* ---- which processor ----------------------------------------------------------------------- */

/* The register itself, which a program may read; no other machine has it. */
static bool
own_cpuid3(unsigned long *cpuid3)
{
#ifdef __ia64__
	__asm__("mov %0=cpuid[%1]" : "=r"(*cpuid3) : "r"(3ul));
	return true;
#else
	(void)cpuid3;
	return false;
#endif
}

bool
ia64_cpuid3(unsigned long *cpuid3)
{
	const char *value = environment("LIBPFM_IA64_CPUID3");
	char *end;

	if (!value)
		return own_cpuid3(cpuid3);
	if (*value < '0' || *value > '9')
		return false;
	*cpuid3 = strtoul(value, &end, 0);
	return *end == '\0';
}

/* ---- what the kernel says ------------------------------------------------------------------ */

/* Bytes of the buffer that a line of the file is read into; what does not fit is the next line. */
#define LINE_SIZE 63

/* The content of the file: each line of it is "KEY: VALUE". */
enum key { WIDTH, PAIRS, CYCLES_CODE, RETIRED_CODE, CYCLES_CAPABLE, RETIRED_CAPABLE, IMPL_PMCS, IMPL_PMDS, NUM_KEYS };

static const char *const keys[NUM_KEYS] = {
	[WIDTH] = "Counter width",
	[PAIRS] = "PMC/PMD pairs",
	[CYCLES_CODE] = "Cycle event number",
	[RETIRED_CODE] = "Retired event number",
	[CYCLES_CAPABLE] = "Cycles count capable",
	[RETIRED_CAPABLE] = "Retired bundles count capable",
	[IMPL_PMCS] = "Implemented PMC",
	[IMPL_PMDS] = "Implemented PMD",
};

/* Add the registers first to last to a set; false if one is out of range. */
static bool
add_registers(unsigned long first, unsigned long last, struct ia64_registers *set, FILE *notices)
{
	if (first >= IA64_NUM_REGISTERS || last >= IA64_NUM_REGISTERS) {
		if (notices)
			fprintf(notices, "register %lu: numbers are below %d\n",
				first >= IA64_NUM_REGISTERS ? first : last, IA64_NUM_REGISTERS);
		return false;
	}
	for (unsigned long n = first; n <= last; n++)
		set->bits[n / 64] |= UINT64_C(1) << n % 64;
	return true;
}

/* Take an item off a list, up to a blank or a minus: its number, as strtoul() finds it, so that white space and a plus
 * pass, and what is no number or empty is 0.  The character that ended it, '\0' at the end of the list. */
static char
take_item(char **list, unsigned long *number)
{
	char *end = *list + strcspn(*list, " -"), separator = *end;

	*end = '\0';
	*number = strtoul(*list, NULL, 10);
	*list = separator ? end + 1 : end;
	return separator;
}

/* Read a list of registers, "N" and "N-M", each with a blank after it.  false if a number is out of range: nothing
 * else is an error.  One item ends where the next begins, so that two blanks have an empty one between them, which is
 * register 0; after "N-M" a minus is as good as a blank; "N" at the end of the list does not count (quirks). */
static bool
read_registers(char *text, struct ia64_registers *set, FILE *notices)
{
	unsigned long first, last;
	char separator;

	text[strcspn(text, "\n")] = '\0';
	while ((separator = take_item(&text, &first)) != '\0') {
		last = first;
		if (separator == '-')
			take_item(&text, &last);
		if (!add_registers(first, last, set, notices))
			return false;
	}
	return true;
}

/* Enter what the file says after a key; false if it is not as it should be. */
static bool
enter_value(struct ia64_pal *pal, enum key key, char *value, FILE *notices)
{
	unsigned int number = (unsigned int)strtoul(value, NULL, 10);

	switch (key) {
	case WIDTH:
		pal->width = number;
		return true;
	case PAIRS:
		pal->pairs = number;
		return true;
	case CYCLES_CODE:
		pal->codes[IA64_CYCLES] = (unsigned char)number;
		return true;
	case RETIRED_CODE:
		pal->codes[IA64_RETIRED] = (unsigned char)number;
		return true;
	case CYCLES_CAPABLE:
		return read_registers(value, &pal->capable[IA64_CYCLES], notices);
	case RETIRED_CAPABLE:
		return read_registers(value, &pal->capable[IA64_RETIRED], notices);
	case IMPL_PMCS:
		return read_registers(value, &pal->pmcs, notices);
	default:
		return read_registers(value, &pal->pmds, notices);
	}
}

/* Enter a line of the file.  1: it has one of the keys; 0: none; -1: a key, but no value of it. */
static int
enter_line(struct ia64_pal *pal, char *line, char *colon, FILE *notices)
{
	/* One character between the colon and the value is skipped, if there is one. */
	char *value = colon[1] ? colon + 2 : colon + 1;

	for (int key = 0; key < NUM_KEYS; key++) {
		size_t len = strlen(keys[key]);

		/* The beginning has to be the key. */
		if ((size_t)(colon - line) >= len && strncmp(line, keys[key], len) == 0)
			return enter_value(pal, (enum key)key, value, notices) ? 1 : -1;
	}
	return 0;
}

/* Read the file, up to its end or the first line without a colon; false if it does not say all. */
static bool
read_description(struct ia64_pal *pal, FILE *file, FILE *notices)
{
	char line[LINE_SIZE];
	int found = 0;

	while (fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');
		int one;

		if (!colon)
			break;
		one = enter_line(pal, line, colon, notices);
		if (one < 0)
			return false;
		found += one;
	}
	return found == NUM_KEYS; /* in all: a key that comes twice makes up for another */
}

const char *
ia64_pal_path(void)
{
	const char *path = environment("LIBPFM_IA64_PAL");

	return path ? path : "/proc/pal/cpu0/perfmon_info";
}

bool
ia64_pal_read(const char *path, struct ia64_pal *pal, FILE *notices)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for a writer */
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	bool all;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	memset(pal, 0, sizeof(*pal));
	all = read_description(pal, file, notices);
	fclose(file);
	return all;
}
