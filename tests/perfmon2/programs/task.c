/*
 * Counts a command from its first instruction to its end..
 */
#include <sys/types.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

static int
child(char **arg)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execvp(arg[0], arg);
	exit(127);
}

int
main(int argc, char **argv)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	unsigned int i;
	int fd, status;
	pid_t pid;
	pfarg_pmc_t pc[16];
	pfarg_pmd_t pd[16];
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	if (argc < 2)
		errx(1, "you must specify a command to execute");
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	pfm_get_cycle_event(&inp.pfp_events[0]);
	pfm_get_inst_retired_event(&inp.pfp_events[1]);
	inp.pfp_event_count = 2;
	inp.pfp_dfl_plm = PFM_PLM3;
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events");
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
	if ((pid = fork()) == -1)
		err(1, "cannot fork");
	if (pid == 0)
		child(argv + 1);
	if (waitpid(pid, &status, WUNTRACED) == -1)
		err(1, "waitpid");
	if (WIFEXITED(status))
		errx(1, "process %d exited too early with status %d", pid, WEXITSTATUS(status));
	load_args.load_pid = pid;
	if ((fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1 || pfm_write_pmcs(fd, pc, outp.pfp_pmc_count) ||
	    pfm_write_pmds(fd, pd, outp.pfp_pmd_count) || pfm_load_context(fd, &load_args) || pfm_start(fd, NULL))
		err(1, "cannot monitor");
	if (ptrace(PTRACE_DETACH, pid, NULL, 0) == -1)
		err(1, "cannot detach");
	if (waitpid(pid, &status, 0) == -1)
		err(1, "waitpid");
	if (pfm_read_pmds(fd, pd, 2))
		err(1, "cannot read the PMDs");
	for (i = 0; i < 2; i++)
		printf("PMD%u %" PRIu64 "\n", pd[i].reg_num, (uint64_t)pd[i].reg_value);
	printf("status %d\n", WEXITSTATUS(status));
	close(fd);
	return 0;
}
