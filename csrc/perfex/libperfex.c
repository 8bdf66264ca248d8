/*
 * libperfex(3C): one pair of counters, and the costs that were loaded.
 */
#include "library.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static struct {
	pthread_mutex_t		lock;
	bool			forks;		/* the handlers are registered */
	bool			started;
	int			events[2];
	struct perfex_counter	*counters[2];
	struct perfex_cost	loaded[PERFEX_NUM_EVENTS];
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- fork(): the child has no counters ---- */

static void
close_counters(void)
{
	for (int i = 0; i < 2; i++) {
		perfex_counter_close(state.counters[i]);
		state.counters[i] = NULL;
	}
	state.started = false;
}

static void
before_fork(void)
{
	pthread_mutex_lock(&state.lock);
}

static void
in_parent(void)
{
	pthread_mutex_unlock(&state.lock);
}

static void
in_child(void)
{
	close_counters();
	pthread_mutex_unlock(&state.lock);
}

static int
register_fork(void)
{
	int ret = 0;

	pthread_mutex_lock(&state.lock);
	if (!state.forks)
		ret = -pthread_atfork(before_fork, in_parent, in_child);
	state.forks = ret == 0;		/* else the next call tries again */
	pthread_mutex_unlock(&state.lock);
	return ret;
}

/* ---- the functions ---- */

static int
answer(int ret)
{
	if (ret < 0)
		errno = -ret;
	return ret < 0 ? -1 : 0;
}

/* Open and start two counters. */
static int
open_pair(const struct perfex_choice *choice, struct perfex_counter *counters[2])
{
	struct perfex_map map;
	int ret = perfex_map_load(NULL, &map);

	counters[0] = counters[1] = NULL;
	for (int i = 0; ret == 0 && i < 2; i++)
		ret = perfex_counter_open_mapped(choice->cpu, choice->events[i], &map, &counters[i]);
	perfex_map_free(&map);
	for (int i = 0; ret == 0 && i < 2; i++)
		ret = perfex_counter_start(counters[i]);
	if (ret < 0) {
		perfex_counter_close(counters[0]);
		perfex_counter_close(counters[1]);
	}
	return ret;
}

int
start_counters(int e0, int e1)
{
	struct perfex_choice choice;
	struct perfex_counter *counters[2];
	int ret = perfex_choose(e0, e1, &choice);

	if (ret == 0)
		ret = register_fork();
	if (ret == 0)
		ret = open_pair(&choice, counters);
	if (ret < 0)
		return answer(ret);
	pthread_mutex_lock(&state.lock);
	close_counters();
	memcpy(state.counters, counters, sizeof(state.counters));
	memcpy(state.events, choice.events, sizeof(state.events));
	state.started = true;
	pthread_mutex_unlock(&state.lock);
	return 0;
}

/* Stop and read what runs; the counts in the order of the events given. */
static int
read_pair(const struct perfex_choice *choice, uint64_t counts[2])
{
	const bool swapped = choice->events[0] == state.events[1];
	int ret = 0;

	if (!state.started)
		return -ENXIO;
	if (choice->events[0] != state.events[swapped] || choice->events[1] != state.events[!swapped])
		return -EINVAL;
	for (int i = 0; i < 2; i++)
		perfex_counter_stop(state.counters[i]);
	for (int i = 0; ret == 0 && i < 2; i++)
		ret = perfex_counter_read(state.counters[i], &counts[swapped ? !i : i]);
	close_counters();
	return ret;
}

int
read_counters(int e0, long long *c0, int e1, long long *c1)
{
	struct perfex_choice choice;
	uint64_t counts[2];
	int ret = c0 && c1 ? perfex_choose(e0, e1, &choice) : -EFAULT;

	if (ret < 0)
		return answer(ret);
	pthread_mutex_lock(&state.lock);
	ret = read_pair(&choice, counts);
	pthread_mutex_unlock(&state.lock);
	if (ret == 0) {
		*c0 = (long long)counts[0];
		*c1 = (long long)counts[1];
	}
	return answer(ret);
}

int
print_counters(int e0, long long c0, int e1, long long c1)
{
	const long long counts[2] = { c0, c1 };
	struct perfex_choice choice;
	int ret = perfex_choose(e0, e1, &choice);

	return answer(ret < 0 ? ret : perfex_print(&choice, counts, NULL));
}

/* Built in, then the system's, then those that were loaded. */
static int
costs_in_effect(const struct perfex_cpu *cpu, struct perfex_cost costs[PERFEX_NUM_EVENTS])
{
	struct perfex_cost system[PERFEX_NUM_EVENTS];
	int ret = perfex_costs_read_system(system);

	if (ret < 0)
		return ret;
	for (int i = 0; i < PERFEX_NUM_EVENTS; i++)
		costs[i] = cpu->events[i].cost;
	perfex_costs_override(costs, system);
	pthread_mutex_lock(&state.lock);
	perfex_costs_override(costs, state.loaded);
	pthread_mutex_unlock(&state.lock);
	return 0;
}

int
print_costs(int e0, long long c0, int e1, long long c1)
{
	const long long counts[2] = { c0, c1 };
	struct perfex_choice choice;
	struct perfex_cost costs[PERFEX_NUM_EVENTS];
	int ret = perfex_choose(e0, e1, &choice);

	if (ret == 0)
		ret = costs_in_effect(choice.cpu, costs);
	return answer(ret < 0 ? ret : perfex_print(&choice, counts, costs));
}

int
load_costs(char *CostFileName)
{
	struct perfex_cost found[PERFEX_NUM_EVENTS];
	int ret = CostFileName ? perfex_costs_read(CostFileName, found) : -EFAULT;

	if (ret < 0)
		return answer(ret);
	pthread_mutex_lock(&state.lock);
	perfex_costs_override(state.loaded, found);
	pthread_mutex_unlock(&state.lock);
	return 0;
}
