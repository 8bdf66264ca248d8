/*
 * What is measured of a libpfm 4, with Goldmont as the PMU in use.
 */
#include "bench.h"

#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))
#define PMU		"glm"

/* Every kind of string: events with and without unit masks, offcore responses, modifiers. */
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

struct library {
	pfm_err_t (*initialize)(void);
	void (*terminate)(void);
	pfm_err_t (*get_pmu_info)(pfm_pmu_t, pfm_pmu_info_t *);
	int (*get_event_next)(int);
	pfm_err_t (*get_event_info)(int, pfm_os_t, pfm_event_info_t *);
	int (*find_event)(const char *);
	pfm_err_t (*encode)(const char *, int, pfm_os_t, void *);
	const char *absent;	/* a function that it lacks */
	pfm_pmu_info_t info;	/* of the PMU */
	int unusable;		/* what initialisation or pfm_get_pmu_info() returned */
};

static struct library libraries[MAX_LIBRARIES];
static struct names names;

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

	for (unsigned int i = 0; i < names.count; i++) {
		int idx = l->find_event(names.names[i]);

		failed |= idx < 0 ? idx : 0;
		use(&idx);
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
		.codes = codes, .count = COUNT(codes), .size = sizeof(arg), .fstr = with_fstr ? &fstr : NULL,
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
load_pfm4(struct library *l, void *handle)
{
	const struct bench_function wanted[] = {
		{ "pfm_initialize", &l->initialize },
		{ "pfm_terminate", &l->terminate },
		{ "pfm_get_pmu_info", &l->get_pmu_info },
		{ "pfm_get_event_next", &l->get_event_next },
		{ "pfm_get_event_info", &l->get_event_info },
		{ "pfm_find_event", &l->find_event },
		{ "pfm_get_os_event_encoding", &l->encode },
	};

	l->absent = bench_symbols(handle, wanted, COUNT(wanted));
}

/* Make a library ready for the measures after initialisation. */
static void
initialise_pfm4(struct library *l)
{
	l->unusable = l->initialize();
	if (l->unusable == PFM_SUCCESS) {
		memset(&l->info, 0, sizeof(l->info));
		l->info.size = sizeof(l->info);
		l->unusable = l->get_pmu_info(PFM_PMU_INTEL_GLM, &l->info);
	}
}

/* Start a measure; a library that cannot take part has the reason. */
static void
start_pfm4_measure(struct measure *m, const struct bench *b, const char *name, const char *pmu, bench_run run, unsigned int calls)
{
	measure_init(m, b, name, pmu, calls);
	for (unsigned int i = 0; i < b->count; i++) {
		struct subject *s = &m->subjects[i];

		s->run = run;
		s->argument = &libraries[i];
		if (libraries[i].absent)
			subject_fails(s, "the library has no %s()", libraries[i].absent);
		else if (pmu && libraries[i].unusable)
			subject_fails(s, "the library has no PMU %s: it returns %d", pmu, libraries[i].unusable);
	}
}

static void
measure_pfm4_initialize(struct bench *b)
{
	struct measure m;

	start_pfm4_measure(&m, b, "initialize", NULL, run_pfm4_initialize, 1);
	measure_print(b, &m);
}

/* Read the names of all events from the first library that has the PMU. */
static void
read_pfm4_names(const struct bench *b)
{
	names_clear(&names);
	for (unsigned int i = 0; i < b->count && names.count == 0; i++) {
		const struct library *l = &libraries[i];

		if (l->absent || l->unusable)
			continue;
		for (int idx = l->info.first_event; idx >= 0; idx = l->get_event_next(idx)) {
			pfm_event_info_t info;

			memset(&info, 0, sizeof(info));
			info.size = sizeof(info);
			if (l->get_event_info(idx, PFM_OS_NONE, &info) == PFM_SUCCESS)
				names_add(&names, info.name);
		}
	}
	if (names.count)
		names_done(&names);
}

static void
measure_pfm4_find(struct bench *b)
{
	struct measure m;

	read_pfm4_names(b);
	start_pfm4_measure(&m, b, "find_event", PMU, run_pfm4_find, names.count);
	for (unsigned int i = 0; i < b->count && names.count == 0; i++)
		subject_fails(&m.subjects[i], "the library names no event");
	if (names.count) {
		measure_floor(&m, "hash", names_hashed, &names);
		measure_floor(&m, "scan", names_scanned, &names);
	}
	measure_print(b, &m);
}

/* The events of the strings: to look these up is the least that encoding has to do. */
static void
take_event_names(void)
{
	names_clear(&names);
	for (size_t i = 0; i < COUNT(strings); i++) {
		const char *event = strings[i] + strlen(PMU "::");
		char name[NAME_SIZE];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(event, ":"), event);
		names_add(&names, name);
	}
	names_done(&names);
}

static void
measure_pfm4_encode(struct bench *b, const char *name, bench_run run, int with_fstr)
{
	struct measure m;

	take_event_names();
	start_pfm4_measure(&m, b, name, PMU, run, COUNT(strings));
	for (unsigned int i = 0; i < b->count; i++)
		for (size_t n = 0; n < COUNT(strings) && !m.subjects[i].reason[0]; n++) {
			int ret = encode_string(&libraries[i], strings[n], with_fstr);

			if (ret != PFM_SUCCESS)
				subject_fails(&m.subjects[i], "%s: it returns %d", strings[n], ret);
		}
	measure_floor(&m, "hash", names_hashed, &names);
	measure_print(b, &m);
}

void
BENCH(struct bench *b)
{
	setenv("LIBPFM_FORCE_PMU", PMU, 1);
	for (unsigned int i = 0; i < b->count; i++)
		load_pfm4(&libraries[i], b->libraries[i]);
	measure_pfm4_initialize(b);
	for (unsigned int i = 0; i < b->count; i++)
		if (!libraries[i].absent)
			initialise_pfm4(&libraries[i]);
	measure_pfm4_find(b);
	measure_pfm4_encode(b, "encode", run_pfm4_encode, 0);
	measure_pfm4_encode(b, "encode_fstr", run_pfm4_encode_fstr, 1);
	for (unsigned int i = 0; i < b->count; i++)
		if (!libraries[i].absent)
			libraries[i].terminate();
	names_clear(&names);
}
