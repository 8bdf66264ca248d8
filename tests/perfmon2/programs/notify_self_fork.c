/*
 * Monitors itself with notifications, and forks meanwhile: the child is not monitored.
 */
#include <sys/types.h>
#include <sys/wait.h>
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

#define PERIOD 4000000ULL

static volatile unsigned long notification_received;
static int fd;

static void
sigio_handler(int n)
{
	pfarg_msg_t msg;

	if (read(fd, &msg, sizeof(msg)) != sizeof(msg) || msg.type != PFM_MSG_OVFL)
		err(1, "message");
	notification_received++;
	if (pfm_restart(fd))
		err(1, "pfm_restart");
}

static void
child(void)
{
	volatile unsigned long n;

	for (n = 0; n < 50000000; n++)
		;
	printf("child got %lu notifications\n", notification_received);
	fflush(stdout);
	_exit(7);
}

int
main(void)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	volatile unsigned long busy = 0;
	int status;
	pid_t pid;

	signal(SIGIO, sigio_handler);
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	pfm_get_cycle_event(&inp.pfp_events[0]);
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3;
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events");
	pfarg_pmc_t pc;
	pfarg_pmd_t pd;
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	memset(&pc, 0, sizeof(pc));
	memset(&pd, 0, sizeof(pd));
	pc.reg_num = outp.pfp_pmcs[0].reg_num;
	pc.reg_value = outp.pfp_pmcs[0].reg_value;
	pd.reg_num = outp.pfp_pmds[0].reg_num;
	pd.reg_flags = PFM_REGFL_OVFL_NOTIFY;
	pd.reg_value = pd.reg_long_reset = pd.reg_short_reset = -PERIOD;
	load_args.load_pid = getpid();
	if ((fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1 || pfm_write_pmcs(fd, &pc, 1) ||
	    pfm_write_pmds(fd, &pd, 1) || pfm_load_context(fd, &load_args))
		err(1, "cannot monitor");
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL, 0) | O_ASYNC) == -1 || fcntl(fd, F_SETOWN, getpid()) == -1)
		err(1, "fcntl");
	pfm_start(fd, NULL);
	while (notification_received < 2)
		busy++;
	if ((pid = fork()) == 0) {
		notification_received = 0;
		child();
	}
	while (notification_received < 10)
		busy++;
	pfm_stop(fd);
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	printf("parent got %lu notifications\nchild ended with %d\n", notification_received, WEXITSTATUS(status));
	return 0;
}
