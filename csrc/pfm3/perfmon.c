/*
 * Functions that the perfmon2 engine (csrc/perfmon2) needs of libpfm: its events.
 */
#include "encoder.h"
#include "for_perfmon2.h"

/* As pfm_dispatch_events() writes them: the unit mask of an event address register's event is in that register. */
bool
pfm3_event_code(int type, unsigned int event, unsigned int *es, unsigned int *umask)
{
	const struct pfm3_model *model = type < 0 ? pfm3_current_model() : pfm3_model_of_type(type);
	const struct pfm3_event *row = model ? pfm3_event_at(model, event) : NULL;

	if (!row)
		return false;
	*es = row->code;
	*umask = PFM3_EAR_KINDS >> row->kind & 1 ? 0 : row->umask;
	return true;
}

bool
pfm3_event_of_code(int type, unsigned int es, unsigned int umask, uint64_t *counters, bool *is_normal)
{
	const struct pfm3_model *model = pfm3_model_of_type(type);
	const struct pfm3_event *row;
	bool found = false;

	*counters = 0;
	*is_normal = true;
	for (unsigned int i = 0; model && (row = pfm3_event_at(model, i)); i++) {
		const bool is_ear = PFM3_EAR_KINDS >> row->kind & 1;

		if (row->code != es || (row->umask != umask && !is_ear))
			continue;
		found = true;
		*counters |= row->counters;
		*is_normal &= row->kind == PFM3_NORMAL;
	}
	return found;
}
