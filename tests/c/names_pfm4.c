/*
 * Names with a NUL in them, in each table of libpfm 4: events, unit masks, modifiers.
 */
#include "names.h"

#include "pfm4.h"

int
main(void)
{
	for (int place = 0; pfm4_pmu_at(place); place++) {
		const struct pfm4_pmu *pmu = pfm4_pmu_at(place);
		const struct pfm4_modifier *modifiers[PFM4_MAX_MODIFIERS];
		uint64_t raw;

		names_check_one(pmu->name);
		CHECK(pmu->match(pmu, "r1\0002", 4, &raw) == -1);
		if (pmu->table->names.longest_name == 0) /* perf_raw: numbers */
			continue;
		names_check_table(&pmu->table->names, &pmu->table->events[0].name, sizeof(*pmu->table->events),
				  (size_t)pmu->table->count);
		for (int i = 0; i < pmu->table->count; i++) {
			const struct pfm4_event *event = &pmu->table->events[i];

			for (int n = 0; n < event->num_umasks; n++)
				names_check_one(event->umasks[n].name);
			for (int n = pfm4_modifiers(pmu, PFM_PLM3, event, PFM_OS_PERF_EVENT_EXT, modifiers); n-- > 0;)
				names_check_one(modifiers[n]->name);
		}
	}
	return check_result();
}
