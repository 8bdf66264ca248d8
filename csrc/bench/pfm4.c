/*
 * The measurements of a libpfm 4, with Goldmont as the PMU in use.
 */
#include "bench.h"

#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define PMU "glm"

/* Every kind of string: events with and without unit masks, offcore responses, modifiers. */
/* clang-format off */
static const char *const strings[] = {
	"glm::UNHALTED_CORE_CYCLES", "glm::UNHALTED_CORE_CYCLES:u", "glm::UNHALTED_REFERENCE_CYCLES",
	"glm::INSTRUCTION_RETIRED", "glm::INSTRUCTION_RETIRED:u:k", "glm::INSTRUCTIONS_RETIRED:c=1:i",
	"glm::BRANCH_INSTRUCTIONS_RETIRED", "glm::MISPREDICTED_BRANCH_RETIRED:u", "glm::CPU_CLK_UNHALTED:CORE_P",
	"glm::CPU_CLK_UNHALTED:REF_TSC", "glm::INST_RETIRED:ANY_P", "glm::ICACHE:HIT", "glm::ICACHE:MISSES:u",
	"glm::ICACHE:ACCESSES:k", "glm::L2_REJECT_XQ:ALL", "glm::HW_INTERRUPTS:RECEIVED:k",
	"glm::BR_MISP_RETIRED:ALL_BRANCHES", "glm::BR_MISP_RETIRED:JCC:u", "glm::BR_MISP_RETIRED:IND_CALL:u:c=1",
	"glm::DECODE_RESTRICTION:PREDECODE_WRONG", "glm::MISALIGN_MEM_REF:LOAD_PAGE_SPLIT:u:k",
	"glm::ISSUE_SLOTS_NOT_CONSUMED:RESOURCE_FULL:c=3", "glm::ITLB:MISS:u", "glm::LONGEST_LAT_CACHE:REFERENCE",
	"glm::LONGEST_LAT_CACHE:MISS:u:k", "glm::MEM_LOAD_UOPS_RETIRED:L1_HIT:u",
	"glm::MEM_LOAD_UOPS_RETIRED:L2_MISS:u:c=2", "glm::MEM_LOAD_UOPS_RETIRED:DRAM_HIT:k",
	"glm::LD_BLOCKS:ALL_BLOCK", "glm::LD_BLOCKS:STORE_FORWARD:u", "glm::DL1:DIRTY_EVICTION",
	"glm::CYCLES_DIV_BUSY:IDIV:u", "glm::CYCLES_DIV_BUSY:FPDIV:c=1:e", "glm::MS_DECODED:MS_ENTRY",
	"glm::UOPS_RETIRED:ANY:u", "glm::UOPS_RETIRED:MS:c=4:i", "glm::MACHINE_CLEARS:SMC",
	"glm::MACHINE_CLEARS:MEMORY_ORDERING:u", "glm::BR_INST_RETIRED:ALL_TAKEN_BRANCHES:u", "glm::BR_INST_RETIRED:CALL",
	"glm::FETCH_STALL:ICACHE_FILL_PENDING_CYCLES", "glm::MEM_UOPS_RETIRED:ALL_LOADS:u",
	"glm::MEM_UOPS_RETIRED:DTLB_MISS", "glm::PAGE_WALKS:D_SIDE_CYCLES:u:e:c=1", "glm::BACLEARS:ALL",
	"glm::OFFCORE_RESPONSE_0:ANY_REQUEST", "glm::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE:u",
	"glm::OFFCORE_RESPONSE_0:DMND_RFO:PF_RFO:L2_HIT", "glm::OFFCORE_RESPONSE_1:DMND_DATA_RD:L2_MISS_SNP_ANY:u",
	"glm::OFFCORE_RESPONSE_1:ANY_PF_DATA_RD:ANY_RESPONSE:k:c=1",
};
/* clang-format on */

struct library {
	pfm_err_t (*initialize)(void);
	void (*terminate)(void);
	pfm_err_t (*get_pmu_info)(pfm_pmu_t, pfm_pmu_info_t *);
	int (*get_event_next)(int);
	pfm_err_t (*get_event_info)(int, pfm_os_t, pfm_event_info_t *);
	int (*find_event)(const char *);
	pfm_err_t (*encode)(const char *, int, pfm_os_t, void *);
	pfm_pmu_info_t info; /* of the PMU */
};

static struct library libraries[MAX_LIBRARIES];

/* ---- what is timed ---- */

static int
run_pfm4_initialize(void *library)
{
	struct library *l = library;
	int ret = l->initialize();

	l->terminate();
	return ret;
}

static int
run_pfm4_find(void *library)
{
	struct library *l = library;
	int failed = 0;

	for (unsigned int i = 0; i < bench_names.count; i++) {
		int idx = l->find_event(bench_names.names[i]);

		failed |= idx < 0 ? idx : 0;
		use(&idx);
	}
	return failed;
}

/* Read what the library says of an event: what pfm_get_event_info() returns. */
static pfm_err_t
read_information(const struct library *l, int idx, pfm_event_info_t *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return l->get_event_info(idx, PFM_OS_NONE, info);
}

static int
run_pfm4_information(void *library)
{
	struct library *l = library;
	pfm_event_info_t info;
	int failed = 0;

	for (int idx = l->info.first_event; idx >= 0; idx = l->get_event_next(idx)) {
		failed |= read_information(l, idx, &info);
		use(&info);
	}
	return failed;
}

/* Encode a string; with its canonical form, as the caller has to free that. */
static int
encode_string(const struct library *l, const char *string, int with_fstr)
{
	uint64_t codes[2];
	char *fstr = NULL;
	pfm_pmu_encode_arg_t arg = {
		.codes = codes,
		.count = COUNT(codes),
		.size = sizeof(arg),
		.fstr = with_fstr ? &fstr : NULL,
	};
	int ret = l->encode(string, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &arg);

	use(codes);
	free(fstr);
	return ret;
}

static int
run_pfm4_encode(void *library)
{
	int failed = 0;

	for (size_t i = 0; i < COUNT(strings); i++)
		failed |= encode_string(library, strings[i], 0);
	return failed;
}

static int
run_pfm4_encode_fstr(void *library)
{
	int failed = 0;

	for (size_t i = 0; i < COUNT(strings); i++)
		failed |= encode_string(library, strings[i], 1);
	return failed;
}

/* ---- measures ---- */

static void
load_pfm4(struct library *l, struct candidate *c)
{
	const struct bench_function wanted[] = {
		{ "pfm_initialize", &l->initialize },         { "pfm_terminate", &l->terminate },
		{ "pfm_get_pmu_info", &l->get_pmu_info },     { "pfm_get_event_next", &l->get_event_next },
		{ "pfm_get_event_info", &l->get_event_info }, { "pfm_find_event", &l->find_event },
		{ "pfm_get_os_event_encoding", &l->encode },
	};

	candidate_load(c, l, wanted, COUNT(wanted));
}

/* Make a library ready for the measures after initialisation. */
static void
initialise_pfm4(struct library *l, struct candidate *c)
{
	int ret = l->initialize();

	l->info.size = sizeof(l->info);
	if (ret == PFM_SUCCESS)
		ret = l->get_pmu_info(PFM_PMU_INTEL_GLM, &l->info);
	if (ret != PFM_SUCCESS)
		snprintf(c->no_pmu, sizeof(c->no_pmu), "the library has no PMU %s: it returns %d", PMU, ret);
}

/* Read the names of all events from the first library that has the PMU. */
static void
read_pfm4_names(const struct bench *b)
{
	for (unsigned int i = 0; i < b->count && bench_names.count == 0; i++) {
		const struct library *l = &libraries[i];
		pfm_event_info_t info;

		if (!candidate_is_usable(&b->libraries[i]))
			continue;
		for (int idx = l->info.first_event; idx >= 0; idx = l->get_event_next(idx))
			if (read_information(l, idx, &info) == PFM_SUCCESS)
				bench_add_name(info.name);
	}
}

/* Take the events of the strings: to look these up is the least that encoding has to do. */
static void
take_event_names(void)
{
	bench_names.count = 0;
	for (size_t i = 0; i < COUNT(strings); i++) {
		const char *event = strings[i] + strlen(PMU "::");
		char name[NAME_SIZE];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(event, ":"), event);
		bench_add_name(name);
	}
}

static void
measure_pfm4_encode(struct bench *b, const char *name, bench_run run, int with_fstr)
{
	struct measure m;

	measure_start(&m, b, name, PMU, run, COUNT(strings));
	for (unsigned int i = 0; i < b->count; i++)
		for (size_t n = 0; n < COUNT(strings) && !m.subjects[i].reason[0]; n++) {
			int ret = encode_string(&libraries[i], strings[n], with_fstr);

			if (ret != PFM_SUCCESS)
				subject_fails(&m.subjects[i], "%s: it returns %d", strings[n], ret);
		}
	measure_hash_floor(&m);
	measure_print(b, &m);
}

void
BENCH(struct bench *b)
{
	struct measure m;

	setenv("LIBPFM_FORCE_PMU", PMU, 1);
	for (unsigned int i = 0; i < b->count; i++)
		load_pfm4(&libraries[i], &b->libraries[i]);
	measure_start(&m, b, "initialize", NULL, run_pfm4_initialize, 1);
	measure_print(b, &m);
	for (unsigned int i = 0; i < b->count; i++)
		if (!b->libraries[i].absent[0])
			initialise_pfm4(&libraries[i], &b->libraries[i]);
	read_pfm4_names(b);
	measure_names(b, PMU, run_pfm4_find, "get_event_info", run_pfm4_information);
	take_event_names();
	measure_pfm4_encode(b, "encode", run_pfm4_encode, 0);
	measure_pfm4_encode(b, "encode_fstr", run_pfm4_encode_fstr, 1);
	for (unsigned int i = 0; i < b->count; i++)
		if (!b->libraries[i].absent[0])
			libraries[i].terminate();
}
