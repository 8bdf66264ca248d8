/*
 * The measurements of a libpfm 3.  Compiled for each form of the structures; BENCH
 * is the name of the entry point.
 */
#include "bench.h"

#include <perfmon/pfmlib_itanium.h>
#include <perfmon/pfmlib_itanium2.h>
#include <perfmon/pfmlib_montecito.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A request with what the model adds, for one library. */
struct request {
	pfm_err_t (*dispatch)(pfmlib_input_param_t *, void *, pfmlib_output_param_t *, void *);
	pfmlib_input_param_t in;
	union {
		pfmlib_ita_input_param_t ita;
		pfmlib_ita2_input_param_t ita2;
		pfmlib_mont_input_param_t mont;
	} model_in;
	int has_model;
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
};

enum { EVENTS = 4 };

struct pmu {
	const char *name;
	int type;
	const char *events[EVENTS];      /* of a request */
	const char *qualified[EVENTS];   /* of one with qualifiers */
	void (*fill)(struct request *r); /* the qualifiers */
};

static struct library libraries[MAX_LIBRARIES];

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
		in->pfp_ita_counters[i] = (pfmlib_ita_counter_t){ .flags = PFMLIB_ITA_FL_EVT_NO_QUALCHECK,
								  .thres = 1 + i,
								  .ism = PFMLIB_ITA_ISM_IA64 };
	in->pfp_ita_pmc8.opcm_used = in->pfp_ita_pmc9.opcm_used = 1;
	in->pfp_ita_pmc8.pmc_val = in->pfp_ita_pmc9.pmc_val = 0xffff8003fffffffc;
	in->pfp_ita_iear = (pfmlib_ita_ear_t){ .ear_used = 1, .ear_mode = PFMLIB_ITA_EAR_CACHE_MODE, .ear_umask = 0xf };
	in->pfp_ita_dear = (pfmlib_ita_ear_t){ .ear_used = 1, .ear_mode = PFMLIB_ITA_EAR_CACHE_MODE, .ear_umask = 3 };
	in->pfp_ita_btb =
		(pfmlib_ita_btb_t){ .btb_used = 1, .btb_tm = 3, .btb_ptm = 3, .btb_ppm = 3, .btb_plm = PFM_PLM3 };
}

static void
fill_ita2_qualifiers(struct request *r)
{
	pfmlib_ita2_input_param_t *in = &r->model_in.ita2;

	for (unsigned int i = 0; i < r->in.pfp_event_count; i++)
		in->pfp_ita2_counters[i] = (pfmlib_ita2_counter_t){ .thres = 1 + i, .ism = PFMLIB_ITA2_ISM_IA64 };
	in->pfp_ita2_pmc8.opcm_used = in->pfp_ita2_pmc9.opcm_used = 1;
	in->pfp_ita2_pmc8.pmc_val = in->pfp_ita2_pmc9.pmc_val = 0xffff8003fffffffc;
	in->pfp_ita2_iear =
		(pfmlib_ita2_ear_t){ .ear_used = 1, .ear_mode = PFMLIB_ITA2_EAR_CACHE_MODE, .ear_umask = 0xf8 };
	in->pfp_ita2_dear =
		(pfmlib_ita2_ear_t){ .ear_used = 1, .ear_mode = PFMLIB_ITA2_EAR_CACHE_MODE, .ear_umask = 3 };
	in->pfp_ita2_btb =
		(pfmlib_ita2_btb_t){ .btb_used = 1, .btb_tm = 3, .btb_ptm = 3, .btb_ppm = 3, .btb_plm = PFM_PLM3 };
}

static void
fill_mont_qualifiers(struct request *r)
{
	pfmlib_mont_input_param_t *in = &r->model_in.mont;
	pfmlib_mont_opcm_t matcher = {
		.opcm_used = 1, .opcm_m = 1, .opcm_i = 1, .opcm_match = 0x14567890123, .opcm_mask = 0x1fffffffff0
	};

	for (unsigned int i = 0; i < r->in.pfp_event_count; i++)
		in->pfp_mont_counters[i] =
			(pfmlib_mont_counter_t){ .flags = PFMLIB_MONT_FL_EVT_NO_QUALCHECK, .thres = 1 + i };
	in->pfp_mont_opcm1 = in->pfp_mont_opcm2 = matcher;
	in->pfp_mont_iear =
		(pfmlib_mont_ear_t){ .ear_used = 1, .ear_mode = PFMLIB_MONT_EAR_CACHE_MODE, .ear_umask = 0xf8 };
	in->pfp_mont_dear =
		(pfmlib_mont_ear_t){ .ear_used = 1, .ear_mode = PFMLIB_MONT_EAR_CACHE_MODE, .ear_umask = 3 };
	in->pfp_mont_etb =
		(pfmlib_mont_etb_t){ .etb_used = 1, .etb_tm = 3, .etb_ptm = 3, .etb_ppm = 3, .etb_plm = PFM_PLM3 };
}

/* On Itanium 2 both opcode matchers only work for retired instructions. */
#define BASIC(cycles) { cycles, "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED" }
static const struct pmu pmus[] = {
	{ "itanium", PFMLIB_ITANIUM_PMU, BASIC("CPU_CYCLES"), BASIC("CPU_CYCLES"), fill_ita_qualifiers },
	{ "itanium2",
	  PFMLIB_ITANIUM2_PMU,
	  BASIC("CPU_CYCLES"),
	  { "IA64_INST_RETIRED", "IA64_TAGGED_INST_RETIRED_IBRP0_PMC8", "IA64_TAGGED_INST_RETIRED_IBRP1_PMC9",
	    "IA64_TAGGED_INST_RETIRED_IBRP2_PMC8" },
	  fill_ita2_qualifiers },
	{ "montecito", PFMLIB_MONTECITO_PMU, BASIC("CPU_OP_CYCLES_ALL"), BASIC("CPU_OP_CYCLES_ALL"),
	  fill_mont_qualifiers },
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

	for (unsigned int i = 0; i < bench_names.count; i++) {
		unsigned int idx;

		failed |= l->find_event(bench_names.names[i], &idx);
		use(&idx);
	}
	return failed;
}

/* Ask for the name of each event. */
static int
run_pfm3_information(void *library)
{
	struct library *l = library;
	char name[NAME_SIZE];
	int failed = 0;

	for (unsigned int i = 0; i < bench_names.count; i++) {
		failed |= l->get_event_name(i, name, sizeof(name));
		use(name);
	}
	return failed;
}

static int
run_pfm3_dispatch(void *library)
{
	struct request *r = &((struct library *)library)->request;
	int ret;

	/* The library adds to what it finds in the model's output. */
	if (r->has_model)
		memset(&model_out, 0, sizeof(model_out));
	ret = r->dispatch(&r->in, r->has_model ? &r->model_in : NULL, &out, r->has_model ? &model_out : NULL);
	use(&out);
	use(&model_out);
	return ret;
}

/* Clear what a dispatch writes: the least that it has to do. */
static int
run_clear(void *with_model)
{
	memset(&out, 0, sizeof(out));
	use(&out);
	if (with_model) {
		memset(&model_out, 0, sizeof(model_out));
		use(&model_out);
	}
	return 0;
}

/* ---- measures ---- */

static void
load_pfm3(struct library *l, struct candidate *c)
{
	const struct bench_function wanted[] = {
		{ "pfm_initialize", &l->initialize },         { "pfm_force_pmu", &l->force_pmu },
		{ "pfm_get_num_events", &l->get_num_events }, { "pfm_get_event_name", &l->get_event_name },
		{ "pfm_find_event", &l->find_event },         { "pfm_dispatch_events", &l->request.dispatch },
	};

	candidate_load(c, l, wanted, COUNT(wanted));
}

static void
measure_pfm3_initialize(struct bench *b)
{
	struct measure m;
	char type[16];

	snprintf(type, sizeof(type), "%d", PFMLIB_ITANIUM2_PMU);
	setenv("LIBPFM_FORCE_PMU", type, 1); /* a PMU of this host is not to be looked for */
	measure_start(&m, b, "initialize", NULL, run_pfm3_initialize, 1);
	measure_print(b, &m);
}

/* Select a PMU in all libraries; one that has it not is told so. */
static void
select_pmu(struct bench *b, const struct pmu *pmu)
{
	for (unsigned int i = 0; i < b->count; i++) {
		struct candidate *c = &b->libraries[i];
		int ret = c->absent[0] ? 0 : libraries[i].force_pmu(pmu->type);

		c->no_pmu[0] = '\0';
		if (ret != PFMLIB_SUCCESS)
			snprintf(c->no_pmu, sizeof(c->no_pmu),
				 "the library has no PMU %s: pfm_force_pmu(%d) returns %d", pmu->name, pmu->type, ret);
	}
}

/* Read the names of all events from the first library that has the PMU. */
static void
read_pfm3_names(const struct bench *b)
{
	bench_names.count = 0;
	for (unsigned int i = 0; i < b->count && bench_names.count == 0; i++) {
		const struct library *l = &libraries[i];
		unsigned int count = 0;
		char name[NAME_SIZE];

		if (!candidate_is_usable(&b->libraries[i]) || l->get_num_events(&count) != PFMLIB_SUCCESS)
			continue;
		for (unsigned int n = 0; n < count; n++)
			if (l->get_event_name(n, name, sizeof(name)) == PFMLIB_SUCCESS)
				bench_add_name(name);
	}
}

/* Fill a library's request; the name of an event that it does not find, or NULL. */
static const char *
fill_request(struct library *l, const char *const *events, void (*fill)(struct request *))
{
	struct request *r = &l->request;

	memset(&r->in, 0, sizeof(r->in));
	memset(&r->model_in, 0, sizeof(r->model_in));
	r->in.pfp_dfl_plm = PFM_PLM3;
	r->in.pfp_event_count = EVENTS;
	for (size_t i = 0; i < EVENTS; i++)
		if (l->find_event(events[i], &r->in.pfp_events[i].event) != PFMLIB_SUCCESS)
			return events[i];
	r->has_model = fill != NULL;
	if (fill)
		fill(r);
	return NULL;
}

static void
measure_pfm3_dispatch(struct bench *b, const char *name, const char *pmu, const char *const *events,
		      void (*fill)(struct request *))
{
	struct measure m;

	measure_start(&m, b, name, pmu, run_pfm3_dispatch, 1);
	for (unsigned int i = 0; i < b->count; i++) {
		struct subject *s = &m.subjects[i];
		const char *unknown = s->reason[0] ? NULL : fill_request(&libraries[i], events, fill);

		if (unknown)
			subject_fails(s, "the library has no event %s", unknown);
	}
	measure_floor(&m, "memset", run_clear, fill ? &model_out : NULL);
	measure_print(b, &m);
}

void
BENCH(struct bench *b)
{
	for (unsigned int i = 0; i < b->count; i++)
		load_pfm3(&libraries[i], &b->libraries[i]);
	measure_pfm3_initialize(b);
	for (size_t p = 0; p < COUNT(pmus); p++) {
		const struct pmu *pmu = &pmus[p];

		select_pmu(b, pmu);
		read_pfm3_names(b);
		measure_names(b, pmu->name, run_pfm3_find, "get_event_name", run_pfm3_information);
		measure_pfm3_dispatch(b, "dispatch", pmu->name, pmu->events, NULL);
		measure_pfm3_dispatch(b, "dispatch_qualifiers", pmu->name, pmu->qualified, pmu->fill);
	}
}
