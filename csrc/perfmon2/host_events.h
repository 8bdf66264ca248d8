/*
 * Private: what perf_event_open(2) counts on any host for an event of an IA-64 PMU (csrc/tables/ia64_host_events.csv).
 */
#ifndef PYPFM_PERFMON2_HOST_EVENTS_H
#define PYPFM_PERFMON2_HOST_EVENTS_H

#include <stdint.h>

#include "perfmon/pfmlib.h"

struct host_event {
	int pmu; /* PFMLIB_*_PMU; 0 ends the list */
	unsigned int es, umask;
	uint32_t type;
	uint64_t config;
};

extern const struct host_event ia64_host_events[];

/* NULL: there is none. */
const struct host_event *host_event_of(int pmu, unsigned int es, unsigned int umask);

#endif /* PYPFM_PERFMON2_HOST_EVENTS_H */
