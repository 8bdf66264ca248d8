/*
 * Monitors itself, and gets a message each time a counter overflows: read in the handler of SIGIO, then restart.
 */
#include <sys/types.h>
#include <sys/syscall.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

#define SMPL_PERIOD 5000000ULL
#define MAX_NOTIFY 10

static volatile unsigned long notification_received;
static int ctx_fd;

static pfarg_pmc_t pc[32];
static pfarg_pmd_t pd[32], rd[2];

static void
handle(int fd)
{
	pfarg_msg_t msg;
	ssize_t r;

	r = read(fd, &msg, sizeof(msg));
	if (r != sizeof(msg))
		err(1, "read of the message: %zd", r);
	if (msg.type != PFM_MSG_OVFL)
		errx(1, "unexpected message %d", msg.type);
	if (!(msg.pfm_ovfl_msg.msg_ovfl_pmds[0] & 1ULL << pd[0].reg_num))
		errx(1, "message without the counter");
	if (msg.pfm_ovfl_msg.msg_ovfl_pid != (uint32_t)getpid())
		errx(1, "message of %u", msg.pfm_ovfl_msg.msg_ovfl_pid);
	rd[0].reg_num = pd[0].reg_num;
	rd[1].reg_num = pd[1].reg_num;
	if (pfm_read_pmds(fd, rd, 2))
		err(1, "pfm_read_pmds");
	printf("Notification %lu: %" PRIu64 "\n", notification_received, (uint64_t)rd[1].reg_value);
	notification_received++;
	if (pfm_restart(fd))
		err(1, "pfm_restart");
}

static void
sigio_handler(int n)
{
	handle(ctx_fd);
}

int
main(void)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	struct sigaction act;
	unsigned int i;
	volatile unsigned long busy = 0;
	const unsigned int ctx_flags = 0;

	memset(&act, 0, sizeof(act));
	act.sa_handler = sigio_handler;
	sigaction(SIGIO, &act, NULL);
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
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
	pd[0].reg_flags |= PFM_REGFL_OVFL_NOTIFY;
	pd[0].reg_reset_pmds[0] |= 1UL << pd[1].reg_num;
	pd[0].reg_value = -SMPL_PERIOD;
	pd[0].reg_long_reset = -SMPL_PERIOD;
	pd[0].reg_short_reset = -SMPL_PERIOD;
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	ctx.ctx_flags = ctx_flags;
	if ((ctx_fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1)
		err(1, "pfm_create_context");
	if (pfm_write_pmcs(ctx_fd, pc, outp.pfp_pmc_count))
		err(1, "pfm_write_pmcs");
	if (pfm_write_pmds(ctx_fd, pd, outp.pfp_pmd_count))
		err(1, "pfm_write_pmds");
	load_args.load_pid = getpid();
	if (pfm_load_context(ctx_fd, &load_args))
		err(1, "pfm_load_context");
	if (fcntl(ctx_fd, F_SETFL, fcntl(ctx_fd, F_GETFL, 0) | O_ASYNC) == -1)
		err(1, "cannot set O_ASYNC");
	if (fcntl(ctx_fd, F_SETOWN, getpid()) == -1)
		err(1, "cannot set ownership");
	pfm_self_start(ctx_fd);
	while (notification_received < MAX_NOTIFY)
		busy++;
	pfm_self_stop(ctx_fd);
	printf("got %lu notifications\n", notification_received);
	close(ctx_fd);
	return 0;
}
