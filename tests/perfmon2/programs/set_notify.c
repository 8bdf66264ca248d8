/*
 * Two sets that are switched by a time (-DSWTIME) or by overflows, in the program itself; the second one notifies.
 * -DV3: calls of version 3.
 */
#include <sys/types.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

#define NOTIFICATIONS 5

static volatile unsigned long notifications, wrong_set;
static int fd;

static void
handler(int n)
{
	pfarg_msg_t msg;

	if (read(fd, &msg, sizeof(msg)) != sizeof(msg) || msg.type != PFM_MSG_OVFL)
		err(1, "message");
	if (msg.pfm_ovfl_msg.msg_active_set != 1)
		wrong_set++;
	notifications++;
	if (pfm_restart(fd))
		err(1, "pfm_restart");
}

int
main(void)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	volatile unsigned long busy = 0;
	int i;
#ifdef V3
	pfarg_set_desc_t sets[2];
	pfarg_set_info_t info[2];
	pfarg_pmr_t pc[2];
	pfarg_pmd_attr_t pd[2];
#else
	pfarg_setdesc_t sets[2];
	pfarg_setinfo_t info[2];
	pfarg_pmc_t pc[2];
	pfarg_pmd_t pd[2];
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
#endif
	signal(SIGIO, handler);
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(sets, 0, sizeof(sets));
	memset(info, 0, sizeof(info));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	pfm_get_cycle_event(&inp.pfp_events[0]);
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3;
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events");
	for (i = 0; i < 2; i++) {
		sets[i].set_id = info[i].set_id = i;
		pc[i].reg_set = pd[i].reg_set = i;
		pc[i].reg_num = outp.pfp_pmcs[0].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[0].reg_value;
		pd[i].reg_num = outp.pfp_pmds[0].reg_num;
#ifdef SWTIME
		sets[i].set_flags = PFM_SETFL_TIME_SWITCH;
		sets[i].set_timeout = 2000000;
#else
		sets[i].set_flags = PFM_SETFL_OVFL_SWITCH;
		pd[i].reg_value = pd[i].reg_long_reset = pd[i].reg_short_reset = -2000000ULL;
#endif
	}
#ifdef SWTIME
	pd[1].reg_value = pd[1].reg_long_reset = pd[1].reg_short_reset = -2000000ULL;
#elif defined(V3)
	pd[0].reg_ovfl_swcnt = pd[1].reg_ovfl_swcnt = 1;
#else
	pd[0].reg_ovfl_switch_cnt = pd[1].reg_ovfl_switch_cnt = 1;
#endif
	pd[1].reg_flags = PFM_REGFL_OVFL_NOTIFY;
#ifdef V3
	if ((fd = pfm_create(0, NULL)) == -1 || pfm_create_sets(fd, 0, sets, sizeof(sets)) ||
	    pfm_write(fd, 0, PFM_RW_PMC, pc, sizeof(pc)) || pfm_write(fd, 0, PFM_RW_PMD_ATTR, pd, sizeof(pd)) ||
	    pfm_attach(fd, 0, getpid()))
		err(1, "cannot monitor");
#else
	load_args.load_pid = getpid();
	if ((fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1 || pfm_create_evtsets(fd, sets, 2) ||
	    pfm_write_pmcs(fd, pc, 2) || pfm_write_pmds(fd, pd, 2) || pfm_load_context(fd, &load_args))
		err(1, "cannot monitor");
#endif
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL, 0) | O_ASYNC) == -1 || fcntl(fd, F_SETOWN, getpid()) == -1)
		err(1, "fcntl");
	pfm_self_start(fd);
	while (notifications < NOTIFICATIONS)
		busy++;
	pfm_self_stop(fd);
#ifdef V3
	if (pfm_getinfo_sets(fd, 0, info, sizeof(info)))
#else
	if (pfm_getinfo_evtsets(fd, info, 2))
#endif
		err(1, "information of the sets");
	for (i = 0; i < 2; i++)
		printf("set%d runs %" PRIu64 " duration %" PRIu64 "\n", i, (uint64_t)info[i].set_runs,
#ifdef V3
		       (uint64_t)info[i].set_duration);
#else
		       (uint64_t)info[i].set_act_duration);
#endif
	printf("notifications %lu wrong_set %lu\n", notifications, wrong_set);
	return 0;
}
