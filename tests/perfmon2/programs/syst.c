/*
 * Counts on the CPU on which it is pinned; with a number (-DNP, option np), on that CPU..
 */
#include <sys/types.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

int
main(int argc, char **argv)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	uint64_t last[2] = { 0, 0 };
	int fd, i, round, which;
	cpu_set_t cpus;
	pfarg_pmc_t pc[16];
	pfarg_pmd_t pd[16];
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	which = argc > 1 ? atoi(argv[1]) : sched_getcpu();
#ifndef NP
	CPU_ZERO(&cpus);
	CPU_SET(which, &cpus);
	if (sched_setaffinity(getpid(), sizeof(cpus), &cpus) == -1)
		err(1, "cannot set affinity to CPU%d", which);
#endif
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_get_cycle_event(&inp.pfp_events[0]);
	pfm_get_inst_retired_event(&inp.pfp_events[1]);
	inp.pfp_event_count = 2;
	inp.pfp_dfl_plm = PFM_PLM3 | PFM_PLM0;
	inp.pfp_flags = PFMLIB_PFP_SYSTEMWIDE;
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events");
	for (i = 0; i < (int)outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < (int)outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
	ctx.ctx_flags = PFM_FL_SYSTEM_WIDE;
	load_args.load_pid = which;
	if ((fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1 || pfm_write_pmcs(fd, pc, outp.pfp_pmc_count) ||
	    pfm_write_pmds(fd, pd, outp.pfp_pmd_count) || pfm_load_context(fd, &load_args))
		err(1, "cannot monitor");
	for (round = 0; round < 3; round++) {
		if (pfm_start(fd, NULL))
			err(1, "pfm_start");
		usleep(50000);
		if (pfm_stop(fd) || pfm_read_pmds(fd, pd, 2))
			err(1, "pfm_stop");
		for (i = 0; i < 2; i++) {
			printf("CPU%d PMD%u %" PRIu64 " %" PRIu64 "\n", which, pd[i].reg_num, (uint64_t)pd[i].reg_value,
			       (uint64_t)pd[i].reg_value - last[i]);
			last[i] = pd[i].reg_value;
		}
	}
	pfm_unload_context(fd);
	close(fd);
	return 0;
}
