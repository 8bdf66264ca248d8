/*
 * What perfex's valgrind tool counts, and the events that it makes.
 */
#include "simulated.h"

#include <errno.h>

#include "valgrind.h"

/* Graduated instructions, and the misses whose typical costs are the stalls. */
const int perfex_cycle_parts[PERFEX_NUM_CYCLE_PARTS] = { 15, 9, 10, 25, 26 };

enum { DATA_MISSES = 3 };	/* where those of the data caches begin */

enum perfex_simulator
perfex_simulator(void)
{
	if (!valgrind_runs())
		return PERFEX_NATIVE;
	return (valgrind_counts(NULL, 0) & 0xff) == R10K_NUM_COUNTS ? PERFEX_UNDER_PERFEX : PERFEX_ONLY_VALGRIND;
}

int
simulated_read(struct simulated *now)
{
	const uintptr_t answer = valgrind_counts(now->counts, R10K_NUM_COUNTS);

	if ((answer & 0xff) != R10K_NUM_COUNTS)
		return -ENODEV;
	now->fine = answer >> 8 & 1;
	return 0;
}

struct simulated
simulated_since(const struct simulated *begin, const struct simulated *end, const struct simulated *empty)
{
	struct simulated found = { .fine = end->fine, .never = end->counts[R10K_Ir] == begin->counts[R10K_Ir] };

	for (int i = 0; i < R10K_NUM_COUNTS; i++) {
		const uint64_t counted = end->counts[i] - begin->counts[i];

		found.counts[i] = counted > empty->counts[i] ? counted - empty->counts[i] : 0;
	}
	return found;
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

static uint64_t sum_of(const struct simulated *simulated, const struct perfex_cpu *cpu, int event, double clock);

/* Cycles, or those in which misses of data are handled. */
static uint64_t
modelled(const struct simulated *simulated, const struct perfex_cpu *cpu, int first, double clock)
{
	uint64_t parts[PERFEX_NUM_CYCLE_PARTS] = { 0 };

	for (int i = first; i < PERFEX_NUM_CYCLE_PARTS; i++)
		parts[i] = sum_of(simulated, cpu, perfex_cycle_parts[i], clock);
	return perfex_estimated_cycles(cpu, parts, clock);
}

static const struct perfex_formula *
formula_of(const struct perfex_cpu *cpu, int event, bool fine)
{
	return &cpu->simulated[fine][event];
}

static uint64_t
sum_of(const struct simulated *simulated, const struct perfex_cpu *cpu, int event, double clock)
{
	const struct perfex_formula *formula = formula_of(cpu, event, simulated->fine);
	uint64_t sum = 0;

	for (int i = 0; i < formula->num_summands; i++) {
		const struct perfex_summand *s = &formula->summands[i];
		const uint64_t count = s->count == PERFEX_CYCLES ? modelled(simulated, cpu, 0, clock)
			: s->count == PERFEX_OCCUPANCY ? modelled(simulated, cpu, DATA_MISSES, clock)
			: simulated->counts[s->count];

		sum += (uint64_t)(int64_t)s->factor * count;
	}
	return sum;
}

int
simulated_value(const struct simulated *simulated, const struct perfex_cpu *cpu, int event, double clock,
		uint64_t *value)
{
	if (formula_of(cpu, event, simulated->fine)->quality == PERFEX_UNAVAILABLE)
		return -ENODEV;
	if (simulated->never)
		return -EBUSY;
	*value = sum_of(simulated, cpu, event, clock);
	return 0;
}

enum perfex_quality
perfex_simulated_quality(const struct perfex_cpu *cpu, int event)
{
	const uintptr_t answer = valgrind_runs() ? valgrind_counts(NULL, 0) : 0;

	return formula_of(cpu, event, answer >> 8 & 1)->quality;
}

bool
perfex_is_simulated(const struct perfex_cpu *cpu, int event)
{
	return perfex_simulated_quality(cpu, event) != PERFEX_UNAVAILABLE;
}
