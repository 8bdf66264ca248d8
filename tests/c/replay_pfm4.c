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
	pfm_pmu_encode_arg_t raw;
	pfm_perf_encode_arg_t perf;
	char room[512];
} *arg;
static union attr {
	struct perf_event_attr fields;
	struct {
		uint32_t type, size;
		uint64_t config, sample_period, sample_type, read_format, flags;
	} words;
	char room[512];
} *attr;

/*
 * The flags were recorded on a little-endian processor, which has the first bit-field in the lowest bit: a big-endian one has
 * it in the highest.  What is inside of precise_ip, the one field of two bits, has the same order in both.
 */
static uint64_t
reversed(uint64_t flags)
{
	uint64_t ret = 0;

	for (int bit = 0; bit < 64; bit++)
		ret |= (flags >> bit & 1) << (63 - bit);
	return ret;
}

static uint64_t
with_precise_ip_turned(uint64_t flags)
{
	const uint64_t first = UINT64_C(1) << 15;

	return (flags & ~(first | first << 1)) | (flags & first) << 1 | (flags >> 1 & first);
}

static uint64_t
recorded_flags(uint64_t flags)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? flags : with_precise_ip_turned(reversed(flags));
}

static uint64_t
own_flags(uint64_t recorded)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? recorded : reversed(with_precise_ip_turned(recorded));
}

/* What is preset; -1: not given. */
struct options {
	long long size, room, find;
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
		attr->words.flags = own_flags(value);
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

/* Sizes were recorded with words of 64 bits: one that is a byte too small has to be so here. */
static size_t
size_here(long long recorded, size_t with_64, size_t own)
{
	if (recorded < 0)
		return own;
	return (size_t)recorded < with_64 - own ? (size_t)recorded : (size_t)recorded - (with_64 - own);
}

static void
encode_none(const char *event, int levels, const struct options *o)
{
	uint64_t *room = o->room < 0 ? NULL : calloc((size_t)o->room ? (size_t)o->room : 1, sizeof(*room));
	char *text = NULL;
	pfm_err_t ret;

	arg->raw.size = size_here(o->size, 32, sizeof(arg->raw));
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

	arg->perf.size = size_here(o->size, 40, sizeof(arg->perf));
	arg->perf.attr = &attr->fields;
	arg->perf.fstr = &text;
	ret = pfm_get_os_event_encoding(event, levels, os, arg);
	replay_answer("ret=%d", ret);
	if (ret == PFM_SUCCESS)
		replay_answer(
			" idx=%d type=%u config=0x%llx config1=0x%llx config2=0x%llx sample_period=%llu flags=0x%llx"
			" cpu=%d open_flags=%d fstr=%s",
			arg->perf.idx, attr->words.type, (unsigned long long)attr->fields.config,
			(unsigned long long)attr->fields.config1, (unsigned long long)attr->fields.config2,
			(unsigned long long)attr->words.sample_period,
			(unsigned long long)recorded_flags(attr->words.flags), arg->perf.cpu, arg->perf.flags,
			text ? text : "");
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

/* A structure's size, as it was recorded. */
static size_t
recorded_size(size_t size, size_t with_64, size_t own)
{
	return size == own ? with_64 : size;
}

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
			      " num_cntrs=%d num_fixed_cntrs=%d flags=%d",
			      (int)i.pmu, i.name, i.desc != NULL, recorded_size(i.size, 56, sizeof(i)), (int)i.type,
			      i.nevents, i.first_event, i.max_encoding, i.num_cntrs, i.num_fixed_cntrs,
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
		replay_answer("name=%s desc=%d equiv=%s size=%zu code=%llu pmu=%d dtype=%d idx=%d nattrs=%d "
			      "reserved=%d flags=%d",
			      i.name, i.desc != NULL, shown(i.equiv), recorded_size(i.size, 64, sizeof(i)),
			      (unsigned long long)i.code, (int)i.pmu, (int)i.dtype, i.idx, i.nattrs, i.reserved,
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
			      i.name, i.desc != NULL, shown(i.equiv), recorded_size(i.size, 64, sizeof(i)),
			      (unsigned long long)i.code, (int)i.type, (int)i.idx, (int)i.ctrl,
			      i.is_dfl | i.is_precise << 1 | i.is_speculative << 2 | i.support_hw_smpl << 4,
			      (unsigned long long)i.dfl_val64);
}

static const struct replay_call calls[] = { { "initialize", 0, initialize },
					    { "encode", 4, encode },
					    { "pmu", 1, pmu },
					    { "next", 1, next },
					    { "info", 2, info },
					    { "attr", 3, attr_info },
					    { NULL, 0, NULL } };

int
main(int argc, char **argv)
{
	return replay_files(argc, argv, calls);
}
