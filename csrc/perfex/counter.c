/*
 * An event of this process: perf events, whose counts are added up, or a simulated count.
 */
#include "library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../counting/set.h"
#include "simulated.h"

struct perfex_counter {
	const struct perfex_cpu *cpu; /* simulated; NULL: perf events */
	int event;
	double clock;
	bool runs;
	struct simulated begin, simulated; /* when it was started; since then */
	int count;                         /* none: 0 by definition */
	struct counting_set *sets[];
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

/* Open the perf events of a row, and return its quality. */
static int
open_counted_row(const struct perfex_row *row, struct perfex_counter **counter)
{
	const bool zero = strcmp(row->perf, "0") == 0;
	size_t terms = 1;
	int ret = 0;

	for (const char *at = row->perf; *at; at++)
		terms += *at == '+';
	*counter = calloc(1, sizeof(**counter) + terms * sizeof((*counter)->sets[0]));
	if (!*counter)
		return -ENOMEM;
	for (const char *at = row->perf, *next; ret == 0 && !zero && at; at = next ? next + 1 : NULL) {
		next = strchr(at, '+');
		ret = open_counted_term(at, next ? (size_t)(next - at) : strlen(at),
					&(*counter)->sets[(*counter)->count]);
		(*counter)->count += ret == 0;
	}
	if (ret < 0) {
		perfex_counter_close(*counter);
		*counter = NULL;
	}
	return ret < 0 ? ret : (int)row->quality;
}

static int
open_counted(const struct perfex_cpu *cpu, int event, const struct perfex_map *map, struct perfex_counter **counter)
{
	const char *whose = perfex_map_owner(map, cpu, event);
	int ret = -ENODEV;

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

static int
open_simulated(const struct perfex_cpu *cpu, int event, struct perfex_counter **counter)
{
	double clock;
	bool given;
	int ret = perfex_simulator() == PERFEX_UNDER_PERFEX && perfex_is_simulated(cpu, event) ? 0 : -ENODEV;

	if (ret == 0)
		ret = perfex_clock(cpu, &clock, &given);
	if (ret < 0)
		return ret;
	*counter = calloc(1, sizeof(**counter));
	if (!*counter)
		return -ENOMEM;
	(*counter)->cpu = cpu;
	(*counter)->event = event;
	(*counter)->clock = clock;
	return (int)perfex_simulated_quality(cpu, event);
}

int
perfex_counter_open(const struct perfex_cpu *cpu, int event, const struct perfex_map *map,
		    struct perfex_counter **counter)
{
	*counter = NULL;
	/* A map of the user's own means the kernel's events.  Hardware counters would count valgrind's instructions. */
	if (map->rows == perfex_shipped_map.rows && perfex_simulator() != PERFEX_NATIVE)
		return open_simulated(cpu, event, counter);
	return open_counted(cpu, event, map, counter);
}

/* ---- starting and stopping: perf events one after the other, simulated ones last and first ---- */

static bool
are_simulated(struct perfex_counter *const *counters, int count)
{
	bool any = false;

	for (int i = 0; i < count; i++)
		any = any || counters[i]->cpu;
	return any;
}

/* Counters that were started together begin at the same moment. */
static int
start_simulated(struct perfex_counter *const *counters, int count)
{
	struct simulated now;
	int ret = simulated_read(&now);

	for (int i = 0; ret == 0 && i < count; i++)
		if (counters[i]->cpu) {
			counters[i]->begin = now;
			counters[i]->runs = true;
		}
	return ret;
}

static void
take_simulated(struct perfex_counter *counter, const struct simulated *now)
{
	static const struct simulated nothing;

	if (counter->cpu && counter->runs)
		counter->simulated = simulated_since(&counter->begin, now, &nothing);
}

void
perfex_counter_between(struct perfex_counter *counter, const struct simulated *begin, const struct simulated *end,
		       const struct simulated *empty)
{
	if (counter->cpu)
		counter->simulated = simulated_since(begin, end, empty);
}

int
perfex_counters_start(struct perfex_counter *const *counters, int count)
{
	int ret = 0;

	for (int i = 0; i < count; i++)
		for (int n = 0; ret == 0 && n < counters[i]->count; n++)
			ret = counting_set_enable(counters[i]->sets[n]);
	return ret == 0 && are_simulated(counters, count) ? start_simulated(counters, count) : ret;
}

void
perfex_counters_stop(struct perfex_counter *const *counters, int count)
{
	struct simulated now;
	const int ret = are_simulated(counters, count) ? simulated_read(&now) : -ENODEV;

	for (int i = 0; i < count; i++) {
		if (ret == 0)
			take_simulated(counters[i], &now);
		for (int n = 0; n < counters[i]->count; n++)
			counting_set_disable(counters[i]->sets[n]);
		counters[i]->runs = false;
	}
}

int
perfex_counter_read(struct perfex_counter *counter, uint64_t *count)
{
	struct simulated now;
	uint64_t one;
	int ret;

	*count = 0;
	if (counter->cpu) {
		if (counter->runs && simulated_read(&now) == 0)
			take_simulated(counter, &now);
		return simulated_value(&counter->simulated, counter->cpu, counter->event, counter->clock, count);
	}
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
