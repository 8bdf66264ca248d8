/*
 * The recorded calls of libpfm 4, made from C: replay_pfm4 LINES.txt
 */
#include "replay.h"

#include <perfmon/pfmlib_perf_event.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
number_of(const char *text)
{
	return (int)strtoll(text, NULL, 0);
}

static void
initialize(char **a)
{
	(void)a;
	replay_answer("%d", pfm_initialize());
}

/* ---- encodings ------------------------------------------------------------------- */

/* The caller's structures, with room after them for sizes that are not ours. */
static union {
	pfm_pmu_encode_arg_t	raw;
	pfm_perf_encode_arg_t	perf;
	char			room[512];
} *arg;
static union attr {
	struct perf_event_attr	fields;
	struct { uint32_t type, size; uint64_t config, sample_period, sample_type, read_format, flags; } words;
	char			room[512];
} *attr;

/* What is preset; -1: not given. */
struct options {
	long long	size, room, find;
};

static void
preset(const char *name, uint64_t value, struct options *o)
{
	if (strcmp(name, "room") == 0)
		o->room = (long long)value;
	else if (strcmp(name, "find") == 0)
		o->find = (long long)value;
	else if (strcmp(name, "arg_size") == 0)
		o->size = (long long)value;
	else if (strcmp(name, "type") == 0)
		attr->words.type = (uint32_t)value;
	else if (strcmp(name, "size") == 0)
		attr->words.size = (uint32_t)value;
	else if (strcmp(name, "sample_period") == 0)
		attr->words.sample_period = value;
	else if (strcmp(name, "flags") == 0)
		attr->words.flags = value;
	else if (strcmp(name, "config2") == 0)
		attr->fields.config2 = value;
	else
		exit(2);
}

static struct options
read_options(char *text)
{
	struct options o = { -1, -1, 0 };

	for (char *one; (one = replay_part(&text, ' '));) {
		const char *name = replay_part(&one, '=');

		preset(name, strtoull(one, NULL, 0), &o);
	}
	return o;
}

static void
encode_none(const char *event, int levels, const struct options *o)
{
	uint64_t *room = o->room < 0 ? NULL : calloc((size_t)o->room ? (size_t)o->room : 1, sizeof(*room));
	char *text = NULL;
	pfm_err_t ret;

	arg->raw.size = o->size < 0 ? sizeof(arg->raw) : (size_t)o->size;
	arg->raw.codes = room;
	arg->raw.count = room ? (int)o->room : 0;
	arg->raw.fstr = room ? NULL : &text;
	ret = pfm_get_os_event_encoding(event, levels, PFM_OS_NONE, arg);
	replay_answer("ret=%d", ret);
	if (o->find)
		replay_answer(" find=%d", pfm_find_event(event));
	if (ret == PFM_SUCCESS) {
		replay_answer(" idx=%d codes=", arg->raw.idx);
		for (int i = 0; i < arg->raw.count; i++)
			replay_answer("%s0x%llx", i ? "," : "", (unsigned long long)arg->raw.codes[i]);
		replay_answer(" fstr=%s", text ? text : "");
		if (!room)
			free(arg->raw.codes);
	}
	free(room);
	free(text);
}

static void
encode_perf(const char *event, int levels, pfm_os_t os, const struct options *o)
{
	char *text = NULL;
	pfm_err_t ret;

	arg->perf.size = o->size < 0 ? sizeof(arg->perf) : (size_t)o->size;
	arg->perf.attr = &attr->fields;
	arg->perf.fstr = &text;
	ret = pfm_get_os_event_encoding(event, levels, os, arg);
	replay_answer("ret=%d", ret);
	if (ret == PFM_SUCCESS)
		replay_answer(" idx=%d type=%u config=0x%llx config1=0x%llx config2=0x%llx sample_period=%llu flags=0x%llx"
			      " cpu=%d open_flags=%d fstr=%s", arg->perf.idx, attr->words.type,
			      (unsigned long long)attr->fields.config, (unsigned long long)attr->fields.config1,
			      (unsigned long long)attr->fields.config2, (unsigned long long)attr->words.sample_period,
			      (unsigned long long)attr->words.flags, arg->perf.cpu, arg->perf.flags, text ? text : "");
	free(text);
}

/* Interface, levels, event string, options. */
static void
encode(char **a)
{
	struct options o;

	arg = calloc(1, sizeof(*arg));
	attr = calloc(1, sizeof(*attr));
	if (!arg || !attr)
		exit(2);
	o = read_options(a[3]);
	replay_string(a[2]);
	if (number_of(a[0]) == PFM_OS_NONE)
		encode_none(a[2], number_of(a[1]), &o);
	else
		encode_perf(a[2], number_of(a[1]), (pfm_os_t)number_of(a[0]), &o);
	free(arg);
	free(attr);
}

/* ---- what is said of PMUs, events and attributes --------------------------------- */

static const char *
shown(const char *text)
{
	return text ? text : "~";
}

static void
pmu(char **a)
{
	pfm_pmu_info_t i = { .size = 0 };
	pfm_err_t ret = pfm_get_pmu_info((pfm_pmu_t)number_of(a[0]), &i);

	if (ret != PFM_SUCCESS)
		replay_answer("ret=%d", ret);
	else
		replay_answer("pmu=%d name=%s desc=%d size=%zu type=%d nevents=%d first_event=%d max_encoding=%d"
			      " num_cntrs=%d num_fixed_cntrs=%d flags=%d", (int)i.pmu, i.name, i.desc != NULL, i.size,
			      (int)i.type, i.nevents, i.first_event, i.max_encoding, i.num_cntrs, i.num_fixed_cntrs,
			      i.is_present | i.is_dfl << 1);
}

static void
next(char **a)
{
	replay_answer("%d", pfm_get_event_next(number_of(a[0])));
}

static void
info(char **a)
{
	pfm_event_info_t i = { .size = 0 };
	pfm_err_t ret = pfm_get_event_info(number_of(a[0]), (pfm_os_t)number_of(a[1]), &i);

	if (ret != PFM_SUCCESS)
		replay_answer("ret=%d", ret);
	else
		replay_answer("name=%s desc=%d equiv=%s size=%zu code=%llu pmu=%d dtype=%d idx=%d nattrs=%d reserved=%d flags=%d",
			      i.name, i.desc != NULL, shown(i.equiv), i.size, (unsigned long long)i.code, (int)i.pmu,
			      (int)i.dtype, i.idx, i.nattrs, i.reserved,
			      i.is_precise | i.is_speculative << 1 | i.support_hw_smpl << 3);
}

static void
attr_info(char **a)
{
	pfm_event_attr_info_t i = { .size = 0 };
	pfm_err_t ret = pfm_get_event_attr_info(number_of(a[0]), number_of(a[1]), (pfm_os_t)number_of(a[2]), &i);

	if (ret != PFM_SUCCESS)
		replay_answer("ret=%d", ret);
	else
		replay_answer("name=%s desc=%d equiv=%s size=%zu code=%llu type=%d idx=%d ctrl=%d flags=%d dfl=%llu",
			      i.name, i.desc != NULL, shown(i.equiv), i.size, (unsigned long long)i.code, (int)i.type,
			      (int)i.idx, (int)i.ctrl, i.is_dfl | i.is_precise << 1 | i.is_speculative << 2 | i.support_hw_smpl << 4,
			      (unsigned long long)i.dfl_val64);
}

static const struct replay_call calls[] = {
	{ "initialize", 0, initialize }, { "encode", 4, encode }, { "pmu", 1, pmu }, { "next", 1, next },
	{ "info", 2, info }, { "attr", 3, attr_info }, { NULL, 0, NULL }
};

int
main(int argc, char **argv)
{
	return replay_files(argc, argv, calls);
}
