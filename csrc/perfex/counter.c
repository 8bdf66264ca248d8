/*
 * An event of this process: perf events, whose counts are added up.
 */
#include "library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../counting/set.h"

struct perfex_counter {
	int			count;	/* none: 0 by definition */
	struct counting_set	*sets[];
};

static int
open_counted_term(const char *name, size_t size, struct counting_set **set)
{
	struct perf_event_attr attr;
	uint32_t type;
	uint64_t config;
	int ret = perfex_term(name, size, &type, &config);

	if (ret < 0)
		return ret;
	memset(&attr, 0, sizeof(attr));
	attr.type = type;
	attr.config = config;
	attr.exclude_kernel = attr.exclude_hv = 1;
	return counting_set_open_own(&attr, set);
}

/* Open the perf events of a row: its quality. */
static int
open_counted_row(const struct perfex_row *row, struct perfex_counter **counter)
{
	const bool zero = strcmp(row->perf, "0") == 0;
	size_t terms = 1;
	int ret = 0;

	for (const char *at = row->perf; *at; at++)
		terms += *at == '+';
	*counter = malloc(sizeof(**counter) + terms * sizeof((*counter)->sets[0]));
	if (!*counter)
		return -ENOMEM;
	(*counter)->count = 0;
	for (const char *at = row->perf, *next; ret == 0 && !zero && at; at = next ? next + 1 : NULL) {
		next = strchr(at, '+');
		ret = open_counted_term(at, next ? (size_t)(next - at) : strlen(at), &(*counter)->sets[(*counter)->count]);
		(*counter)->count += ret == 0;
	}
	if (ret < 0) {
		perfex_counter_close(*counter);
		*counter = NULL;
	}
	return ret < 0 ? ret : (int)row->quality;
}

int
perfex_counter_open(const struct perfex_cpu *cpu, int event, const struct perfex_map *map,
		    struct perfex_counter **counter)
{
	const char *whose = perfex_map_owner(map, cpu, event);
	int ret = -ENODEV;

	*counter = NULL;
	for (size_t i = 0; ret == -ENODEV && i < map->count; i++) {
		const struct perfex_row *row = &map->rows[i];

		if (row->event != event || strcmp(row->cpu, whose) != 0)
			continue;
		if (row->quality == PERFEX_UNAVAILABLE)
			return -ENODEV;
		ret = open_counted_row(row, counter);
	}
	return ret;
}

int
perfex_counter_start(const struct perfex_counter *counter)
{
	int ret = 0;

	for (int i = 0; ret == 0 && i < counter->count; i++)
		ret = counting_set_enable(counter->sets[i]);
	return ret;
}

void
perfex_counter_stop(const struct perfex_counter *counter)
{
	for (int i = 0; i < counter->count; i++)
		counting_set_disable(counter->sets[i]);
}

int
perfex_counter_read(const struct perfex_counter *counter, uint64_t *count)
{
	uint64_t one;
	int ret;

	*count = 0;
	for (int i = 0; i < counter->count; i++) {
		ret = counting_set_read(counter->sets[i], &one);
		if (ret < 0)
			return ret;
		*count += one;
	}
	return 0;
}

void
perfex_counter_close(struct perfex_counter *counter)
{
	for (int i = 0; counter && i < counter->count; i++)
		counting_set_close(counter->sets[i]);
	free(counter);
}
