/*
 * What the table of functions says of libpfm 4, tried: functions_pfm4 csrc/functions.csv [keep|beside]
 */
#include "functions.h"

#include <perfmon/pfmlib_perf_event.h>

#include "layout_pfm4.h"

#define CALL(name, ...) \
	static int call_##name(struct received *r) \
	{ \
		(void)r; \
		__VA_ARGS__ \
	}

CALL(pfm_initialize, return pfm_initialize();)
CALL(pfm_terminate, pfm_terminate(); return 0;)
CALL(pfm_strerror, r->stays[0] = pfm_strerror(PFM_ERR_INVAL); return 0;)
CALL(pfm_get_version, return pfm_get_version() != LIBPFM_VERSION;)
CALL(pfm_find_event, return pfm_find_event("glm::UNHALTED_CORE_CYCLES") < 0;)
CALL(perf_event_open, struct perf_event_attr attr = { .size = sizeof(attr), .type = 0xffff };
     CHECK(perf_event_open(&attr, 0, -1, -1, 0) == -1); return 0;)

/* Events, once the library is initialised: some event, another name of one, one that has a unit mask with three texts. */
static int some_event, alias, offcore;

CALL(pfm_get_event_next, return pfm_get_event_next(some_event) < 0;)

static int
call_pfm_get_pmu_info(struct received *r)
{
	pfm_pmu_info_t info = { .size = sizeof(info) };
	pfm_err_t ret = pfm_get_pmu_info(PFM_PMU_INTEL_GLM, &info);

	r->stays[0] = info.name;
	r->stays[1] = info.desc;
	return ret;
}

static int
call_pfm_get_event_info(struct received *r)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	pfm_err_t ret = pfm_get_event_info(alias, PFM_OS_NONE, &info);

	r->stays[0] = info.name;
	r->stays[1] = info.desc;
	r->stays[2] = info.equiv;
	return ret;
}

/* The first attribute of an event that has all three texts. */
static int
texts_of(int event, struct received *r)
{
	pfm_event_attr_info_t info = { .size = sizeof(info) };

	for (int i = 0; !info.equiv; i++) {
		info.size = sizeof(info);
		if (pfm_get_event_attr_info(event, i, PFM_OS_NONE, &info) != PFM_SUCCESS)
			return 1;
		r->stays[0] = info.name;
		r->stays[1] = info.desc;
		r->stays[2] = info.equiv;
	}
	return 0;
}

CALL(pfm_get_event_attr_info, return texts_of(offcore, r);)

/* A call that fails, and one that allocates both. */
static int
call_pfm_get_os_event_encoding(struct received *r)
{
	char *text = NULL;
	pfm_pmu_encode_arg_t arg = { .size = sizeof(arg), .fstr = &text };
	pfm_err_t ret;

	CHECK(pfm_get_os_event_encoding("glm::NO_SUCH_EVENT", PFM_PLM3, PFM_OS_NONE, &arg) != PFM_SUCCESS);
	CHECK(!text && !arg.codes);
	ret = pfm_get_os_event_encoding("glm::UNHALTED_CORE_CYCLES", PFM_PLM3, PFM_OS_NONE, &arg);
	r->frees[0] = text;
	r->frees[1] = arg.codes;
	return ret;
}

/* With codes of the caller's, nothing but the text is allocated. */
static int
call_pfm_get_event_encoding(struct received *r)
{
	uint64_t room[4], *codes = room;
	int count = 4;
	char *text = NULL;
	pfm_err_t ret = pfm_get_event_encoding("glm::UNHALTED_CORE_CYCLES", PFM_PLM3, &text, NULL, &codes, &count);

	CHECK(codes == room);
	free(text);
	codes = NULL;
	count = 0;
	text = NULL;
	if (ret == PFM_SUCCESS)
		ret = pfm_get_event_encoding("glm::UNHALTED_CORE_CYCLES", PFM_PLM3, &text, NULL, &codes, &count);
	r->frees[0] = text;
	r->frees[1] = codes;
	return ret;
}

static int
call_pfm_get_perf_event_encoding(struct received *r)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	char *text = NULL;
	pfm_err_t ret = pfm_get_perf_event_encoding("glm::UNHALTED_CORE_CYCLES", PFM_PLM3, &attr, &text, NULL);

	r->frees[0] = text;
	return ret;
}

static int
call_pfm_pmu_validate(struct received *r)
{
	FILE *nowhere = fopen("/dev/null", "we");
	pfm_err_t ret = nowhere ? pfm_pmu_validate(PFM_PMU_INTEL_GLM, nowhere) : PFM_ERR_NOMEM;

	(void)r;
	if (nowhere)
		fclose(nowhere);
	return ret;
}

/* pfm_initialize() changes the state only where there is something to initialise. */
static void
terminate(void)
{
	pfm_terminate();
}

#define ONE(name) { #name, call_##name, NULL },

/* clang-format off */
static const struct function all[] = {
	{ "pfm_initialize", call_pfm_initialize, terminate },
	ONE(pfm_terminate) ONE(pfm_strerror) ONE(pfm_get_version) ONE(pfm_find_event) ONE(perf_event_open)
	ONE(pfm_get_event_next) ONE(pfm_get_pmu_info) ONE(pfm_get_event_info) ONE(pfm_get_event_attr_info)
	ONE(pfm_get_os_event_encoding) ONE(pfm_get_event_encoding) ONE(pfm_get_perf_event_encoding) ONE(pfm_pmu_validate)
};
/* clang-format on */

static void
prepare(void)
{
	pfm_pmu_info_t info = { .size = sizeof(info) };

	CHECK_EQ(pfm_initialize(), PFM_SUCCESS);
	CHECK_EQ(pfm_get_pmu_info(PFM_PMU_INTEL_GLM, &info), PFM_SUCCESS);
	some_event = info.first_event;
	for (int i = some_event; i >= 0; i = pfm_get_event_next(i)) {
		pfm_event_info_t event = { .size = sizeof(event) };

		CHECK_EQ(pfm_get_event_info(i, PFM_OS_NONE, &event), PFM_SUCCESS);
		if (event.equiv)
			alias = i;
		if (strcmp(event.name, "OFFCORE_RESPONSE_1") == 0)
			offcore = i;
	}
	CHECK(alias && offcore);
}

int
main(int argc, char **argv)
{
	const struct library library = {
		.name = "pfm4",
		.soname = "libpfm.so.4",
		.functions = all,
		.count = sizeof(all) / sizeof(*all),
		.prepare = prepare,
		.has_kinds = true,
		.rounds = CHECK_ROUGHLY ? 3 : 20,
	};

	setenv("LIBPFM_FORCE_PMU", "glm", 1);
	return functions_main(argc, argv, &library);
}
