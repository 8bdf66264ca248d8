/*
 * Cost files: lines of event, unit, typical, minimum and maximum cost; comment after #.
 */
#include "library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SYSTEM_FILE "/etc/perfex.costs"

enum { EVENT, UNIT, TYPICAL, MINIMUM, MAXIMUM, WORDS };

struct word {
	const char *text;
	size_t size;
};

/* Unicode's white space: text copied from a web page has such blanks. */
static bool
is_space(uint32_t code)
{
	return (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x20) || code == 0x85 || code == 0xa0 ||
	       code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 ||
	       code == 0x202f || code == 0x205f || code == 0x3000;
}

static bool
is_word(struct word word, const char *text)
{
	return word.size == strlen(text) && memcmp(word.text, text, word.size) == 0;
}

static int
parse_values(const struct word words[WORDS], struct perfex_cost *cost, struct perfex_fault *fault)
{
	double values[WORDS];

	for (int i = TYPICAL; i <= MAXIMUM; i++) {
		values[i] = perfex_decimal(words[i].text, words[i].size, 12);
		if (values[i] < 0)
			return perfex_refuse(fault, words[i].text, words[i].size, "{} is not a cost, such as 1 or 0.5");
	}
	cost->typical = values[TYPICAL];
	cost->minimum = values[MINIMUM];
	cost->maximum = values[MAXIMUM];
	if (cost->minimum <= cost->typical && cost->typical <= cost->maximum)
		return 0;
	return perfex_refuse(fault, "", 0, "minimum %.*s, typical %.*s, maximum %.*s are not in ascending order",
			     (int)words[MINIMUM].size, words[MINIMUM].text, (int)words[TYPICAL].size,
			     words[TYPICAL].text, (int)words[MAXIMUM].size, words[MAXIMUM].text);
}

/* Split a line into words; the last one gets the rest of the line if there are more than WORDS. */
static int
parse_cost(const struct word words[], int count, struct perfex_cost found[PERFEX_NUM_EVENTS],
	   struct perfex_fault *fault)
{
	struct perfex_cost cost;
	int event, ret;

	if (count == 0)
		return 0;
	if (count != WORDS)
		return perfex_refuse(fault, words[0].text,
				     (size_t)(words[count - 1].text - words[0].text) + words[count - 1].size,
				     "{}: a line is event, unit, typical, minimum, maximum cost");
	event = perfex_event_in_file(words[EVENT].text, words[EVENT].size, fault);
	if (event < 0)
		return event;
	cost.unit = is_word(words[UNIT], "clks")   ? PERFEX_CLKS
		    : is_word(words[UNIT], "nsec") ? PERFEX_NSEC
						   : PERFEX_NO_COST;
	if (cost.unit == PERFEX_NO_COST)
		return perfex_refuse(fault, words[UNIT].text, words[UNIT].size, "{} is not a unit; clks and nsec are");
	ret = parse_values(words, &cost, fault);
	if (ret < 0)
		return ret;
	if (found[event].unit != PERFEX_NO_COST)
		return perfex_refuse(fault, "", 0, "event %d stands here a second time", event);
	found[event] = cost;
	return 0;
}

int
perfex_costs_parse(const char *text, size_t size, struct perfex_cost *found, struct perfex_fault *fault)
{
	const char *at = text, *end = text + size;
	int ret = perfex_text_check(text, size, fault);

	memset(found, 0, PERFEX_NUM_EVENTS * sizeof(*found));
	while (ret == 0 && at < end) {
		struct word words[WORDS + 1];
		bool inside = false, comment = false;
		uint32_t code = 0;
		int count = 0;

		fault->at = (size_t)(at - text);
		while (at < end && code != '\n') {
			const char *character = at;

			at += perfex_character(at, end, &code);
			comment = comment || code == '#';
			if (comment || is_space(code)) {
				inside = false;
				continue;
			}
			if (!inside && count <= WORDS)
				words[count++].text = character;
			words[count - 1].size = (size_t)(at - words[count - 1].text);
			inside = true;
		}
		ret = parse_cost(words, count, found, fault);
	}
	return ret;
}

int
perfex_costs_read(const char *path, struct perfex_cost *found)
{
	struct perfex_fault fault;
	char *text;
	size_t size;
	int ret = perfex_read_file(path, &text, &size);

	if (ret < 0)
		return ret;
	ret = perfex_costs_parse(text, size, found, &fault);
	free(text);
	return ret;
}

int
perfex_costs_read_system(struct perfex_cost found[PERFEX_NUM_EVENTS])
{
	const char *named = perfex_environment("PERFEX_COSTS");
	int ret;

	memset(found, 0, PERFEX_NUM_EVENTS * sizeof(*found));
	ret = perfex_costs_read(named ? named : SYSTEM_FILE, found);
	return !named && (ret == -ENOENT || ret == -ENOTDIR) ? 0 : ret;
}

void
perfex_costs_override(struct perfex_cost costs[PERFEX_NUM_EVENTS], const struct perfex_cost by[PERFEX_NUM_EVENTS])
{
	for (int i = 0; i < PERFEX_NUM_EVENTS; i++)
		if (by[i].unit != PERFEX_NO_COST)
			costs[i] = by[i];
}

void
perfex_seconds(const struct perfex_cost *cost, double count, double clock, double *times)
{
	const double one = cost->unit == PERFEX_NSEC ? 1e-9 : 1e-6 / clock;

	times[0] = cost->typical * one * count;
	times[1] = cost->minimum * one * count;
	times[2] = cost->maximum * one * count;
}
