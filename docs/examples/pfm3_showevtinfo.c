/*
 * List the events of the detected PMU whose names begin with a word: code, counters,
 * unit masks, description.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/pfmlib.h>

static void
show_counters(unsigned int idx)
{
	pfmlib_regmask_t counters, implemented;
	unsigned int i, left;

	memset(&counters, 0, sizeof(counters));
	pfm_get_event_counters(idx, &counters);
	pfm_get_impl_counters(&implemented);
	pfm_regmask_and(&counters, &counters, &implemented);
	pfm_regmask_weight(&counters, &left);
	printf("Counters : [");
	for (i = 0; left > 0; i++) {
		if (pfm_regmask_isset(&counters, i)) {
			printf(" %u", i);
			left--;
		}
	}
	printf(" ]\n");
}

static void
show_event(unsigned int idx, const char *name)
{
	unsigned int n, m, mask_code;
	char mask[64], *desc;
	int code;

	if (pfm_get_event_code(idx, &code) != PFMLIB_SUCCESS)
		errx(1, "no code of %s", name);
	printf("Name     : %s\n", name);
	printf("Code     : 0x%x\n", code);
	show_counters(idx);
	pfm_get_event_description(idx, &desc);
	printf("Desc     : %s\n", desc);
	free(desc);
	pfm_get_num_event_masks(idx, &n);
	for (m = 0; m < n; m++) {
		pfm_get_event_mask_code(idx, m, &mask_code);
		pfm_get_event_mask_name(idx, m, mask, sizeof(mask));
		printf("Umask-%02u : 0x%02x : [%s]\n", m, mask_code, mask);
	}
}

int
main(int argc, char **argv)
{
	unsigned int count, i;
	char model[64], name[64];
	int ret;

	ret = pfm_initialize();
	if (ret != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library: %s", pfm_strerror(ret));
	pfm_get_pmu_name(model, sizeof(model));
	pfm_get_num_events(&count);
	printf("%s: %u events\n", model, count);
	for (i = 0; i < count; i++) {
		pfm_get_event_name(i, name, sizeof(name));
		if (argc > 1 && strncmp(name, argv[1], strlen(argv[1])) == 0)
			show_event(i, name);
	}
	return 0;
}
