/*
 * More events than counters: at each overflow of the cycles the program reads the counters of the command, writes those of
 * the next group and restarts.  -DV3: calls of version 3.
 */
#include <sys/types.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

#define PERIOD 10000000ULL
#define GROUPS 3

#ifdef V3
typedef pfarg_pmr_t pmc_t;
typedef pfarg_pmd_attr_t pmd_t;
#else
typedef pfarg_pmc_t pmc_t;
typedef pfarg_pmd_t pmd_t;
#endif

typedef struct {
	const char *names[3];
	pmc_t pc[16];
	pmd_t pd[16];
	unsigned int npc, npd;
	uint64_t counts[3], runs;
} group_t;

static group_t groups[GROUPS];
static const char *names[GROUPS][2] = {
	{ "IA64_INST_RETIRED", "NOPS_RETIRED" },
	{ "LOADS_RETIRED", "MISALIGNED_LOADS_RETIRED" },
	{ "STORES_RETIRED", "PREDICATE_SQUASHED_RETIRED" },
};

static void
make_group(group_t *g, const char **events, const char *first)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	unsigned int i;

	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	for (i = 0; i < 3; i++) {
		g->names[i] = i ? events[i - 1] : first;
		if (pfm_find_event(g->names[i], &inp.pfp_events[i].event) != PFMLIB_SUCCESS)
			errx(1, "no event %s", g->names[i]);
	}
	inp.pfp_event_count = 3;
	inp.pfp_dfl_plm = PFM_PLM3;
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events");
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		g->pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		g->pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < outp.pfp_pmd_count; i++)
		g->pd[i].reg_num = outp.pfp_pmds[i].reg_num;
	g->npc = outp.pfp_pmc_count;
	g->npd = outp.pfp_pmd_count;
	g->pd[0].reg_flags = PFM_REGFL_OVFL_NOTIFY;
}

static void
program(int fd, group_t *g)
{
	unsigned int i;

	for (i = 0; i < g->npd; i++)
		g->pd[i].reg_value = g->pd[i].reg_long_reset = g->pd[i].reg_short_reset = i ? 0 : -PERIOD;
#ifdef V3
	if (pfm_write(fd, 0, PFM_RW_PMC, g->pc, g->npc * sizeof(*g->pc)) ||
	    pfm_write(fd, 0, PFM_RW_PMD_ATTR, g->pd, g->npd * sizeof(*g->pd)))
#else
	if (pfm_write_pmcs(fd, g->pc, g->npc) || pfm_write_pmds(fd, g->pd, g->npd))
#endif
		err(1, "cannot program a group");
}

static void
collect(int fd, group_t *g)
{
	unsigned int i;

#ifdef V3
	if (pfm_read(fd, 0, PFM_RW_PMD_ATTR, g->pd, g->npd * sizeof(*g->pd)))
#else
	if (pfm_read_pmds(fd, g->pd, g->npd))
#endif
		err(1, "cannot read a group");
	g->counts[0] += g->pd[0].reg_value + PERIOD;
	for (i = 1; i < g->npd; i++)
		g->counts[i] += g->pd[i].reg_value;
	g->runs++;
}

int
main(int argc, char **argv)
{
	int fd, status, i, j, current = 0;
	pfmlib_event_t cycles;
	char first[64];
	pfarg_msg_t msg;
	pid_t pid;

	if (argc < 2)
		errx(1, "you must specify a command");
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_get_cycle_event(&cycles);
	pfm_get_event_name(cycles.event, first, sizeof(first));
	for (i = 0; i < GROUPS; i++)
		make_group(&groups[i], names[i], first);
	if ((pid = fork()) == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[1], argv + 1);
		exit(127);
	}
	if (waitpid(pid, &status, WUNTRACED) == -1 || WIFEXITED(status))
		errx(1, "command not started");
#ifdef V3
	if ((fd = pfm_create(PFM_FL_NOTIFY_BLOCK, NULL)) == -1)
		err(1, "pfm_create");
	program(fd, &groups[0]);
	if (pfm_attach(fd, 0, pid) || pfm_set_state(fd, 0, PFM_ST_START))
		err(1, "cannot monitor");
#else
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	ctx.ctx_flags = PFM_FL_NOTIFY_BLOCK;
	load_args.load_pid = pid;
	if ((fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1)
		err(1, "pfm_create_context");
	program(fd, &groups[0]);
	if (pfm_load_context(fd, &load_args) || pfm_start(fd, NULL))
		err(1, "cannot monitor");
#endif
	ptrace(PTRACE_DETACH, pid, NULL, 0);
	for (;;) {
		if (read(fd, &msg, sizeof(msg)) != sizeof(msg)) {
			if (errno == EINTR)
				continue;
			err(1, "read of a message");
		}
		if (msg.type == PFM_MSG_END)
			break;
		collect(fd, &groups[current]);
		current = (current + 1) % GROUPS;
		program(fd, &groups[current]);
		if (pfm_restart(fd) && errno != EBUSY)
			err(1, "pfm_restart");
	}
	waitpid(pid, &status, 0);
	collect(fd, &groups[current]);
	for (i = 0; i < GROUPS; i++)
		for (j = 0; j < 3; j++)
			printf("group %d runs %" PRIu64 " %s %" PRIu64 "\n", i, groups[i].runs, groups[i].names[j],
			       groups[i].counts[j]);
	printf("status %d\n", WEXITSTATUS(status));
	return 0;
}
