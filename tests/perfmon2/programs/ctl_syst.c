/*
 * perfmonctl(2): counts on the CPU on which the program is pinned.
 */
#include <sys/types.h>
#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

int
main(void)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	pfarg_reg_t pc[8], pd[8];
	pfarg_context_t ctx[1];
	pfarg_load_t load_args;
	cpu_set_t cpus;
	unsigned int i;
	int fd, round;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) == -1)
		err(1, "cannot pin");
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	memset(ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	pfm_get_cycle_event(&inp.pfp_events[0]);
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3 | PFM_PLM0;
	inp.pfp_flags = PFMLIB_PFP_SYSTEMWIDE;
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events");
	ctx->ctx_flags = PFM_FL_SYSTEM_WIDE;
	if (perfmonctl(0, PFM_CREATE_CONTEXT, ctx, 1) == -1)
		err(1, "PFM_CREATE_CONTEXT");
	fd = ctx->ctx_fd;
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	pd[0].reg_num = outp.pfp_pmds[0].reg_num;
	if (perfmonctl(fd, PFM_WRITE_PMCS, pc, outp.pfp_pmc_count) == -1 || perfmonctl(fd, PFM_WRITE_PMDS, pd, 1) == -1)
		err(1, "cannot write registers");
	load_args.load_pid = getpid();
	if (perfmonctl(fd, PFM_LOAD_CONTEXT, &load_args, 1) == -1)
		err(1, "PFM_LOAD_CONTEXT");
	for (round = 0; round < 2; round++) {
		if (perfmonctl(fd, PFM_START, NULL, 0) == -1)
			err(1, "PFM_START");
		usleep(20000);
		if (perfmonctl(fd, PFM_STOP, NULL, 0) == -1 || perfmonctl(fd, PFM_READ_PMDS, pd, 1) == -1)
			err(1, "PFM_STOP");
		printf("PMD%u %lu\n", pd[0].reg_num, pd[0].reg_value);
	}
	return 0;
}
