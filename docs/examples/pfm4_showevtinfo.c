/*
 * List the events of the active PMUs whose names begin with a word, with their unit masks
 * and modifiers.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <perfmon/pfmlib.h>

static void
show_attribute(const pfm_event_info_t *event, int a)
{
	pfm_event_attr_info_t info;

	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	if (pfm_get_event_attr_info(event->idx, a, PFM_OS_NONE, &info) != PFM_SUCCESS)
		errx(1, "no attribute %d of %s", a, event->name);
	if (info.type == PFM_ATTR_UMASK)
		printf("Umask    : 0x%02" PRIx64 " : [%s]%s\n", info.code, info.name, info.is_dfl ? " default" : "");
	else
		printf("Modifier : [%s] %s\n", info.name, info.type == PFM_ATTR_MOD_BOOL ? "switch" : "number");
}

static void
show_event(const pfm_pmu_info_t *pmu, const pfm_event_info_t *event)
{
	printf("Name     : %s::%s\n", pmu->name, event->name);
	printf("Code     : 0x%" PRIx64 "\n", event->code);
	printf("Equiv    : %s\n", event->equiv ? event->equiv : "None");
	for (int a = 0; a < event->nattrs; a++)
		show_attribute(event, a);
}

int
main(int argc, char **argv)
{
	pfm_pmu_info_t pmu;
	pfm_event_info_t event;
	int i, id, ret;

	ret = pfm_initialize();
	if (ret != PFM_SUCCESS)
		errx(1, "cannot initialize the library: %s", pfm_strerror(ret));
	pfm_for_all_pmus(id) {
		memset(&pmu, 0, sizeof(pmu));
		pmu.size = sizeof(pmu);
		if (pfm_get_pmu_info(id, &pmu) != PFM_SUCCESS || !pmu.is_present)
			continue;
		printf("%s: %s, %d events, %d counters\n", pmu.name, pmu.desc, pmu.nevents, pmu.num_cntrs);
		for (i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
			memset(&event, 0, sizeof(event));
			event.size = sizeof(event);
			pfm_get_event_info(i, PFM_OS_NONE, &event);
			if (argc > 1 && strncmp(event.name, argv[1], strlen(argv[1])) == 0)
				show_event(&pmu, &event);
		}
	}
	pfm_terminate();
	return 0;
}
