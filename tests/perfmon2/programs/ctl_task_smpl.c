/*
 * perfmonctl(2): samples a command into the buffer of its format, which the call that makes the context maps.
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
#include <perfmon/perfmon_default_smpl.h>
#include <perfmon/pfmlib.h>

#define SMPL_PERIOD 200000UL

typedef pfm_default_smpl_hdr_t smpl_hdr_t;
typedef pfm_default_smpl_entry_t smpl_entry_t;
typedef pfm_default_smpl_ctx_arg_t smpl_arg_t;

static pfm_uuid_t buf_fmt_id = PFM_DEFAULT_SMPL_UUID;
static unsigned long collected, fulls, last_overflow = ~0UL, last_count;
static void *buf_addr;
static pid_t pid;

static void
process_smpl_buf(void)
{
	smpl_hdr_t *hdr = (smpl_hdr_t *)buf_addr;
	smpl_entry_t *ent = (smpl_entry_t *)(hdr + 1);
	unsigned long count;

	if (hdr->hdr_overflows == last_overflow && hdr->hdr_count == last_count)
		return;
	last_overflow = hdr->hdr_overflows;
	last_count = hdr->hdr_count;
	for (count = hdr->hdr_count; count; count--) {
		if (ent->pid != pid || ent->ovfl_pmd < 4)
			errx(1, "entry of %d, PMD%d", ent->pid, ent->ovfl_pmd);
		collected++;
		ent = (smpl_entry_t *)((char *)(ent + 1) + sizeof(uint64_t));
	}
}

int
main(int argc, char **argv)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	pfarg_reg_t pc[8], pd[8];
	pfarg_load_t load_args;
	smpl_arg_t ctx;
	pfm_msg_t msg;
	unsigned int i;
	int fd, status;

	if (argc < 2)
		errx(1, "you must specify a command");
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	memset(&ctx, 0, sizeof(ctx));
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
	pc[0].reg_flags |= PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM;
	pc[0].reg_smpl_pmds[0] |= 1UL << pd[1].reg_num;
	pd[0].reg_value = pd[0].reg_long_reset = pd[0].reg_short_reset = -SMPL_PERIOD;
	pd[0].reg_random_seed = 5;
	pd[0].reg_random_mask = 0xff;
	memcpy(ctx.ctx_arg.ctx_smpl_buf_id, buf_fmt_id, sizeof(pfm_uuid_t));
	ctx.ctx_arg.ctx_flags = PFM_FL_NOTIFY_BLOCK;
	ctx.buf_arg.buf_size = getpagesize();
	if (perfmonctl(0, PFM_CREATE_CONTEXT, &ctx, 1) == -1)
		err(1, "PFM_CREATE_CONTEXT");
	fd = ctx.ctx_arg.ctx_fd;
	buf_addr = ctx.ctx_arg.ctx_smpl_vaddr;
	printf("context [%d] buffer mapped at %s\n", fd, buf_addr ? "an address" : "nowhere");
	if (PFM_VERSION_MAJOR(((smpl_hdr_t *)buf_addr)->hdr_version) < 1)
		errx(1, "invalid buffer format version");
	if (perfmonctl(fd, PFM_WRITE_PMCS, pc, outp.pfp_pmc_count) == -1 ||
	    perfmonctl(fd, PFM_WRITE_PMDS, pd, outp.pfp_pmd_count) == -1)
		err(1, "cannot write registers");
	fflush(stdout);
	if ((pid = fork()) == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[1], argv + 1);
		exit(127);
	}
	if (waitpid(pid, &status, WUNTRACED) == -1 || WIFEXITED(status))
		errx(1, "command not started");
	load_args.load_pid = pid;
	if (perfmonctl(fd, PFM_LOAD_CONTEXT, &load_args, 1) == -1 || perfmonctl(fd, PFM_START, NULL, 0) == -1)
		err(1, "cannot monitor");
	ptrace(PTRACE_DETACH, pid, NULL, 0);
	for (;;) {
		if (read(fd, &msg, sizeof(msg)) == -1) {
			if (errno == EINTR)
				continue;
			err(1, "read");
		}
		if (msg.type == PFM_MSG_END)
			break;
		fulls++;
		process_smpl_buf();
		if (perfmonctl(fd, PFM_RESTART, NULL, 0) == -1 && errno != EBUSY)
			err(1, "PFM_RESTART");
	}
	waitpid(pid, &status, 0);
	process_smpl_buf();
	printf("%lu samples collected in %lu buffers, status %d\n", collected, fulls, WEXITSTATUS(status));
	close(fd);
	return 0;
}
