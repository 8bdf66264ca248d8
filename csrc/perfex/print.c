/*
 * Counts on stderr, in the form of perfex(1); pypfm/perfex/report.py prints the same.
 */
#include "library.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WIDTH		80	/* columns of a terminal */
#define BESIDE_WIDTH	29	/* count and quality, to the right of the name */
#define NAME_WIDTH	(WIDTH - 4 - BESIDE_WIDTH)
#define TIMES_WIDTH	39

static const char *const qualities[] = { "exact", "approximate", "modelled", "" };

struct line {
	int			event;
	const char		*name;
	long long		count;
	enum perfex_quality	quality;	/* PERFEX_UNAVAILABLE: no count */
	bool			has_times;
	double			typical, minimum, maximum;	/* seconds */
};

struct report {
	char	text[2048];
	size_t	size;
};

static void __attribute__((format(printf, 2, 3)))
add(struct report *report, const char *format, ...)
{
	va_list values;
	int size;

	va_start(values, format);
	size = vsnprintf(report->text + report->size, sizeof(report->text) - report->size, format, values);
	va_end(values);
	if (size > 0)
		report->size += (size_t)size;
	if (report->size >= sizeof(report->text))
		report->size = sizeof(report->text) - 1;
}

/* End a line, without the blanks at its end. */
static void
end_line(struct report *report)
{
	while (report->size && report->text[report->size - 1] == ' ')
		report->size--;
	add(report, "\n");
}

/* How well the event can be counted here: a perfex_quality, or a negative errno value. */
static int
quality_of(const struct perfex_cpu *cpu, int event, const struct perfex_map *map)
{
	struct perfex_counter *counter;
	int ret = perfex_counter_open_mapped(cpu, event, map, &counter);

	if (ret == -ENODEV || ret == -EACCES)
		return PERFEX_UNAVAILABLE;
	if (ret == 0)
		ret = (int)perfex_counter_quality(counter);
	perfex_counter_close(counter);
	return ret;
}

static int
make_lines(const struct perfex_choice *choice, const long long counts[2], const struct perfex_cost *costs,
	   double clock, struct line lines[2])
{
	struct perfex_map map;
	int ret = perfex_map_load(NULL, &map);

	for (int i = 0; ret == 0 && i < 2; i++) {
		const int event = choice->events[i];
		int quality = quality_of(choice->cpu, event, &map);

		if (quality < 0)
			ret = quality;
		else
			lines[i] = (struct line){ .event = event, .name = choice->cpu->events[event].name,
						  .count = counts[i], .quality = (enum perfex_quality)quality };
		if (ret == 0 && costs && quality != PERFEX_UNAVAILABLE && costs[event].unit != PERFEX_NO_COST) {
			const double one = costs[event].unit == PERFEX_NSEC ? 1e-9 : 1e-6 / clock;

			lines[i].has_times = true;
			lines[i].typical = costs[event].typical * one * (double)counts[i];
			lines[i].minimum = costs[event].minimum * one * (double)counts[i];
			lines[i].maximum = costs[event].maximum * one * (double)counts[i];
		}
	}
	perfex_map_free(&map);
	return ret;
}

/* Whether a line belongs before another: the most costly first, then those with a count. */
static bool
before(const struct line *a, const struct line *b)
{
	if (a->typical != b->typical)
		return a->typical > b->typical;
	if (a->maximum != b->maximum)
		return a->maximum > b->maximum;
	if ((a->quality == PERFEX_UNAVAILABLE) != (b->quality == PERFEX_UNAVAILABLE))
		return b->quality == PERFEX_UNAVAILABLE;
	return a->event < b->event;
}

/* The first words of a name, as many as fit into so many columns, with dots behind them; the words left over. */
static const char *
first_words(const char *name, size_t width, char words[NAME_WIDTH + 1])
{
	size_t size = strlen(name);

	if (size > width)
		for (size = width; size > 1 && name[size] != ' '; size--)
			;
	memset(words, '.', width);
	words[width] = '\0';
	memcpy(words, name, size);
	return name[size] ? name + size + 1 : "";
}

/* An event: a line, and a second one for the rest of a long name and for the times. */
static void
add_line(struct report *report, const struct line *line, bool times)
{
	char words[NAME_WIDTH + 1], count[32] = "not available", below[1024] = "";
	size_t width = NAME_WIDTH;
	const char *more;
	int room;

	if (line->quality != PERFEX_UNAVAILABLE)
		width += (size_t)(15 - snprintf(count, sizeof(count), "%15lld", line->count));	/* a long count takes more */
	more = first_words(line->name, width, words);
	add(report, "%3d %s %15s  %-11s", line->event, words, count, qualities[line->quality]);
	end_line(report);
	if (times && line->has_times)
		snprintf(below, sizeof(below), " %12.6f %12.6f %12.6f", line->typical, line->minimum, line->maximum);
	else if (times && line->quality != PERFEX_UNAVAILABLE)
		snprintf(below, sizeof(below), " %12s %12s %12s", "-", "-", "-");
	if (!*more && !*below)
		return;
	room = WIDTH - 4 - (int)strlen(below);
	add(report, "    %-*s%s", room > 0 ? room : 0, more, below);
	end_line(report);
}

static int
write_out(const struct report *report)
{
	errno = 0;
	if (fwrite(report->text, 1, report->size, stderr) != report->size || fflush(stderr) != 0)
		return errno ? -errno : -EIO;
	return 0;
}

int
perfex_print(const struct perfex_choice *choice, const long long counts[2], const struct perfex_cost *costs)
{
	struct line lines[2];
	struct report report = { .size = 0 };
	double clock = 0;
	bool given, swap;
	void *locale;
	int ret = costs ? perfex_clock(choice->cpu, &clock, &given) : 0;

	if (ret == 0)
		ret = make_lines(choice, counts, costs, clock, lines);
	if (ret != 0)
		return ret;
	locale = perfex_locale_begin();
	if (costs && given)
		add(&report, "clock: %g MHz (given)\n", clock);
	else if (costs)
		add(&report, "clock: %g MHz (the default of the %s)\n", clock, choice->cpu->name);
	add(&report, "event%*s %15s  %-11s", WIDTH - 5 - BESIDE_WIDTH, "", "count", "quality");
	end_line(&report);
	if (costs)
		add(&report, "%*s %12s %12s %12s\n", WIDTH - TIMES_WIDTH, "", "typical s", "minimum s", "maximum s");
	swap = costs && before(&lines[1], &lines[0]);
	add_line(&report, &lines[swap], costs != NULL);
	add_line(&report, &lines[!swap], costs != NULL);
	perfex_locale_end(locale);
	return write_out(&report);
}
