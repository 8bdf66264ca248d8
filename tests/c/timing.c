/*
 * How long finding an event and dispatching take, next to the plain C they
 * compete with, measured in the same run.  Prints JSON, nanoseconds; nothing is
 * judged here.
 */
#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "timing.h"

#define MAX_EVENTS	1024

static char names[MAX_EVENTS][64];
static unsigned int count;

/* Make the compiler believe that all memory is read here. */
static void
use(void *p)
{
	__asm__ volatile ("" : : "g"(p) : "memory");
}

static void
find_all(void)
{
	for (unsigned int i = 0; i < count; i++) {
		unsigned int idx;

		if (pfm_find_event(names[i], &idx) != PFMLIB_SUCCESS)
			printf("error\n");
		use(&idx);
	}
}

static void
scan_all(void)
{
	for (unsigned int i = 0; i < count; i++) {
		unsigned int idx = 0;

		while (strcasecmp(names[i], names[idx]) != 0)
			idx++;
		use(&idx);
	}
}

static pfmlib_input_param_t inp;
static pfmlib_output_param_t outp;

static void
dispatch(void)
{
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		printf("error\n");
	use(&outp);
}

static void
clear(void)
{
	memset(&outp, 0, sizeof(outp));
	use(&outp);
}

static void
read_names(void)
{
	pfm_get_num_events(&count);
	for (unsigned int i = 0; i < count; i++)
		pfm_get_event_name(i, names[i], sizeof(names[i]));
}

static void
four_events(const char *const *wanted)
{
	memset(&inp, 0, sizeof(inp));
	inp.pfp_dfl_plm = PFM_PLM3;
	inp.pfp_event_count = 4;
	for (unsigned int i = 0; i < 4; i++)
		pfm_find_event(wanted[i], &inp.pfp_events[i].event);
}

static void
measure(const char *name, int type, const char *const *events, int last)
{
	double find, scan, call, set;

	pfm_force_pmu(type);
	read_names();
	four_events(events);
	find = shortest(find_all, 1) / count;
	scan = shortest(scan_all, 1) / count;
	call = shortest(dispatch, 50);
	set = shortest(clear, 50);
	printf("\"%s\": {\"events\": %u, \"find_event_ns\": %.1f, \"linear_scan_ns\": %.1f, "
	       "\"find_speedup\": %.1f, \"dispatch_ns\": %.1f, \"memset_ns\": %.1f, "
	       "\"dispatch_over_memset\": %.3f}%s\n", name, count, find, scan, scan / find, call, set,
	       call / set, last ? "" : ",");
}

int
main(void)
{
	static const char *const ita2[] = { "CPU_CYCLES", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED" };
	static const char *const mont[] = { "CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED", "NOPS_RETIRED",
					    "LOADS_RETIRED" };

	printf("{\n");
	measure("itanium2", PFMLIB_ITANIUM2_PMU, ita2, 0);
	measure("montecito", PFMLIB_MONTECITO_PMU, mont, 1);
	printf("}\n");
	return 0;
}
