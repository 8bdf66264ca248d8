/*
 * The generic IA-64 PMU: what the architecture demands of every processor.
 *
 * Which registers there are, the width of the counters and the codes of the two
 * events are the processor's; the kernel says them in a file.  The constant model
 * here is what there is before initialisation, with empty tables.
 */
#include "ia64.h"

#include <stdlib.h>
#include <string.h>

/* Event indices, which are those of struct pfm3_gen_ia64, too. */
enum { CPU_CYCLES, IA64_INST_RETIRED, NUM_EVENTS };

/* Counters are these four, whatever the processor has. */
#define COUNTERS 0xf0ul

/* Bytes of the buffer that a line of the file is read into; what does not fit is the next line. */
#define LINE_SIZE 63

/* What the file has to say: each line of it is "KEY: VALUE". */
enum key { WIDTH, PAIRS, CYCLES_CODE, RETIRED_CODE, CYCLES_CAPABLE, RETIRED_CAPABLE, IMPL_PMCS, IMPL_PMDS, NUM_KEYS };

static const char *const keys[NUM_KEYS] = {
	[WIDTH] = "Counter width",
	[PAIRS] = "PMC/PMD pairs",
	[CYCLES_CODE] = "Cycle event number",
	[RETIRED_CODE] = "Retired event number",
	[CYCLES_CAPABLE] = "Cycles count capable",
	[RETIRED_CAPABLE] = "Retired bundles count capable",
	[IMPL_PMCS] = "Implemented PMC",
	[IMPL_PMDS] = "Implemented PMD",
};

/* A PMU with tables of its own, as the constant model has them. */
static void
start(struct pfm3_gen_ia64 *pmu)
{
	memset(pmu, 0, sizeof(*pmu));
	pmu->model = pfm3_gen_ia64;
	pmu->table = pfm3_gen_ia64_table;
	memcpy(pmu->events, pfm3_gen_ia64_table.events, sizeof(pmu->events));
}

/* Let the parts of a PMU point to each other: it has to stay where it is from here on. */
static void
finish(struct pfm3_gen_ia64 *pmu)
{
	for (int i = 0; i < NUM_EVENTS; i++)
		pmu->events[i].counters = (unsigned short)(pmu->capable[i].bits[0] & COUNTERS);
	pmu->table.events = pmu->events;
	pmu->model.table = &pmu->table;
}

/* What there is if the PMU is forced: nothing is read then. */
static void
set_forced(struct pfm3_gen_ia64 *pmu)
{
	static const pfmlib_regmask_t four = { { COUNTERS } };

	pmu->model.counter_width = 47;
	pmu->model.impl_pmcs.bits[0] = 0xff;
	pmu->model.impl_pmds = four;
	pmu->events[CPU_CYCLES].code = 18;
	pmu->events[IA64_INST_RETIRED].code = 8;
	pmu->capable[CPU_CYCLES] = pmu->capable[IA64_INST_RETIRED] = four;
}

/* Add the registers first to last to a set; 0 if one is out of range. */
static int
add_registers(unsigned long first, unsigned long last, pfmlib_regmask_t *set, FILE *notices)
{
	if (first >= PFMLIB_REG_MAX || last >= PFMLIB_REG_MAX) {
		if (notices)
			fprintf(notices, "register %lu: numbers are below %d\n",
				first >= PFMLIB_REG_MAX ? first : last, PFMLIB_REG_MAX);
		return 0;
	}
	for (unsigned long n = first; n <= last; n++)
		pfm_regmask_set(set, (unsigned int)n);
	return 1;
}

/* Read a list of registers, "N" and "N-M" with blanks between them; 0 if it is none. */
static int
read_registers(char *text, pfmlib_regmask_t *set, FILE *notices)
{
	text[strcspn(text, "\n")] = '\0';
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (*text < '0' || *text > '9')
			return 0;
		if (*end == '-') {
			text = end + 1;
			last = strtoul(text, &end, 10);
			if (*text < '0' || *text > '9')
				return 0;
		} else if (*end == '\0') {
			return 1;	/* without a blank behind it a number at the end does not count (quirk) */
		}
		if (*end != ' ' && *end != '\0')
			return 0;
		if (!add_registers(first, last, set, notices))
			return 0;
		text = end;
	}
	return 1;
}

static unsigned int
weight(const pfmlib_regmask_t *set)
{
	unsigned int count = 0;

	pfm_regmask_weight((pfmlib_regmask_t *)set, &count);
	return count;
}

/* Enter what the file says behind a key; 0 if it is not as it should be. */
static int
enter(struct pfm3_gen_ia64 *pmu, enum key key, char *value, FILE *notices)
{
	unsigned int number = (unsigned int)strtoul(value, NULL, 10);

	switch (key) {
	case WIDTH:
		pmu->model.counter_width = number;
		return 1;
	case PAIRS:
		pmu->model.num_counters = number;
		return 1;
	case CYCLES_CODE:
		pmu->events[CPU_CYCLES].code = (unsigned char)number;
		return 1;
	case RETIRED_CODE:
		pmu->events[IA64_INST_RETIRED].code = (unsigned char)number;
		return 1;
	case CYCLES_CAPABLE:
		return read_registers(value, &pmu->capable[CPU_CYCLES], notices);
	case RETIRED_CAPABLE:
		return read_registers(value, &pmu->capable[IA64_INST_RETIRED], notices);
	case IMPL_PMCS:
		return read_registers(value, &pmu->model.impl_pmcs, notices);
	default:
		return read_registers(value, &pmu->model.impl_pmds, notices);
	}
}

/* Enter a line of the file.  1: it has one of the keys; 0: none; -1: a key, but no value of it. */
static int
enter_line(struct pfm3_gen_ia64 *pmu, char *line, char *colon, FILE *notices)
{
	/* One character between the colon and the value is skipped, if there is one. */
	char *value = colon[1] ? colon + 2 : colon + 1;

	for (int key = 0; key < NUM_KEYS; key++) {
		size_t len = strlen(keys[key]);

		/* The beginning has to be the key. */
		if ((size_t)(colon - line) >= len && strncmp(line, keys[key], len) == 0)
			return enter(pmu, (enum key)key, value, notices) ? 1 : -1;
	}
	return 0;
}

/* Read the file, up to its end or the first line without a colon; 0 if it does not say all. */
static int
read_file(struct pfm3_gen_ia64 *pmu, FILE *file, FILE *notices)
{
	char line[LINE_SIZE];
	int found = 0;

	while (fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');
		int one;

		if (!colon)
			break;
		one = enter_line(pmu, line, colon, notices);
		if (one < 0)
			return 0;
		found += one;
	}
	pmu->model.num_pmcs = weight(&pmu->model.impl_pmcs);
	pmu->model.num_pmds = weight(&pmu->model.impl_pmds);
	return found == NUM_KEYS;	/* in all: a key that comes twice makes up for another */
}

pfm_err_t
pfm3_gen_ia64_init(struct pfm3_gen_ia64 *pmu, const char *path, FILE *notices)
{
	struct pfm3_gen_ia64 new;

	start(&new);
	if (path) {
		FILE *file = fopen(path, "re");
		int all = file && read_file(&new, file, notices);

		if (file)
			fclose(file);
		if (!all)
			return PFMLIB_ERR_NOTSUPP;
	} else {
		set_forced(&new);
	}
	*pmu = new;
	finish(pmu);
	return PFMLIB_SUCCESS;
}

/* The reference tests only as many registers as there are counters, from register 0 on, and so
 * misses the counters (quirk).  Before initialisation nothing is set. */
static void
event_counters(const struct pfm3_model *model, unsigned int idx, pfmlib_regmask_t *counters)
{
	memset(counters, 0, sizeof(*counters));
	if (model == &pfm3_gen_ia64)
		return;
	for (unsigned int n = 0; n < model->num_counters && n < PFMLIB_REG_MAX; n++)
		if (pfm_regmask_isset((pfmlib_regmask_t *)&((const struct pfm3_gen_ia64 *)model)->capable[idx], n))
			pfm_regmask_set(counters, n);
}

static pfm_err_t
counters(struct pfm3_job *job)
{
	struct pfm3_placement p = { { 0 } };

	if (job->count > PMU_GEN_IA64_NUM_COUNTERS)
		return PFMLIB_ERR_TOOMANY;
	if (!pfm3_place(job, NULL, &p))
		return PFMLIB_ERR_NOASSIGN;
	for (unsigned int i = 0; i < job->count; i++) {
		unsigned int num = p.counter[i];
		uint64_t value = pfm3_counter_value(job, i, 0) | pfm3_field(1, 5, 1);	/* oi */
		/* The address is the place of the event, and the second one stays 0 (quirk). */
		pfm_err_t ret = pfm3_emit_pmc_at(job, num, value, (struct pfm3_addresses){ i, 0 });

		if (ret != PFMLIB_SUCCESS)
			return ret;
		pfm3_trace(job, "[PMC%u(pmc%u)=0x%llx es=0x%02x plm=%u pm=%u] %s\n[PMD%u(pmd%u)]\n", num, num,
			   (unsigned long long)value, job->events[i]->code,
			   pfm3_plm(job, job->in->pfp_events[i].plm), pfm3_systemwide(job), job->events[i]->name,
			   num, num);
		pfm3_emit_pmd_at(job, num, (struct pfm3_addresses){ num, 0 });
	}
	return PFMLIB_SUCCESS;
}

static pfm_err_t
gen_ia64_dispatch(struct pfm3_job *job)
{
	static const pfm3_stage stages[] = { counters };

	return pfm3_job_run(job, stages, sizeof(stages) / sizeof(*stages));
}

/* As it is before initialisation. */
const struct pfm3_model pfm3_gen_ia64 = {
	.name = "IA-64",
	.type = PFMLIB_GEN_IA64_PMU,
	.family = PFM3_ANY_FAMILY,
	.num_pmcs = PMU_GEN_IA64_NUM_PMCS,
	.num_pmds = PMU_GEN_IA64_NUM_PMDS,
	.num_counters = PMU_GEN_IA64_NUM_COUNTERS,
	.impl_counters = COUNTERS,
	.table = &pfm3_gen_ia64_table,
	.cycle_event = CPU_CYCLES,
	.inst_retired_event = IA64_INST_RETIRED,
	.dispatch = gen_ia64_dispatch,
	.event_counters = event_counters,
};
