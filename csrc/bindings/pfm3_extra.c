/* Calls of perfmon2 for a PMU, whatever PMU is selected: the Pythonic layer has several side by side.  sampling: the
 * argument of the default format, or NULL. */
int pypfm_perfmon2_create(int pmu, unsigned int flags, const void *sampling);
int pypfm_perfmon2_advance(int pmu, unsigned int es, unsigned int umask, unsigned int plm, unsigned long long count);
int pypfm_perfmon2_advance_task(int pmu, int tid, unsigned int event, unsigned int plm, unsigned long long count);
int pypfm_perfmon2_time(int pmu, int tid, unsigned long long ns);
int pypfm_perfmon2_set_ip(int pmu, unsigned long long ip);
int pypfm_perfmon2_set_pmd(int pmu, unsigned int pmd, unsigned long long value);
int pypfm_unmap(void *addr, unsigned long len);
/* Stop another thread with ptrace(2), and let it go on: 0, or a negative errno value.  stop_thread() stores the signal that
 * was about to be delivered to it, or 0, which release_thread() delivers. */
int pypfm_stop_thread(int tid, int *signal);
int pypfm_release_thread(int tid, int signal);
/* ---- code ---- */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/ptrace.h>
#include <sys/wait.h>
#endif

/* ret, once the PMU is the selected one again. */
static int
pypfm_perfmon2_used(int ret)
{
	pfm3_use_pmu(PFMLIB_NO_PMU);
	return ret;
}

static int
pypfm_perfmon2_create(int pmu, unsigned int flags, const void *sampling)
{
	char name[] = PFM_DFL_SMPL_NAME;
	pfarg_ctx_t context = { .ctx_flags = flags };
	pfm_dfl_smpl_arg_t argument = { 0 };

	if (sampling)
		memcpy(&argument, sampling, sizeof(argument));
	pfm3_use_pmu(pmu);
	return pypfm_perfmon2_used(
		pfm_create_context(&context, sampling ? name : NULL, sampling ? &argument : NULL, sizeof(argument)));
}

static int
pypfm_perfmon2_advance(int pmu, unsigned int es, unsigned int umask, unsigned int plm, unsigned long long count)
{
	pfm3_use_pmu(pmu);
	return pypfm_perfmon2_used(pfm_model_advance_code(es, umask, plm, count));
}

static int
pypfm_perfmon2_advance_task(int pmu, int tid, unsigned int event, unsigned int plm, unsigned long long count)
{
	pfm3_use_pmu(pmu);
	return pypfm_perfmon2_used(pfm_model_advance_task(tid, event, plm, count));
}

/* tid 0: of the calling thread. */
static int
pypfm_perfmon2_time(int pmu, int tid, unsigned long long ns)
{
	pfm3_use_pmu(pmu);
	return pypfm_perfmon2_used(tid ? pfm_model_time_task(tid, ns) : pfm_model_time(ns));
}

static int
pypfm_perfmon2_set_ip(int pmu, unsigned long long ip)
{
	pfm3_use_pmu(pmu);
	return pypfm_perfmon2_used(pfm_model_set_ip(ip));
}

static int
pypfm_perfmon2_set_pmd(int pmu, unsigned int pmd, unsigned long long value)
{
	pfm3_use_pmu(pmu);
	return pypfm_perfmon2_used(pfm_model_set_pmd(pmd, value));
}

static int
pypfm_unmap(void *addr, unsigned long len)
{
	return munmap(addr, len);
}

#ifdef __linux__
static int
pypfm_release_thread(int tid, int signal)
{
	return ptrace(PTRACE_DETACH, tid, NULL, (void *)(long)signal) < 0 ? -errno : 0;
}

/* The end of the thread, if it comes first, is left to whoever waits for that. */
static int
pypfm_stop_thread(int tid, int *signal)
{
	siginfo_t info;
	int ret;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return -errno;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
		goto fail;
	do {
		memset(&info, 0, sizeof(info));
		ret = waitid(P_PID, (id_t)tid, &info, WSTOPPED | __WALL);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0)
		goto fail;
	*signal = info.si_status >> 8 ? 0 : info.si_status; /* what is above says that it is our stop */
	return 0;
fail:
	ret = -errno;
	pypfm_release_thread(tid, 0);
	return ret;
}
#else
static int
pypfm_release_thread(int tid, int signal)
{
	(void)tid, (void)signal;
	return -ENOSYS;
}

static int
pypfm_stop_thread(int tid, int *signal)
{
	(void)tid, (void)signal;
	return -ENOSYS;
}
#endif
