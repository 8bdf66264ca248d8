/*
 * Samples a command (or, with -s, this CPU while the command runs) without a buffer: a message for each sample.
 * -DV3: calls of version 3.
 */
#include <sys/types.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

#define SMPL_PERIOD 2000000ULL

static volatile int done;

static void
sigchld(int n)
{
	done = 1;
}

int
main(int argc, char **argv)
{
	const int wide = argc > 2 && strcmp(argv[1], "-s") == 0;
	unsigned long collected = 0, instructions = 0;
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	struct sigaction act;
	struct rusage ru;
	pfarg_msg_t msg;
	cpu_set_t cpus;
	int fd, ret, status, i;
	pid_t pid;
#ifdef V3
	pfarg_pmr_t pc[16], val;
	pfarg_pmd_attr_t pd[16];
#else
	pfarg_pmc_t pc[16];
	pfarg_pmd_t pd[16], val;
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
#endif
	memset(&val, 0, sizeof(val));
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_get_cycle_event(&inp.pfp_events[0]);
	pfm_get_inst_retired_event(&inp.pfp_events[1]);
	inp.pfp_event_count = 2;
	inp.pfp_dfl_plm = PFM_PLM3;
	if (wide)
		inp.pfp_flags = PFMLIB_PFP_SYSTEMWIDE;
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events");
	for (i = 0; i < (int)outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < (int)outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
	pd[0].reg_flags = PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM;
	pd[0].reg_reset_pmds[0] = 1UL << pd[1].reg_num;
	pd[0].reg_value = pd[0].reg_long_reset = pd[0].reg_short_reset = -SMPL_PERIOD;
	pd[0].reg_random_mask = 0xfff;
	memset(&act, 0, sizeof(act));
	act.sa_handler = sigchld;
	if (wide)
		sigaction(SIGCHLD, &act, NULL);
	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (wide && sched_setaffinity(getpid(), sizeof(cpus), &cpus))
		err(1, "cannot pin");
	if ((pid = fork()) == 0) {
		if (!wide)
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[1 + wide], argv + 1 + wide);
		exit(127);
	}
	if (!wide && (waitpid(pid, &status, WUNTRACED) == -1 || WIFEXITED(status)))
		errx(1, "command not started");
#ifdef V3
	if ((fd = pfm_create(wide ? PFM_FL_SYSTEM_WIDE : 0, NULL)) == -1 ||
	    pfm_write(fd, 0, PFM_RW_PMC, pc, sizeof(*pc) * outp.pfp_pmc_count) ||
	    pfm_write(fd, 0, PFM_RW_PMD_ATTR, pd, sizeof(*pd) * outp.pfp_pmd_count) ||
	    pfm_attach(fd, 0, wide ? sched_getcpu() : pid) || pfm_set_state(fd, 0, PFM_ST_START))
		err(1, "cannot monitor");
#else
	ctx.ctx_flags = wide ? PFM_FL_SYSTEM_WIDE : 0;
	load_args.load_pid = wide ? sched_getcpu() : pid;
	if ((fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1 || pfm_write_pmcs(fd, pc, outp.pfp_pmc_count) ||
	    pfm_write_pmds(fd, pd, outp.pfp_pmd_count) || pfm_load_context(fd, &load_args) || pfm_start(fd, NULL))
		err(1, "cannot monitor");
#endif
	if (!wide)
		ptrace(PTRACE_DETACH, pid, NULL, 0);
	val.reg_num = pd[1].reg_num;
	while (!done) {
		ret = read(fd, &msg, sizeof(msg));
		if (ret == -1 && errno == EINTR)
			continue;
		if (ret != sizeof(msg))
			err(1, "cannot read perfmon msg");
		if (msg.type == PFM_MSG_END)
			break;
#ifdef V3
		if (pfm_read(fd, 0, PFM_RW_PMD, &val, sizeof(val)))
#else
		if (pfm_read_pmds(fd, &val, 1))
#endif
			err(1, "cannot read");
		instructions += val.reg_value;
		collected++;
		if (pfm_restart(fd) && errno != EBUSY)
			err(1, "pfm_restart");
	}
	if (wait4(pid, &status, 0, &ru) != pid)
		err(1, "wait4");
	printf("%lu samples, %lu instructions, status %d\n", collected, instructions, WEXITSTATUS(status));
	close(fd);
	return 0;
}
