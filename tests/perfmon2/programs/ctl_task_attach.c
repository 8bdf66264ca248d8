/*
 * perfmonctl(2): attaches to a process; until its end, or (-DTIMEOUT) for some milliseconds, after which it is unloaded.
 */
#include <sys/types.h>
#include <sys/poll.h>
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
	struct pollfd polls;
	pfm_msg_t msg;
	unsigned int i;
	int fd, status, ret, timeout = -1;
	pid_t pid;

	if (argc < 2)
		errx(1, "usage: %s pid [ms]", argv[0]);
	pid = atoi(argv[1]);
#ifdef TIMEOUT
	timeout = atoi(argv[2]);
#endif
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
	inp.pfp_dfl_plm = PFM_PLM3;
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events");
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	pd[0].reg_num = outp.pfp_pmds[0].reg_num;
	if (perfmonctl(0, PFM_CREATE_CONTEXT, ctx, 1) == -1)
		err(1, "PFM_CREATE_CONTEXT");
	fd = ctx->ctx_fd;
	if (perfmonctl(fd, PFM_WRITE_PMCS, pc, outp.pfp_pmc_count) == -1 || perfmonctl(fd, PFM_WRITE_PMDS, pd, 1) == -1)
		err(1, "cannot write registers");
	if (ptrace(PTRACE_ATTACH, pid, NULL, 0) == -1)
		err(1, "cannot attach to %d", pid);
	if (waitpid(pid, &status, WUNTRACED) == -1 || WIFEXITED(status))
		errx(1, "waitpid");
	load_args.load_pid = pid;
	if (perfmonctl(fd, PFM_LOAD_CONTEXT, &load_args, 1) == -1 || perfmonctl(fd, PFM_START, NULL, 0) == -1)
		err(1, "cannot monitor");
	ptrace(PTRACE_DETACH, pid, NULL, 0);
	printf("attached to [%d]\n", pid);
	fflush(stdout);
	polls.fd = fd;
	polls.events = POLLIN;
	ret = poll(&polls, 1, timeout);
	if (ret == 1) {
		if (read(fd, &msg, sizeof(msg)) != sizeof(msg) || msg.type != PFM_MSG_END)
			errx(1, "END message");
		printf("monitored task terminated\n");
	} else {
		ptrace(PTRACE_ATTACH, pid, NULL, 0);
		waitpid(pid, &status, WUNTRACED);
		if (perfmonctl(fd, PFM_UNLOAD_CONTEXT, NULL, 0) == -1)
			err(1, "PFM_UNLOAD_CONTEXT");
		printf("timeout\n");
	}
	if (perfmonctl(fd, PFM_READ_PMDS, pd, 1) == -1)
		err(1, "PFM_READ_PMDS");
	printf("PMD%u %lu\n", pd[0].reg_num, pd[0].reg_value);
	if (ret == 0)
		ptrace(PTRACE_DETACH, pid, NULL, 0);
	return 0;
}
