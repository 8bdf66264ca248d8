/*
 * Tables of events in the form of perfex(1), and the counts of this process on stderr.
 */
#include "library.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 80 /* columns of a terminal */

/* ---- tables ---- */

/* Return how many bytes of a name fit into a number of columns: all, or whole words. */
static int
words_that_fit(const char *name, int width)
{
	int size = (int)strlen(name);

	if (size > width)
		for (size = width > 0 ? width : 0; size && name[size] != ' '; size--)
			;
	return size;
}

int
perfex_row(char *text, size_t size, const char *number, const char *name, const char *beside, const char *below)
{
	static const char dots[WIDTH + 1] =
		"................................................................................";
	const int width = WIDTH - (int)strlen(number) - (int)strlen(beside), first = words_that_fit(name, width);
	const int fill = width > first ? width - first : 0, indent = *below ? WIDTH - 4 - (int)strlen(below) : 0;
	const char *more = name + first + (name[first] == ' ');
	const bool two = *more || *below;
	int end = (int)strlen(beside);

	while (end && beside[end - 1] == ' ')
		end--;
	return snprintf(text, size, "%s%.*s%*.*s%.*s\n%s%-*s%s%s", number, first, name, fill, *number ? fill : 0, dots,
			end, beside, two ? "    " : "", indent > 0 ? indent : 0, more, below, two ? "\n" : "");
}

int
perfex_head(char *text, size_t size, bool shares, bool times)
{
	return perfex_row(text, size, "", "event",
			  shares ? "           count  quality     counted" : "           count  quality    ",
			  times ? "    typical s    minimum s    maximum s" : "");
}

int
perfex_line(char *text, size_t size, int event, const char *name, const char *count, const char *quality, double share,
	    const double *times)
{
	const size_t room = 64 + (count ? strlen(count) : 0);
	char number[16], part[32] = "", below[1024] = "", *beside = malloc(room);
	void *locale;
	int ret;

	if (!beside)
		return -ENOMEM;
	locale = perfex_locale_begin();
	if (count && share >= 0)
		snprintf(part, sizeof(part), "%.1f%%", 100 * share);
	if (count && times && isnan(times[0]))
		snprintf(below, sizeof(below), " %12s %12s %12s", "-", "-", "-");
	else if (count && times)
		snprintf(below, sizeof(below), " %12.6f %12.6f %12.6f", times[0], times[1], times[2]);
	snprintf(number, sizeof(number), "%3d ", event);
	snprintf(beside, room, " %15s  %-11s%*s", count ? count : "not available", count ? quality : "",
		 share < 0 ? 0 : 8, part);
	ret = perfex_row(text, size, number, name, beside, below);
	perfex_locale_end(locale);
	free(beside);
	return ret;
}

/* ---- counts on stderr ---- */

struct counted {
	int event, quality; /* PERFEX_UNAVAILABLE: no count */
	char count[24];
	bool has_times;
	double times[3];
};

/* Print a count; of computed ones two digits, and the mark for "not counted". */
static void
show_count(char *text, size_t size, long long count, bool computed)
{
	long long unit = 1;

	if (!computed) {
		snprintf(text, size, "%lld", count);
		return;
	}
	while (count / unit > 99 || count / unit < -99)
		unit *= 10;
	const long long rest = count % unit, up = 2 * llabs(rest) < unit ? 0 : rest < 0 ? -1 : 1;

	snprintf(text, size, "~%lld", (count / unit + up) * unit);
}

static void
look_at_counts(const struct perfex_choice *choice, const long long counts[2], const struct perfex_quality_here *here,
	       const struct perfex_cost *costs, double clock, struct counted counted[2])
{
	for (int i = 0; i < 2; i++) {
		const int event = choice->events[i], quality = here->qualities[i];

		counted[i] = (struct counted){ .event = event, .quality = quality };
		show_count(counted[i].count, sizeof(counted[i].count), counts[i],
			   quality == PERFEX_MODELLED && here->is_shipped);
		counted[i].has_times = costs && quality != PERFEX_UNAVAILABLE && costs[event].unit != PERFEX_NO_COST;
		if (counted[i].has_times)
			perfex_seconds(&costs[event], (double)counts[i], clock, counted[i].times);
	}
}

/* Tell whether one belongs before another: the most costly first, then those with a count. */
static bool
is_before(const struct counted *a, const struct counted *b)
{
	if (a->times[0] != b->times[0])
		return a->times[0] > b->times[0];
	if (a->times[2] != b->times[2])
		return a->times[2] > b->times[2];
	if ((a->quality == PERFEX_UNAVAILABLE) != (b->quality == PERFEX_UNAVAILABLE))
		return b->quality == PERFEX_UNAVAILABLE;
	return a->event < b->event;
}

static int
write_to_stderr(const char *text)
{
	errno = 0;
	return fputs(text, stderr) >= 0 && fflush(stderr) == 0 ? 0 : errno ? -errno : -EIO;
}

int
perfex_print(const struct perfex_choice *choice, const long long counts[2], const struct perfex_quality_here *here,
	     const struct perfex_cost *costs)
{
	static const double unknown[3] = { NAN, NAN, NAN };
	struct counted counted[2];
	char text[4096];
	double clock = 0;
	bool given, swap;
	int size = 0, ret = costs ? perfex_clock(choice->cpu, &clock, &given) : 0;

	if (ret != 0)
		return ret;
	look_at_counts(choice, counts, here, costs, clock, counted);
	if (costs) {
		void *locale = perfex_locale_begin();

		size = snprintf(text, sizeof(text), "clock: %g MHz (%s%s)\n", clock,
				given ? "given" : "the default of the ", given ? "" : choice->cpu->name);
		perfex_locale_end(locale);
	}
	size += perfex_head(text + size, sizeof(text) - (size_t)size, false, costs != NULL);
	swap = costs && is_before(&counted[1], &counted[0]);
	for (int i = 0; i < 2; i++) {
		const struct counted *c = &counted[swap ? !i : i];

		ret = perfex_line(text + size, sizeof(text) - (size_t)size, c->event,
				  choice->cpu->events[c->event].name,
				  c->quality == PERFEX_UNAVAILABLE ? NULL : c->count, perfex_quality_names[c->quality],
				  -1, costs ? c->has_times ? c->times : unknown : NULL);
		if (ret < 0)
			return ret;
		size += ret;
	}
	return write_to_stderr(text);
}
