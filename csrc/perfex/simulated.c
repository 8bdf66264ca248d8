/*
 * The counts that callgrind writes into its file, and the events that they make.
 */
#define _FILE_OFFSET_BITS 64	/* the file may be large */

#include "simulated.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "valgrind.h"

enum { BUFFER = 1 << 16, LINE = 512 };

const char *const perfex_simulated_names[PERFEX_NUM_SIMULATED] = {
	"Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw", "Bc", "Bcm", "Bi", "Bim",
};

/* Graduated instructions, and the misses whose typical costs are the stalls. */
const int perfex_cycle_parts[PERFEX_NUM_CYCLE_PARTS] = { 15, 9, 10, 25, 26 };

enum perfex_simulator
perfex_simulator(void)
{
	if (!valgrind_runs())
		return PERFEX_NATIVE;
	return perfex_environment("PERFEX_VALGRIND") ? PERFEX_UNDER_PERFEX : PERFEX_ONLY_VALGRIND;
}

/* ---- the file ---- */

int
simulated_write(off_t *end)
{
	const char *prefix = perfex_environment("PERFEX_VALGRIND");
	char path[PATH_MAX];
	int file, size, ret = 0;

	if (!prefix)
		return -ENODEV;
	size = snprintf(path, sizeof(path), "%s%ld", prefix, (long)getpid());
	if (size < 0 || (size_t)size >= sizeof(path))
		return -ENAMETOOLONG;
	/* Callgrind ends a program whose file it cannot open, or make: so see to it before. */
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (file < 0)
		return -errno;
	if (lseek(file, 0, SEEK_END) == 0 && fchmod(file, S_IRUSR | S_IWUSR) < 0)	/* the program's umask is not for it */
		ret = -errno;
	if (ret == 0 && !valgrind_command("dump perfex"))
		ret = -ENODEV;		/* another tool */
	*end = lseek(file, 0, SEEK_END);
	if (ret == 0 && *end <= 0)
		ret = *end ? -errno : -EIO;
	if (ret < 0)
		close(file);
	return ret < 0 ? ret : file;
}

/* Where a reader of the file is. */
struct reader {
	char		line[LINE];	/* its beginning */
	size_t		size;
	bool		skips;		/* it has no key that matters */
	int		columns[32];	/* which count is in it; -1: another one */
	int		width;
	unsigned long	part;		/* the last one; 0: none yet */
	bool		inside;		/* its totals have not come */
	struct simulated *found;
};

/* The text after a key at the beginning of a line; NULL: it is another line. */
static const char *
after_key(const char *line, const char *key)
{
	const size_t size = strlen(key);

	return strncmp(line, key, size) == 0 ? line + size : NULL;
}

static void
take_names(struct reader *reader, const char *at)
{
	for (reader->width = 0; reader->width < 32; reader->width++) {
		const size_t size = (at += strspn(at, " "), strcspn(at, " "));

		if (size == 0)
			return;
		reader->columns[reader->width] = -1;
		for (int i = 0; i < PERFEX_NUM_SIMULATED; i++)
			if (strlen(perfex_simulated_names[i]) == size && memcmp(perfex_simulated_names[i], at, size) == 0) {
				reader->columns[reader->width] = i;
				reader->found->known |= 1u << i;
			}
		at += size;
	}
}

/* Zeros at the end of the line are left out. */
static void
take_totals(struct reader *reader, const char *at)
{
	for (int i = 0; i < reader->width; i++) {
		char *next;
		const unsigned long long count = strtoull(at, &next, 10);

		if (next == at)
			return;
		if (reader->columns[i] >= 0)
			reader->found->counts[reader->columns[i]] += count;
		at = next;
	}
}

/* One part for each thread has the same number, where perfex tells threads apart. */
static int
take_line(struct reader *reader)
{
	const char *rest;

	if ((rest = after_key(reader->line, "part:"))) {
		const unsigned long number = strtoul(rest, NULL, 10);

		if (reader->inside || (reader->part && number != reader->part && number != reader->part + 1))
			return -EIO;
		reader->part = number;
		reader->inside = true;
	} else if ((rest = after_key(reader->line, "events:"))) {
		take_names(reader, rest);
	} else if ((rest = after_key(reader->line, "totals:"))) {
		if (!reader->inside)
			return -EIO;
		take_totals(reader, rest);
		reader->inside = false;
	}
	return 0;
}

static int
take_bytes(struct reader *reader, const char *at, size_t size)
{
	int ret = 0;

	while (ret == 0 && size) {
		const char *newline = memchr(at, '\n', size);
		const size_t more = newline ? (size_t)(newline - at) : size, room = LINE - 1 - reader->size;
		const size_t copied = more < room ? more : room;

		/* Most lines are of the profile: let them be. */
		reader->skips = reader->skips || (reader->size == 0 && !strchr("pet", *at));
		if (!reader->skips) {
			memcpy(reader->line + reader->size, at, copied);
			reader->size += copied;
		}
		if (newline) {
			reader->line[reader->size] = '\0';
			ret = reader->skips ? 0 : take_line(reader);
			reader->skips = false;
			reader->size = 0;
		}
		at += more + (newline != NULL);
		size -= more + (newline != NULL);
	}
	return ret;
}

int
simulated_add(struct simulated *simulated, int file, off_t end)
{
	struct simulated sum = *simulated;
	struct reader reader = { .found = &sum };
	char *buffer = malloc(BUFFER);
	int ret = buffer ? 0 : -ENOMEM;

	while (ret == 0 && sum.at < end) {
		const size_t size = end - sum.at < BUFFER ? (size_t)(end - sum.at) : BUFFER;
		ssize_t got;

		do
			got = pread(file, buffer, size, sum.at);
		while (got < 0 && errno == EINTR);
		ret = got < 0 ? -errno : got == 0 ? -EIO : take_bytes(&reader, buffer, (size_t)got);
		sum.at += got > 0 ? got : 0;
	}
	free(buffer);
	if (ret == 0 && (!reader.part || reader.inside))
		ret = -EIO;
	if (ret == 0)
		*simulated = sum;
	return ret;
}

/* ---- events ---- */

uint64_t
perfex_estimated_cycles(const struct perfex_cpu *cpu, const uint64_t parts[PERFEX_NUM_CYCLE_PARTS], double clock)
{
	double seconds = 0, times[3];

	for (int i = 1; i < PERFEX_NUM_CYCLE_PARTS; i++) {
		perfex_seconds(&cpu->events[perfex_cycle_parts[i]].cost, (double)parts[i], clock, times);
		seconds += times[0];
	}
	return parts[0] + (uint64_t)(seconds * clock * 1e6 + 0.5);
}

/* A sum of products of callgrind's counts; -ENODEV: it does not count one of them. */
static int
sum_of(const struct simulated *simulated, const struct perfex_formula *formula, uint64_t *value)
{
	*value = 0;
	for (int i = 0; i < PERFEX_MOST_SUMMANDS && formula->summands[i].name; i++) {
		int n = 0;

		while (n < PERFEX_NUM_SIMULATED && strcmp(formula->summands[i].name, perfex_simulated_names[n]) != 0)
			n++;
		if (n == PERFEX_NUM_SIMULATED || !(simulated->known >> n & 1))
			return -ENODEV;
		*value += formula->summands[i].factor * simulated->counts[n];
	}
	return 0;
}

bool
perfex_is_cycles(const struct perfex_formula *formula)
{
	return formula->summands[0].name && strcmp(formula->summands[0].name, "cycles") == 0;
}

int
simulated_value(const struct simulated *simulated, const struct perfex_cpu *cpu, int event, double clock,
		uint64_t *value)
{
	const struct perfex_formula *formula = &cpu->simulated[event];
	uint64_t parts[PERFEX_NUM_CYCLE_PARTS];
	int ret = 0;

	if (formula->quality == PERFEX_UNAVAILABLE)
		return -ENODEV;
	if (!simulated->counts[0])	/* the functions of the library have instructions */
		return -EBUSY;
	if (!perfex_is_cycles(formula))
		return sum_of(simulated, formula, value);
	for (int i = 0; ret == 0 && i < PERFEX_NUM_CYCLE_PARTS; i++)
		ret = sum_of(simulated, &cpu->simulated[perfex_cycle_parts[i]], &parts[i]);
	if (ret == 0)
		*value = perfex_estimated_cycles(cpu, parts, clock);
	return ret;
}

bool
perfex_is_simulated(const struct perfex_cpu *cpu, int event)
{
	const struct simulated all = { .counts = { 1 }, .known = ~0u };
	uint64_t value;

	return simulated_value(&all, cpu, event, 1, &value) == 0;
}
