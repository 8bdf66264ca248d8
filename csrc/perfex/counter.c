/*
 * An event of this process: perf events, whose counts are added up.
 */
#include "library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../counting/set.h"

struct perfex_counter {
	enum perfex_quality	quality;
	int			count;	/* none: 0 by definition */
	struct counting_set	*sets[];
};

static bool
is_absent(int ret)
{
	return ret == -ENOENT || ret == -ENODEV || ret == -EOPNOTSUPP || ret == -EINVAL;
}

/* Errors of perf_event_open(2) in the library's terms. */
static int
error(int ret)
{
	if (ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM)
		return -ENOMEM;
	return is_absent(ret) ? -ENODEV : ret == -EPERM ? -EACCES : ret;
}

static int
open_term(const char *name, size_t size, struct counting_set **set)
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
	return error(counting_set_open_own(&attr, set));
}

/* Open the perf events of a row. */
static int
open_row(const struct perfex_row *row, struct perfex_counter **counter)
{
	const bool zero = strcmp(row->perf, "0") == 0;
	size_t terms = 1;
	int ret = 0;

	for (const char *at = row->perf; *at; at++)
		terms += *at == '+';
	*counter = malloc(sizeof(**counter) + terms * sizeof((*counter)->sets[0]));
	if (!*counter)
		return -ENOMEM;
	(*counter)->quality = row->quality;
	(*counter)->count = 0;
	for (const char *at = row->perf, *next; ret == 0 && !zero && at; at = next ? next + 1 : NULL) {
		next = strchr(at, '+');
		ret = open_term(at, next ? (size_t)(next - at) : strlen(at), &(*counter)->sets[(*counter)->count]);
		(*counter)->count += ret == 0;
	}
	if (ret < 0) {
		perfex_counter_close(*counter);
		*counter = NULL;
	}
	return ret;
}

/* Whose rows count: the cpu's own before those of all. */
static const char *
owner(const struct perfex_cpu *cpu, int event, const struct perfex_map *map)
{
	const char *const names[] = { cpu->name, cpu->base };

	for (size_t n = 0; n < 2; n++)
		for (size_t i = 0; i < map->count; i++)
			if (map->rows[i].event == event && strcmp(map->rows[i].cpu, names[n]) == 0)
				return names[n];
	return "";
}

int
perfex_counter_open_mapped(const struct perfex_cpu *cpu, int event, const struct perfex_map *map,
			   struct perfex_counter **counter)
{
	const char *whose = owner(cpu, event, map);
	int ret = -ENODEV;

	*counter = NULL;
	for (size_t i = 0; ret == -ENODEV && i < map->count; i++) {
		const struct perfex_row *row = &map->rows[i];

		if (row->event != event || strcmp(row->cpu, whose) != 0)
			continue;
		if (row->quality == PERFEX_UNAVAILABLE)
			return -ENODEV;
		ret = open_row(row, counter);
	}
	return ret;
}

int
perfex_counter_open(const char *cpu, int event, const char *perf_table, struct perfex_counter **counter)
{
	const struct perfex_cpu *found = perfex_cpu_find(cpu);
	struct perfex_map map;
	int ret;

	*counter = NULL;
	if (!found || event < 0 || event >= PERFEX_NUM_EVENTS)
		return -EINVAL;
	ret = perfex_map_load(perf_table, &map);
	if (ret < 0)
		return ret;
	ret = perfex_counter_open_mapped(found, event, &map, counter);
	perfex_map_free(&map);
	return ret;
}

enum perfex_quality
perfex_counter_quality(const struct perfex_counter *counter)
{
	return counter->quality;
}

int
perfex_counter_start(const struct perfex_counter *counter)
{
	int ret = 0;

	for (int i = 0; ret == 0 && i < counter->count; i++)
		ret = error(counting_set_enable(counter->sets[i]));
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
	struct counting_value sum;
	int ret;

	*count = 0;
	for (int i = 0; i < counter->count; i++) {
		ret = counting_set_read_times(counter->sets[i], &sum);
		if (ret < 0)
			return ret;
		if (sum.time_enabled && !sum.time_running)
			return -EBUSY;
		if (sum.time_enabled != sum.time_running)	/* shared: scaled to the whole time */
			sum.value = (uint64_t)(((unsigned __int128)sum.value * sum.time_enabled + sum.time_running / 2)
					       / sum.time_running);
		*count += sum.value;
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
