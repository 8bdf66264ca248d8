/*
 * What handlers of overflows do in the middle of what the model counts: call it again, stop, close, unload, start another
 * set, leave by siglongjmp(), fork; and the model's machine before the library was initialised.
 */
#include "perfmon2_check.h"

#include <setjmp.h>

static int context, signals;
static void (*action_of_test)(void);
static sigjmp_buf out;

static void
on_overflow(int number)
{
	char message[64];

	(void)number;
	signals++;
	CHECK_EQ(read(context, message, sizeof(message)), 64);
	action_of_test();
}

/* Each overflow after some events, with the handler given. */
static void
begin(uint64_t period, void (*action)(void))
{
	pfarg_pmd_t pmd = notifying(period);

	signals = 0;
	action_of_test = action;
	context = counting(0, 0, 0);
	CHECK_EQ(pfm_write_pmds(context, &pmd, 1), 0);
	CHECK_EQ(write_pmc(context, 5, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(context, 5, 0, 0), 0);
	CHECK_EQ(fcntl(context, F_SETOWN, getpid()), 0);
	CHECK_EQ(fcntl(context, F_SETFL, O_ASYNC), 0);
	CHECK_EQ(pfm_start(context, NULL), 0);
}

/* The handler's own events count where they happen: between two steps. */
static void
execute_more(void)
{
	CHECK_EQ(cycles(3), 0); /* masked */
	CHECK_EQ(pfm_restart(context), 0);
	CHECK_EQ(cycles(4), 0);
}

static void
nested(void)
{
	begin(10, execute_more);
	CHECK_EQ(cycles(22), 0); /* 10, and 4 of the handler; 6; 4; 6 are left */
	CHECK_EQ(signals, 3);
	CHECK_EQ(read_pmd(context, 5), 22 + 3 * 4);
	CHECK_EQ((int64_t)read_pmd(context, 4), -6);
	close(context);
}

static void
stop_it(void)
{
	CHECK_EQ(pfm_restart(context), 0);
	CHECK_EQ(pfm_stop(context), 0);
}

static void
stopped(void)
{
	begin(10, stop_it);
	CHECK_EQ(cycles(100), 0);
	CHECK_EQ(signals, 1);
	CHECK_EQ(read_pmd(context, 5), 10);
	CHECK_EQ(pfm_start(context, NULL), 0);
	CHECK_EQ(cycles(100), 0);
	CHECK_EQ(read_pmd(context, 5), 20);
	close(context);
}

static void
close_it(void)
{
	close(context);
	context = counting(0, 0, 0); /* the thread is free */
	CHECK_EQ(pfm_start(context, NULL), 0);
}

static void
closed(void)
{
	begin(10, close_it);
	CHECK_EQ(cycles(25), 0);
	CHECK_EQ(signals, 1);
	CHECK_EQ(read_pmd(context, 4), 15);
	close(context);
}

static void
load_again(void)
{
	CHECK_EQ(pfm_unload_context(context), 0);
	CHECK_EQ(make_set(context, 1, 0, 0), 0);
	CHECK_EQ(load(context, self_id()), 0);
	CHECK_EQ(pfm_start(context, NULL), 0);
}

static void
loaded_again(void)
{
	begin(10, load_again);
	CHECK_EQ(cycles(25), 0);
	CHECK_EQ(signals, 1);
	CHECK_EQ(read_pmd(context, 4), 15);
	CHECK_EQ(read_pmd(context, 5), 25);
	CHECK_EQ(info_of(context, 0).set_runs, 2);
	close(context);
}

static void
leave(void)
{
	siglongjmp(out, 1);
}

/* The rest does not happen; nothing of the library is left behind. */
static void
left(void)
{
	begin(10, leave);
	if (sigsetjmp(out, 1) == 0) {
		cycles(100);
		CHECK(false);
	}
	CHECK_EQ(signals, 1);
	CHECK_EQ(read_pmd(context, 5), 10);
	CHECK_EQ(pfm_restart(context), 0);
	if (sigsetjmp(out, 1) == 0)
		cycles(100);
	CHECK_EQ(read_pmd(context, 5), 20);
	close(context);
}

static void
fork_and_go_on(void)
{
	IN_CHILD(CHECK_ERRNO(pfm_unload_context(context), ESRCH); CHECK_EQ(info_of(context, 0).set_runs, 1););
	CHECK_EQ(pfm_restart(context), 0);
}

static void
forked(void)
{
	begin(10, fork_and_go_on);
	CHECK_EQ(cycles(25), 0);
	CHECK_EQ(signals, 2);
	CHECK_EQ(read_pmd(context, 5), 25);
	close(context);
}

/* Without pfm_initialize(): the machine is what it would find, events by number are not known, and it stays so. */
static void
not_initialised(void)
{
	int fd, type;

	setenv("LIBPFM_PERFMON", "model", 1);
	setenv("LIBPFM_FORCE_PMU", "4", 1);
	CHECK_ERRNO(pfm_model_advance(0, PFM_PLM3, 1), EINVAL);
	fd = create(0);
	CHECK(fd >= 0);
	CHECK_EQ(info_of(fd, 0).set_avail_pmds[0], UINT64_C(0xffff00df0000fff0));
	CHECK(pfm_get_pmu_type(&type) != PFMLIB_SUCCESS);
	CHECK_EQ(write_pmd(fd, 15, 0, 0), 0);
	CHECK_EQ(write_pmc(fd, 15, CYCLES_PMC), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(5), 0);
	CHECK_EQ(read_pmd(fd, 15), 5);
	CHECK_EQ(pfm_model_advance(0, PFM_PLM3, 1), 0); /* the context knows */
	CHECK_EQ(pfm_initialize(), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_get_pmu_type(&type), PFMLIB_SUCCESS);
	CHECK_EQ(type, PFMLIB_MONTECITO_PMU);
	close(fd);
}

int
main(void)
{
	struct sigaction action = { .sa_handler = on_overflow, .sa_flags = SA_NODEFER };

	IN_CHILD(not_initialised(););
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	CHECK_EQ(sigaction(SIGIO, &action, NULL), 0);
	nested();
	stopped();
	closed();
	loaded_again();
	left();
	forked();
	return check_result();
}
