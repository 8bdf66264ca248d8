/*
 * Counts of perfex's valgrind tool, and the events that are computed from them.
 */
#include "simulated.h"

#include <errno.h>

#include "valgrind.h"

enum {
	INSTRUCTIONS,
	BRANCHES,
	FLOATING,
	LOADS,
	STORES, /* instructions that occupy execution units */
	FETCH_MISSES,
	FETCH_MISSES_2,
	TLB_MISSES,
	MISPREDICTED, /* events that overlap with nothing */
	DATA_MISSES,
	DATA_MISSES_2,
};

const int perfex_cycle_parts[PERFEX_NUM_CYCLE_PARTS] = {
	[INSTRUCTIONS] = 15, [BRANCHES] = 6,     [FLOATING] = 21,       [LOADS] = 18,
	[STORES] = 19,       [FETCH_MISSES] = 9, [FETCH_MISSES_2] = 10, [TLB_MISSES] = 23,
	[MISPREDICTED] = 24, [DATA_MISSES] = 25, [DATA_MISSES_2] = 26,
};

/* Source: MIPS R10000 Microprocessor User's Manual (instructions issued, load/store and floating-point units). */
static const double ISSUED = 4, FLOATING_UNITS = 2, MISSES_IN_FLIGHT = 5;

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

void
simulated_begin(bool *region)
{
	if (!__atomic_exchange_n(region, true, __ATOMIC_RELAXED))
		valgrind_region(PERFEX_REGION_START);
}

void
simulated_end(bool *region)
{
	if (__atomic_exchange_n(region, false, __ATOMIC_RELAXED))
		valgrind_region(PERFEX_REGION_READ);
}

unsigned long
perfex_region(enum perfex_region what)
{
	return valgrind_region((int)what);
}

unsigned int
perfex_simulated_counts(uint64_t *counts, unsigned int room)
{
	return valgrind_counts(counts, room) & 0xff;
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

static double
larger(double a, double b)
{
	return a > b ? a : b;
}

/*
 * At best four instructions are issued in a cycle, with one load or store, one branch and two floating-point
 * instructions among them; five misses of data are in flight, and instructions go on meanwhile.  At worst one
 * instruction is executed in a cycle, and each miss is waited for.
 */
void
perfex_estimated_cycles(const struct perfex_cpu *cpu, const uint64_t parts[PERFEX_NUM_CYCLE_PARTS], double clock,
			const double nsec[PERFEX_NUM_CYCLE_PARTS], uint64_t range[2])
{
	const double accesses = (double)parts[LOADS] + (double)parts[STORES];
	const double units =
		larger(accesses, larger((double)parts[FLOATING] / FLOATING_UNITS, (double)parts[BRANCHES]));
	double waits = 0, data = 0, all = 0;

	for (int i = FETCH_MISSES; i < PERFEX_NUM_CYCLE_PARTS; i++) {
		double times[3]; /* seconds: typical, least, most */

		perfex_seconds(&cpu->events[perfex_cycle_parts[i]].cost, (double)parts[i], clock, times);
		if (nsec) {
			times[2] = nsec[i] * 1e-9 * (double)parts[i];
			times[1] = i < DATA_MISSES ? times[2] : 0;
		}
		all += times[2];
		if (i < DATA_MISSES)
			waits += times[1];
		else
			data += larger(times[1], times[2] / MISSES_IN_FLIGHT);
	}
	const double cycles = clock * 1e6, instructions = (double)parts[INSTRUCTIONS];

	range[0] = (uint64_t)(larger(larger(instructions / ISSUED, units), data * cycles) + waits * cycles + 0.5);
	range[1] = (uint64_t)(larger(instructions, units) + all * cycles + 0.5);
}

static uint64_t sum_of(const struct simulated *simulated, const struct perfex_cpu *cpu, int event, double clock);

/* Return cycles, or those in which misses of data are handled: the middle of the range. */
static uint64_t
modelled(const struct simulated *simulated, const struct perfex_cpu *cpu, int first, double clock)
{
	uint64_t parts[PERFEX_NUM_CYCLE_PARTS] = { 0 }, range[2];

	for (int i = first; i < PERFEX_NUM_CYCLE_PARTS; i++)
		parts[i] = sum_of(simulated, cpu, perfex_cycle_parts[i], clock);
	perfex_estimated_cycles(cpu, parts, clock, NULL, range);
	return range[0] + (range[1] - range[0]) / 2;
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
		const uint64_t count = s->count == PERFEX_CYCLES      ? modelled(simulated, cpu, 0, clock)
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
