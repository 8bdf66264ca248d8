/*
 * perfmonctl(2): counts the default events in the program itself.
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

int
main(void)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	pfarg_reg_t pc[PFMLIB_MAX_PMCS], pd[PFMLIB_MAX_PMDS];
	pfarg_context_t ctx[1];
	pfarg_load_t load_args;
	volatile unsigned long busy;
	unsigned int i;
	char name[64];
	int fd;

	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	memset(ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	pfm_get_cycle_event(&inp.pfp_events[0]);
	pfm_get_inst_retired_event(&inp.pfp_events[1]);
	inp.pfp_event_count = 2;
	inp.pfp_dfl_plm = PFM_PLM3;
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events");
	if (perfmonctl(0, PFM_CREATE_CONTEXT, ctx, 1) == -1) {
		if (errno == ENOSYS)
			errx(1, "your kernel does not have performance monitoring support");
		err(1, "cannot create context");
	}
	fd = ctx->ctx_fd;
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
	if (perfmonctl(fd, PFM_WRITE_PMCS, pc, outp.pfp_pmc_count) == -1)
		err(1, "PFM_WRITE_PMCS");
	if (perfmonctl(fd, PFM_WRITE_PMDS, pd, outp.pfp_pmd_count) == -1)
		err(1, "PFM_WRITE_PMDS");
	load_args.load_pid = getpid();
	if (perfmonctl(fd, PFM_LOAD_CONTEXT, &load_args, 1) == -1)
		err(1, "PFM_LOAD_CONTEXT");
	pfm_self_start(fd);
	for (busy = 0; busy < 20000000; busy++)
		;
	pfm_self_stop(fd);
	if (perfmonctl(fd, PFM_READ_PMDS, pd, inp.pfp_event_count) == -1)
		err(1, "PFM_READ_PMDS");
	for (i = 0; i < inp.pfp_event_count; i++) {
		pfm_get_full_event_name(&inp.pfp_events[i], name, sizeof(name));
		printf("PMD%u %lu %s\n", pd[i].reg_num, pd[i].reg_value, name);
	}
	close(fd);
	return 0;
}
