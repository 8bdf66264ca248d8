/*
 * Samples a command into the default format's buffer, with random periods; a message tells that it is full, another one
 * that the command has ended.  -DV3: calls of version 3.
 */
#include <sys/types.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/time.h>
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
#include <perfmon/perfmon_dfl_smpl.h>
#include <perfmon/pfmlib.h>

#define SMPL_PERIOD 200000ULL

static unsigned long collected, fulls, last_count, last_overflow = ~0UL;
static void *buf_addr;
static unsigned int num_smpl_pmds;
static pid_t pid;

static void
process_smpl_buf(void)
{
	pfm_dfl_smpl_hdr_t *hdr = (pfm_dfl_smpl_hdr_t *)buf_addr;
	pfm_dfl_smpl_entry_t *ent = (pfm_dfl_smpl_entry_t *)(hdr + 1);
	unsigned long i, count = hdr->hdr_count;

	if (hdr->hdr_overflows == last_overflow && hdr->hdr_count == last_count) {
		warnx("skipping identical set of samples %lu", count);
		return;
	}
	last_overflow = hdr->hdr_overflows;
	last_count = count;
	for (i = 0; i < count; i++) {
		if (ent->pid != (uint32_t)pid || ent->tgid != (uint32_t)pid)
			errx(1, "entry of %u, %u", ent->pid, ent->tgid);
		if ((int64_t)ent->last_reset_val > -(int64_t)SMPL_PERIOD ||
		    (int64_t)ent->last_reset_val < -(int64_t)SMPL_PERIOD - 0xff)
			errx(1, "period %" PRId64, (int64_t)ent->last_reset_val);
		collected++;
		ent = (pfm_dfl_smpl_entry_t *)((char *)(ent + 1) + num_smpl_pmds * sizeof(uint64_t));
	}
}

static int
child(char **arg)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execvp(arg[0], arg);
	exit(127);
}

int
main(int argc, char **argv)
{
	char fmt[] = PFM_DFL_SMPL_NAME;
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	pfm_dfl_smpl_arg_t buf_arg;
	pfarg_msg_t msg;
	int fd, ret, status;
	unsigned int i;
#ifdef V3
	pfarg_pmr_t pc[16];
	pfarg_pmd_attr_t pd[16];
#else
	pfarg_pmc_t pc[16];
	pfarg_pmd_t pd[16];
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
#endif
	if (argc < 2)
		errx(1, "you must specify a command");
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	memset(&buf_arg, 0, sizeof(buf_arg));
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
			num_smpl_pmds++;
		}
	}
	pd[0].reg_flags = PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM;
	pd[0].reg_value = pd[0].reg_long_reset = pd[0].reg_short_reset = -SMPL_PERIOD;
	pd[0].reg_random_mask = 0xff;
#ifndef V3
	pd[0].reg_random_seed = 5;
#endif
	buf_arg.buf_size = getpagesize();
	if ((pid = fork()) == -1)
		err(1, "cannot fork");
	if (pid == 0)
		child(argv + 1);
	if (waitpid(pid, &status, WUNTRACED) == -1 || WIFEXITED(status))
		errx(1, "command not started");
#ifdef V3
	if ((fd = pfm_create(PFM_FL_NOTIFY_BLOCK | PFM_FL_SMPL_FMT, NULL, fmt, &buf_arg, sizeof(buf_arg))) == -1)
		err(1, "pfm_create");
#else
	ctx.ctx_flags = PFM_FL_NOTIFY_BLOCK;
	if ((fd = pfm_create_context(&ctx, fmt, &buf_arg, sizeof(buf_arg))) == -1)
		err(1, "pfm_create_context");
#endif
	buf_addr = mmap(NULL, (size_t)buf_arg.buf_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (buf_addr == MAP_FAILED)
		err(1, "cannot mmap sampling buffer");
#ifdef V3
	if (pfm_write(fd, 0, PFM_RW_PMC, pc, sizeof(*pc) * outp.pfp_pmc_count) ||
	    pfm_write(fd, 0, PFM_RW_PMD_ATTR, pd, sizeof(*pd) * outp.pfp_pmd_count) || pfm_attach(fd, 0, pid) ||
	    pfm_set_state(fd, 0, PFM_ST_START))
		err(1, "cannot monitor");
#else
	load_args.load_pid = pid;
	if (pfm_write_pmcs(fd, pc, outp.pfp_pmc_count) || pfm_write_pmds(fd, pd, outp.pfp_pmd_count) ||
	    pfm_load_context(fd, &load_args) || pfm_start(fd, NULL))
		err(1, "cannot monitor");
#endif
	ptrace(PTRACE_DETACH, pid, NULL, 0);
	for (;;) {
		ret = read(fd, &msg, sizeof(msg));
		if (ret == -1) {
			if (errno == EINTR)
				continue;
			err(1, "cannot read perfmon msg");
		}
		if (msg.type == PFM_MSG_END)
			break;
		if (msg.type != PFM_MSG_OVFL)
			errx(1, "unexpected message %d", msg.type);
		fulls++;
		process_smpl_buf();
		if (pfm_restart(fd)) {
			if (errno != EBUSY)
				err(1, "pfm_restart");
			warnx("task has probably terminated");
		}
	}
	waitpid(pid, &status, 0);
	process_smpl_buf();
	printf("%lu samples collected in %lu buffers, status %d\n", collected, fulls, WEXITSTATUS(status));
	munmap(buf_addr, (size_t)buf_arg.buf_size);
	close(fd);
	return 0;
}
