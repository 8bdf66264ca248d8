/*
 * Counts the default events in the program itself: create, write, load, start, work, stop, read.  -DV3: calls of version 3.
 */
#include <sys/types.h>
#include <sys/syscall.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

static void
work(unsigned long loop)
{
	volatile unsigned long n = loop;

	while (n)
		n--;
}

int
main(int argc, char **argv)
{
	static const char *defaults[] = { "CPU_CYCLES", "IA64_INST_RETIRED" };
	const int given = argc > 1 ? argc - 1 : 2;
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
#ifdef V3
	pfarg_pmr_t pc[PFMLIB_MAX_PMCS], pd[PFMLIB_MAX_PMDS];
#else
	pfarg_pmc_t pc[PFMLIB_MAX_PMCS];
	pfarg_pmd_t pd[PFMLIB_MAX_PMDS];
	pfarg_ctx_t ctx[1];
	pfarg_load_t load_args;
#endif
	char name[256];
	unsigned int i;
	int ret, fd;

	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	for (i = 0; i < (unsigned int)given; i++)
		if (pfm_find_full_event(argc > 1 ? argv[i + 1] : defaults[i], &inp.pfp_events[i]) != PFMLIB_SUCCESS)
			errx(1, "cannot find event %d", i);
	inp.pfp_event_count = i;
	inp.pfp_dfl_plm = PFM_PLM3;
	if ((ret = pfm_dispatch_events(&inp, NULL, &outp, NULL)) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events: %s", pfm_strerror(ret));
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
#ifdef V3
	if ((fd = pfm_create(0, NULL)) == -1) {
		if (errno == ENOSYS)
			errx(1, "your kernel does not have performance monitoring support");
		err(1, "cannot create session");
	}
	if (pfm_write(fd, 0, PFM_RW_PMC, pc, outp.pfp_pmc_count * sizeof(*pc)) == -1)
		err(1, "pfm_write of PMCs");
	if (pfm_write(fd, 0, PFM_RW_PMD, pd, outp.pfp_pmd_count * sizeof(*pd)) == -1)
		err(1, "pfm_write of PMDs");
	if (pfm_attach(fd, 0, getpid()) == -1)
		err(1, "pfm_attach");
	pfm_set_state(fd, 0, PFM_ST_START);
	work(20000000);
	pfm_set_state(fd, 0, PFM_ST_STOP);
	if (pfm_read(fd, 0, PFM_RW_PMD, pd, inp.pfp_event_count * sizeof(*pd)) == -1)
		err(1, "pfm_read");
#else
	memset(ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	if ((fd = pfm_create_context(ctx, NULL, NULL, 0)) == -1) {
		if (errno == ENOSYS)
			errx(1, "your kernel does not have performance monitoring support");
		err(1, "cannot create context");
	}
	if (pfm_write_pmcs(fd, pc, outp.pfp_pmc_count))
		err(1, "pfm_write_pmcs");
	if (pfm_write_pmds(fd, pd, outp.pfp_pmd_count))
		err(1, "pfm_write_pmds");
	load_args.load_pid = getpid();
	if (pfm_load_context(fd, &load_args))
		err(1, "pfm_load_context");
	pfm_self_start(fd);
	work(20000000);
	pfm_self_stop(fd);
	if (pfm_read_pmds(fd, pd, inp.pfp_event_count))
		err(1, "pfm_read_pmds");
#endif
	for (i = 0; i < inp.pfp_event_count; i++) {
		pfm_get_full_event_name(&inp.pfp_events[i], name, sizeof(name));
		printf("PMD%-3u %20" PRIu64 " %s\n", pd[i].reg_num, (uint64_t)pd[i].reg_value, name);
	}
	close(fd);
	return 0;
}
