/*
 * The list of models.
 */
#include "model.h"

#include <string.h>
#include <strings.h>

/* In the order of the reference: the newest first, the one that fits every processor last. */
static const struct pfm3_model *const models[] = {
	&pfm3_montecito,
	&pfm3_itanium2,
	&pfm3_itanium,
	&pfm3_gen_ia64,
};

const struct pfm3_model *
pfm3_model_at(unsigned int place)
{
	return place < sizeof(models) / sizeof(*models) ? models[place] : NULL;
}

const struct pfm3_model *
pfm3_model_by_type(int type)
{
	const struct pfm3_model *model;

	for (unsigned int i = 0; (model = pfm3_model_at(i)); i++)
		if (model->type == type)
			return model;
	return NULL;
}

const struct pfm3_model *
pfm3_model_by_name(const char *name)
{
	const struct pfm3_model *model;

	for (unsigned int i = 0; (model = pfm3_model_at(i)); i++)
		if (strcasecmp(name, model->name) == 0 || strcasecmp(name, model->short_names[0]) == 0 ||
		    strcasecmp(name, model->short_names[1]) == 0)
			return model;
	return NULL;
}
