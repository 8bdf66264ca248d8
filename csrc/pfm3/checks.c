/*
 * The checks of a request that are the same for every model.
 */
#include "encoder.h"

pfm_err_t
pfm3_check_event(const struct pfm3_model *model, unsigned int idx, uint64_t masks)
{
	const struct pfm3_event *event = pfm3_event_at(model, idx);
	unsigned int count;

	if (!event)
		return PFMLIB_ERR_INVAL;
	count = pfm3_num_masks(model, event);
	if (masks >> count)
		return PFMLIB_ERR_UMASK;
	/* No model of this library declares a default unit mask. */
	if (count > 0 && masks == 0)
		return PFMLIB_ERR_UMASK;
	return PFMLIB_SUCCESS;
}

pfm_err_t
pfm3_check_request(const struct pfm3_model *model, const struct pfm3_request *request)
{
	pfm_err_t ret = PFMLIB_SUCCESS;

	if (request->plm == 0 || request->event_count >= PFMLIB_MAX_PMCS)
		return PFMLIB_ERR_INVAL;
	if (request->event_count > model->num_counters)
		return PFMLIB_ERR_NOASSIGN;
	for (unsigned int i = 0; i < request->event_count && ret == PFMLIB_SUCCESS; i++)
		ret = pfm3_check_event(model, request->events[i].event, request->events[i].unit_masks);
	return ret;
}

pfm_err_t
pfm3_check_qualifiers(struct pfm3_encoder *e)
{
	const struct pfm3_request *request = e->request;
	unsigned int ranges = request->code.used || request->data.used;
	unsigned int needed = (request->code.used ? PFM3_IARR : 0u) | (request->data.used ? PFM3_DARR : 0u) |
			      (request->matchers[0].used || request->matchers[1].used ? PFM3_OPCM : 0u);

	if (request->has_output && !request->has_input)
		return PFMLIB_ERR_INVAL;
	for (unsigned int i = 0; needed && i < e->count; i++)
		if (!(request->events[i].flags & PFM3_UNCHECKED) && (needed & ~(unsigned int)e->events[i]->flags))
			return PFMLIB_ERR_FEATCOMB;
	/* With ranges, every event must be measured at the default level. */
	for (unsigned int i = 0; ranges && i < e->count; i++) {
		unsigned int plm = request->events[i].plm;

		if (plm != 0 && plm != request->plm)
			return PFMLIB_ERR_FEATCOMB;
	}
	return PFMLIB_SUCCESS;
}
