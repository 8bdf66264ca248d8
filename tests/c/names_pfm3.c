/*
 * Names with a NUL in them, in each table of libpfm 3.
 */
#include "names.h"

#include "model.h"

int
main(void)
{
	static const char with_nul[] = "ITLB_MISSES_FETCH_ALL\0"; /* and the same as a unit mask */
	unsigned int found;

	for (unsigned int place = 0; pfm3_model_at(place); place++) {
		const struct pfm3_model *model = pfm3_model_at(place);
		const struct pfm3_table *table = model->table;

		names_check_table(&table->names, &table->events[0].name, sizeof(*table->events), table->count);
		CHECK(pfm3_find_name(model, with_nul, sizeof(with_nul)) == -1);
		for (unsigned int i = 0; i < model->num_masks; i++)
			names_check_one(model->masks[i].name);
		for (unsigned int i = 0; model->num_masks && i < table->count; i++)
			if (table->events[i].flags & PFM3_MESI)
				CHECK(pfm3_find_mask(model, &table->events[i], "M\0", 2, &found) == PFMLIB_ERR_UMASK);
	}
	return check_result();
}
