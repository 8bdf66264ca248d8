/*
 * Loaded before a program's libpfm 4: writes down what the program asks of it, and what it answers.
 *
 * Lines go to the file that RECORDED_CALLS names, of the PMUs glm and perf only.  No address and no description is
 * written, nor how many events a PMU has: perf's depend on the machine.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib_perf_event.h>

#define NEXT(function) ((__typeof__(function) *)dlsym(RTLD_NEXT, #function))

static void
record(const char *format, ...)
{
	const char *path = getenv("RECORDED_CALLS");
	FILE *file = path ? fopen(path, "a") : NULL;
	va_list arguments;

	if (!file)
		return;
	va_start(arguments, format);
	vfprintf(file, format, arguments);
	va_end(arguments);
	fclose(file);
}

static const char *
text(const char *s)
{
	return s ? s : "NULL";
}

pfm_err_t
pfm_initialize(void)
{
	Dl_info found;
	void *next = dlsym(RTLD_NEXT, "pfm_initialize");
	pfm_err_t ret = NEXT(pfm_initialize)();

	record("library %s\n", next && dladdr(next, &found) ? found.dli_fname : "none");
	record("initialize %d\n", ret);
	return ret;
}

int
pfm_find_event(const char *str)
{
	int ret = NEXT(pfm_find_event)(str);

	record("find %s: %d\n", text(str), ret);
	return ret;
}

pfm_err_t
pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *output)
{
	pfm_err_t ret = NEXT(pfm_get_pmu_info)(pmu, output);

	if (ret == PFM_SUCCESS && output && (strcmp(output->name, "glm") == 0 || strcmp(output->name, "perf") == 0))
		record("pmu %d: %s size %zu type %d first %d encoding %d counters %d %d flags %d %d\n", pmu,
		       output->name, output->size, output->type, output->first_event, output->max_encoding,
		       output->num_cntrs, output->num_fixed_cntrs, output->is_present, output->is_dfl);
	return ret;
}

pfm_err_t
pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *output)
{
	pfm_err_t ret = NEXT(pfm_get_event_info)(idx, os, output);

	if (ret != PFM_SUCCESS || !output)
		record("event %d, os %d: %d\n", idx, os, ret);
	else
		record("event %d, os %d: %s equiv %s size %zu code %llx pmu %d dtype %d idx %d attributes %d flags %d "
		       "%d\n",
		       idx, os, output->name, text(output->equiv), output->size, (unsigned long long)output->code,
		       output->pmu, output->dtype, output->idx, output->nattrs, output->is_precise,
		       output->support_hw_smpl);
	return ret;
}

pfm_err_t
pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os, pfm_event_attr_info_t *output)
{
	pfm_err_t ret = NEXT(pfm_get_event_attr_info)(eidx, aidx, os, output);

	if (ret != PFM_SUCCESS || !output)
		record("attribute %d of %d, os %d: %d\n", aidx, eidx, os, ret);
	else
		record("attribute %d of %d, os %d: %s size %zu code %llx type %d idx %d ctrl %d default %d\n", aidx,
		       eidx, os, output->name, output->size, (unsigned long long)output->code, output->type,
		       (int)output->idx, output->ctrl, output->is_dfl);
	return ret;
}

static void
record_attr(const char *str, int plm, int os, const struct perf_event_attr *attr, int ret)
{
	record("encode %s, levels %d, os %d: %d", text(str), plm, os, ret);
	if (ret == PFM_SUCCESS && attr)
		for (size_t i = 0; i < 64; i++) /* the first version's */
			record("%s%02x", i % 8 ? "" : " ", ((const unsigned char *)attr)[i]);
	record("\n");
}

pfm_err_t
pfm_get_perf_event_encoding(const char *str, int dfl_plm, struct perf_event_attr *attr, char **fstr, int *idx)
{
	pfm_err_t ret = NEXT(pfm_get_perf_event_encoding)(str, dfl_plm, attr, fstr, idx);

	record_attr(str, dfl_plm, -1, attr, ret);
	return ret;
}

pfm_err_t
pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t os, void *args)
{
	pfm_err_t ret = NEXT(pfm_get_os_event_encoding)(str, dfl_plm, os, args);
	const pfm_pmu_encode_arg_t *raw = args;

	if (os != PFM_OS_NONE) {
		record_attr(str, dfl_plm, os, args ? ((const pfm_perf_encode_arg_t *)args)->attr : NULL, ret);
		return ret;
	}
	record("encode %s, levels %d, raw: %d", text(str), dfl_plm, ret);
	for (int i = 0; ret == PFM_SUCCESS && i < raw->count; i++)
		record(" %llx", (unsigned long long)raw->codes[i]);
	record("%s%s\n", ret == PFM_SUCCESS && raw->fstr ? " " : "",
	       ret == PFM_SUCCESS && raw->fstr ? text(*raw->fstr) : "");
	return ret;
}
