/*
 * perfmonctl(2): a message at each overflow of the program itself, read in the handler of SIGIO.  -DINFO: by si_fd.
 * -DFORK: it forks meanwhile, and the child is not monitored.
 */
#include <sys/types.h>
#include <sys/wait.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

#define SMPL_PERIOD 5000000UL
#define WANTED 10

static volatile unsigned long notification_received;
static pfarg_reg_t pd[8];
static int fd;

static void
sigio_handler(int n, siginfo_t *info, void *sc)
{
	pfarg_reg_t rd;
	pfm_msg_t msg;
	int id = fd;

#ifdef INFO
	if (info->si_fd != fd)
		errx(1, "signal of another file");
	id = info->si_fd;
#endif
	memset(&rd, 0, sizeof(rd));
	rd.reg_num = pd[1].reg_num;
	if (perfmonctl(id, PFM_READ_PMDS, &rd, 1) == -1)
		err(1, "PFM_READ_PMDS");
	if (read(id, &msg, sizeof(msg)) != sizeof(msg))
		err(1, "read of the message");
	if (msg.type != PFM_MSG_OVFL || msg.pfm_ovfl_msg.msg_ctx_fd != fd ||
	    msg.pfm_ovfl_msg.msg_ovfl_pmds[0] != 1UL << pd[0].reg_num)
		errx(1, "unexpected message %d", msg.type);
	printf("Notification %lu: %lu\n", notification_received, rd.reg_value);
	notification_received++;
	if (perfmonctl(id, PFM_RESTART, NULL, 0) == -1)
		err(1, "PFM_RESTART");
}

int
main(void)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	pfarg_reg_t pc[8];
	pfarg_context_t ctx[1];
	pfarg_load_t load_args;
	struct sigaction act;
	volatile unsigned long busy = 0;
	unsigned int i;
	int status = 0;
	pid_t pid = 0;

	memset(&act, 0, sizeof(act));
	act.sa_sigaction = sigio_handler;
	act.sa_flags = SA_SIGINFO;
	sigaction(SIGIO, &act, NULL);
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	memset(pc, 0, sizeof(pc));
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
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
	pc[0].reg_flags |= PFM_REGFL_OVFL_NOTIFY;
	pc[0].reg_reset_pmds[0] |= 1UL << pd[1].reg_num;
	pd[0].reg_value = pd[0].reg_long_reset = pd[0].reg_short_reset = -SMPL_PERIOD;
	if (perfmonctl(0, PFM_CREATE_CONTEXT, ctx, 1) == -1)
		err(1, "PFM_CREATE_CONTEXT");
	fd = ctx->ctx_fd;
	if (perfmonctl(fd, PFM_WRITE_PMCS, pc, outp.pfp_pmc_count) == -1)
		err(1, "PFM_WRITE_PMCS");
	if (perfmonctl(fd, PFM_WRITE_PMDS, pd, outp.pfp_pmd_count) == -1)
		err(1, "PFM_WRITE_PMDS");
	load_args.load_pid = getpid();
	if (perfmonctl(fd, PFM_LOAD_CONTEXT, &load_args, 1) == -1)
		err(1, "PFM_LOAD_CONTEXT");
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL, 0) | O_ASYNC) == -1 || fcntl(fd, F_SETOWN, getpid()) == -1)
		err(1, "fcntl");
#ifdef INFO
	if (fcntl(fd, F_SETSIG, SIGIO) == -1)
		err(1, "F_SETSIG");
#endif
	pfm_self_start(fd);
#ifdef FORK
	if ((pid = fork()) == 0) {
		for (busy = 0; busy < 30000000; busy++)
			;
		_exit(notification_received ? 1 : 5);
	}
#endif
	while (notification_received < WANTED)
		busy++;
	pfm_self_stop(fd);
	if (pid && waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	printf("got %lu notifications, child %d\n", notification_received, WEXITSTATUS(status));
	close(fd);
	return 0;
}
