/*
 * perfmonctl(2): samples with the data event address registers, or (-DBTB) the trace buffer, in the buffer at
 * ctx_smpl_vaddr.  -DITA, -DITA2, -DMONT: which PMU.
 */
#include <sys/types.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/perfmon_default_smpl.h>
#if defined(ITA)
#include <perfmon/pfmlib_itanium.h>
#define WANTED PFMLIB_ITANIUM_PMU
#define DEAR ((1UL << 2) | (1UL << 3) | (1UL << 17))
#define TRACE (0x1ffUL << 8)
#elif defined(ITA2)
#include <perfmon/pfmlib_itanium2.h>
#define WANTED PFMLIB_ITANIUM2_PMU
#define DEAR ((1UL << 2) | (1UL << 3) | (1UL << 17))
#define TRACE (0x1ffUL << 8)
#else
#include <perfmon/pfmlib_montecito.h>
#define WANTED PFMLIB_MONTECITO_PMU
#define DEAR ((1UL << 32) | (1UL << 33) | (1UL << 36))
#define TRACE ((0xffffUL << 48) | (1UL << 38) | (1UL << 39))
#endif
#ifdef BTB
#define SMPL TRACE
#else
#define SMPL DEAR
#endif
#define PERIOD 50000UL

static pfm_uuid_t buf_fmt_id = PFM_DEFAULT_SMPL_UUID;
static unsigned long collected;
static volatile unsigned long fulls;
static void *smpl_vaddr;
static int fd;

static void
process_smpl_buffer(void)
{
	pfm_default_smpl_hdr_t *hdr = (pfm_default_smpl_hdr_t *)smpl_vaddr;
	unsigned long pos = (unsigned long)(hdr + 1), i;

	for (i = 0; i < hdr->hdr_count; i++) {
		pfm_default_smpl_entry_t *ent = (pfm_default_smpl_entry_t *)pos;

		if (ent->pid != getpid() || ent->last_reset_val != -PERIOD)
			errx(1, "entry %lu", i);
		pos += sizeof(*ent) + 8 * pfmlib_popcnt(SMPL);
		collected++;
	}
}

static void
overflow_handler(int n, siginfo_t *info, void *sc)
{
	process_smpl_buffer();
	fulls++;
	if (perfmonctl(fd, PFM_RESTART, NULL, 0) == -1)
		err(1, "PFM_RESTART");
}

int
main(void)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	pfm_default_smpl_ctx_arg_t ctx[1];
	pfarg_reg_t pc[16], pd[32];
	pfarg_load_t load_args;
	volatile unsigned long busy = 0;
	struct sigaction act;
	int type = 0, i;
#if defined(ITA)
	pfmlib_ita_input_param_t model;
	const char *branches = "BRANCH_EVENT";
#elif defined(ITA2)
	pfmlib_ita2_input_param_t model;
	const char *branches = "BRANCH_EVENT";
#else
	pfmlib_mont_input_param_t model;
	const char *branches = "ETB_EVENT";
#endif
	memset(&model, 0, sizeof(model));
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	memset(ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	memset(&act, 0, sizeof(act));
	act.sa_sigaction = overflow_handler;
	act.sa_flags = SA_SIGINFO;
	sigaction(SIGIO, &act, NULL);
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_get_pmu_type(&type);
	if (type != WANTED)
		errx(2, "this program does not work with this PMU");
#ifdef BTB
	if (pfm_find_event(branches, &inp.pfp_events[0].event) != PFMLIB_SUCCESS)
#else
	if (pfm_find_event("DATA_EAR_CACHE_LAT4", &inp.pfp_events[0].event) != PFMLIB_SUCCESS)
#endif
		errx(1, "no event");
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3;
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events");
	for (i = 0; i < (int)outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < (int)outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
	pc[0].reg_flags |= PFM_REGFL_OVFL_NOTIFY;
	pc[0].reg_smpl_pmds[0] = SMPL;
	pd[0].reg_value = pd[0].reg_long_reset = pd[0].reg_short_reset = -PERIOD;
	memcpy(ctx->ctx_arg.ctx_smpl_buf_id, buf_fmt_id, sizeof(pfm_uuid_t));
	ctx->buf_arg.buf_size = 2 * getpagesize();
	if (perfmonctl(0, PFM_CREATE_CONTEXT, ctx, 1) == -1)
		err(1, "PFM_CREATE_CONTEXT");
	fd = ctx->ctx_arg.ctx_fd;
	smpl_vaddr = ctx->ctx_arg.ctx_smpl_vaddr;
	if (perfmonctl(fd, PFM_WRITE_PMCS, pc, outp.pfp_pmc_count) == -1 || perfmonctl(fd, PFM_WRITE_PMDS, pd, 1) == -1)
		err(1, "cannot write registers");
	load_args.load_pid = getpid();
	if (perfmonctl(fd, PFM_LOAD_CONTEXT, &load_args, 1) == -1)
		err(1, "PFM_LOAD_CONTEXT");
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL, 0) | O_ASYNC) == -1 || fcntl(fd, F_SETOWN, getpid()) == -1)
		err(1, "fcntl");
	pfm_self_start(fd);
	while (fulls < 3)
		busy++;
	pfm_self_stop(fd);
	process_smpl_buffer();
	printf("%lu samples collected in %lu buffers\n", collected, fulls);
	return 0;
}
