/*
 * Attaches to a process that runs, and counts it: until its end, of which a message tells, or, with a number of
 * milliseconds, for some time (-DTIMEOUT).  -DNP: it is not stopped meanwhile..
 */
#include <sys/types.h>
#include <sys/poll.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

static void
seize(pid_t pid)
{
#ifndef NP
	int status;

	if (ptrace(PTRACE_ATTACH, pid, NULL, 0) == -1)
		err(1, "cannot attach to %d", pid);
	if (waitpid(pid, &status, WUNTRACED) == -1)
		err(1, "waitpid");
	if (WIFEXITED(status))
		errx(1, "command already terminated");
#endif
}

static void
let_go(pid_t pid)
{
#ifndef NP
	if (ptrace(PTRACE_DETACH, pid, NULL, 0) == -1)
		err(1, "cannot detach from %d", pid);
#endif
}

int
main(int argc, char **argv)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	struct pollfd pollfds;
	int fd, ret, i, timeout = -1;
	pfarg_msg_t msg;
	pid_t pid;
	pfarg_pmc_t pc[16];
	pfarg_pmd_t pd[16];
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	if (argc < 2)
		errx(1, "usage: %s pid [ms]", argv[0]);
	pid = atoi(argv[1]);
#ifdef TIMEOUT
	timeout = atoi(argv[2]);
#endif
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
	for (i = 0; i < (int)outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < (int)outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
	seize(pid);
	load_args.load_pid = pid;
	if ((fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1 || pfm_write_pmcs(fd, pc, outp.pfp_pmc_count) ||
	    pfm_write_pmds(fd, pd, outp.pfp_pmd_count) || pfm_load_context(fd, &load_args) || pfm_start(fd, NULL))
		err(1, "cannot monitor");
	let_go(pid);
	printf("attached to [%d]\n", pid);
	fflush(stdout);
	pollfds.fd = fd;
	pollfds.events = POLLIN;
	pollfds.revents = 0;
	do {
		ret = poll(&pollfds, 1, timeout);
	} while (ret == -1 && errno == EINTR);
	if (ret == 1) {
		if ((ret = read(fd, &msg, sizeof(msg))) != sizeof(msg))
			err(1, "read of the message: %d", ret);
		if (msg.type != PFM_MSG_END)
			errx(1, "unexpected message %d", msg.type);
		printf("monitored task terminated\n");
	} else {
		seize(pid);
		printf("timeout\n");
	}
	if (pfm_read_pmds(fd, pd, 2))
		err(1, "cannot read the PMDs");
	for (i = 0; i < 2; i++)
		printf("PMD%u %" PRIu64 "\n", pd[i].reg_num, (uint64_t)pd[i].reg_value);
	if (ret == 0) {
		if (pfm_unload_context(fd))
			err(1, "pfm_unload_context");
		let_go(pid);
	}
	close(fd);
	return 0;
}
