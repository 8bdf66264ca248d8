/*
 * The back end "host": events with the same meaning on this machine, whatever it is, in the
 * place of IA-64's.
 */
#include "engine.h"

#include <errno.h>

#include "host_events.h"
#include "../counting/counting.h"

enum { PLM_USER = 8, PLM_KERNEL = 1, EXTERNAL = 1 << 4, IA64_ONLY = 2, MONTECITO_ALL = 1 << 26 };

/* This machine has two privilege levels and one instruction set. */
int
perf_levels(uint64_t pmc, struct perf_event_attr *attr)
{
	const unsigned int plm = pmc & 0xf, ism = pmc >> 24 & 3;

	if (plm & ~(unsigned int)(PLM_USER | PLM_KERNEL) || pmc & EXTERNAL || (ism != 0 && ism != IA64_ONLY))
		return -ENOTSUP;
	attr->exclude_user = !(plm & PLM_USER);
	attr->exclude_kernel = attr->exclude_hv = !(plm & PLM_KERNEL);
	return 0;
}

static int
host_event(const struct context *c, uint64_t pmc, struct perf_event_attr *attr)
{
	const struct host_event *event = host_event_of(c->machine->type, pmc_es(c->machine, pmc), pmc_umask(pmc));
	const bool is_of_all = c->machine->type == PFMLIB_MONTECITO_PMU && pmc & MONTECITO_ALL;

	if (!event || is_of_all || pmc >> 20 & 7)
		return -ENOTSUP;
	attr->type = event->type;
	attr->config = event->config;
	return perf_levels(pmc, attr);
}

const struct backend host_backend = {
	"host",     perf_clock,        perf_load,     perf_unload, perf_update, NULL,
	perf_apply, perf_time_to_next, perf_take_pmc, host_event,  NULL,
};
