/*
 * Carries out a script, a call a line, from standard input: as the tool with which sessions were tried out by hand.
 * -DV3: calls of version 3.
 */
#include <sys/types.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/perfmon_dfl_smpl.h>
#include <perfmon/pfmlib.h>

#define MAX 16

static int fds[MAX];
static pid_t tasks[MAX];

static int
create(int system, unsigned long size)
{
	char fmt[] = "default";
	pfm_dfl_smpl_arg_t arg;

	memset(&arg, 0, sizeof(arg));
	arg.buf_size = size;
#ifdef V3
	pfarg_sinfo_t sif;

	if (size)
		return pfm_create((system ? PFM_FL_SYSTEM_WIDE : 0) | PFM_FL_SMPL_FMT, &sif, fmt, &arg, sizeof(arg));
	return pfm_create(system ? PFM_FL_SYSTEM_WIDE : 0, &sif);
#else
	pfarg_ctx_t ctx;

	memset(&ctx, 0, sizeof(ctx));
	ctx.ctx_flags = system ? PFM_FL_SYSTEM_WIDE : 0;
	return pfm_create_context(&ctx, size ? fmt : NULL, size ? &arg : NULL, size ? sizeof(arg) : 0);
#endif
}

static int
make_set(int fd, int id, unsigned long timeout, int ovfl)
{
#ifdef V3
	pfarg_set_desc_t set;
#else
	pfarg_setdesc_t set;
#endif
	memset(&set, 0, sizeof(set));
	set.set_id = id;
	set.set_flags = timeout ? PFM_SETFL_TIME_SWITCH : ovfl ? PFM_SETFL_OVFL_SWITCH : 0;
	set.set_timeout = timeout;
#ifdef V3
	return pfm_create_sets(fd, 0, &set, sizeof(set));
#else
	return pfm_create_evtsets(fd, &set, 1);
#endif
}

static int
write_one(int fd, int pmc, int set, int num, uint64_t value)
{
#ifdef V3
	pfarg_pmr_t reg;

	memset(&reg, 0, sizeof(reg));
	reg.reg_num = num;
	reg.reg_set = set;
	reg.reg_value = value;
	return pfm_write(fd, 0, pmc ? PFM_RW_PMC : PFM_RW_PMD, &reg, sizeof(reg));
#else
	pfarg_pmc_t pc;
	pfarg_pmd_t pd;

	memset(&pc, 0, sizeof(pc));
	memset(&pd, 0, sizeof(pd));
	pc.reg_num = pd.reg_num = num;
	pc.reg_set = pd.reg_set = set;
	pc.reg_value = pd.reg_value = value;
	return pmc ? pfm_write_pmcs(fd, &pc, 1) : pfm_write_pmds(fd, &pd, 1);
#endif
}

static int
show(int fd, int set, int num)
{
#ifdef V3
	pfarg_pmr_t reg;
	pfarg_set_info_t info;
#else
	pfarg_pmd_t reg;
	pfarg_setinfo_t info;
#endif
	memset(&reg, 0, sizeof(reg));
	memset(&info, 0, sizeof(info));
	reg.reg_num = num;
	reg.reg_set = info.set_id = set;
#ifdef V3
	if (pfm_read(fd, 0, PFM_RW_PMD, &reg, sizeof(reg)) || pfm_getinfo_sets(fd, 0, &info, sizeof(info)))
#else
	if (pfm_read_pmds(fd, &reg, 1) || pfm_getinfo_evtsets(fd, &info, 1))
#endif
		return -1;
	printf("set %d runs %" PRIu64 " pmd %d value %" PRIu64 "\n", set, (uint64_t)info.set_runs, num,
	       (uint64_t)reg.reg_value);
	return 0;
}

static int
load(int fd, int target, int set)
{
#ifdef V3
	return pfm_attach(fd, 0, target);
#else
	pfarg_load_t args;

	memset(&args, 0, sizeof(args));
	args.load_pid = target;
	args.load_set = set;
	return pfm_load_context(fd, &args);
#endif
}

static pid_t
run(char *command)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	if (waitpid(pid, &status, WUNTRACED) == -1 || WIFEXITED(status))
		errx(1, "cannot run %s", command);
	return pid;
}

static int
carry_out(char *line)
{
	int id, a = 0, b = 0, n = 0, status;
	unsigned long v = 0;
	volatile unsigned long busy;

	if (sscanf(line, "create %d %d %lu", &id, &a, &v) == 3)
		return (fds[id] = create(a, v)) < 0 ? -1 : 0;
	if (sscanf(line, "set %d %d %lu %d", &id, &a, &v, &b) == 4)
		return make_set(fds[id], a, v, b);
	if (sscanf(line, "pmc %d %d %d %lx", &id, &a, &b, &v) == 4)
		return write_one(fds[id], 1, a, b, v);
	if (sscanf(line, "pmd %d %d %d %lx", &id, &a, &b, &v) == 4)
		return write_one(fds[id], 0, a, b, v);
	if (sscanf(line, "run %d %n", &id, &n) == 1 && n)
		return (tasks[id] = run(line + n)) < 0 ? -1 : 0;
	if (sscanf(line, "load_task %d %d", &id, &a) == 2)
		return load(fds[id], tasks[a], 0);
	if (sscanf(line, "load_self %d %d", &id, &a) == 2)
		return load(fds[id], getpid(), a);
	if (sscanf(line, "load_cpu %d", &id) == 1)
		return load(fds[id], sched_getcpu(), 0);
	if (sscanf(line, "detach %d", &id) == 1)
		return ptrace(PTRACE_DETACH, tasks[id], NULL, 0);
	if (sscanf(line, "wait %d", &id) == 1)
		return waitpid(tasks[id], &status, 0) < 0 ? -1 : 0;
	if (sscanf(line, "start %d", &id) == 1)
		return pfm_start(fds[id], NULL);
	if (sscanf(line, "stop %d", &id) == 1)
		return pfm_stop(fds[id]);
	if (sscanf(line, "show %d %d %d", &id, &a, &b) == 3)
		return show(fds[id], a, b);
	if (sscanf(line, "unload %d", &id) == 1)
		return pfm_unload_context(fds[id]);
	if (sscanf(line, "close %d", &id) == 1)
		return close(fds[id]);
	if (sscanf(line, "busy %lu", &v) == 1) {
		for (busy = 0; busy < v; busy++)
			;
		return 0;
	}
	errx(1, "what is %s", line);
}

int
main(void)
{
	char line[256];
	int number = 0;

	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	while (fgets(line, sizeof(line), stdin)) {
		number++;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (carry_out(line))
			printf("line %d: %s\n", number, strerror(errno));
	}
	return 0;
}
