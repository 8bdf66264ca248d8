/*
 * The event strings of libpfm 4: parser and encoders, for every interface.
 *
 * Input: a byte for the PMUs that are active, one for the interface, one for the levels, one that
 * says what is preset; then the string.
 */
#include "fuzz.h"

#include "pfm4.h"

enum { ENCODE_INACTIVE = 1 << PFM4_NUM_PMUS }; /* of the first byte; below: active PMUs */
_Static_assert(ENCODE_INACTIVE <= 0x80, "one bit of a byte for each PMU, and this one");
enum { PRESET_PERIOD = 1, PRESET_FREQ = 2, PRESET_ALL = 4 }; /* of the fourth */

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	setenv("LIBPFM_FORCE_PMU", "glm", 1);
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	HOLDS(pfm_initialize() == PFM_SUCCESS);
	return 0;
}

/* The public functions, on the same string. */
static void
try_public(const char *string, int levels)
{
	struct perf_event_attr *attr = allocate(sizeof(*attr));
	uint64_t *codes = NULL;
	char *text = NULL;
	int idx = pfm_find_event(string), count = 0, found;

	HOLDS(idx >= 0 || pfm4_error_name(idx));
	if (pfm_get_event_encoding(string, levels, &text, &found, &codes, &count) == PFM_SUCCESS) {
		HOLDS(found == idx && count >= 1 && count <= PFM4_MAX_CODES);
		HOLDS(strstr(text, "::"));
		free(codes);
		free(text);
	}
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	text = NULL;
	if (pfm_get_perf_event_encoding(string, levels, attr, &text, NULL) == PFM_SUCCESS)
		free(text);
	free(attr);
}

static pfm_err_t
encode(const struct pfm4_context *context, const char *string, unsigned int levels, pfm_os_t os,
       struct perf_event_attr *attr, struct pfm4_request *r)
{
	int cpu;

	if (os == PFM_OS_NONE)
		return pfm4_encode_raw(context, string, levels, r);
	return pfm4_encode_perf(context, string, levels, os, attr, &cpu, r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pfm4_request r, silent;
	struct bytes b = { data, size };
	struct pfm4_context context = { .perf_layers = 1 };
	unsigned int active = take_byte(&b);
	pfm_os_t os = (pfm_os_t)(take_byte(&b) % PFM_OS_MAX);
	unsigned int levels = take_byte(&b) & PFM4_ALL_PLM, preset = take_byte(&b);
	struct perf_event_attr attr, attr_again;
	char *string = take_string(&b);
	pfm_err_t ret;

	context.encode_inactive = (active & ENCODE_INACTIVE) != 0;
	for (int i = 0; i < PFM4_NUM_PMUS; i++)
		context.pmus[i].known = context.pmus[i].active = active >> i & 1;
	memset(&attr, preset & PRESET_ALL ? 0xff : 0, sizeof(attr));
	attr.sample_period = preset & PRESET_PERIOD;
	attr.freq = (preset & PRESET_FREQ) != 0;
	attr_again = attr;
	memset(&r, 0xa5, sizeof(r)); /* nothing is read that was not written */
	memset(&silent, 0x5a, sizeof(silent));
	r.want_string = 1;
	silent.want_string = 0;
	ret = encode(&context, string, levels, os, &attr, &r);
	HOLDS(pfm4_error_name(ret));
	HOLDS(encode(&context, string, levels, os, &attr_again, &silent) == ret);
	HOLDS(memcmp(&attr, &attr_again, sizeof(attr)) == 0);
	if (ret == PFM_SUCCESS) {
		char *full = pfm4_full_string(&r);

		HOLDS(r.num_codes >= 1 && r.num_codes <= PFM4_MAX_CODES && silent.num_codes == r.num_codes);
		HOLDS(memcmp(r.codes, silent.codes, (size_t)r.num_codes * sizeof(*r.codes)) == 0);
		HOLDS(os == PFM_OS_NONE || !(attr.config & r.pmu->not_in_config));
		HOLDS((size_t)r.string_len == strlen(r.string) && r.string_len < PFM4_STRING_SIZE);
		HOLDS(full && strlen(full) == strlen(r.pmu->name) + 2 + (size_t)r.string_len);
		free(full);
	}
	try_public(string, (int)levels);
	free(string);
	return 0;
}
