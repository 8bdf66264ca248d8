/*
 * A client of libpfm 4: says which library it runs on, then what that answers.
 * Compiled against the headers of one library, it is run on the other.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib_perf_event.h>

static const char *const events[] = {
	"glm::CPU_CLK_UNHALTED:CORE_P:u",      "glm::ICACHE:HIT:c=3:i", "glm::OFFCORE_RESPONSE_0:ANY_RFO:L2_HIT",
	"glm::OFFCORE_RESPONSE_1:ANY_REQUEST", "glm::NO_SUCH_EVENT",    "glm::ICACHE:HIT:c=256",
};

static void
print_raw(const char *event)
{
	pfm_pmu_encode_arg_t arg;
	char *fstr = NULL;
	int ret;

	memset(&arg, 0, sizeof(arg));
	arg.size = sizeof(arg);
	arg.fstr = &fstr;
	ret = pfm_get_os_event_encoding(event, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &arg);
	printf("%s: %d %s", event, ret, fstr ? fstr : pfm_strerror(ret));
	for (int i = 0; i < arg.count; i++)
		printf(" 0x%llx", (unsigned long long)arg.codes[i]);
	printf("\n");
	free(fstr);
	free(arg.codes);
}

static void
print_attr(const char *event)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	int ret;

	memset(&attr, 0, sizeof(attr));
	memset(&arg, 0, sizeof(arg));
	attr.size = sizeof(attr);
	arg.attr = &attr;
	arg.size = sizeof(arg);
	ret = pfm_get_os_event_encoding(event, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	printf("%s: %d type %u config 0x%llx 0x%llx user %d kernel %d\n", event, ret, attr.type,
	       (unsigned long long)attr.config, (unsigned long long)attr.config1, !attr.exclude_user,
	       !attr.exclude_kernel);
}

static void
print_infos(void)
{
	pfm_pmu_info_t pmu;
	pfm_event_info_t info;
	pfm_event_attr_info_t attr;
	int i = 0;

	memset(&pmu, 0, sizeof(pmu));
	pmu.size = sizeof(pmu);
	printf("pmu: %d %s\n", pfm_get_pmu_info(PFM_PMU_INTEL_GLM, &pmu), pmu.name);
	for (i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
		memset(&info, 0, sizeof(info));
		info.size = sizeof(info);
		if (pfm_get_event_info(i, PFM_OS_NONE, &info) != PFM_SUCCESS)
			exit(2);
		printf("%s 0x%llx", info.name, (unsigned long long)info.code);
		for (int j = 0; j < info.nattrs; j++) {
			memset(&attr, 0, sizeof(attr));
			attr.size = sizeof(attr);
			if (pfm_get_event_attr_info(i, j, PFM_OS_NONE, &attr) != PFM_SUCCESS)
				exit(3);
			printf(" %s/%d/0x%llx", attr.name, (int)attr.type, (unsigned long long)attr.code);
		}
		printf("\n");
	}
}

int
main(void)
{
	Dl_info library;

	if (!dladdr((void *)&pfm_get_version, &library) || !dladdr(dlsym(RTLD_DEFAULT, "pfm_initialize"), &library))
		return 4;
	printf("%s\n", library.dli_fname);
	if (pfm_initialize() != PFM_SUCCESS)
		return 5;
	printf("version 0x%x\n", (unsigned int)pfm_get_version());
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		print_raw(events[i]);
		print_attr(events[i]);
	}
	print_infos();
	return 0;
}
