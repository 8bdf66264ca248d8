/*
 * The PMUs that stand for the kernel's own events: perf (generic hardware,
 * software and cache events) and perf_raw (a raw code, as r1c4).
 */
#include "request.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

/* Groups of the unit masks of cache events. */
enum { OPERATION, RESULT, NUM_CACHE_GROUPS };

/* One operation and one result; the defaults are READ and MISS. */
static pfm_err_t
perf_encode_cache(struct pfm4_request *r)
{
	unsigned int seen = 0;

	for (int i = 0; i < r->num_entries; i++) {
		const struct pfm4_umask *umask = r->entries[i].umask;

		if (!umask)
			continue;
		if (seen >> umask->group & 1)
			return PFM_ERR_UMASK;
		seen |= 1u << umask->group;
		r->codes[0] |= umask->code;
	}
	for (int i = 0; i < r->event->num_umasks; i++) {
		const struct pfm4_umask *umask = &r->event->umasks[i];

		if (seen >> umask->group & 1 || !(umask->flags & PFM4_DFL))
			continue;
		r->codes[0] |= umask->code;
		pfm4_add_default(r, i);
	}
	pfm4_append_umasks(r);
	return PFM_SUCCESS;
}

static pfm_err_t
perf_encode(struct pfm4_request *r)
{
	r->num_codes = 1;
	r->codes[0] = r->event->code;
	pfm4_append(r, r->event->name);
	return r->event->num_umasks ? perf_encode_cache(r) : PFM_SUCCESS;
}

static int
perf_detect(const struct pfm4_pmu *pmu, struct pfm4_context *context)
{
	(void)pmu;
	(void)context;
	return access(PFM4_PARANOID, F_OK) == 0 || /* and before Linux 2.6.32: */
	       access("/proc/sys/kernel/perf_counter_paranoid", F_OK) == 0;
}

static unsigned int
perf_lacks(const struct pfm4_event *event)
{
	unsigned int set = 1u << PFM4_OS_HW_SMPL;

	return event->perf_type == PERF_TYPE_SOFTWARE ? set | 1u << PFM4_OS_H | 1u << PFM4_OS_PRECISE : set;
}

const struct pfm4_pmu pfm4_perf = {
	.name = "perf",
	.desc = "perf_events generic PMU",
	.id = PFM_PMU_PERF_EVENT,
	.type = PFM_PMU_TYPE_OS_GENERIC,
	.table = &pfm4_perf_table,
	.max_encoding = 1,
	.levels = PFM_PLM0 | PFM_PLM3 | PFM_PLMH,
	.levels_of_core = 1,
	.shows_defaults = 0, /* quirk: cache events have defaults */
	.lacks = perf_lacks,
	.match = pfm4_match,
	.encode = perf_encode,
	.detect = perf_detect,
};

/* ---- perf_raw ---- */

/* A lower-case r and a hexadecimal number that ends the name. */
static int
perf_raw_match(const struct pfm4_pmu *pmu, const char *name, size_t len, uint64_t *raw)
{
	char *end;

	(void)pmu;
	if (len < 2 || name[0] != 'r' || !isxdigit((unsigned char)name[1]))
		return -1;
	*raw = strtoull(name + 1, &end, 16); /* UINT64_MAX on overflow: that code is refused, too (quirk) */
	return end == name + len && *raw != UINT64_MAX ? 0 : -1;
}

/* Of a string for perf_event the name stays empty (quirk). */
static pfm_err_t
perf_raw_encode(struct pfm4_request *r)
{
	r->num_codes = 1;
	r->codes[0] = r->raw;
	if (r->os == PFM_OS_NONE)
		pfm4_append_number(r, "r", r->raw, 16);
	return PFM_SUCCESS;
}

static unsigned int
perf_raw_lacks(const struct pfm4_event *event)
{
	(void)event;
	return 0;
}

static const struct pfm4_event raw_event = {
	.name = "r0000",
	.desc = "raw event code: r and the code in hexadecimal",
	.text = "raw event code: r and the code in hexadecimal",
	.perf_type = PERF_TYPE_RAW,
};

static const unsigned short raw_slots[1] = { 0 };
static const struct pfm4_table raw_table = { &raw_event, 1, { raw_slots, 0, 0 } };

const struct pfm4_pmu pfm4_perf_raw = {
	.name = "perf_raw",
	.desc = "perf_events raw PMU",
	.id = PFM_PMU_PERF_EVENT_RAW,
	.type = PFM_PMU_TYPE_OS_GENERIC,
	.table = &raw_table,
	.max_encoding = 1,
	.levels = PFM_PLM0 | PFM_PLM3 | PFM_PLMH,
	.clears_config = 1,
	.lacks = perf_raw_lacks,
	.match = perf_raw_match,
	.encode = perf_raw_encode,
	.detect = perf_detect,
};
