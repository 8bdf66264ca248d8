/*
 * Two processes pass a number through two pipes; the parent counts its own part of it.  -DV3: calls of version 3.
 */
#include <sys/types.h>
#include <sys/wait.h>
#include <err.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

#define ROUNDS 2000

static int cli[2], srv[2];

static void
server(void)
{
	unsigned long n;

	close(srv[1]);
	close(cli[0]);
	while (read(srv[0], &n, sizeof(n)) == sizeof(n)) {
		n++;
		if (write(cli[1], &n, sizeof(n)) != sizeof(n))
			err(1, "server write");
	}
	exit(0);
}

int
main(void)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	unsigned long n = 0;
	unsigned int i;
	int fd, status;
	pid_t pid;
#ifdef V3
	pfarg_pmr_t pc[32], pd[32];
#else
	pfarg_pmc_t pc[32];
	pfarg_pmd_t pd[32];
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
#endif
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	if (pipe(cli) || pipe(srv))
		err(1, "pipe");
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	if (pfm_get_cycle_event(&inp.pfp_events[0]) != PFMLIB_SUCCESS)
		errx(1, "cannot find the cycle event");
	if (pfm_get_inst_retired_event(&inp.pfp_events[1]) != PFMLIB_SUCCESS)
		errx(1, "cannot find the instruction event");
	inp.pfp_event_count = 2;
	inp.pfp_dfl_plm = PFM_PLM0 | PFM_PLM3;
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events");
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
	if ((pid = fork()) == 0)
		server();
	close(cli[1]);
	close(srv[0]);
#ifdef V3
	if ((fd = pfm_create(0, NULL)) == -1 || pfm_write(fd, 0, PFM_RW_PMC, pc, sizeof(*pc) * outp.pfp_pmc_count) ||
	    pfm_write(fd, 0, PFM_RW_PMD, pd, sizeof(*pd) * outp.pfp_pmd_count) || pfm_attach(fd, 0, getpid()) ||
	    pfm_set_state(fd, 0, PFM_ST_START))
		err(1, "cannot monitor");
#else
	load_args.load_pid = getpid();
	if ((fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1 || pfm_write_pmcs(fd, pc, outp.pfp_pmc_count) ||
	    pfm_write_pmds(fd, pd, outp.pfp_pmd_count) || pfm_load_context(fd, &load_args) || pfm_start(fd, NULL))
		err(1, "cannot monitor");
#endif
	for (i = 0; i < ROUNDS; i++)
		if (write(srv[1], &n, sizeof(n)) != sizeof(n) || read(cli[0], &n, sizeof(n)) != sizeof(n))
			err(1, "round %u", i);
#ifdef V3
	if (pfm_set_state(fd, 0, PFM_ST_STOP) || pfm_read(fd, 0, PFM_RW_PMD, pd, 2 * sizeof(*pd)))
		err(1, "cannot read");
#else
	if (pfm_stop(fd) || pfm_read_pmds(fd, pd, 2))
		err(1, "cannot read");
#endif
	close(srv[1]);
	waitpid(pid, &status, 0);
	printf("rounds %lu\nstatus %d\n", n, status);
	for (i = 0; i < 2; i++)
		printf("PMD%u %" PRIu64 "\n", pd[i].reg_num, (uint64_t)pd[i].reg_value);
	return 0;
}
