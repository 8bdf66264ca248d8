/*
 * The re-entrant entry points of libpfm 4 (csrc/pfm4/pfm4.h) from many threads, and the functions that
 * only ask: soak_pfm4 [CALLS]
 */
#include "soak.h"

#include "pfm4.h"

enum { NUM_CALLS = 8192 };

static struct pfm4_context contexts[PFM4_NUM_PMUS]; /* the threads share them */

/* The string of a call: some event, with one of its unit masks and some modifiers. */
static void
make_string(const struct pfm4_pmu *pmu, unsigned int seed, char *text, size_t size)
{
	static const char *const modifiers[] = { "",         ":u",           ":k=0:u=1",
						 ":c=300",   ":period=2000", ":freq=100:mg",
						 ":e:i:c=2", ":thres=1",     ":k:thres=3" };
	enum { COUNT = sizeof(modifiers) / sizeof(*modifiers) };
	const struct pfm4_event *event = &pmu->table->events[seed % (unsigned int)pmu->table->count];

	if (pmu == &pfm4_perf_raw)
		snprintf(text, size, "r%x%s", seed, modifiers[seed % COUNT]);
	else if (event->num_umasks)
		snprintf(text, size, "%s::%s:%s%s", pmu->name, event->name,
			 event->umasks[seed / COUNT % event->num_umasks].name, modifiers[seed % COUNT]);
	else
		snprintf(text, size, "%s%s", event->name, modifiers[seed % COUNT]);
}

static uint64_t
encode_perf(const struct pfm4_context *context, const char *text, pfm_os_t os, struct pfm4_request *r)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	int cpu = 0;
	pfm_err_t ret = pfm4_encode_perf(context, text, PFM_PLM3, os, &attr, &cpu, r);
	uint64_t hash = soak_hash((uint64_t)os, &ret, sizeof(ret));

	return soak_hash(soak_hash(hash, &attr, sizeof(attr)), &cpu, ret == PFM_SUCCESS ? sizeof(cpu) : 0);
}

static uint64_t
encode_raw(const struct pfm4_context *context, const char *text, struct pfm4_request *r)
{
	pfm_err_t ret = pfm4_encode_raw(context, text, PFM_PLM0, r);
	uint64_t hash = soak_hash(0, &ret, sizeof(ret));

	return soak_hash(hash, r->codes, ret == PFM_SUCCESS ? (size_t)r->num_codes * sizeof(*r->codes) : 0);
}

/* The public functions, initialised before the threads began. */
static uint64_t
ask(const char *text)
{
	pfm_event_info_t info = { .size = 0 };
	pfm_event_attr_info_t attribute = { .size = 0 };
	uint64_t room[PFM4_MAX_CODES] = { 0 }, *codes = room, hash;
	int count = PFM4_MAX_CODES, idx = pfm_find_event(text), ret[3];

	ret[0] = pfm_get_event_encoding(text, PFM_PLM3, NULL, NULL, &codes, &count);
	ret[1] = pfm_get_event_info(idx, PFM_OS_NONE, &info);
	ret[2] = pfm_get_event_attr_info(idx, 0, PFM_OS_PERF_EVENT_EXT, &attribute);
	hash = soak_hash(soak_hash(0, &idx, sizeof(idx)), ret, sizeof(ret));
	return soak_hash(soak_hash(hash, room, sizeof(room)), &info.code, sizeof(info.code));
}

static uint64_t
call(unsigned int number)
{
	unsigned int which = number % PFM4_NUM_PMUS, seed = number / PFM4_NUM_PMUS;
	const struct pfm4_pmu *pmu = pfm4_pmu_at((int)which);
	pfm_os_t os = (pfm_os_t)(seed % PFM_OS_MAX);
	struct pfm4_request r;
	char text[256], *full;
	uint64_t hash;

	make_string(pmu, seed, text, sizeof(text));
	if (seed % 16 == 5)
		return ask(text);
	r.want_string = 1;
	hash = os == PFM_OS_NONE ? encode_raw(&contexts[which], text, &r) : encode_perf(&contexts[which], text, os, &r);
	if (pfm4_parse(&contexts[which], text, os, &r) == PFM_SUCCESS) {
		r.string_len = 0;
		*r.string = '\0';
		full = r.pmu->encode(&r) == PFM_SUCCESS ? pfm4_full_string(&r) : NULL;
		hash = full ? soak_hash(hash, full, strlen(full)) : hash;
		free(full);
	}
	return hash;
}

int
main(int argc, char **argv)
{
	CHECK(!pfm4_pmu_at(-1) && !pfm4_pmu_at(PFM4_NUM_PMUS));
	for (int code = PFM_SUCCESS; code >= PFM_ERR_TOOSMALL; code--)
		CHECK(pfm4_error_name(code));
	CHECK(!pfm4_error_name(1));
	for (int i = 0; i < PFM4_NUM_PMUS; i++)
		pfm4_context_for(&contexts[i], pfm4_pmu_at(i));
	setenv("LIBPFM_FORCE_PMU", "glm", 1);
	CHECK_EQ(pfm_initialize(), PFM_SUCCESS);
	return soak_run(argc, argv, call, NUM_CALLS);
}
