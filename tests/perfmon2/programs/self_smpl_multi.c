/*
 * Several threads, each with a context of its own, whose signal goes to the thread.  -DV3: calls of version 3.
 */
#include <sys/types.h>
#include <sys/syscall.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

#define THREADS 3
#define PERIOD 3000000ULL
#define WANTED 10

static pfmlib_input_param_t inp;
static pfmlib_output_param_t outp;
static __thread int my_fd = -1;
static __thread volatile unsigned long mine;
static unsigned long bad_msg, bad_restart, bad_fd, total;
static unsigned long results[THREADS];

static void
handler(int sig, siginfo_t *info, void *extra)
{
	pfarg_msg_t msg;
	int r;

	if (info->si_fd != my_fd)
		__sync_fetch_and_add(&bad_fd, 1);
	do {
		r = read(info->si_fd, &msg, sizeof(msg));
	} while (r == -1 && errno == EINTR);
	if (r != sizeof(msg) || msg.type != PFM_MSG_OVFL)
		__sync_fetch_and_add(&bad_msg, 1);
	if (pfm_restart(info->si_fd))
		__sync_fetch_and_add(&bad_restart, 1);
	mine++;
	__sync_fetch_and_add(&total, 1);
}

static void *
thread(void *arg)
{
	const pid_t tid = (pid_t)syscall(__NR_gettid);
	volatile unsigned long busy = 0;
#ifdef V3
	pfarg_pmr_t pc;
	pfarg_pmd_attr_t pd;
#else
	pfarg_pmc_t pc;
	pfarg_pmd_t pd;
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	load_args.load_pid = tid;
#endif
	memset(&pc, 0, sizeof(pc));
	memset(&pd, 0, sizeof(pd));
	pc.reg_num = outp.pfp_pmcs[0].reg_num;
	pc.reg_value = outp.pfp_pmcs[0].reg_value;
	pd.reg_num = outp.pfp_pmds[0].reg_num;
	pd.reg_flags = PFM_REGFL_OVFL_NOTIFY;
	pd.reg_value = pd.reg_long_reset = pd.reg_short_reset = -PERIOD;
#ifdef V3
	if ((my_fd = pfm_create(0, NULL)) == -1 || pfm_write(my_fd, 0, PFM_RW_PMC, &pc, sizeof(pc)) ||
	    pfm_write(my_fd, 0, PFM_RW_PMD_ATTR, &pd, sizeof(pd)) || pfm_attach(my_fd, 0, tid))
		err(1, "cannot monitor");
#else
	if ((my_fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1 || pfm_write_pmcs(my_fd, &pc, 1) ||
	    pfm_write_pmds(my_fd, &pd, 1) || pfm_load_context(my_fd, &load_args))
		err(1, "cannot monitor");
#endif
	if (fcntl(my_fd, F_SETOWN, tid) == -1)
		err(1, "F_SETOWN");
	if (fcntl(my_fd, F_SETSIG, SIGUSR1) == -1)
		err(1, "F_SETSIG");
	if (fcntl(my_fd, F_SETFL, fcntl(my_fd, F_GETFL, 0) | O_ASYNC) == -1)
		err(1, "O_ASYNC");
	pfm_self_start(my_fd);
	while (mine < WANTED)
		busy++;
	pfm_self_stop(my_fd);
	results[(long)arg] = mine;
	close(my_fd);
	return NULL;
}

int
main(void)
{
	pthread_t threads[THREADS];
	struct sigaction act;
	sigset_t set;
	long i;

	memset(&act, 0, sizeof(act));
	act.sa_sigaction = handler;
	act.sa_flags = SA_SIGINFO;
	sigaction(SIGUSR1, &act, NULL);
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_get_cycle_event(&inp.pfp_events[0]);
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3;
	if (pfm_dispatch_events(&inp, NULL, &outp, NULL) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events");
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread, (void *)i))
			errx(1, "pthread_create");
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < THREADS; i++)
		printf("thread %ld: %lu\n", i, results[i]);
	printf("total %lu bad_fd %lu bad_msg %lu bad_restart %lu\n", total, bad_fd, bad_msg, bad_restart);
	return 0;
}
