/*
 * More events than counters, switched by sets: by a time, by the clock's resolution (-DGETRES), or by overflows of the
 * cycles (-DOVFL).  Each count is scaled by what its set had of the whole.  -DV3: calls of version 3.
 */
#include <sys/types.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

#define NSETS 3

static const char *names[NSETS] = { "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED" };

int
main(int argc, char **argv)
{
	int fd, status, i, j, npc = 0, npd = 0, set_of[16];
	uint64_t runs = 0, duration = 0;
	pid_t pid;
#ifdef V3
	pfarg_set_desc_t sets[NSETS];
	pfarg_set_info_t info[NSETS];
	pfarg_pmr_t pc[16], pd_read[16];
	pfarg_pmd_attr_t pd[16];
#else
	pfarg_setdesc_t sets[NSETS];
	pfarg_setinfo_t info[NSETS];
	pfarg_pmc_t pc[16];
	pfarg_pmd_t pd[16];
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
#endif
	memset(sets, 0, sizeof(sets));
	memset(info, 0, sizeof(info));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	if (argc < 2)
		errx(1, "you must specify a command");
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	for (i = 0; i < NSETS; i++) {
		pfmlib_input_param_t inp;
		pfmlib_output_param_t outp;

		memset(&inp, 0, sizeof(inp));
		memset(&outp, 0, sizeof(outp));
		pfm_get_cycle_event(&inp.pfp_events[0]);
		if (pfm_find_event(names[i], &inp.pfp_events[1].event) != PFMLIB_SUCCESS)
			errx(1, "no event %s", names[i]);
		inp.pfp_event_count = 2;
		inp.pfp_dfl_plm = PFM_PLM3;
		if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
			errx(1, "cannot configure set %d", i);
		sets[i].set_id = info[i].set_id = i;
#ifdef OVFL
		sets[i].set_flags = PFM_SETFL_OVFL_SWITCH;
#else
		sets[i].set_flags = PFM_SETFL_TIME_SWITCH;
		sets[i].set_timeout = 2000000;
#ifdef GETRES
		struct timespec least;

		clock_getres(CLOCK_MONOTONIC, &least);
		sets[i].set_timeout = least.tv_sec * 1000000000ULL + least.tv_nsec;
#endif
#endif
		for (j = 0; j < (int)outp.pfp_pmc_count; j++, npc++) {
			pc[npc].reg_num = outp.pfp_pmcs[j].reg_num;
			pc[npc].reg_value = outp.pfp_pmcs[j].reg_value;
			pc[npc].reg_set = i;
		}
		for (j = 0; j < (int)outp.pfp_pmd_count; j++, npd++) {
			pd[npd].reg_num = outp.pfp_pmds[j].reg_num;
			pd[npd].reg_set = set_of[npd] = i;
#ifdef OVFL
			if (j == 0) {
				pd[npd].reg_value = pd[npd].reg_short_reset = pd[npd].reg_long_reset = -4000000ULL;
#ifdef V3
				pd[npd].reg_ovfl_swcnt = 1;
#else
				pd[npd].reg_ovfl_switch_cnt = 1;
#endif
			}
#endif
		}
	}
	if ((pid = fork()) == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[1], argv + 1);
		exit(127);
	}
	if (waitpid(pid, &status, WUNTRACED) == -1 || WIFEXITED(status))
		errx(1, "command not started");
#ifdef V3
	if ((fd = pfm_create(0, NULL)) == -1 || pfm_create_sets(fd, 0, sets, sizeof(sets)) ||
	    pfm_write(fd, 0, PFM_RW_PMC, pc, npc * sizeof(*pc)) ||
	    pfm_write(fd, 0, PFM_RW_PMD_ATTR, pd, npd * sizeof(*pd)) || pfm_attach(fd, 0, pid) ||
	    pfm_set_state(fd, 0, PFM_ST_START))
		err(1, "cannot monitor");
#else
	load_args.load_pid = pid;
	if ((fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1 || pfm_create_evtsets(fd, sets, NSETS) ||
	    pfm_write_pmcs(fd, pc, npc) || pfm_write_pmds(fd, pd, npd) || pfm_load_context(fd, &load_args) ||
	    pfm_start(fd, NULL))
		err(1, "cannot monitor");
#endif
	ptrace(PTRACE_DETACH, pid, NULL, 0);
	waitpid(pid, &status, 0);
#ifdef V3
	memset(pd_read, 0, sizeof(pd_read));
	for (i = 0; i < npd; i++) {
		pd_read[i].reg_num = pd[i].reg_num;
		pd_read[i].reg_set = pd[i].reg_set;
	}
	if (pfm_read(fd, 0, PFM_RW_PMD, pd_read, npd * sizeof(*pd_read)) || pfm_getinfo_sets(fd, 0, info, sizeof(info)))
		err(1, "cannot read");
#else
	if (pfm_read_pmds(fd, pd, npd) || pfm_getinfo_evtsets(fd, info, NSETS))
		err(1, "cannot read");
#endif
	for (i = 0; i < NSETS; i++) {
		runs += info[i].set_runs;
#ifdef V3
		duration += info[i].set_duration;
#else
		duration += info[i].set_act_duration;
#endif
	}
	for (i = 0; i < npd; i++) {
#ifdef V3
		const uint64_t value = pd_read[i].reg_value;
#else
		const uint64_t value = pd[i].reg_value;
#endif
		if ((i & 1) == 0)
			continue;
		printf("set %d runs %" PRIu64 " %s %" PRIu64 " scaled %.0f\n", set_of[i],
		       (uint64_t)info[set_of[i]].set_runs, names[set_of[i]], value,
		       runs ? (double)value * runs / info[set_of[i]].set_runs : 0);
	}
	printf("runs %" PRIu64 " duration %" PRIu64 " status %d\n", runs, duration, WEXITSTATUS(status));
	return 0;
}
