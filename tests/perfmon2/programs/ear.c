/*
 * Samples with what the data event address registers hold, or (-DBTB) the branch or execution trace buffer; SIGIO with a
 * message when the buffer is full.  -DITA, -DITA2, -DMONT: which PMU.  -DV3: calls of version 3.
 */
#include <sys/types.h>
#include <sys/mman.h>
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
#include <perfmon/perfmon_dfl_smpl.h>
#if defined(ITA)
#include <perfmon/pfmlib_itanium.h>
#define WANTED PFMLIB_ITANIUM_PMU
#define DEAR ((1UL << 2) | (1UL << 3) | (1UL << 17))
#define TRACE (0x1ffUL << 8)
#define BRANCHES "BRANCH_EVENT"
#elif defined(ITA2)
#include <perfmon/pfmlib_itanium2.h>
#define WANTED PFMLIB_ITANIUM2_PMU
#define DEAR ((1UL << 2) | (1UL << 3) | (1UL << 17))
#define TRACE (0x1ffUL << 8)
#define BRANCHES "BRANCH_EVENT"
#else
#include <perfmon/pfmlib_montecito.h>
#define WANTED PFMLIB_MONTECITO_PMU
#define DEAR ((1UL << 32) | (1UL << 33) | (1UL << 36))
#define TRACE ((0xffffUL << 48) | (1UL << 38) | (1UL << 39))
#define BRANCHES "ETB_EVENT"
#endif
#ifdef BTB
#define EVENT BRANCHES
#define SMPL TRACE
#else
#define EVENT "DATA_EAR_CACHE_LAT4"
#define SMPL DEAR
#endif
#define PERIOD 50000ULL

static void *buf_addr;
static unsigned long collected;
static volatile unsigned long fulls;
static int fd;

static void
process_smpl_buffer(void)
{
	pfm_dfl_smpl_hdr_t *hdr = (pfm_dfl_smpl_hdr_t *)buf_addr;
	unsigned long pos = (unsigned long)(hdr + 1), i;

	for (i = 0; i < hdr->hdr_count; i++) {
		pfm_dfl_smpl_entry_t *ent = (pfm_dfl_smpl_entry_t *)pos;

		if (ent->pid != (uint32_t)getpid() || ent->cpu >= 4096)
			errx(1, "entry %lu", i);
		pos += sizeof(*ent) + 8 * pfmlib_popcnt(SMPL);
		collected++;
	}
	if (pos != (unsigned long)hdr + hdr->hdr_cur_offs)
		errx(1, "entries end at another place");
}

static void
overflow_handler(int n, siginfo_t *info, void *sc)
{
	pfarg_msg_t msg;

	if (read(fd, &msg, sizeof(msg)) != sizeof(msg) || msg.type != PFM_MSG_OVFL)
		err(1, "message");
	process_smpl_buffer();
	fulls++;
	if (pfm_restart(fd))
		err(1, "pfm_restart");
}

int
main(void)
{
	char fmt[] = PFM_DFL_SMPL_NAME;
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	pfm_dfl_smpl_arg_t buf_arg;
	volatile unsigned long busy = 0;
	struct sigaction act;
	int type = 0, ret, i;
#if defined(ITA)
	pfmlib_ita_input_param_t model;
#elif defined(ITA2)
	pfmlib_ita2_input_param_t model;
#else
	pfmlib_mont_input_param_t model;
#endif
#ifdef V3
	pfarg_pmr_t pc[16];
	pfarg_pmd_attr_t pd[32];
#else
	pfarg_pmc_t pc[16];
	pfarg_pmd_t pd[32];
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
#endif
	memset(&model, 0, sizeof(model));
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	memset(&buf_arg, 0, sizeof(buf_arg));
	memset(&act, 0, sizeof(act));
	act.sa_sigaction = overflow_handler;
	act.sa_flags = SA_SIGINFO;
	sigaction(SIGIO, &act, NULL);
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_get_pmu_type(&type);
	if (type != WANTED)
		errx(2, "this program does not work with this PMU");
	if (pfm_find_event(EVENT, &inp.pfp_events[0].event) != PFMLIB_SUCCESS)
		errx(1, "no event %s", EVENT);
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3;
#if defined(BTB) && defined(ITA)
	model.pfp_ita_btb.btb_used = 1;
	model.pfp_ita_btb.btb_tm = model.pfp_ita_btb.btb_ptm = model.pfp_ita_btb.btb_ppm = 3;
	model.pfp_ita_btb.btb_plm = PFM_PLM3;
#elif defined(BTB) && defined(ITA2)
	model.pfp_ita2_btb.btb_used = 1;
	model.pfp_ita2_btb.btb_tm = model.pfp_ita2_btb.btb_ptm = model.pfp_ita2_btb.btb_ppm = 3;
	model.pfp_ita2_btb.btb_plm = PFM_PLM3;
#elif defined(BTB)
	model.pfp_mont_etb.etb_used = 1;
	model.pfp_mont_etb.etb_tm = model.pfp_mont_etb.etb_ptm = model.pfp_mont_etb.etb_ppm = 3;
	model.pfp_mont_etb.etb_plm = PFM_PLM3;
#endif
	if ((ret = pfm_dispatch_events(&inp, &model, &outp, NULL)) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events: %s", pfm_strerror(ret));
	for (i = 0; i < (int)outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < (int)outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
	pd[0].reg_flags = PFM_REGFL_OVFL_NOTIFY;
#ifdef BTB
	pd[0].reg_flags |= PFM_REGFL_RANDOM;
	pd[0].reg_random_mask = 0xfff;
	pd[0].reg_reset_pmds[0] = type == PFMLIB_MONTECITO_PMU ? 1UL << 38 : 1UL << 16;
#endif
	pd[0].reg_smpl_pmds[0] = SMPL;
	pd[0].reg_value = pd[0].reg_long_reset = pd[0].reg_short_reset = -PERIOD;
	buf_arg.buf_size = getpagesize();
#ifdef V3
	if ((fd = pfm_create(PFM_FL_SMPL_FMT, NULL, fmt, &buf_arg, sizeof(buf_arg))) == -1)
		err(1, "pfm_create");
#else
	if ((fd = pfm_create_context(&ctx, fmt, &buf_arg, sizeof(buf_arg))) == -1)
		err(1, "pfm_create_context");
#endif
	if ((buf_addr = mmap(NULL, (size_t)buf_arg.buf_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
		err(1, "cannot mmap buffer");
#ifdef V3
	if (pfm_write(fd, 0, PFM_RW_PMC, pc, sizeof(*pc) * outp.pfp_pmc_count) ||
	    pfm_write(fd, 0, PFM_RW_PMD_ATTR, pd, sizeof(*pd) * outp.pfp_pmd_count) || pfm_attach(fd, 0, getpid()))
		err(1, "cannot monitor");
#else
	load_args.load_pid = getpid();
	if (pfm_write_pmcs(fd, pc, outp.pfp_pmc_count) || pfm_write_pmds(fd, pd, outp.pfp_pmd_count) ||
	    pfm_load_context(fd, &load_args))
		err(1, "cannot monitor");
#endif
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
