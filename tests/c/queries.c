/*
 * Every query function with bad arguments: before initialisation, NULL, an index
 * out of range, no room; and what it leaves in its arguments then.
 */
#include "check_pfm3.h"

#include <errno.h>
#include <limits.h>
#include <perfmon/pfmlib_itanium2.h>
#include <perfmon/pfmlib_montecito.h>
#include <stdlib.h>

#define UNTOUCHED 0x5a5a5a5a

static const struct {
	int type;
	unsigned int events, first, counters;
} models[] = {
	{ PFMLIB_ITANIUM2_PMU, 497, 4, 4 },
	{ PFMLIB_MONTECITO_PMU, 637, 4, 12 },
	{ PFMLIB_ITANIUM_PMU, 230, 4, 4 },
};

static unsigned int number;
static int inumber;
static size_t length;
static char *text;
static char buffer[128];
static pfmlib_regmask_t mask;
static pfmlib_event_t event;

/* All functions that need a PMU, with good arguments: all answer ret. */
static void
all_answer(pfm_err_t ret)
{
	static pfmlib_input_param_t in = { .pfp_dfl_plm = PFM_PLM3 };
	static pfmlib_output_param_t out;

	CHECK_EQ(pfm_get_pmu_name(buffer, sizeof(buffer)), ret);
	CHECK_EQ(pfm_get_pmu_type(&inumber), ret);
	CHECK_EQ(pfm_is_pmu_supported(PFMLIB_ITANIUM2_PMU), ret);
	CHECK_EQ(pfm_find_event("BRANCH_EVENT", &number), ret);
	CHECK_EQ(pfm_find_event_byname("BRANCH_EVENT", &number), ret);
	CHECK_EQ(pfm_find_event_bycode(0x12, &number), ret);
	CHECK_EQ(pfm_find_event_bycode_next(0x08, 0, &number), ret);
	CHECK_EQ(pfm_find_full_event("BRANCH_EVENT", &event), ret);
	CHECK_EQ(pfm_get_max_event_name_len(&length), ret);
	CHECK_EQ(pfm_get_num_events(&number), ret);
	CHECK_EQ(pfm_get_num_event_masks(0, &number), ret);
	CHECK_EQ(pfm_get_event_name(0, buffer, sizeof(buffer)), ret);
	CHECK_EQ(pfm_get_full_event_name(&event, buffer, sizeof(buffer)), ret);
	CHECK_EQ(pfm_get_event_code(0, &inumber), ret);
	CHECK_EQ(pfm_get_event_code_counter(0, 4, &inumber), ret);
	CHECK_EQ(pfm_get_event_counters(0, &mask), ret);
	CHECK_EQ(pfm_get_impl_pmcs(&mask), ret);
	CHECK_EQ(pfm_get_impl_pmds(&mask), ret);
	CHECK_EQ(pfm_get_impl_counters(&mask), ret);
	CHECK_EQ(pfm_get_num_pmcs(&number), ret);
	CHECK_EQ(pfm_get_num_pmds(&number), ret);
	CHECK_EQ(pfm_get_num_counters(&number), ret);
	CHECK_EQ(pfm_get_hw_counter_width(&number), ret);
	CHECK_EQ(pfm_get_cycle_event(&event), ret);
	CHECK_EQ(pfm_get_inst_retired_event(&event), ret);
	CHECK_EQ(pfm_dispatch_events(&in, NULL, &out, NULL), ret);
	text = NULL;
	CHECK_EQ(pfm_get_event_description(0, &text), ret);
	CHECK((text != NULL) == (ret == PFMLIB_SUCCESS));
	free(text);
}

static void
before_initialisation(void)
{
	all_answer(PFMLIB_ERR_NOINIT);
	number = UNTOUCHED;
	text = buffer;
	CHECK_EQ(pfm_find_event_mask(0, "M", &number), PFMLIB_ERR_NOINIT);
	CHECK_EQ(pfm_get_event_mask_code(0, 0, &number), PFMLIB_ERR_NOINIT);
	CHECK_EQ(pfm_get_event_mask_name(0, 0, buffer, sizeof(buffer)), PFMLIB_ERR_NOINIT);
	CHECK_EQ(pfm_get_event_mask_description(0, 0, &text), PFMLIB_ERR_NOINIT);
	CHECK_EQ(number, UNTOUCHED);
	CHECK(text == buffer);
	/* The check comes first, also before NULL. */
	CHECK_EQ(pfm_get_num_events(NULL), PFMLIB_ERR_NOINIT);
	CHECK_EQ(pfm_find_event(NULL, NULL), PFMLIB_ERR_NOINIT);
	CHECK_EQ(pfm_dispatch_events(NULL, NULL, NULL, NULL), PFMLIB_ERR_NOINIT);
}

static int
ignore(const char *format, ...)
{
	(void)format;
	number++;
	return -1;
}

static void
without_initialisation(void)
{
	pfmlib_options_t options;

	memset(&options, 0, sizeof(options));
	CHECK_EQ(pfm_set_options(&options), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_set_options(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_version(&number), PFMLIB_SUCCESS);
	CHECK_EQ(PFMLIB_MAJ_VERSION(number), 3);
	CHECK_EQ(PFMLIB_MIN_VERSION(number), 10);
	CHECK_EQ(pfm_get_version(NULL), PFMLIB_ERR_INVAL);
	number = 0;
	CHECK_EQ(pfm_list_supported_pmus(ignore), PFMLIB_SUCCESS);
	CHECK_EQ(number, 6); /* heading, four models, the current one */
	CHECK_EQ(pfm_list_supported_pmus(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_pmu_name_bytype(PFMLIB_ITANIUM2_PMU, buffer, sizeof(buffer)), PFMLIB_SUCCESS);
	CHECK_TEXT(buffer, "itanium2");
	CHECK_EQ(pfm_get_pmu_name_bytype(PFMLIB_MONTECITO_PMU, buffer, 5), PFMLIB_SUCCESS);
	CHECK_TEXT(buffer, "dual");
	CHECK_EQ(pfm_get_pmu_name_bytype(PFMLIB_ITANIUM2_PMU, NULL, 5), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_pmu_name_bytype(PFMLIB_ITANIUM2_PMU, buffer, 0), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_pmu_name_bytype(99, buffer, sizeof(buffer)), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_force_pmu(99), PFMLIB_ERR_NOTSUPP);
	CHECK_EQ(pfm_force_pmu(PFMLIB_NO_PMU), PFMLIB_ERR_NOTSUPP);
	CHECK_TEXT(pfm_strerror(PFMLIB_SUCCESS), "success");
	CHECK_TEXT(pfm_strerror(PFMLIB_ERR_NOMEM), "out of memory");
	CHECK_TEXT(pfm_strerror(1), "unknown error code");
	CHECK_TEXT(pfm_strerror(-24), "unknown error code");
	CHECK_TEXT(pfm_strerror(INT_MIN), "unknown error code");
	CHECK_TEXT(pfm_strerror(INT_MAX), "unknown error code");
}

static void
self_monitoring(void)
{
	static const int contexts[] = { -1, 0, 3, INT_MAX, INT_MIN };

	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++) {
		errno = 0;
		CHECK_EQ(pfm_self_start(contexts[i]), -1);
		CHECK_EQ(errno, ENOSYS);
		errno = 0;
		CHECK_EQ(pfm_self_stop(contexts[i]), -1);
		CHECK_EQ(errno, ENOSYS);
	}
}

static void
null_pointers(void)
{
	CHECK_EQ(pfm_get_pmu_name(NULL, 10), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_pmu_type(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_find_event(NULL, &number), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_find_event("BRANCH_EVENT", NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_find_event_byname(NULL, &number), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_find_event_byname("BRANCH_EVENT", NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_find_event_bycode(0x12, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_find_event_bycode_next(0x12, 0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_find_event_mask(0, NULL, &number), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_find_event_mask(0, "M", NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_find_full_event(NULL, &event), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_find_full_event("BRANCH_EVENT", NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_max_event_name_len(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_num_events(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_num_event_masks(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_name(0, NULL, 10), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_full_event_name(NULL, buffer, sizeof(buffer)), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_full_event_name(&event, NULL, 10), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_code(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_code_counter(0, 4, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_mask_code(0, 0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_counters(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_description(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_mask_name(0, 0, NULL, 10), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_mask_description(0, 0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_impl_pmcs(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_impl_pmds(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_impl_counters(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_num_pmcs(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_num_pmds(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_num_counters(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_hw_counter_width(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_cycle_event(NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_inst_retired_event(NULL), PFMLIB_ERR_INVAL);
}

/* Functions of an event's index, for an index that is none. */
static void
bad_index(unsigned int i)
{
	pfmlib_event_t e = { .event = i };

	number = UNTOUCHED;
	inumber = UNTOUCHED;
	text = buffer;
	strcpy(buffer, "untouched");
	memset(&mask, 0x5a, sizeof(mask));
	CHECK_EQ(pfm_find_event_mask(i, "M", &number), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_num_event_masks(i, &number), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_name(i, buffer, sizeof(buffer)), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_full_event_name(&e, buffer, sizeof(buffer)), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_code(i, &inumber), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_code_counter(i, 4, &inumber), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_mask_code(i, 0, &number), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_counters(i, &mask), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_description(i, &text), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_mask_name(i, 0, buffer, sizeof(buffer)), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_mask_description(i, 0, &text), PFMLIB_ERR_INVAL);
	CHECK_EQ(number, UNTOUCHED);
	CHECK_EQ(inumber, UNTOUCHED);
	CHECK_EQ(mask.bits[0], 0x5a5a5a5a5a5a5a5a);
	CHECK_TEXT(buffer, "untouched");
	CHECK(text == buffer);
}

static void
bad_strings_and_codes(void)
{
	static const char *const unknown[] = { "",   ":", "NO_SUCH_EVENT", "BRANCH_EVEN", "BRANCH_EVENTS", " 8",
					       "+8", "-1" };
	static const char *const invalid[] = { "8x", "0x", "2147483648", "99999999999999999999999", "08" };

	number = UNTOUCHED;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		CHECK_EQ(pfm_find_event(unknown[i], &number), PFMLIB_ERR_NOTFOUND);
	for (size_t i = 0; i < sizeof(invalid) / sizeof(*invalid); i++)
		CHECK_EQ(pfm_find_event(invalid[i], &number), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_find_event("2147483647", &number), PFMLIB_ERR_NOTFOUND);
	CHECK_EQ(pfm_find_event_bycode(-1, &number), PFMLIB_ERR_NOTFOUND);
	CHECK_EQ(pfm_find_event_bycode(256, &number), PFMLIB_ERR_NOTFOUND);
	CHECK_EQ(pfm_find_event_bycode(INT_MIN, &number), PFMLIB_ERR_NOTFOUND);
	CHECK_EQ(pfm_find_event_bycode_next(0x12, 0x7fffffff, &number), PFMLIB_ERR_NOTFOUND);
	CHECK_EQ(number, UNTOUCHED);
	CHECK_EQ(pfm_find_event_bycode_next(0x12, 0xffffffff, &number), PFMLIB_SUCCESS);
	memset(&event, 0x5a, sizeof(event));
	CHECK_EQ(pfm_find_full_event("NO_SUCH_EVENT", &event), PFMLIB_ERR_NOTFOUND);
	CHECK_EQ(event.event, 0); /* zeroed in any case */
	CHECK_EQ(pfm_find_full_event("BRANCH_EVENT:M", &event), PFMLIB_ERR_UMASK);
	CHECK_EQ(pfm_find_full_event("BRANCH_EVENT:", &event), PFMLIB_ERR_UMASK);
	CHECK_EQ(pfm_find_event("branch_event:anything", &number), PFMLIB_SUCCESS);
}

static void
small_buffers(void)
{
	CHECK_EQ(pfm_find_full_event("BRANCH_EVENT", &event), PFMLIB_SUCCESS);
	memset(buffer, 'x', sizeof(buffer));
	CHECK_EQ(pfm_get_event_name(event.event, buffer, 12), PFMLIB_ERR_INVAL);
	CHECK_EQ(buffer[0], 'x');
	CHECK_EQ(pfm_get_event_name(event.event, buffer, 13), PFMLIB_SUCCESS);
	CHECK_TEXT(buffer, "BRANCH_EVENT");
	CHECK_EQ(buffer[13], 'x');
	CHECK_EQ(pfm_get_full_event_name(&event, buffer, 12), PFMLIB_ERR_FULL);
	CHECK_TEXT(buffer, "");
	CHECK_EQ(pfm_get_full_event_name(&event, buffer, 13), PFMLIB_SUCCESS);
	CHECK_EQ(buffer[13], 'x');
	CHECK_EQ(pfm_get_event_name(event.event, buffer, 0), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_full_event_name(&event, buffer, 0), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_mask_name(event.event, 0, buffer, 0), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_pmu_name(buffer, 0), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_pmu_name(buffer, -1), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_pmu_name(buffer, 1), PFMLIB_SUCCESS);
	CHECK_TEXT(buffer, "");
}

static void
bad_counters(unsigned int first, unsigned int count)
{
	int code = UNTOUCHED;

	CHECK_EQ(pfm_get_event_code_counter(0, first - 1, &code), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_code_counter(0, first + count, &code), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_code_counter(0, 0xfffffffe, &code), PFMLIB_ERR_INVAL);
	CHECK_EQ(code, UNTOUCHED);
	CHECK_EQ(pfm_get_event_code_counter(0, first + count - 1, &code), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_get_event_code_counter(0, 0xffffffff, &inumber), PFMLIB_SUCCESS);
	CHECK_EQ(inumber, code);
}

static void
no_unit_masks(void)
{
	CHECK_EQ(pfm_find_event_mask(0, "", &number), PFMLIB_ERR_UMASK);
	CHECK_EQ(pfm_find_event_mask(0, "0", &number), PFMLIB_ERR_UMASK);
	number = UNTOUCHED;
	CHECK_EQ(pfm_get_event_mask_code(0, UINT_MAX, &number), PFMLIB_SUCCESS);
	CHECK_EQ(number, 0);
	CHECK_EQ(pfm_get_event_mask_name(0, UINT_MAX, buffer, sizeof(buffer)), PFMLIB_ERR_NOTSUPP);
	CHECK_EQ(pfm_get_event_mask_description(0, UINT_MAX, &text), PFMLIB_SUCCESS);
	CHECK_TEXT(text, "no description available");
	free(text);
}

static void
montecito_unit_masks(void)
{
	unsigned int i;

	CHECK_EQ(pfm_find_event("L3_INSERTS", &i), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_get_num_event_masks(i, &number), PFMLIB_SUCCESS);
	CHECK_EQ(number, 4);
	CHECK_EQ(pfm_find_event_mask(i, "", &number), PFMLIB_ERR_UMASK);
	CHECK_EQ(pfm_find_event_mask(i, "0xf", &number), PFMLIB_ERR_UMASK);
	CHECK_EQ(pfm_find_event_mask(i, "m", &number), PFMLIB_SUCCESS);
	CHECK_EQ(number, 3);
	CHECK_EQ(pfm_get_event_mask_code(i, 4, &number), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_mask_name(i, 4, buffer, sizeof(buffer)), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_mask_name(i, 3, buffer, 2), PFMLIB_ERR_FULL);
	CHECK_EQ(pfm_get_event_mask_name(i, 3, buffer, 3), PFMLIB_SUCCESS);
	CHECK_TEXT(buffer, "M");
	CHECK_EQ(pfm_get_event_mask_description(i, UINT_MAX, &text), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_mask_description(i, 3, &text), PFMLIB_SUCCESS);
	free(text);
	CHECK_EQ(pfm_find_full_event("L3_INSERTS:", &event), PFMLIB_ERR_UMASK);
	CHECK_EQ(pfm_find_full_event("L3_INSERTS:M:", &event), PFMLIB_ERR_UMASK);
	CHECK_EQ(pfm_find_full_event("L3_INSERTS", &event), PFMLIB_ERR_UMASK);
	CHECK_EQ(pfm_find_full_event("L3_INSERTS:M:M:M", &event), PFMLIB_SUCCESS);
	CHECK_EQ(event.num_masks, 1);
	CHECK_EQ(pfm_get_full_event_name(&event, buffer, 12), PFMLIB_ERR_FULL);
	CHECK_EQ(pfm_get_full_event_name(&event, buffer, 13), PFMLIB_SUCCESS);
	CHECK_TEXT(buffer, "L3_INSERTS:M");
}

typedef int (*predicate)(unsigned int);

/* The functions of both models, which need no initialisation. */
static void
model_functions(void)
{
	static const predicate predicates[] = {
		pfm_ita2_is_ear,       pfm_ita2_is_dear,      pfm_ita2_is_dear_tlb,  pfm_ita2_is_dear_cache,
		pfm_ita2_is_dear_alat, pfm_ita2_is_iear,      pfm_ita2_is_iear_tlb,  pfm_ita2_is_iear_cache,
		pfm_ita2_is_btb,       pfm_ita2_support_opcm, pfm_ita2_support_iarr, pfm_ita2_support_darr,
		pfm_mont_is_ear,       pfm_mont_is_dear,      pfm_mont_is_dear_tlb,  pfm_mont_is_dear_cache,
		pfm_mont_is_dear_alat, pfm_mont_is_iear,      pfm_mont_is_iear_tlb,  pfm_mont_is_iear_cache,
		pfm_mont_is_etb,       pfm_mont_support_opcm, pfm_mont_support_iarr, pfm_mont_support_darr,
		pfm_mont_support_all,
	};

	for (size_t i = 0; i < sizeof(predicates) / sizeof(*predicates); i++) {
		CHECK_EQ(predicates[i](637), 0);
		CHECK_EQ(predicates[i](INT_MAX), 0);
		CHECK_EQ(predicates[i](UINT_MAX), 0);
	}
	CHECK_EQ(pfm_ita2_is_btb(55), 1);
	CHECK_EQ(pfm_mont_is_etb(636), 1);
}

static void
ita2_getters(unsigned int i, pfm_err_t ret)
{
	pfmlib_ita2_ear_mode_t mode = (pfmlib_ita2_ear_mode_t)77;
	unsigned int maxincr = UNTOUCHED;
	unsigned long umask = UNTOUCHED;
	int group = UNTOUCHED, set = UNTOUCHED;

	CHECK_EQ(pfm_ita2_get_event_maxincr(i, &maxincr), ret);
	CHECK_EQ(pfm_ita2_get_event_umask(i, &umask), ret);
	CHECK_EQ(pfm_ita2_get_event_group(i, &group), ret);
	CHECK_EQ(pfm_ita2_get_event_set(i, &set), ret);
	CHECK_EQ(pfm_ita2_get_ear_mode(i, &mode), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_ita2_get_event_ear_mode(i, &mode), PFMLIB_ERR_INVAL);
	CHECK_EQ(mode, 77);
	if (ret == PFMLIB_SUCCESS)
		return;
	CHECK(maxincr == UNTOUCHED && umask == UNTOUCHED && group == UNTOUCHED && set == UNTOUCHED);
	CHECK_EQ(pfm_ita2_get_event_grp(i, &group), ret);
}

static void
mont_getters(unsigned int i, pfm_err_t ret)
{
	pfmlib_mont_ear_mode_t mode = (pfmlib_mont_ear_mode_t)77;
	unsigned int maxincr = UNTOUCHED;
	unsigned long umask = UNTOUCHED;
	int group = UNTOUCHED, set = UNTOUCHED, type = UNTOUCHED;

	CHECK_EQ(pfm_mont_get_event_maxincr(i, &maxincr), ret);
	CHECK_EQ(pfm_mont_get_event_umask(i, &umask), ret);
	CHECK_EQ(pfm_mont_get_event_group(i, &group), ret);
	CHECK_EQ(pfm_mont_get_event_set(i, &set), ret);
	CHECK_EQ(pfm_mont_get_event_type(i, &type), ret);
	CHECK_EQ(pfm_mont_get_ear_mode(i, &mode), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_mont_get_event_ear_mode(i, &mode), PFMLIB_ERR_INVAL);
	CHECK_EQ(mode, 77);
	if (ret == PFMLIB_SUCCESS)
		return;
	CHECK(maxincr == UNTOUCHED && umask == UNTOUCHED && group == UNTOUCHED && set == UNTOUCHED &&
	      type == UNTOUCHED);
	CHECK_EQ(pfm_mont_get_event_grp(i, &group), ret);
}

static void
model_getters(void)
{
	ita2_getters(0, PFMLIB_SUCCESS);
	ita2_getters(496, PFMLIB_SUCCESS);
	ita2_getters(497, PFMLIB_ERR_INVAL);
	ita2_getters(UINT_MAX, PFMLIB_ERR_INVAL);
	mont_getters(0, PFMLIB_SUCCESS);
	mont_getters(636, PFMLIB_SUCCESS);
	mont_getters(637, PFMLIB_ERR_INVAL);
	mont_getters(UINT_MAX, PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_ita2_get_event_maxincr(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_ita2_get_event_umask(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_ita2_get_event_group(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_ita2_get_event_grp(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_ita2_get_event_set(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_ita2_get_ear_mode(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_ita2_get_event_ear_mode(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_mont_get_event_maxincr(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_mont_get_event_umask(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_mont_get_event_group(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_mont_get_event_grp(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_mont_get_event_set(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_mont_get_event_type(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_mont_get_ear_mode(0, NULL), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_mont_get_event_ear_mode(0, NULL), PFMLIB_ERR_INVAL);
}

static void
fine_mode_queries(void)
{
	static pfmlib_output_param_t out;
	static pfmlib_ita2_output_param_t ita2;
	static pfmlib_mont_output_param_t mont;

	out.pfp_pmcs[0].reg_num = 14;
	out.pfp_pmcs[0].reg_value = 1 << 13;
	out.pfp_pmcs[1].reg_num = 38;
	out.pfp_pmcs[1].reg_value = 1 << 13;
	out.pfp_pmc_count = 2;
	ita2.pfp_ita2_irange.rr_nbr_used = 4;
	mont.pfp_mont_irange.rr_nbr_used = 4;
	CHECK_EQ(pfm_ita2_irange_is_fine(&out, &ita2), 1);
	CHECK_EQ(pfm_mont_irange_is_fine(&out, &mont), 1);
	CHECK_EQ(pfm_ita2_irange_is_fine(NULL, &ita2), 0);
	CHECK_EQ(pfm_ita2_irange_is_fine(&out, NULL), 0);
	CHECK_EQ(pfm_mont_irange_is_fine(NULL, &mont), 0);
	CHECK_EQ(pfm_mont_irange_is_fine(&out, NULL), 0);
	out.pfp_pmc_count = 0xffffffff;
	CHECK_EQ(pfm_ita2_irange_is_fine(&out, &ita2), 0);
	CHECK_EQ(pfm_mont_irange_is_fine(&out, &mont), 0);
	out.pfp_pmc_count = 511; /* the last entries are looked at, not one more */
	CHECK_EQ(pfm_ita2_irange_is_fine(&out, &ita2), 1);
	out.pfp_pmc_count = 2;
	ita2.pfp_ita2_irange.rr_nbr_used = 0;
	mont.pfp_mont_irange.rr_nbr_used = 0;
	CHECK_EQ(pfm_ita2_irange_is_fine(&out, &ita2), 0);
	CHECK_EQ(pfm_mont_irange_is_fine(&out, &mont), 0);
}

int
main(void)
{
	without_initialisation();
	self_monitoring();
	model_functions();
	model_getters();
	fine_mode_queries();
	before_initialisation();
	for (size_t m = 0; m < sizeof(models) / sizeof(*models); m++) {
		CHECK_EQ(pfm_force_pmu(models[m].type), PFMLIB_SUCCESS);
		memset(&event, 0, sizeof(event));
		all_answer(PFMLIB_SUCCESS);
		null_pointers();
		bad_index(models[m].events);
		bad_index(INT_MAX);
		bad_index(UINT_MAX);
		bad_strings_and_codes();
		small_buffers();
		bad_counters(models[m].first, models[m].counters);
		CHECK_EQ(pfm_is_pmu_supported(99), PFMLIB_ERR_NOTSUPP);
		if (models[m].type == PFMLIB_MONTECITO_PMU)
			montecito_unit_masks();
		else
			no_unit_masks();
	}
	return check_result();
}
