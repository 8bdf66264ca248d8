/*
 * The strings of libpfm 3: pfm_find_full_event(), pfm_find_event(), pfm_find_event_mask().
 *
 * Input: a byte for the model, then the string.
 */
#include "fuzz.h"

#include "pfm3_models.h"

#define TYPE(name, tag, type, fine) type,
static const int types[] = { PFM3_MODELS(TYPE) };
#undef TYPE

enum { NUM_MODELS = sizeof(types) / sizeof(types[0]), MAX_MODELS = 4 /* so that stored inputs keep their meaning */ };

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

/* An event that was found has a name, by which it is found again. */
static void
check_found(const pfmlib_event_t *e)
{
	pfmlib_event_t copy = *e, again;
	size_t longest;
	char *name;

	HOLDS(pfm_get_max_event_name_len(&longest) == PFMLIB_SUCCESS);
	name = allocate(longest + 1);
	HOLDS(pfm_get_full_event_name(&copy, name, longest + 1) == PFMLIB_SUCCESS);
	HOLDS(pfm_find_full_event(name, &again) == PFMLIB_SUCCESS);
	HOLDS(memcmp(e, &again, sizeof(again)) == 0);
	for (size_t size = 1; size <= strlen(name); size++) { /* nor past the end of a buffer that is too small */
		char *small = allocate(size);

		HOLDS(pfm_get_full_event_name(&copy, small, size) == PFMLIB_ERR_FULL);
		free(small);
	}
	free(name);
}

/* A unit mask that was found has a code, by which it is found again. */
static void
check_mask(unsigned int event, unsigned int mask)
{
	unsigned int code, again;
	char text[16];

	HOLDS(pfm_get_event_mask_code(event, mask, &code) == PFMLIB_SUCCESS);
	snprintf(text, sizeof(text), "%u", code);
	HOLDS(pfm_find_event_mask(event, text, &again) == PFMLIB_SUCCESS && again == mask);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	unsigned int model = take_byte(&b) % MAX_MODELS, idx, count, mask;
	char *string = take_string(&b);
	pfmlib_event_t e;
	pfm_err_t ret;

	if (model < NUM_MODELS) {
		HOLDS(pfm_force_pmu(types[model]) == PFMLIB_SUCCESS);
		ret = pfm_find_full_event(string, &e);
		HOLDS(ret == PFMLIB_SUCCESS || ret == PFMLIB_ERR_NOTFOUND || ret == PFMLIB_ERR_UMASK ||
		      ret == PFMLIB_ERR_TOOMANY);
		HOLDS(pfm_get_num_events(&count) == PFMLIB_SUCCESS);
		if (ret == PFMLIB_SUCCESS)
			check_found(&e);
		if (ret != PFMLIB_ERR_NOTFOUND) {
			const char *token = string + strcspn(string, ":");

			HOLDS(e.event < count);
			if (*token && pfm_find_event_mask(e.event, token + 1, &mask) == PFMLIB_SUCCESS)
				check_mask(e.event, mask);
		}
		if (pfm_find_event(string, &idx) == PFMLIB_SUCCESS)
			HOLDS(idx < count);
	}
	free(string);
	return 0;
}
