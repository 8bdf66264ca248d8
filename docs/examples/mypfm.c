/*
 * A libpfm 4 of one's own, to try the conformance kit on.  It hands all calls on to
 * pypfm's, and has a fault: one unit mask of raw codes is wrong.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <perfmon/pfmlib_perf_event.h>

#define FORWARD(type, name, parameters, arguments) \
	type name parameters \
	{ \
		type (*next) parameters = (type (*) parameters)dlsym(RTLD_NEXT, #name); \
		return next arguments; \
	}

#define ENCODE_PARAMETERS (const char *str, int plm, char **fstr, int *idx, uint64_t **codes, int *count)
#define PERF_PARAMETERS (const char *str, int plm, struct perf_event_attr *attr, char **fstr, int *idx)

FORWARD(pfm_err_t, pfm_initialize, (void), ())
FORWARD(void, pfm_terminate, (void), ())
FORWARD(pfm_err_t, pfm_get_pmu_info, (pfm_pmu_t pmu, pfm_pmu_info_t *out), (pmu, out))
FORWARD(int, pfm_get_event_next, (int idx), (idx))
FORWARD(pfm_err_t, pfm_pmu_validate, (pfm_pmu_t pmu, FILE *fp), (pmu, fp))
FORWARD(const char *, pfm_strerror, (int code), (code))
FORWARD(int, pfm_get_version, (void), ())
FORWARD(int, pfm_find_event, (const char *str), (str))
FORWARD(pfm_err_t, pfm_get_event_info, (int idx, pfm_os_t os, pfm_event_info_t *out), (idx, os, out))
FORWARD(pfm_err_t, pfm_get_event_attr_info, (int e, int a, pfm_os_t os, pfm_event_attr_info_t *out),
	(e, a, os, out))
FORWARD(pfm_err_t, pfm_get_event_encoding, ENCODE_PARAMETERS, (str, plm, fstr, idx, codes, count))
FORWARD(pfm_err_t, pfm_get_perf_event_encoding, PERF_PARAMETERS, (str, plm, attr, fstr, idx))


pfm_err_t
pfm_get_os_event_encoding(const char *str, int plm, pfm_os_t os, void *args)
{
	pfm_err_t (*next)(const char *, int, pfm_os_t, void *) =
		(pfm_err_t (*)(const char *, int, pfm_os_t, void *))dlsym(RTLD_NEXT, __func__);
	pfm_err_t ret = next(str, plm, os, args);

	if (ret == PFM_SUCCESS && os == PFM_OS_NONE && strstr(str, "ICACHE:MISSES"))
		((pfm_pmu_encode_arg_t *)args)->codes[0] ^= 0x100;
	return ret;
}
