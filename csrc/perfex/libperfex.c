/*
 * libperfex(3C): one pair of counters, and the costs that were loaded.
 */
#include "library.h"

#include <errno.h>
#include <string.h>

#include "../base/guard.h"
#include "simulated.h"

static struct {
	struct guard guard;
	bool started;
	bool region; /* of perfex --regions: the pair's, or in a child that of the parent's pair */
	int events[2];
	struct perfex_counter *counters[2];
	struct perfex_cost loaded[PERFEX_NUM_EVENTS];
	struct simulated begin; /* of the region that runs */
	struct simulated empty; /* the counts of an empty region */
	enum { NOT_MEASURED, MEASURING, MEASURED } measured;
} state = { .guard = GUARD_INITIALIZER };

/* ---- fork(): the child has no counters ---- */

static void
close_pair(struct perfex_counter *counters[2])
{
	for (int i = 0; i < 2; i++) {
		perfex_counter_close(counters[i]);
		counters[i] = NULL;
	}
}

void
perfex_leave(void)
{
	guard_leave(&state.guard);
}

static void
hold_over_fork(void)
{
	guard_enter(&state.guard);
}

static void
forget_in_child(void)
{
	close_pair(state.counters);
	state.started = false;
	perfex_leave();
}

int
perfex_enter(void)
{
	int ret;

	guard_enter(&state.guard);
	ret = guard_fork(&state.guard, hold_over_fork, perfex_leave, forget_in_child);
	if (ret < 0)
		perfex_leave();
	return ret;
}

/* ---- the functions ---- */

/* Return the result of a function.  cancel: the value that guard_hold() returned at its beginning. */
static int
end_call(int ret, int cancel)
{
	guard_release(cancel);
	if (ret < 0)
		errno = -ret;
	return ret < 0 ? -1 : 0;
}

/* Open and start two counters. */
static int
open_pair(const struct perfex_choice *choice, const struct perfex_map *map, struct perfex_counter *counters[2])
{
	int ret = 0;

	counters[0] = counters[1] = NULL;
	for (int i = 0; ret >= 0 && i < 2; i++)
		ret = perfex_counter_open(choice->cpu, choice->events[i], map, &counters[i]);
	if (ret >= 0)
		ret = perfex_counters_start(counters, 2);
	if (ret < 0)
		close_pair(counters);
	return ret;
}

/* Start a pair in the place of the running one, if it can be opened. */
static int
start_pair(const struct perfex_choice *choice, const struct perfex_map *map)
{
	struct perfex_counter *counters[2];
	int ret = perfex_enter();

	if (ret < 0)
		return ret;
	ret = open_pair(choice, map, counters);
	if (ret == 0) {
		close_pair(state.counters);
		memcpy(state.counters, counters, sizeof(state.counters));
		memcpy(state.events, choice->events, sizeof(state.events));
		state.started = true;
	}
	perfex_leave();
	return ret;
}

/*
 * Where the counters are simulated, a region begins with the last action of start_counters(), and ends with the first
 * one of read_counters().  The rest, the call and the return, is the same each time: it is measured, and subtracted.
 */
static void __attribute__((noinline))
measure_empty_region(int e0, int e1)
{
	static int (*volatile read)(int, long long *, int, long long *) =
		read_counters; /* as through a linker's table */
	long long counts[2];

	state.measured = MEASURING;
	for (int i = 0; i < 2; i++) /* the first time may look functions up */
		if (start_counters(e0, e1) == 0)
			read(e0, &counts[0], e1, &counts[1]);
	state.measured = MEASURED;
}

int
start_counters(int e0, int e1)
{
	const int cancel = guard_hold();
	struct perfex_choice choice;
	struct perfex_map map;
	int ret = perfex_choose(e0, e1, &choice);

	if (ret == 0 && state.measured == NOT_MEASURED && perfex_simulator() == PERFEX_UNDER_PERFEX)
		measure_empty_region(e0, e1);
	if (ret == 0)
		ret = perfex_map_load(&map);
	if (ret == 0) {
		ret = start_pair(&choice, &map);
		perfex_map_free(&map);
	}
	ret = end_call(ret, cancel);
	if (ret < 0) {
		if (state.measured != MEASURING)
			perfex_region(PERFEX_REGION_NOT_BEGUN);
		return ret;
	}
	simulated_begin(&state.region);
	simulated_read(&state.begin);
	return 0;
}

/*
 * Stop and read the running pair; the counts are in the order of the events given.  end: NULL where nothing is
 * simulated.
 */
static int
read_pair(const struct perfex_choice *choice, const struct simulated *end, uint64_t counts[2])
{
	static const struct simulated nothing;

	const bool swapped = choice->events[0] == state.events[1];
	int ret = 0;

	if (!state.started)
		return -ENXIO;
	if (choice->events[0] != state.events[swapped] || choice->events[1] != state.events[!swapped])
		return -EINVAL;
	perfex_counters_stop(state.counters, 2);
	if (end && state.measured == MEASURING)
		state.empty = simulated_since(&state.begin, end, &nothing);
	for (int i = 0; end && i < 2; i++)
		perfex_counter_between(state.counters[i], &state.begin, end, &state.empty);
	for (int i = 0; ret == 0 && i < 2; i++)
		ret = perfex_counter_read(state.counters[i], &counts[swapped ? !i : i]);
	close_pair(state.counters);
	state.started = false;
	return ret;
}

int
read_counters(int e0, long long *c0, int e1, long long *c1)
{
	struct simulated end;
	const bool is_simulated = simulated_read(&end) == 0;

	simulated_end(&state.region);

	const int cancel = guard_hold();
	struct perfex_choice choice;
	uint64_t counts[2];
	int ret = c0 && c1 ? perfex_choose(e0, e1, &choice) : -EFAULT;

	const int entered = perfex_enter();
	if (ret == 0)
		ret = entered;
	if (ret == 0)
		ret = read_pair(&choice, is_simulated ? &end : NULL, counts);
	if (entered == 0 && state.started) /* refused: the pair goes on */
		simulated_begin(&state.region);
	if (entered == 0)
		perfex_leave();
	if (ret == 0) {
		*c0 = (long long)counts[0];
		*c1 = (long long)counts[1];
	}
	return end_call(ret, cancel);
}

/* Return how well the event can be counted here: a perfex_quality, or a negative errno value. */
static int
quality_here(const struct perfex_cpu *cpu, int event, const struct perfex_map *map)
{
	struct perfex_counter *counter;
	int ret = perfex_enter();

	if (ret < 0)
		return ret;
	ret = perfex_counter_open(cpu, event, map, &counter);
	perfex_counter_close(counter);
	perfex_leave();
	return ret == -ENODEV || ret == -EACCES ? PERFEX_UNAVAILABLE : ret;
}

/* Return the quality of both events; and whether the map that comes with the library says so. */
static int
look_at_quality(const struct perfex_choice *choice, struct perfex_quality_here *here)
{
	struct perfex_map map;
	int ret = perfex_map_load(&map);

	if (ret < 0)
		return ret;
	here->is_shipped = map.rows == perfex_shipped_map.rows;
	for (int i = 0; ret >= 0 && i < 2; i++)
		ret = here->qualities[i] = quality_here(choice->cpu, choice->events[i], &map);
	perfex_map_free(&map);
	return ret < 0 ? ret : 0;
}

static int
print_counts(const struct perfex_choice *choice, const long long counts[2], const struct perfex_cost *costs)
{
	struct perfex_quality_here here;
	const int ret = look_at_quality(choice, &here);

	return ret < 0 ? ret : perfex_print(choice, counts, &here, costs);
}

int
print_counters(int e0, long long c0, int e1, long long c1)
{
	const int cancel = guard_hold();
	const long long counts[2] = { c0, c1 };
	struct perfex_choice choice;
	int ret = perfex_choose(e0, e1, &choice);

	return end_call(ret < 0 ? ret : print_counts(&choice, counts, NULL), cancel);
}

/* Load the built-in costs, replaced by the system's, replaced by those that the program loaded. */
static int
costs_in_effect(const struct perfex_cpu *cpu, struct perfex_cost costs[PERFEX_NUM_EVENTS])
{
	struct perfex_cost system[PERFEX_NUM_EVENTS];
	int ret = perfex_costs_read_system(system);

	if (ret == 0)
		ret = perfex_enter();
	if (ret < 0)
		return ret;
	for (int i = 0; i < PERFEX_NUM_EVENTS; i++)
		costs[i] = cpu->events[i].cost;
	perfex_costs_override(costs, system);
	perfex_costs_override(costs, state.loaded);
	perfex_leave();
	return 0;
}

int
print_costs(int e0, long long c0, int e1, long long c1)
{
	const int cancel = guard_hold();
	const long long counts[2] = { c0, c1 };
	struct perfex_choice choice;
	struct perfex_cost costs[PERFEX_NUM_EVENTS];
	int ret = perfex_choose(e0, e1, &choice);

	if (ret == 0)
		ret = costs_in_effect(choice.cpu, costs);
	return end_call(ret < 0 ? ret : print_counts(&choice, counts, costs), cancel);
}

int
load_costs(char *CostFileName)
{
	const int cancel = guard_hold();
	struct perfex_cost found[PERFEX_NUM_EVENTS];
	int ret = CostFileName ? perfex_costs_read(CostFileName, found) : -EFAULT;

	if (ret == 0)
		ret = perfex_enter();
	if (ret == 0) {
		perfex_costs_override(state.loaded, found);
		perfex_leave();
	}
	return end_call(ret, cancel);
}
