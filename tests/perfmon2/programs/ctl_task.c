/*
 * perfmonctl(2): counts a command from its start to its end, of which a message tells.
 */
#include <sys/types.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <err.h>
#include <errno.h>
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
	pfarg_reg_t pc[8], pd[8];
	pfarg_context_t ctx[1];
	pfarg_load_t load_args;
	pfm_msg_t msg;
	unsigned int i;
	int fd, status;
	pid_t pid;

	if (argc < 2)
		errx(1, "you must specify a command");
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
	if (perfmonctl(0, PFM_CREATE_CONTEXT, ctx, 1) == -1)
		err(1, "PFM_CREATE_CONTEXT");
	fd = ctx->ctx_fd;
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
	if (perfmonctl(fd, PFM_WRITE_PMCS, pc, outp.pfp_pmc_count) == -1 ||
	    perfmonctl(fd, PFM_WRITE_PMDS, pd, outp.pfp_pmd_count) == -1)
		err(1, "cannot write registers");
	if ((pid = fork()) == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[1], argv + 1);
		exit(127);
	}
	if (waitpid(pid, &status, WUNTRACED) == -1 || WIFEXITED(status))
		errx(1, "command not started");
	load_args.load_pid = pid;
	if (perfmonctl(fd, PFM_LOAD_CONTEXT, &load_args, 1) == -1)
		err(1, "PFM_LOAD_CONTEXT");
	if (perfmonctl(fd, PFM_START, NULL, 0) == -1)
		err(1, "PFM_START");
	ptrace(PTRACE_DETACH, pid, NULL, 0);
	waitpid(pid, &status, 0);
	if (perfmonctl(fd, PFM_READ_PMDS, pd, 2) == -1)
		err(1, "PFM_READ_PMDS");
	if (read(fd, &msg, sizeof(msg)) != sizeof(msg) || msg.type != PFM_MSG_END || msg.pfm_end_msg.msg_ctx_fd != fd)
		err(1, "END message");
	for (i = 0; i < 2; i++)
		printf("PMD%u %lu\n", pd[i].reg_num, pd[i].reg_value);
	printf("status %d\n", WEXITSTATUS(status));
	return 0;
}
