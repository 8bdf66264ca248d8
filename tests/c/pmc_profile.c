/*
 * Profiling on the model of xscale: SIGPROF at each overflow, profil(3), the interval timer.
 */
#include "pmc_check.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/time.h>

#define MISSES(n) CHECK_EQ(pmc_model_advance(DCACHE_MISS, (n)), 0)

static volatile sig_atomic_t ticks;

static void
count(int signal)
{
	(void)signal;
	ticks++;
}

/* Ticks of a profile of so many misses, each this many. */
static long long
ticks_of(pmc_ctr_t reset, uint64_t misses)
{
	ticks = 0;
	CHECK_EQ(profile(1, DCACHE_MISS, reset), 0);
	MISSES(misses);
	CHECK_EQ(profile_stop(1), 0);
	return ticks;
}

/* "to get a profiling tick on every hundredth data cache miss" */
static void
the_manual_s_example(void)
{
	CHECK_EQ(ticks_of(100, 12345), 123);
	ticks = 0;
	CHECK_EQ(profile(1, DCACHE_MISS, 100), 0);
	for (int i = 1; i <= 1000; i++) {
		MISSES(1);
		CHECK_EQ(ticks, i / 100);
	}
	CHECK_EQ(pmc_model_advance(INSTRUCTIONS, 1000), 0);
	CHECK_EQ(ticks, 10);
	CHECK_EQ(profile_stop(1), 0);
	MISSES(1000);
	CHECK_EQ(ticks, 10);
}

static void
overflows(void)
{
	const uint64_t two31 = UINT64_C(1) << 31, two32 = UINT64_C(1) << 32;

	CHECK_EQ(ticks_of(1, 1000), 1000);
	CHECK_EQ(ticks_of(two31, two31 - 1), 0);
	CHECK_EQ(ticks_of(two31, 5 * two31), 5);
	CHECK_EQ(ticks_of(two32 - 1, two32 - 2), 0);
	CHECK_EQ(ticks_of(two32 - 1, two32 - 1), 1);
	CHECK_EQ(ticks_of(two32 - 1, two32), 1);
	CHECK_EQ(ticks_of(two32 - 1, 2 * two32), 2);
	CHECK_EQ(ticks_of(0, two32 - 1), 0);
	CHECK_EQ(ticks_of(0, 3 * two32), 3);
	CHECK_EQ(ticks_of(two32, two32), 1);
	CHECK_EQ(ticks_of(two32 + 5, 11), 2);
}

/* A counter that counts: its value is the number of events, whatever the reset value. */
static void
values_do_not_wrap(void)
{
	const pmc_ctr_t resets[] = { 0, 1, 100, UINT64_C(1) << 31, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX };

	for (size_t i = 0; i < sizeof(resets) / sizeof(resets[0]); i++) {
		CHECK_EQ(configure(1, DCACHE_MISS, resets[i]), 0);
		CHECK_EQ(start(1), 0);
		ticks = 0;
		MISSES(UINT32_MAX);
		MISSES(2);
		CHECK_EQ(value_of(1), UINT64_C(0x100000001));
		CHECK_EQ(stop(1), 0);
		MISSES(1);
		CHECK_EQ(start(1), 0);
		MISSES(UINT64_C(1) << 40);
		CHECK_EQ(value_of(1), UINT64_C(0x10100000001));
		CHECK_EQ(stop(1), 0);
		CHECK_EQ(ticks, 0);
	}
}

static void
clocks(void)
{
	ticks = 0;
	CHECK_EQ(profile(0, 0x101, 10), 0); /* 64 clocks each */
	CHECK_EQ(pmc_model_advance(CLOCK, 639), 0);
	CHECK_EQ(ticks, 0);
	CHECK_EQ(pmc_model_advance(CLOCK, 1), 0);
	CHECK_EQ(ticks, 1);
	CHECK_EQ(profile_stop(0), 0);
	CHECK_EQ(profile(0, CLOCK, 10), 0);
	CHECK_EQ(pmc_model_advance(CLOCK, 639), 0);
	CHECK_EQ(ticks, 64);
	CHECK_EQ(profile_stop(0), 0);
}

/* ---- who hears it ------------------------------------------------------------ */

static void
nobody_listens(void)
{
	struct sigaction action;

	signal(SIGPROF, SIG_IGN);
	CHECK_EQ(ticks_of(1, 1000), 0);
	CHECK_EQ(sigaction(SIGPROF, NULL, &action), 0);
	CHECK(action.sa_handler == SIG_IGN);
	signal(SIGPROF, SIG_DFL); /* which would end the process */
	CHECK_EQ(ticks_of(1, 1000), 0);
	CHECK_EQ(sigaction(SIGPROF, NULL, &action), 0);
	CHECK(action.sa_handler == SIG_DFL);
	CHECK_EQ(profile(1, DCACHE_MISS, 1), 0);
	signal(SIGPROF, SIG_DFL); /* even during the profile */
	MISSES(10);
	signal(SIGPROF, count);
	ticks = 0;
	MISSES(10);
	CHECK_EQ(ticks, 10);
	CHECK_EQ(profile_stop(1), 0);
	CHECK_EQ(sigaction(SIGPROF, NULL, &action), 0);
	CHECK(action.sa_handler == count);
}

static void
blocked(void)
{
	sigset_t prof, before;

	sigemptyset(&prof);
	sigaddset(&prof, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &prof, &before);
	CHECK_EQ(ticks_of(1, UINT64_C(1) << 40), 0); /* and comes back */
	CHECK_EQ(sigpending(&prof), 0);
	CHECK(sigismember(&prof, SIGPROF));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	CHECK_EQ(ticks, 1);
}

static void *
wait_for_tick(void *unused)
{
	sigset_t none;

	(void)unused;
	sigfillset(&none);
	sigdelset(&none, SIGPROF);
	while (!ticks)
		sigsuspend(&none);
	return NULL;
}

/* To the process: a thread that has it blocked leaves it to another. */
static void
another_thread_listens(void)
{
	sigset_t prof, before;
	pthread_t thread;

	sigemptyset(&prof);
	sigaddset(&prof, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &prof, &before);
	ticks = 0;
	CHECK_EQ(pthread_create(&thread, NULL, wait_for_tick, NULL), 0);
	CHECK_EQ(profile(1, DCACHE_MISS, 10), 0);
	MISSES(10);
	pthread_join(thread, NULL);
	CHECK_EQ(ticks, 1);
	CHECK_EQ(profile_stop(1), 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void
stop_after_three(int signal)
{
	uint64_t value;

	(void)signal;
	if (++ticks == 3)
		CHECK_EQ(pmc_control(1, PMC_OP_PROFSTOP, NULL), 0);
	CHECK_EQ(pmc_get_info(2, PMC_INFO_COUNTER_VALUE, &value), 0); /* calls work in a handler */
	CHECK_EQ(value, 1000);
}

static void
the_handler_stops_it(void)
{
	CHECK_EQ(configure(2, DCACHE_MISS, 0), 0);
	CHECK_EQ(start(2), 0);
	signal(SIGPROF, stop_after_three);
	CHECK_EQ(ticks_of(1, 1000), 3);
	signal(SIGPROF, count);
	CHECK_EQ(stop(2), 0);
}

static sigjmp_buf away;

static void
leave(int signal)
{
	(void)signal;
	siglongjmp(away, 1);
}

static void
the_handler_does_not_return(void)
{
	CHECK_EQ(profile(1, DCACHE_MISS, 1), 0);
	signal(SIGPROF, leave);
	if (sigsetjmp(away, 1) == 0)
		MISSES(1000);
	signal(SIGPROF, count);
	CHECK_EQ(profile_stop(1), 0);
	CHECK_EQ(ticks_of(1, 7), 7);
}

static void
two_counters(void)
{
	ticks = 0;
	CHECK_EQ(profile(1, DCACHE_MISS, 10), 0);
	CHECK_EQ(profile(2, DCACHE_MISS, 25), 0);
	MISSES(50);
	CHECK_EQ(ticks, 7);
	CHECK_EQ(profile_stop(1), 0);
	MISSES(50);
	CHECK_EQ(ticks, 9);
	CHECK_EQ(profile_stop(2), 0);
}

/* ---- the interval timer --------------------------------------------------------- */

static long
timer_seconds(void)
{
	struct itimerval timer;

	CHECK_EQ(getitimer(ITIMER_PROF, &timer), 0);
	return timer.it_value.tv_sec + (timer.it_value.tv_usec > 0);
}

static void
the_timer_is_off(void)
{
	const struct itimerval long_time = { .it_value.tv_sec = 10000, .it_interval.tv_sec = 7 }, off = { 0 };
	struct itimerval timer;

	CHECK_EQ(setitimer(ITIMER_PROF, &long_time, NULL), 0);
	CHECK_EQ(profile(1, DCACHE_MISS, 10), 0);
	CHECK_EQ(timer_seconds(), 0);
	CHECK_EQ(profile(2, DCACHE_MISS, 10), 0);
	CHECK_EQ(profile_stop(1), 0);
	CHECK_EQ(timer_seconds(), 0);
	CHECK_EQ(profile_stop(2), 0);
	CHECK(timer_seconds() > 9000);
	CHECK_EQ(getitimer(ITIMER_PROF, &timer), 0);
	CHECK_EQ(timer.it_interval.tv_sec, 7);
	CHECK_ERRNO(profile(1, 0x99, 10), ENODEV); /* a failure leaves it on */
	CHECK(timer_seconds() > 9000);
	CHECK_EQ(setitimer(ITIMER_PROF, &off, NULL), 0);
	CHECK_EQ(profile(1, DCACHE_MISS, 10), 0);
	CHECK_EQ(setitimer(ITIMER_PROF, &long_time, NULL), 0); /* a new one of the program's */
	CHECK_EQ(profile_stop(1), 0);
	CHECK(timer_seconds() > 9000);
	CHECK_EQ(setitimer(ITIMER_PROF, &off, NULL), 0);
	CHECK_EQ(ticks_of(10, 100), 10);
	CHECK_EQ(timer_seconds(), 0);
}

/* ---- profil(3), which musl does not have ------------------------------------------- */

#ifdef __GLIBC__
static unsigned short histogram[4096];

/* The ticks are where the model sends the signal: in the C library. */
static long
sum(void)
{
	long ret = 0;

	for (size_t i = 0; i < sizeof(histogram) / sizeof(histogram[0]); i++) {
		ret += histogram[i];
		histogram[i] = 0;
	}
	return ret;
}

/* 64 KiB for each element of the histogram, around a function of the C library. */
static int
profil_on(void)
{
	return profil(histogram, sizeof(histogram), (size_t)(uintptr_t)raise - ((size_t)2048 << 16), 2);
}

static int
profil_off(void)
{
	/* By pointer: the C library's header says that the buffer may not be NULL, its manual page that it may. */
	int (*any)(unsigned short *, size_t, size_t, unsigned int) = profil;

	return any(NULL, 0, 0, 0);
}

static void
profil_counts_overflows(void)
{
	signal(SIGPROF, SIG_DFL);
	CHECK_EQ(profil_on(), 0);
	CHECK_EQ(profile(1, DCACHE_MISS, 100), 0);
	CHECK_EQ(timer_seconds(), 0);
	sum();
	MISSES(12345);
	CHECK_EQ(sum(), 123);
	CHECK_EQ(profile_stop(1), 0);
	CHECK_EQ(timer_seconds(), 1); /* the clock's ticks again */
	MISSES(12345);
	CHECK_EQ(profil_off(), 0);
	CHECK_EQ(timer_seconds(), 0);
}

/* In the other order profil() restores the default action: neither overflows nor the timer end the process. */
static void
profil_ends_first(void)
{
	struct sigaction action;

	signal(SIGPROF, SIG_DFL);
	CHECK_EQ(profil_on(), 0);
	CHECK_EQ(profile(1, DCACHE_MISS, 100), 0);
	CHECK_EQ(profil_off(), 0);
	MISSES(1000);
	CHECK_EQ(profile_stop(1), 0);
	CHECK_EQ(timer_seconds(), 0);
	CHECK_EQ(sigaction(SIGPROF, NULL, &action), 0);
	CHECK(action.sa_handler == SIG_DFL);
}

#endif

int
main(void)
{
	check_begin("xscale");
	signal(SIGPROF, count);
	the_manual_s_example();
	overflows();
	values_do_not_wrap();
	clocks();
	nobody_listens();
	blocked();
	another_thread_listens();
	the_handler_stops_it();
	the_handler_does_not_return();
	two_counters();
	the_timer_is_off();
#ifdef __GLIBC__
	profil_counts_overflows();
	profil_ends_first();
#endif
	return check_result();
}
