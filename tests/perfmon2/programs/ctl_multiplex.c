/*
 * perfmonctl(2): two groups of events of a command, which the program exchanges at each overflow of the cycles.
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

#define PERIOD 10000000UL

static const char *second[2] = { "IA64_INST_RETIRED", "NOPS_RETIRED" };
static pfarg_reg_t pc[2][8], pd[2][8];
static unsigned int npc[2], npd[2];
static unsigned long counts[2], runs[2];

static void
make_group(int g)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	unsigned int i;

	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	pfm_get_cycle_event(&inp.pfp_events[0]);
	if (pfm_find_event(second[g], &inp.pfp_events[1].event) != PFMLIB_SUCCESS)
		errx(1, "no event");
	inp.pfp_event_count = 2;
	inp.pfp_dfl_plm = PFM_PLM3;
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events");
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		pc[g][i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[g][i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < outp.pfp_pmd_count; i++)
		pd[g][i].reg_num = outp.pfp_pmds[i].reg_num;
	pc[g][0].reg_flags = PFM_REGFL_OVFL_NOTIFY;
	npc[g] = outp.pfp_pmc_count;
	npd[g] = outp.pfp_pmd_count;
}

static void
program(int fd, int g)
{
	pd[g][0].reg_value = pd[g][0].reg_long_reset = pd[g][0].reg_short_reset = -PERIOD;
	pd[g][1].reg_value = 0;
	if (perfmonctl(fd, PFM_WRITE_PMCS, pc[g], npc[g]) == -1 || perfmonctl(fd, PFM_WRITE_PMDS, pd[g], npd[g]) == -1)
		err(1, "cannot program");
}

static void
collect(int fd, int g)
{
	if (perfmonctl(fd, PFM_READ_PMDS, pd[g], npd[g]) == -1)
		err(1, "cannot read");
	counts[g] += pd[g][1].reg_value;
	runs[g]++;
}

int
main(int argc, char **argv)
{
	pfarg_context_t ctx[1];
	pfarg_load_t load_args;
	pfm_msg_t msg;
	int fd, status, g = 0;
	pid_t pid;

	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	make_group(0);
	make_group(1);
	memset(ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	ctx->ctx_flags = PFM_FL_NOTIFY_BLOCK;
	if (perfmonctl(0, PFM_CREATE_CONTEXT, ctx, 1) == -1)
		err(1, "PFM_CREATE_CONTEXT");
	fd = ctx->ctx_fd;
	if ((pid = fork()) == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[1], argv + 1);
		exit(127);
	}
	if (waitpid(pid, &status, WUNTRACED) == -1 || WIFEXITED(status))
		errx(1, "command not started");
	program(fd, 0);
	load_args.load_pid = pid;
	if (perfmonctl(fd, PFM_LOAD_CONTEXT, &load_args, 1) == -1 || perfmonctl(fd, PFM_START, NULL, 0) == -1)
		err(1, "cannot monitor");
	ptrace(PTRACE_DETACH, pid, NULL, 0);
	while (read(fd, &msg, sizeof(msg)) == sizeof(msg) && msg.type == PFM_MSG_OVFL) {
		collect(fd, g);
		g = !g;
		program(fd, g);
		if (perfmonctl(fd, PFM_RESTART, NULL, 0) == -1 && errno != EBUSY)
			err(1, "PFM_RESTART");
	}
	collect(fd, g);
	waitpid(pid, &status, 0);
	for (g = 0; g < 2; g++)
		printf("group %d runs %lu %s %lu\n", g, runs[g], second[g], counts[g]);
	printf("status %d\n", WEXITSTATUS(status));
	return 0;
}
