/*
 * The model with a rate: nothing is lost between two looks, however many steps it takes, and each look ends soon.
 */
#include "perfmon2_check.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

static uint64_t
now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
spin(uint64_t ms)
{
	const uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static bool
is_about(uint64_t value, uint64_t wanted)
{
	return value >= wanted - wanted / 100 && value <= wanted + wanted / 100 + 1;
}

/* Each set counts cycles with PMD5, and, if it switches by overflow, so many with PMD4. */
static int
with_sets(unsigned int count, uint32_t flags, const uint64_t *amounts)
{
	const int fd = create(0);

	for (uint16_t set = 0; set < count; set++) {
		pfarg_pmc_t pmcs[] = { { .reg_num = 4, .reg_set = set, .reg_value = CYCLES_PMC | 1 << 5 },
				       { .reg_num = 5, .reg_set = set, .reg_value = CYCLES_PMC | 1 << 5 } };
		pfarg_pmd_t pmds[] = { { .reg_num = 5, .reg_set = set },
				       { .reg_num = 4,
					 .reg_set = set,
					 .reg_value = -amounts[set],
					 .reg_short_reset = -amounts[set],
					 .reg_long_reset = -amounts[set],
					 .reg_ovfl_switch_cnt = 1 } };

		CHECK_EQ(make_set(fd, set, flags, flags == PFM_SETFL_TIME_SWITCH ? amounts[set] : 0), 0);
		CHECK_EQ(pfm_write_pmcs(fd, pmcs, 2), 0);
		CHECK_EQ(pfm_write_pmds(fd, pmds, flags == PFM_SETFL_TIME_SWITCH ? 1 : 2), 0);
	}
	CHECK_EQ(load(fd, self_id()), 0);
	return fd;
}

/* The shares of sets of their thread's time, and that all of it is somebody's; in bounded time. */
static void
shares(unsigned int count, uint32_t flags, const uint64_t *amounts, uint64_t rate, uint64_t ms)
{
	const int fd = with_sets(count, flags, amounts);
	uint64_t all = 0, whole = 0, time, begin;

	for (unsigned int i = 0; i < count; i++)
		whole += amounts[i];
	CHECK_EQ(pfm_start(fd, NULL), 0);
	time = now(CLOCK_THREAD_CPUTIME_ID);
	spin(ms);
	begin = now(CLOCK_THREAD_CPUTIME_ID);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK(now(CLOCK_THREAD_CPUTIME_ID) - begin < 100000000);
	time = begin - time;
	for (uint16_t set = 0; set < count; set++)
		all += read_all_of(fd, 5, set).reg_value;
	CHECK(is_about(all, time * rate / 1000000));
	for (uint16_t set = 0; set < count; set++) {
		CHECK(is_about(read_all_of(fd, 5, set).reg_value, all * amounts[set] / whole));
		CHECK(is_about(info_of(fd, set).set_act_duration, time * amounts[set] / whole));
	}
	close(fd);
}

/* How often threads of this process have waited, but for this one. */
static long
waits_of_others(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	long all = 0;

	while (tasks && (task = readdir(tasks))) {
		char path[300], line[200];
		long waits;
		FILE *status;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
		status = atoi(task->d_name) == self_id() ? NULL : fopen(path, "r");
		while (status && fgets(line, sizeof(line), status))
			if (sscanf(line, "voluntary_ctxt_switches: %ld", &waits) == 1)
				all += waits;
		if (status)
			fclose(status);
	}
	if (tasks)
		closedir(tasks);
	return all;
}

/* While nothing runs nobody looks, although an overflow that is told is only 10 us of the thread's time away. */
static void
nothing_happens(uint64_t rate, pid_t target)
{
	const int fd = create(0);
	const uint64_t period = rate / 100 ? rate / 100 : 1;
	long before;

	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC | 1 << 5), 0);
	CHECK_EQ(write_pmd(fd, 4, -period * 1000000, PFM_REGFL_OVFL_NOTIFY), 0);
	CHECK_EQ(load(fd, target), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(write_pmd(fd, 4, -period, PFM_REGFL_OVFL_NOTIFY), 0);
	usleep(20000);
	before = waits_of_others();
	usleep(500000);
	CHECK(waits_of_others() - before <= 3);
	close(fd);
}

static void *
wait_for_ever(void *id)
{
	__atomic_store_n((pid_t *)id, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (;;)
		pause();
	return id;
}

static void
idle(uint64_t rate)
{
	pid_t other = 0;
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, wait_for_ever, &other), 0);
	while (!__atomic_load_n(&other, __ATOMIC_ACQUIRE))
		usleep(1000);
	nothing_happens(rate, other);
	nothing_happens(rate, self_id());
}

/* Notifications come when they are due, to a thread that is in the kernel nearly all the time, and after a longer time. */
static void
due(uint64_t rate, unsigned int ms, int times, bool in_kernel)
{
	const int fd = counting(-(rate * ms), PFM_REGFL_OVFL_NOTIFY, 0), zero = open("/dev/zero", O_RDONLY);
	pfarg_pmd_t pmd = notifying((rate * ms));
	static char page[1 << 20];
	pfarg_msg_t message;

	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	for (int i = 0; i < times; i++) {
		const uint64_t begin = now(CLOCK_THREAD_CPUTIME_ID);
		uint64_t spent = 0;
		int waiting = 0;

		while (!waiting && spent < 2000000000) {
			if (in_kernel)
				CHECK_EQ(read(zero, page, sizeof(page)), sizeof(page));
			else
				spin(1);
			CHECK_EQ(ioctl(fd, FIONREAD, &waiting), 0);
			spent = now(CLOCK_THREAD_CPUTIME_ID) - begin;
		}
		CHECK(spent + 1000000 >= ms * UINT64_C(1000000) && spent < (ms + 50) * UINT64_C(1000000));
		CHECK_EQ(read(fd, &message, sizeof(message)), 64);
		CHECK_EQ(pfm_restart(fd), 0);
	}
	close(zero);
	close(fd);
}

/* A nearer overflow is noticed when the one before was not to come in the life of this machine. */
static void
nearer(void)
{
	const uint64_t far = UINT64_MAX / 1000000 - 3;
	struct pollfd ready = { .events = POLLIN };
	const int fd = create(PFM_FL_SYSTEM_WIDE);

	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC | 1 << 5), 0);
	CHECK_EQ(write_pmd(fd, 4, -far, PFM_REGFL_OVFL_NOTIFY), 0);
	CHECK_EQ(load(fd, 0), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	usleep(200000);
	CHECK_EQ(write_pmd(fd, 4, (uint64_t)-10, PFM_REGFL_OVFL_NOTIFY), 0);
	ready.fd = fd;
	CHECK_EQ(poll(&ready, 1, 3000), 1);
	close(fd);
}

static void
with_rate(const char *choice, uint64_t rate)
{
	alarm(60);
	check_begin(choice, PFMLIB_ITANIUM2_PMU);
	shares(3, PFM_SETFL_TIME_SWITCH, (const uint64_t[]){ 1000, 7, 13 }, rate, 30);
	shares(2, PFM_SETFL_TIME_SWITCH, (const uint64_t[]){ 100000, 300000 }, rate, 100);
	shares(2, PFM_SETFL_OVFL_SWITCH, (const uint64_t[]){ 7, 13 }, rate, 30);
	shares(2, PFM_SETFL_OVFL_SWITCH, (const uint64_t[]){ 997, 1013 }, rate, 100);
}

static void
with_idle_threads(void)
{
	alarm(60);
	check_begin("model,rate=2000000,np", PFMLIB_ITANIUM2_PMU);
	idle(2000000);
	due(2000000, 10, 10, true);
	due(2000000, 300, 2, false);
}

static void
with_far_overflow(void)
{
	alarm(60);
	check_begin("model,rate=1,np", PFMLIB_ITANIUM2_PMU);
	nearer();
}

int
main(void)
{
	IN_CHILD(with_rate("model,rate=1000", 1000););
	IN_CHILD(with_rate("model,rate=2000000", 2000000););
	IN_CHILD(with_idle_threads(););
	IN_CHILD(with_far_overflow(););
	return check_result();
}
