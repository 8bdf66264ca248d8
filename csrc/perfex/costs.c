/*
 * Cost files: lines of event, unit, typical, minimum and maximum cost; comment behind #.
 * pypfm/perfex/costs.py reads the same.
 */
#include "library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SYSTEM_FILE "/etc/perfex.costs"

enum { WORDS = 5 };

struct word {
	const char	*text;
	size_t		size;
};

/* Unicode's white space, as Python's str.split() has it. */
static bool
is_space(uint32_t code)
{
	return (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x20) || code == 0x85 || code == 0xa0
		|| code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029
		|| code == 0x202f || code == 0x205f || code == 0x3000;
}

/* The words of a line, up to one more than there may be: their number. */
static int
split(const char *at, const char *end, struct word words[WORDS + 1])
{
	int count = 0;
	bool inside = false;
	uint32_t code;
	size_t size;

	for (; at < end; at += size) {
		size = perfex_character(at, end, &code);
		if (is_space(code)) {
			inside = false;
			continue;
		}
		if (!inside && count == WORDS + 1)
			break;
		if (!inside)
			words[count++] = (struct word){ at, 0 };
		words[count - 1].size += size;
		inside = true;
	}
	return count;
}

static bool
is_word(struct word word, const char *text)
{
	return word.size == strlen(text) && memcmp(word.text, text, word.size) == 0;
}

static int
read_line(const char *at, const char *end, struct perfex_cost found[PERFEX_NUM_EVENTS])
{
	struct word words[WORDS + 1];
	struct perfex_cost cost = { PERFEX_NO_COST, -1, -1, -1 };
	int count = split(at, end, words), event;

	if (count == 0)
		return 0;
	if (count != WORDS)
		return -EINVAL;
	event = perfex_event_number(words[0].text, words[0].size);
	if (event < 0 || found[event].unit != PERFEX_NO_COST)
		return -EINVAL;
	cost.unit = is_word(words[1], "clks") ? PERFEX_CLKS : is_word(words[1], "nsec") ? PERFEX_NSEC : PERFEX_NO_COST;
	cost.typical = perfex_decimal(words[2].text, words[2].size, 12);
	cost.minimum = perfex_decimal(words[3].text, words[3].size, 12);
	cost.maximum = perfex_decimal(words[4].text, words[4].size, 12);
	if (cost.unit == PERFEX_NO_COST || cost.minimum < 0 || cost.minimum > cost.typical || cost.typical > cost.maximum)
		return -EINVAL;
	found[event] = cost;
	return 0;
}

static int
parse(const char *text, size_t size, struct perfex_cost found[PERFEX_NUM_EVENTS])
{
	const char *end = text + size;
	int ret = 0;

	for (const char *line = text, *next; ret == 0 && line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line)), *comment;

		stop = stop ? stop : end;
		next = stop + 1;
		comment = memchr(line, '#', (size_t)(stop - line));
		ret = read_line(line, comment ? comment : stop, found);
	}
	return ret;
}

int
perfex_costs_read(const char *path, struct perfex_cost *found)
{
	char *text;
	size_t size;
	int ret = perfex_read_file(path, &text, &size);

	memset(found, 0, PERFEX_NUM_EVENTS * sizeof(*found));
	if (ret < 0)
		return ret;
	ret = parse(text, size, found);
	free(text);
	return ret;
}

int
perfex_costs_read_system(struct perfex_cost found[PERFEX_NUM_EVENTS])
{
	const char *named = perfex_environment("PERFEX_COSTS");
	int ret = perfex_costs_read(named ? named : SYSTEM_FILE, found);

	return !named && (ret == -ENOENT || ret == -ENOTDIR) ? 0 : ret;
}

void
perfex_costs_override(struct perfex_cost costs[PERFEX_NUM_EVENTS], const struct perfex_cost by[PERFEX_NUM_EVENTS])
{
	for (int i = 0; i < PERFEX_NUM_EVENTS; i++)
		if (by[i].unit != PERFEX_NO_COST)
			costs[i] = by[i];
}
