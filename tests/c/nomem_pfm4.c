/*
 * libpfm 4 without memory: an encoding is PFM_ERR_NOMEM and leaves what the caller gave as it was;
 * nothing else allocates.
 */
#include "nomem.h"

#include <perfmon/pfmlib_perf_event.h>

static const char *event;
static char untouched[] = "untouched";

static void
raw_codes(void)
{
	char *text = untouched;
	uint64_t *codes = NULL;
	int count = 0, idx = -1;
	pfm_err_t ret = pfm_get_event_encoding(event, PFM_PLM3, &text, &idx, &codes, &count);

	if (nomem_failed) {
		CHECK_EQ(ret, PFM_ERR_NOMEM);
		CHECK(text == untouched && !codes && count == 0 && idx == -1);
		return;
	}
	CHECK_EQ(ret, PFM_SUCCESS);
	CHECK(count >= 1);
	free(text);
	free(codes);
}

static void
perf_encoding(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr) }, before = attr;
	char *text = untouched;
	int idx = -1;
	pfm_err_t ret = pfm_get_perf_event_encoding(event, PFM_PLM3, &attr, &text, &idx);

	if (nomem_failed) {
		CHECK_EQ(ret, PFM_ERR_NOMEM);
		CHECK(text == untouched && idx == -1 && memcmp(&attr, &before, sizeof(attr)) == 0);
		return;
	}
	CHECK_EQ(ret, PFM_SUCCESS);
	free(text);
}

static void
nothing(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_event_attr_info_t attribute = { .size = 0 };
	pfm_event_info_t info = { .size = 0 };
	pfm_pmu_info_t pmu = { .size = 0 };
	uint64_t room[2], *codes = room;
	int count = 2, idx = pfm_find_event(event);

	CHECK(idx >= 0);
	CHECK_EQ(pfm_get_event_info(idx, PFM_OS_NONE, &info), PFM_SUCCESS);
	CHECK_EQ(pfm_get_event_attr_info(idx, 0, PFM_OS_PERF_EVENT_EXT, &attribute), PFM_SUCCESS);
	CHECK_EQ(pfm_get_pmu_info(info.pmu, &pmu), PFM_SUCCESS);
	CHECK_EQ(pfm_get_event_encoding(event, PFM_PLM3, NULL, NULL, &codes, &count), PFM_SUCCESS);
	CHECK_EQ(pfm_get_perf_event_encoding(event, PFM_PLM3, &attr, NULL, NULL), PFM_SUCCESS);
	CHECK(codes == room);
}

int
main(void)
{
	static const char *const events[] = {
		"glm::UNHALTED_CORE_CYCLES",
		"glm::OFFCORE_RESPONSE_0:DMND_DATA_RD",
		"glm::MEM_LOAD_UOPS_RETIRED:L1_HIT:u=1:c=2",
		"mont::L3_READS_ALL_MISS:E:M",
		"mont::L3_READS_ALL_MISS",
		"ita2::NOPS_RETIRED:thres=2",
	};

	setenv("LIBPFM_FORCE_PMU", "glm", 1);
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	CHECK_EQ(pfm_initialize(), PFM_SUCCESS);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		event = events[i];
		CHECK_EQ(nomem_each(raw_codes), 2); /* the string, the codes */
		CHECK_EQ(nomem_each(perf_encoding), 1);
		CHECK_EQ(nomem_each(nothing), 0);
	}
	pfm_terminate();
	CHECK_EQ(nomem_live, 0);
	return check_result();
}
