/*
 * Says which PMU there is and how many events and registers it has, and which of them a context may use.  -DV3: by the result
 * of pfm_create(); else by that of pfm_getinfo_evtsets().
 */
#include <sys/types.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

/* Marks the registers that are not available, for pfm_dispatch_events(). */
static int
detect_unavail(pfmlib_regmask_t *r_pmcs, unsigned int *pmcs, unsigned int *pmds)
{
	uint64_t *a_pmcs, *a_pmds;
	pfmlib_regmask_t impl;
	unsigned int i;
	int fd;
#ifdef V3
	pfarg_sinfo_t sif;

	memset(&sif, 0, sizeof(sif));
	if ((fd = pfm_create(0, &sif)) == -1)
		return -1;
	a_pmcs = sif.sif_avail_pmcs;
	a_pmds = sif.sif_avail_pmds;
#else
	pfarg_setinfo_t setinfo;
	pfarg_ctx_t ctx;

	memset(&ctx, 0, sizeof(ctx));
	memset(&setinfo, 0, sizeof(setinfo));
	if ((fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1)
		return -1;
	if (pfm_getinfo_evtsets(fd, &setinfo, 1))
		return -1;
	a_pmcs = setinfo.set_avail_pmcs;
	a_pmds = setinfo.set_avail_pmds;
#endif
	memset(r_pmcs, 0, sizeof(*r_pmcs));
	memset(&impl, 0, sizeof(impl));
	pfm_get_impl_pmcs(&impl);
	*pmcs = *pmds = 0;
	for (i = 0; i < PFM_MAX_PMCS; i++) {
		const int have = a_pmcs[i / PFM_BPL] >> (i % PFM_BPL) & 1;

		*pmcs += have;
		if (!have && i < PFMLIB_MAX_PMCS && pfm_regmask_isset(&impl, i))
			pfm_regmask_set(r_pmcs, i);
	}
	for (i = 0; i < PFM_MAX_PMDS; i++)
		*pmds += a_pmds[i / PFM_BPL] >> (i % PFM_BPL) & 1;
	close(fd);
	return 0;
}

int
main(void)
{
	unsigned int events = 0, counters = 0, width = 0, pmcs, pmds, gone = 0;
	pfmlib_regmask_t unavailable;
	char name[64];

	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_get_pmu_name(name, sizeof(name));
	pfm_get_num_events(&events);
	pfm_get_num_counters(&counters);
	pfm_get_hw_counter_width(&width);
	if (detect_unavail(&unavailable, &pmcs, &pmds))
		err(1, "cannot create a context");
	pfm_regmask_weight(&unavailable, &gone);
	printf("%s events %u counters %u width %u\n", name, events, counters, width);
	printf("available PMCs %u PMDs %u, %u PMCs are not\n", pmcs, pmds, gone);
	return 0;
}
