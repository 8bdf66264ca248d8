/*
 * Samples itself into the default format's buffer; SIGIO without a message when it is full..
 */
#include <sys/types.h>
#include <sys/mman.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/perfmon_dfl_smpl.h>
#include <perfmon/pfmlib.h>

#define SMPL_PERIOD 100000ULL

typedef pfm_dfl_smpl_hdr_t smpl_hdr_t;
typedef pfm_dfl_smpl_entry_t smpl_entry_t;
typedef pfm_dfl_smpl_arg_t smpl_arg_t;

static int fd;
static void *buf_addr;
static unsigned long collected, last_overflow = ~0UL;
static volatile unsigned long fulls;
static unsigned int num_smpl_pmds;

static void
process_smpl_buf(int handled)
{
	smpl_hdr_t *hdr = (smpl_hdr_t *)buf_addr;
	smpl_entry_t *ent = (smpl_entry_t *)(hdr + 1);
	unsigned long pos = (unsigned long)ent, count = hdr->hdr_count, j;

	if (handled && hdr->hdr_overflows == last_overflow)
		errx(1, "buffer was not full");
	last_overflow = hdr->hdr_overflows;
	while (count--) {
		if (ent->tgid != (uint32_t)getpid() || (int64_t)ent->last_reset_val != -(int64_t)SMPL_PERIOD)
			errx(1, "entry %lu: process %u, last value %" PRIu64, collected, ent->tgid,
			     (uint64_t)ent->last_reset_val);
		for (j = 0; j < num_smpl_pmds; j++)
			if (((uint64_t *)(ent + 1))[j] == 0)
				errx(1, "no instructions");
		pos += sizeof(*ent) + num_smpl_pmds * sizeof(uint64_t);
		ent = (smpl_entry_t *)pos;
		collected++;
	}
	if (pos - (unsigned long)hdr != hdr->hdr_cur_offs)
		errx(1, "entries end at another place");
}

static void
sigio_handler(int n)
{
	process_smpl_buf(1);
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
	volatile unsigned long busy = 0;
	struct sigaction act;
	smpl_arg_t buf_arg;
	unsigned int i;
	pfarg_pmc_t pc[8];
	pfarg_pmd_t pd[8];
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	memset(&act, 0, sizeof(act));
	act.sa_handler = sigio_handler;
	sigaction(SIGIO, &act, NULL);
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	memset(&buf_arg, 0, sizeof(buf_arg));
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
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
	for (i = 0; i < outp.pfp_pmd_count; i++) {
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
		if (i) {
			pd[0].reg_smpl_pmds[0] |= 1UL << pd[i].reg_num;
			pd[0].reg_reset_pmds[0] |= 1UL << pd[i].reg_num;
			num_smpl_pmds++;
		}
	}
	pd[0].reg_flags = PFM_REGFL_OVFL_NOTIFY;
	pd[0].reg_value = pd[0].reg_long_reset = pd[0].reg_short_reset = -SMPL_PERIOD;
	buf_arg.buf_size = 4 * getpagesize();
	ctx.ctx_flags = PFM_FL_OVFL_NO_MSG;
	if ((fd = pfm_create_context(&ctx, fmt, &buf_arg, sizeof(buf_arg))) == -1)
		err(1, "pfm_create_context");
	buf_addr = mmap(NULL, (size_t)buf_arg.buf_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (buf_addr == MAP_FAILED)
		err(1, "cannot mmap sampling buffer");
	if (PFM_VERSION_MAJOR(((smpl_hdr_t *)buf_addr)->hdr_version) < 1)
		errx(1, "invalid buffer format version");
	load_args.load_pid = getpid();
	if (pfm_write_pmcs(fd, pc, outp.pfp_pmc_count) || pfm_write_pmds(fd, pd, outp.pfp_pmd_count) ||
	    pfm_load_context(fd, &load_args))
		err(1, "cannot monitor");
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL, 0) | O_ASYNC) == -1 || fcntl(fd, F_SETOWN, getpid()) == -1)
		err(1, "fcntl");
	pfm_self_start(fd);
	while (fulls < 5)
		busy++;
	pfm_self_stop(fd);
	process_smpl_buf(0);
	printf("%lu samples collected in %lu buffers\n", collected, fulls);
	close(fd);
	munmap(buf_addr, (size_t)buf_arg.buf_size);
	return 0;
}
