/*
 * When perfmon2's sets are switched, and what a switch does: runs, durations, timeouts and what is left of them, switch
 * counts, resets that wait.
 */
#include "perfmon2_check.h"

#include <sys/ptrace.h>

enum { OVFL = PFM_SETFL_OVFL_SWITCH, TIMED = PFM_SETFL_TIME_SWITCH };

/* Cycles in PMD4 of a set. */
static void
count_in(int fd, uint16_t set, pfarg_pmd_t pmd)
{
	pfarg_pmc_t pmc = { .reg_num = 4, .reg_set = set, .reg_value = CYCLES_PMC };

	pmd.reg_num = 4;
	pmd.reg_set = set;
	CHECK_EQ(pfm_write_pmcs(fd, &pmc, 1), 0);
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
}

static void
begin(int fd)
{
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
}

static int64_t
value_in(int fd, uint16_t set)
{
	return (int64_t)read_all_of(fd, 4, set).reg_value;
}

/* 0, 3, 7 and 0 again; the n-th overflow since a set became active switches. */
static void
by_overflows(void)
{
	const pfarg_pmd_t twice = { .reg_value = (uint64_t)-10,
				    .reg_short_reset = (uint64_t)-10,
				    .reg_ovfl_switch_cnt = 2,
				    .reg_long_reset = (uint64_t)-10,
				    .reg_flags = PFM_REGFL_OVFL_NOTIFY };
	const pfarg_pmd_t once = { .reg_value = (uint64_t)-5,
				   .reg_short_reset = (uint64_t)-7,
				   .reg_ovfl_switch_cnt = 1 };
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 7, OVFL, 0), 0);
	CHECK_EQ(make_set(fd, 3, OVFL, 0), 0);
	CHECK_EQ(make_set(fd, 0, OVFL, 0), 0);
	count_in(fd, 0, twice);
	count_in(fd, 3, once);
	count_in(fd, 7, once);
	begin(fd);
	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(read_all_of(fd, 4, 0).reg_ovfl_switch_cnt, 1);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(info_of(fd, 3).set_runs, 0);
	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(read_all_of(fd, 4, 0).reg_ovfl_switch_cnt, 0);
	CHECK_EQ(pfm_restart(fd), 0); /* now it switches */
	CHECK_EQ(info_of(fd, 3).set_runs, 1);
	CHECK_EQ(cycles(5), 0); /* without notification: at once, and not masked */
	CHECK_EQ(info_of(fd, 7).set_runs, 1);
	CHECK_EQ(value_in(fd, 3), 0); /* the reset waits */
	CHECK_EQ(cycles(5 + 3), 0);
	CHECK_EQ(info_of(fd, 0).set_runs, 2);
	CHECK_EQ(read_all_of(fd, 4, 0).reg_ovfl_switch_cnt, 2);
	CHECK_EQ(value_in(fd, 0), -10 + 3);
	CHECK_EQ(cycles(7), 0);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(value_in(fd, 3), 0); /* long: 0 */
	close(fd);
}

/* With one set the next one is the same. */
static void
one_set(void)
{
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 0, OVFL, 0), 0);
	count_in(fd, 0,
		 (pfarg_pmd_t){ .reg_value = (uint64_t)-10,
				.reg_short_reset = (uint64_t)-20,
				.reg_long_reset = 5,
				.reg_ovfl_switch_cnt = 1 });
	begin(fd);
	CHECK_EQ(pfm_model_time(9), 0);
	CHECK_EQ(cycles(10 + 20 + 7), 0);
	CHECK_EQ(value_in(fd, 0), -13);
	CHECK_EQ(info_of(fd, 0).set_runs, 3);
	CHECK_EQ(read_all_of(fd, 4, 0).reg_ovfl_switch_cnt, 1);
	CHECK_EQ(info_of(fd, 0).set_act_duration, 0); /* it goes on */
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(info_of(fd, 0).set_act_duration, 9);
	close(fd);
	IN_CHILD(const int timed = create(0); CHECK_EQ(make_set(timed, 0, TIMED, 10), 0); begin(timed);
		 CHECK_EQ(pfm_model_time(25), 0); CHECK_EQ(info_of(timed, 0).set_runs, 3);
		 CHECK_EQ(info_of(timed, 0).set_timeout, 5););
}

/* Counters without a switch count never switch, and mask. */
static void
without_a_count(void)
{
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 0, OVFL, 0), 0);
	CHECK_EQ(make_set(fd, 1, 0, 0), 0);
	count_in(fd, 0, (pfarg_pmd_t){ .reg_value = (uint64_t)-10, .reg_flags = PFM_REGFL_OVFL_NOTIFY });
	begin(fd);
	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(info_of(fd, 1).set_runs, 0);
	close(fd);
}

/* Stop, unload and a switch by start leave what was left; a switch by time leaves 0; a start begins anew. */
static void
timeouts(void)
{
	pfarg_start_t other = { .start_set = 1 };
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 0, TIMED, 100), 0);
	CHECK_EQ(make_set(fd, 1, TIMED, 50), 0);
	CHECK_EQ(info_of(fd, 0).set_timeout, 0);
	begin(fd);
	CHECK_EQ(info_of(fd, 0).set_timeout, 100);
	CHECK_EQ(info_of(fd, 1).set_timeout, 0);
	CHECK_EQ(pfm_model_time(30), 0);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(pfm_model_time(500), 0);
	CHECK_EQ(info_of(fd, 0).set_timeout, 70);
	CHECK_EQ(info_of(fd, 0).set_runs, 1);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(info_of(fd, 0).set_timeout, 100);
	CHECK_EQ(pfm_model_time(40), 0);
	CHECK_EQ(pfm_start(fd, &other), 0);
	CHECK_EQ(info_of(fd, 0).set_timeout, 60);
	CHECK_EQ(pfm_model_time(50), 0);
	CHECK_EQ(info_of(fd, 1).set_timeout, 0);
	CHECK_EQ(info_of(fd, 0).set_timeout, 100);
	CHECK_EQ(pfm_model_time(1), 0);
	CHECK_EQ(pfm_unload_context(fd), 0);
	CHECK_EQ(info_of(fd, 0).set_timeout, 99);
	CHECK_EQ(make_set(fd, 0, TIMED, 20), 0); /* what is left stays, runs and duration do not */
	CHECK_EQ(info_of(fd, 0).set_timeout, 99);
	CHECK_EQ(info_of(fd, 0).set_runs + info_of(fd, 0).set_act_duration, 0);
	begin(fd);
	CHECK_EQ(info_of(fd, 0).set_timeout, 20);
	close(fd);
}

/* Masked: the timer stands still, and so does the duration; restart goes on with the rest. */
static void
masked(void)
{
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 0, TIMED, 100), 0);
	CHECK_EQ(make_set(fd, 1, 0, 0), 0);
	count_in(fd, 0, (pfarg_pmd_t){ .reg_value = (uint64_t)-10, .reg_flags = PFM_REGFL_OVFL_NOTIFY });
	begin(fd);
	CHECK_EQ(pfm_model_time(30), 0);
	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(pfm_model_time(1000), 0);
	CHECK_EQ(info_of(fd, 0).set_timeout, 70);
	CHECK_EQ(info_of(fd, 0).set_act_duration, 30);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(pfm_model_time(69), 0);
	CHECK_EQ(info_of(fd, 1).set_runs, 0);
	CHECK_EQ(pfm_model_time(1), 0);
	CHECK_EQ(info_of(fd, 1).set_runs, 1);
	CHECK_EQ(info_of(fd, 0).set_act_duration, 100);
	close(fd);
}

/* An overflow switches into a set with a timeout: it has all of it. */
static void
from_overflow_to_time(void)
{
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 0, OVFL, 0), 0);
	CHECK_EQ(make_set(fd, 1, TIMED, 40), 0);
	count_in(fd, 0,
		 (pfarg_pmd_t){
			 .reg_value = (uint64_t)-10, .reg_short_reset = (uint64_t)-30, .reg_ovfl_switch_cnt = 1 });
	count_in(fd, 1, (pfarg_pmd_t){ .reg_value = 0 });
	begin(fd);
	CHECK_EQ(cycles(15), 0);
	CHECK_EQ(info_of(fd, 1).set_timeout, 40);
	CHECK_EQ(value_in(fd, 1), 5);
	CHECK_EQ(pfm_model_time(40), 0);
	CHECK_EQ(value_in(fd, 0), -30); /* short */
	CHECK_EQ(cycles(30), 0);
	CHECK_EQ(info_of(fd, 1).set_runs, 2);
	CHECK_EQ(info_of(fd, 0).set_runs, 2);
	close(fd);
}

/* While masked only a start with another set switches; the mark of the set that was left waits for it. */
static void
started_while_masked(void)
{
	pfarg_start_t first = { .start_set = 0 }, second = { .start_set = 1 };
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 0, OVFL, 0), 0);
	CHECK_EQ(make_set(fd, 1, 0, 0), 0);
	count_in(fd, 0,
		 (pfarg_pmd_t){ .reg_value = (uint64_t)-10,
				.reg_long_reset = (uint64_t)-40,
				.reg_ovfl_switch_cnt = 1,
				.reg_flags = PFM_REGFL_OVFL_NOTIFY });
	count_in(fd, 1, (pfarg_pmd_t){ .reg_value = 0 });
	begin(fd);
	CHECK_EQ(pfm_model_time(5), 0);
	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(pfm_start(fd, &second), 0);
	CHECK_EQ(pfm_model_time(100), 0);
	CHECK_EQ(info_of(fd, 1).set_runs, 1);
	CHECK_EQ(cycles(3), 0);
	CHECK_EQ(value_in(fd, 1), 0);
	CHECK_EQ(pfm_restart(fd), 0); /* of set 1, which has no mark */
	CHECK_EQ(info_of(fd, 1).set_runs, 1);
	CHECK_EQ(cycles(3), 0);
	CHECK_EQ(value_in(fd, 1), 3);
	CHECK_EQ(pfm_start(fd, &first), 0);
	CHECK_EQ(value_in(fd, 0), -40);
	CHECK_EQ(info_of(fd, 0).set_act_duration, 5);
	CHECK_EQ(write_pmd(fd, 4, (uint64_t)-1, PFM_REGFL_OVFL_NOTIFY), 0); /* no switch is due now */
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(pfm_restart(fd), 0); /* but the mark is still there */
	CHECK_EQ(info_of(fd, 1).set_runs, 2);
	CHECK_EQ(info_of(fd, 0).set_runs, 2);
	close(fd);
}

/* Marks, counts and overflows of all sets are as new after a load; runs and durations go on. */
static void
loaded_again(void)
{
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 0, OVFL, 0), 0);
	CHECK_EQ(make_set(fd, 1, 0, 0), 0);
	count_in(fd, 0,
		 (pfarg_pmd_t){
			 .reg_value = (uint64_t)-10, .reg_ovfl_switch_cnt = 1, .reg_flags = PFM_REGFL_OVFL_NOTIFY });
	begin(fd);
	CHECK_EQ(pfm_model_time(5), 0);
	CHECK_EQ(cycles(10), 0); /* marked */
	CHECK_EQ(read_all_of(fd, 4, 0).reg_ovfl_switch_cnt, 0);
	CHECK_EQ(pfm_unload_context(fd), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(read_all_of(fd, 4, 0).reg_ovfl_switch_cnt, 1);
	CHECK_EQ(info_of(fd, 0).set_runs, 2);
	CHECK_EQ(info_of(fd, 0).set_act_duration, 5);
	CHECK_EQ(write_pmd(fd, 4, (uint64_t)-1, PFM_REGFL_OVFL_NOTIFY), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(info_of(fd, 1).set_runs, 0); /* without the mark */
	CHECK_EQ(pfm_unload_context(fd), 0);
	CHECK_EQ(load_set(fd, self_id(), 1), 0);
	CHECK_EQ(info_of(fd, 1).set_runs, 1);
	CHECK_EQ(info_of(fd, 0).set_runs, 2);
	close(fd);
}

/* Another thread's context: the set becomes active, without a reset and without a run. */
static void
of_another_task(void)
{
	pfarg_start_t second = { .start_set = 1 };
	const pid_t child = fork();
	int fd, status;

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	fd = create(0);
	CHECK_EQ(make_set(fd, 1, TIMED, 10), 0);
	count_in(fd, 1, (pfarg_pmd_t){ .reg_value = 3, .reg_long_reset = 99 });
	CHECK_EQ(load(fd, child), 0);
	CHECK_EQ(pfm_start(fd, &second), 0);
	CHECK_EQ(info_of(fd, 1).set_runs, 0);
	CHECK_EQ(value_in(fd, 1), 3);
	CHECK_EQ(pfm_model_time(100), 0); /* the caller's */
	CHECK_EQ(info_of(fd, 1).set_timeout, 10);
	CHECK_EQ(pfm_model_time_task(child, 10), 0);
	CHECK_EQ(info_of(fd, 0).set_runs, 2);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(info_of(fd, 1).set_act_duration, 110);
	kill(child, SIGKILL);
	CHECK_EQ(wait_for(child), -SIGKILL);
	CHECK_EQ(make_set(fd, 5, 0, 0), 0); /* unloaded by its end */
	close(fd);
}

/* A start of what is started: the time since the last start does not count. */
static void
started_twice(void)
{
	const int fd = create(0);

	begin(fd);
	CHECK_EQ(pfm_model_time(10), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(pfm_model_time(3), 0);
	CHECK_EQ(info_of(fd, 0).set_act_duration, 0); /* the running part is not shown */
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(info_of(fd, 0).set_act_duration, 3);
	CHECK_EQ(info_of(fd, 0).set_runs, 1);
	close(fd);
}

/* The set may be gone that is loaded by default; sets take turns without it. */
static void
deleted(void)
{
	pfarg_setdesc_t sets[] = { { .set_id = 0 }, { .set_id = 8 }, { .set_id = 2 } };
	const int fd = create(0);

	for (uint16_t i = 1; i < 4; i++)
		CHECK_EQ(make_set(fd, i, TIMED, 10), 0);
	CHECK_ERRNO(pfm_delete_evtsets(fd, sets, 3), EINVAL);
	CHECK_EQ(info_of(fd, 2).set_runs, 0); /* after the bad one */
	CHECK_ERRNO(load(fd, self_id()), EINVAL);
	CHECK_ERRNO(pfm_attach(fd, 0, self_id()), EINVAL);
	CHECK_EQ(pfm_delete_evtsets(fd, sets + 2, 1), 0);
	CHECK_EQ(load_set(fd, self_id(), 3), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(pfm_model_time(35), 0);
	CHECK_EQ(info_of(fd, 3).set_runs, 2);
	CHECK_EQ(info_of(fd, 1).set_runs, 2);
	CHECK_EQ(pfm_unload_context(fd), 0);
	CHECK_EQ(pfm_delete_evtsets(fd, &(pfarg_setdesc_t){ .set_id = 1 }, 1), 0);
	CHECK_EQ(pfm_delete_evtsets(fd, &(pfarg_setdesc_t){ .set_id = 3 }, 1), 0); /* the last one */
	CHECK_EQ(make_set(fd, 0, 0, 0), 0);
	CHECK_EQ(info_of(fd, 0).set_runs, 0);
	begin(fd);
	close(fd);
}

int
main(void)
{
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	by_overflows();
	one_set();
	without_a_count();
	timeouts();
	masked();
	from_overflow_to_time();
	started_while_masked();
	loaded_again();
	of_another_task();
	started_twice();
	deleted();
	return check_result();
}
