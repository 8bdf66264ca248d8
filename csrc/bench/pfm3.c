/*
 * What is measured of a libpfm 3.  Compiled for each form of the structures; BENCH
 * is the name of the entry point.
 */
#include "bench.h"

#include <perfmon/pfmlib_itanium.h>
#include <perfmon/pfmlib_itanium2.h>
#include <perfmon/pfmlib_montecito.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))
#define MAX_KINDS	4

/* A request with what the model adds, for one library. */
struct request {
	pfm_err_t (*dispatch)(pfmlib_input_param_t *, void *, pfmlib_output_param_t *, void *);
	pfmlib_input_param_t	in;
	union {
		pfmlib_ita_input_param_t ita;
		pfmlib_ita2_input_param_t ita2;
		pfmlib_mont_input_param_t mont;
	}			model_in;
	int			has_model;
};

/* A library's functions and its request.  Whole pages: where the request lies within
 * its page has to be the same for both, for loads wait for stores to addresses like theirs. */
struct library {
	_Alignas(4096) pfm_err_t (*initialize)(void);
	pfm_err_t (*force_pmu)(int);
	pfm_err_t (*get_num_events)(unsigned int *);
	pfm_err_t (*get_event_name)(unsigned int, char *, size_t);
	pfm_err_t (*find_event)(const char *, unsigned int *);
	struct request request;
	const char *absent;	/* a function that it lacks */
	int type_refused;	/* what pfm_force_pmu() returned */
};

/* One kind of request: its events, and what the model's structure says. */
struct kind {
	const char *name;	/* NULL: no more kinds */
	const char *events[4];
	void (*fill)(struct request *r);	/* NULL: generic part only */
};

struct pmu {
	const char *name;
	int type;
	struct kind kinds[MAX_KINDS];
};

static struct library libraries[MAX_LIBRARIES];
static struct names names;

/* Shared, so that every subject writes into the same memory. */
static pfmlib_output_param_t out;
static union {
	pfmlib_ita_output_param_t ita;
	pfmlib_ita2_output_param_t ita2;
	pfmlib_mont_output_param_t mont;
} model_out;

/* ---- requests ---- */

static void
fill_ita_qualifiers(struct request *r)
{
	pfmlib_ita_input_param_t *in = &r->model_in.ita;

	for (unsigned int i = 0; i < r->in.pfp_event_count; i++)
		in->pfp_ita_counters[i] = (pfmlib_ita_counter_t){
			.flags = PFMLIB_ITA_FL_EVT_NO_QUALCHECK, .thres = 1 + i, .ism = PFMLIB_ITA_ISM_IA64 };
	in->pfp_ita_pmc8.opcm_used = in->pfp_ita_pmc9.opcm_used = 1;
	in->pfp_ita_pmc8.pmc_val = in->pfp_ita_pmc9.pmc_val = 0xffff8003fffffffc;
	in->pfp_ita_iear = (pfmlib_ita_ear_t){
		.ear_used = 1, .ear_mode = PFMLIB_ITA_EAR_CACHE_MODE, .ear_umask = 0xf };
	in->pfp_ita_dear = (pfmlib_ita_ear_t){
		.ear_used = 1, .ear_mode = PFMLIB_ITA_EAR_CACHE_MODE, .ear_umask = 3 };
	in->pfp_ita_btb = (pfmlib_ita_btb_t){
		.btb_used = 1, .btb_tm = 3, .btb_ptm = 3, .btb_ppm = 3, .btb_plm = PFM_PLM3 };
}

static void
fill_ita2_qualifiers(struct request *r)
{
	pfmlib_ita2_input_param_t *in = &r->model_in.ita2;

	for (unsigned int i = 0; i < r->in.pfp_event_count; i++)
		in->pfp_ita2_counters[i] = (pfmlib_ita2_counter_t){ .thres = 1 + i, .ism = PFMLIB_ITA2_ISM_IA64 };
	in->pfp_ita2_pmc8.opcm_used = in->pfp_ita2_pmc9.opcm_used = 1;
	in->pfp_ita2_pmc8.pmc_val = in->pfp_ita2_pmc9.pmc_val = 0xffff8003fffffffc;
	in->pfp_ita2_iear = (pfmlib_ita2_ear_t){
		.ear_used = 1, .ear_mode = PFMLIB_ITA2_EAR_CACHE_MODE, .ear_umask = 0xf8 };
	in->pfp_ita2_dear = (pfmlib_ita2_ear_t){
		.ear_used = 1, .ear_mode = PFMLIB_ITA2_EAR_CACHE_MODE, .ear_umask = 3 };
	in->pfp_ita2_btb = (pfmlib_ita2_btb_t){
		.btb_used = 1, .btb_tm = 3, .btb_ptm = 3, .btb_ppm = 3, .btb_plm = PFM_PLM3 };
}

static void
fill_mont_qualifiers(struct request *r)
{
	pfmlib_mont_input_param_t *in = &r->model_in.mont;
	pfmlib_mont_opcm_t matcher = {
		.opcm_used = 1, .opcm_m = 1, .opcm_i = 1, .opcm_match = 0x14567890123, .opcm_mask = 0x1fffffffff0 };

	for (unsigned int i = 0; i < r->in.pfp_event_count; i++)
		in->pfp_mont_counters[i] = (pfmlib_mont_counter_t){
			.flags = PFMLIB_MONT_FL_EVT_NO_QUALCHECK, .thres = 1 + i };
	in->pfp_mont_opcm1 = in->pfp_mont_opcm2 = matcher;
	in->pfp_mont_iear = (pfmlib_mont_ear_t){
		.ear_used = 1, .ear_mode = PFMLIB_MONT_EAR_CACHE_MODE, .ear_umask = 0xf8 };
	in->pfp_mont_dear = (pfmlib_mont_ear_t){
		.ear_used = 1, .ear_mode = PFMLIB_MONT_EAR_CACHE_MODE, .ear_umask = 3 };
	in->pfp_mont_etb = (pfmlib_mont_etb_t){
		.etb_used = 1, .etb_tm = 3, .etb_ptm = 3, .etb_ppm = 3, .etb_plm = PFM_PLM3 };
}

/* The IP-EAR fills the trace buffer in place of branches. */
static void
fill_mont_ipear(struct request *r)
{
	fill_mont_qualifiers(r);
	r->model_in.mont.pfp_mont_etb.etb_used = 0;
	r->model_in.mont.pfp_mont_ipear = (pfmlib_mont_ipear_t){
		.ipear_used = 1, .ipear_plm = PFM_PLM3, .ipear_delay = 10 };
}

/* One code and one data range; the structures of the models differ in their names only. */
#define FILL_RANGES(tag, unchecked) \
static void \
fill_##tag##_ranges(struct request *r) \
{ \
	pfmlib_##tag##_input_param_t *in = &r->model_in.tag; \
\
	for (unsigned int i = 0; i < r->in.pfp_event_count; i++) \
		in->pfp_##tag##_counters[i].flags = unchecked; \
	in->pfp_##tag##_irange.rr_used = in->pfp_##tag##_drange.rr_used = 1; \
	in->pfp_##tag##_irange.rr_limits[0].rr_start = 0x4000000000001000; \
	in->pfp_##tag##_irange.rr_limits[0].rr_end = 0x4000000000001040; \
	in->pfp_##tag##_drange.rr_limits[0].rr_start = 0x6000000000001001; \
	in->pfp_##tag##_drange.rr_limits[0].rr_end = 0x6000000000002003; \
}

FILL_RANGES(ita, PFMLIB_ITA_FL_EVT_NO_QUALCHECK)
FILL_RANGES(ita2, PFMLIB_ITA2_FL_EVT_NO_QUALCHECK)
FILL_RANGES(mont, PFMLIB_MONT_FL_EVT_NO_QUALCHECK)

/* On Itanium 2 both opcode matchers only work for retired instructions. */
static const struct pmu pmus[] = {
	{ "itanium", PFMLIB_ITANIUM_PMU, {
		{ "dispatch", { "CPU_CYCLES", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED" }, NULL },
		{ "dispatch_qualifiers",
		  { "CPU_CYCLES", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED" }, fill_ita_qualifiers },
		{ "dispatch_ranges", { "CPU_CYCLES", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED" },
		  fill_ita_ranges },
	} },
	{ "itanium2", PFMLIB_ITANIUM2_PMU, {
		{ "dispatch", { "CPU_CYCLES", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED" }, NULL },
		{ "dispatch_qualifiers",
		  { "IA64_INST_RETIRED", "IA64_TAGGED_INST_RETIRED_IBRP0_PMC8", "IA64_TAGGED_INST_RETIRED_IBRP1_PMC9",
		    "IA64_TAGGED_INST_RETIRED_IBRP2_PMC8" }, fill_ita2_qualifiers },
		{ "dispatch_ranges", { "CPU_CYCLES", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED" },
		  fill_ita2_ranges },
	} },
	{ "montecito", PFMLIB_MONTECITO_PMU, {
		{ "dispatch", { "CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED" }, NULL },
		{ "dispatch_qualifiers",
		  { "CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED" }, fill_mont_qualifiers },
		{ "dispatch_ipear",
		  { "CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED" }, fill_mont_ipear },
		{ "dispatch_ranges", { "CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED" },
		  fill_mont_ranges },
	} },
};

/* ---- what is timed ---- */

static int
run_pfm3_initialize(void *library)
{
	struct library *l = library;

	return l->initialize();
}

static int
run_pfm3_find(void *library)
{
	struct library *l = library;
	int failed = 0;

	for (unsigned int i = 0; i < names.count; i++) {
		unsigned int idx;

		failed |= l->find_event(names.names[i], &idx);
		use(&idx);
	}
	return failed;
}

static int
run_pfm3_dispatch(void *request)
{
	struct request *r = request;
	int ret;

	if (!r->has_model) {
		ret = r->dispatch(&r->in, NULL, &out, NULL);
		use(&out);
		return ret;
	}
	/* The library adds to the ranges that it finds. */
	memset(&model_out, 0, sizeof(model_out));
	ret = r->dispatch(&r->in, &r->model_in, &out, &model_out);
	use(&out);
	use(&model_out);
	return ret;
}

/* ---- measures ---- */

/* The functions that every measure but the first needs. */
static void
load_pfm3(struct library *l, void *handle)
{
	const struct bench_function wanted[] = {
		{ "pfm_initialize", &l->initialize },
		{ "pfm_force_pmu", &l->force_pmu },
		{ "pfm_get_num_events", &l->get_num_events },
		{ "pfm_get_event_name", &l->get_event_name },
		{ "pfm_find_event", &l->find_event },
		{ "pfm_dispatch_events", &l->request.dispatch },
	};

	l->absent = bench_symbols(handle, wanted, COUNT(wanted));
}

/* Start a measure; a library that cannot take part has the reason. */
static void
start_pfm3_measure(struct measure *m, const struct bench *b, const char *name, const struct pmu *pmu, unsigned int calls)
{
	measure_init(m, b, name, pmu ? pmu->name : NULL, calls);
	for (unsigned int i = 0; i < b->count; i++) {
		const struct library *l = &libraries[i];

		m->subjects[i].argument = &libraries[i];
		if (l->absent)
			subject_fails(&m->subjects[i], "the library has no %s()", l->absent);
		else if (pmu && l->type_refused)
			subject_fails(&m->subjects[i], "the library has no PMU %s: pfm_force_pmu(%d) returns %d",
				      pmu->name, pmu->type, l->type_refused);
	}
}

static void
measure_pfm3_initialize(struct bench *b)
{
	struct measure m;
	char type[16];

	snprintf(type, sizeof(type), "%d", PFMLIB_ITANIUM2_PMU);
	setenv("LIBPFM_FORCE_PMU", type, 1);	/* a PMU of this host is not to be looked for */
	start_pfm3_measure(&m, b, "initialize", NULL, 1);
	for (unsigned int i = 0; i < b->count; i++)
		m.subjects[i].run = run_pfm3_initialize;
	measure_print(b, &m);
}

/* Read the names of all events from the first library that has the PMU. */
static void
read_pfm3_names(const struct bench *b)
{
	names_clear(&names);
	for (unsigned int i = 0; i < b->count && names.count == 0; i++) {
		const struct library *l = &libraries[i];
		unsigned int count = 0;
		char name[NAME_SIZE];

		if (l->absent || l->type_refused || l->get_num_events(&count) != PFMLIB_SUCCESS)
			continue;
		for (unsigned int n = 0; n < count; n++)
			if (l->get_event_name(n, name, sizeof(name)) == PFMLIB_SUCCESS)
				names_add(&names, name);
	}
	if (names.count)
		names_done(&names);
}

static void
measure_pfm3_find(struct bench *b, const struct pmu *pmu)
{
	struct measure m;

	read_pfm3_names(b);
	start_pfm3_measure(&m, b, "find_event", pmu, names.count);
	for (unsigned int i = 0; i < b->count; i++) {
		m.subjects[i].run = run_pfm3_find;
		if (names.count == 0)
			subject_fails(&m.subjects[i], "the library names no event");
	}
	if (names.count) {
		measure_floor(&m, "hash", names_hashed, &names);
		measure_floor(&m, "scan", names_scanned, &names);
	}
	measure_print(b, &m);
}

/* Fill a library's request; the name of an event that it does not find, or NULL. */
static const char *
fill_request(struct library *l, const struct kind *kind)
{
	struct request *r = &l->request;

	memset(&r->in, 0, sizeof(r->in));
	memset(&r->model_in, 0, sizeof(r->model_in));
	r->in.pfp_dfl_plm = PFM_PLM3;
	r->in.pfp_event_count = COUNT(kind->events);
	for (size_t i = 0; i < COUNT(kind->events); i++)
		if (l->find_event(kind->events[i], &r->in.pfp_events[i].event) != PFMLIB_SUCCESS)
			return kind->events[i];
	r->has_model = kind->fill != NULL;
	if (kind->fill)
		kind->fill(r);
	return NULL;
}

static void
measure_pfm3_dispatch(struct bench *b, const struct pmu *pmu, const struct kind *kind)
{
	struct area area = { { &out, kind->fill ? &model_out : NULL }, { sizeof(out), sizeof(model_out) } };
	struct measure m;

	start_pfm3_measure(&m, b, kind->name, pmu, 1);
	for (unsigned int i = 0; i < b->count; i++) {
		struct subject *s = &m.subjects[i];
		const char *unknown = s->reason[0] ? NULL : fill_request(&libraries[i], kind);

		if (unknown)
			subject_fails(s, "the library has no event %s", unknown);
		s->run = run_pfm3_dispatch;
		s->argument = &libraries[i].request;
	}
	measure_floor(&m, "memset", area_clear, &area);
	measure_print(b, &m);
}

void
BENCH(struct bench *b)
{
	struct measure usable;

	for (unsigned int i = 0; i < b->count; i++)
		load_pfm3(&libraries[i], b->libraries[i]);
	measure_pfm3_initialize(b);
	for (size_t p = 0; p < COUNT(pmus); p++) {
		for (unsigned int i = 0; i < b->count; i++)
			if (!libraries[i].absent)
				libraries[i].type_refused = libraries[i].force_pmu(pmus[p].type);
		measure_pfm3_find(b, &pmus[p]);
		for (size_t k = 0; k < MAX_KINDS && pmus[p].kinds[k].name; k++)
			measure_pfm3_dispatch(b, &pmus[p], &pmus[p].kinds[k]);
		if (pmus[p].type == PFMLIB_ITANIUM2_PMU) {
			start_pfm3_measure(&usable, b, "", &pmus[p], 0);
			bench_perfmon2(b, &usable);
		}
	}
	names_clear(&names);
}
