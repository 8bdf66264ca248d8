/*
 * libpfm 3 without memory: descriptions are PFMLIB_ERR_NOMEM and leave the caller's pointer as it was;
 * nothing else allocates.
 */
#include "nomem.h"
#include "pfm3_models.h"

static unsigned int idx, mask;
static char untouched[] = "untouched";

static void
check_answer(pfm_err_t ret, char *text)
{
	if (nomem_failed) {
		CHECK_EQ(ret, PFMLIB_ERR_NOMEM);
		CHECK(text == untouched);
		return;
	}
	CHECK_EQ(ret, PFMLIB_SUCCESS);
	CHECK(text != untouched && *text);
	if (text != untouched)
		free(text);
}

static void
description(void)
{
	char *text = untouched;
	pfm_err_t ret = pfm_get_event_description(idx, &text);

	check_answer(ret, text);
}

static void
mask_description(void)
{
	char *text = untouched;
	pfm_err_t ret = pfm_get_event_mask_description(idx, mask, &text);

	check_answer(ret, text);
}

/* The other functions that could ask for memory. */
static void
everything_else(void)
{
	static pfmlib_input_param_t in;
	static pfmlib_output_param_t out;
	pfmlib_event_t e;
	char name[256];
	size_t length;

	CHECK_EQ(pfm_get_event_name(idx, name, sizeof(name)), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_find_event(name, &idx), PFMLIB_SUCCESS);
	pfm_find_full_event(name, &e);
	pfm_get_full_event_name(&e, name, sizeof(name));
	CHECK_EQ(pfm_get_max_event_name_len(&length), PFMLIB_SUCCESS);
	in.pfp_dfl_plm = PFM_PLM3;
	in.pfp_event_count = 1;
	in.pfp_events[0].event = idx;
	pfm_dispatch_events(&in, NULL, &out, NULL);
	CHECK(pfm_strerror(PFMLIB_ERR_NOMEM));
}

static void
try_model(int type)
{
	unsigned int events, masks;

	CHECK_EQ(pfm_force_pmu(type), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_get_num_events(&events), PFMLIB_SUCCESS);
	for (idx = 0; idx < events; idx++) {
		CHECK_EQ(nomem_each(description), 1);
		CHECK_EQ(pfm_get_num_event_masks(idx, &masks), PFMLIB_SUCCESS);
		for (mask = 0; mask < masks; mask++)
			CHECK_EQ(nomem_each(mask_description), 1);
	}
	for (idx = 0; idx < events; idx += 50)
		CHECK_EQ(nomem_each(everything_else), 0);
}

int
main(void)
{
	setenv("LIBPFM_IA64_CPUID3", "0x1f010504", 1);
	CHECK_EQ(pfm_initialize(), PFMLIB_SUCCESS);
	CHECK_EQ(nomem_made, 0);
#define TRY(name, tag, type, fine) try_model(type);
	PFM3_MODELS(TRY)
	CHECK_EQ(nomem_live, 0);
	CHECK(nomem_made > 1000); /* the library's calls were the wrapped ones */
	return check_result();
}
