/*
 * perfmonctl(2): the values that control registers have after a reset; which PMU there is.
 */
#include <sys/types.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

int
main(void)
{
	pfmlib_regmask_t impl_pmcs;
	pfarg_features_t features;
	unsigned int i, count = 0;
	pfarg_reg_t pc[64];
	char name[32];

	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_get_pmu_name(name, sizeof(name));
	printf("PMU %s\n", name);
	memset(&features, 0, sizeof(features));
	if (perfmonctl(0, PFM_GET_FEATURES, &features, 1) == -1)
		err(1, "PFM_GET_FEATURES");
	printf("version %u.%u\n", PFM_VERSION_MAJOR(features.ft_version), PFM_VERSION_MINOR(features.ft_version));
	memset(pc, 0, sizeof(pc));
	pfm_get_impl_pmcs(&impl_pmcs);
	for (i = 0; i < 64; i++)
		if (pfm_regmask_isset(&impl_pmcs, i))
			pc[count++].reg_num = i;
	for (i = 0; i < count; i += 16)
		if (perfmonctl(0, PFM_GET_PMC_RESET_VAL, pc + i, count - i < 16 ? count - i : 16) == -1)
			err(1, "PFM_GET_PMC_RESET_VAL");
	for (i = 0; i < count; i++)
		printf("PMC%u 0x%lx\n", pc[i].reg_num, pc[i].reg_value);
	return 0;
}
