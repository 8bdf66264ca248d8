/*
 * The host's event for an event of IA-64.
 */
#include "host_events.h"

#include <stddef.h>

const struct host_event *
host_event_of(int pmu, unsigned int es, unsigned int umask)
{
	for (const struct host_event *event = ia64_host_events; event->pmu; event++)
		if (event->pmu == pmu && event->es == es && event->umask == umask)
			return event;
	return NULL;
}
