/*
 * Event sets of perfmon2: how they are made, when the next one is active, how often and how long each was; the clock of
 * the model.
 */
#include "perfmon2_check.h"

static void
made_and_deleted(void)
{
	const int fd = create(0), wide = create(PFM_FL_SYSTEM_WIDE);
	pfarg_setdesc_t none = { .set_id = 77 };
	pfarg_setinfo_t info;

	CHECK_ERRNO(make_set(fd, 1, 0x4, 0), EINVAL);
	CHECK_EQ(info_of(fd, 1).set_flags, 0); /* but it is there */
	CHECK_ERRNO(make_set(fd, 2, PFM_ITA_SETFL_EXCL_INTR | PFM_ITA_SETFL_INTR_ONLY, 0), EINVAL);
	CHECK_ERRNO(make_set(fd, 2, PFM_ITA_SETFL_IDLE_EXCL, 0), EINVAL);
	CHECK_EQ(make_set(wide, 2, PFM_ITA_SETFL_IDLE_EXCL, 0), 0);
	CHECK_ERRNO(make_set(fd, 2, PFM_SETFL_OVFL_SWITCH | PFM_SETFL_TIME_SWITCH, 5), EINVAL);
	CHECK_ERRNO(make_set(fd, 2, PFM_SETFL_TIME_SWITCH, 0), EINVAL);
	CHECK_EQ(make_set(fd, 2, PFM_SETFL_OVFL_SWITCH, 7), 0); /* no timeout: it is not looked at */
	CHECK_EQ(info_of(fd, 2).set_flags, PFM_SETFL_OVFL_SWITCH);
	CHECK_ERRNO(pfm_delete_evtsets(fd, &none, 1), EINVAL);
	none.set_id = 0;
	CHECK_EQ(pfm_delete_evtsets(fd, &none, 1), 0);
	CHECK_ERRNO(load(fd, self_id()), EINVAL);
	info.set_id = 0;
	CHECK_ERRNO(pfm_getinfo_evtsets(fd, &info, 1), EINVAL);
	info.set_id = 9999;
	CHECK_ERRNO(pfm_getinfo_evtsets(fd, &info, 1), EINVAL);
	CHECK_EQ(load_set(fd, self_id(), 2), 0);
	close(fd);
	close(wide);
}

/* A change gives the control registers their defaults; data registers stay. */
static void
changed(void)
{
	const int fd = create(0);

	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, 50, 0), 0);
	CHECK_EQ(make_set(fd, 0, 0, 0), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(9), 0);
	CHECK_EQ(read_pmd(fd, 4), 50);
	close(fd);
}

static void
most_sets(void)
{
	const int fd = create(0);

	for (uint16_t i = 1; i < 1024; i++)
		CHECK_EQ(make_set(fd, (uint16_t)(2000 - i), 0, 0), 0);
	CHECK_ERRNO(make_set(fd, 3000, 0, 0), ENOMEM);
	CHECK_EQ(make_set(fd, 1999, 0, 0), 0);
	close(fd);
}

static int
two_sets(uint64_t switch_count)
{
	pfarg_pmd_t pmd = { .reg_num = 4,
			    .reg_value = (uint64_t)-1000,
			    .reg_long_reset = (uint64_t)-1000,
			    .reg_short_reset = (uint64_t)-1000,
			    .reg_ovfl_switch_cnt = switch_count };
	pfarg_pmc_t pmc = { .reg_num = 4, .reg_set = 1, .reg_value = CYCLES_PMC };
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 0, PFM_SETFL_OVFL_SWITCH, 0), 0);
	CHECK_EQ(make_set(fd, 1, PFM_SETFL_TIME_SWITCH, 3000000), 0);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(pfm_write_pmcs(fd, &pmc, 1), 0);
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	pmd = (pfarg_pmd_t){ .reg_num = 4, .reg_set = 1 };
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(info_of(fd, 0).set_runs, 1);
	CHECK_EQ(info_of(fd, 1).set_runs, 0);
	return fd;
}

static void
switched_by_overflow_and_time(void)
{
	const int fd = two_sets(1);

	CHECK_EQ(pfm_model_time(1000), 0);
	CHECK_EQ(cycles(1500), 0);
	CHECK_EQ(info_of(fd, 1).set_runs, 1);
	CHECK_EQ(info_of(fd, 1).set_timeout, 3000000);
	CHECK_EQ(info_of(fd, 0).set_act_duration, 1000);
	CHECK_EQ(info_of(fd, 0).set_ovfl_pmds[0], 1 << 4);
	CHECK_EQ(read_all_of(fd, 4, 0).reg_value, 0);   /* its reset waits */
	CHECK_EQ(read_all_of(fd, 4, 1).reg_value, 500); /* what came after the switch */
	CHECK_EQ(pfm_model_time(2999999), 0);
	CHECK_EQ(info_of(fd, 1).set_timeout, 1);
	CHECK_EQ(info_of(fd, 0).set_runs, 1);
	CHECK_EQ(pfm_model_time(2), 0);
	CHECK_EQ(info_of(fd, 0).set_runs, 2);
	CHECK_EQ((int64_t)read_all_of(fd, 4, 0).reg_value, -1000);
	CHECK_EQ(read_all_of(fd, 4, 0).reg_ovfl_switch_cnt, 1); /* reloaded */
	CHECK_EQ(info_of(fd, 1).set_act_duration, 3000000);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(info_of(fd, 0).set_act_duration, 1001);
	CHECK_EQ(pfm_model_time(50), 0);
	CHECK_EQ(pfm_stop(fd), 0); /* nothing is added */
	CHECK_EQ(info_of(fd, 0).set_act_duration, 1001);
	close(fd);
}

/* Sets take turns in the order of their numbers; a long time is many of them. */
static void
turns(void)
{
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 9, PFM_SETFL_TIME_SWITCH, 10), 0);
	CHECK_EQ(make_set(fd, 0, PFM_SETFL_TIME_SWITCH, 10), 0);
	CHECK_EQ(make_set(fd, 5, PFM_SETFL_TIME_SWITCH, 10), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_model_time(100), 0); /* not started: no timer runs */
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(pfm_model_time(45), 0); /* 0 5 9 0 5 */
	CHECK_EQ(info_of(fd, 0).set_runs, 2);
	CHECK_EQ(info_of(fd, 5).set_runs, 2);
	CHECK_EQ(info_of(fd, 9).set_runs, 1);
	CHECK_EQ(info_of(fd, 5).set_timeout, 5);
	CHECK_EQ(info_of(fd, 0).set_timeout, 0); /* it ran out */
	CHECK_EQ(pfm_start(fd, NULL), 0);        /* a full timeout again */
	CHECK_EQ(info_of(fd, 5).set_timeout, 10);
	close(fd);
}

/* System-wide: durations show what runs; version 3 says the same. */
static void
system_wide(void)
{
	pfarg_set_info_t info = { .set_id = 0 };
	cpu_set_t here;
	const int fd = create(PFM_FL_SYSTEM_WIDE);

	CPU_ZERO(&here);
	CPU_SET((size_t)sched_getcpu(), &here);
	CHECK_EQ(sched_setaffinity(0, sizeof(here), &here), 0);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, 0, 0), 0);
	CHECK_EQ(load(fd, sched_getcpu()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(11), 0);
	CHECK_EQ(pfm_model_time(40), 0);
	CHECK_EQ(read_pmd(fd, 4), 11);
	CHECK_EQ(pfm_getinfo_sets(fd, 0, &info, sizeof(info)), 0);
	CHECK_EQ(info.set_duration, 40);
	CHECK_EQ(info.set_runs, 1);
	close(fd);
}

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

/* Marks, counts and overflows of all sets are as new after a load; runs and durations go on. */
static void
loaded_again(void)
{
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 0, PFM_SETFL_OVFL_SWITCH, 0), 0);
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
	const pid_t child = stopped_child(false);
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 1, PFM_SETFL_TIME_SWITCH, 10), 0);
	count_in(fd, 1, (pfarg_pmd_t){ .reg_value = 3, .reg_long_reset = 99 });
	CHECK_EQ(load(fd, child), 0);
	CHECK_EQ(pfm_start(fd, &second), 0);
	CHECK_EQ(info_of(fd, 1).set_runs, 0);
	CHECK_EQ(read_all_of(fd, 4, 1).reg_value, 3);
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

int
main(void)
{
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	made_and_deleted();
	changed();
	most_sets();
	switched_by_overflow_and_time();
	turns();
	system_wide();
	loaded_again();
	of_another_task();
	return check_result();
}
