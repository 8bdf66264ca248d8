/*
 * A process that is killed at many places of a call, instruction by instruction: a context that it shares is whole for the
 * other one.
 *
 * An argument is by how much there are more places.
 */
#include "perfmon2_check.h"

#include <stdlib.h>
#include <sys/ptrace.h>

enum { LAST = 200 };	/* sets: where they are moved takes a good part of the time */

static unsigned long more = 1;
static int context;

static void
make_first(void)
{
	make_set(context, 1, 0, 0);
}

static void
delete_first(void)
{
	pfm_delete_evtsets(context, &(pfarg_setdesc_t){ .set_id = 2 }, 1);
}

static void
load_and_unload(void)
{
	load(context, self_id());
	pfm_unload_context(context);
}

/* Step a child through the operation, and kill it after so many instructions; how many it made. */
static unsigned long
step(void (*operation)(void), unsigned long most)
{
	const pid_t child = fork();
	unsigned long made = 0;
	int status;

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		operation();
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	for (; made < most && WIFSTOPPED(status); made++)
		if (ptrace(PTRACE_SINGLESTEP, child, 0, 0) < 0 || waitpid(child, &status, 0) != child)
			break;
	if (WIFSTOPPED(status)) {
		kill(child, SIGKILL);
		CHECK_EQ(waitpid(child, &status, 0), child);
	}
	return made;
}

/* Sets are there once each and in order: time takes the context through all of them and back to the first. */
static void
check_whole(void)
{
	unsigned int there = 0;

	for (uint16_t id = 0; id < LAST; id++) {
		pfarg_setinfo_t info = { .set_id = id };
		const bool is_there = pfm_getinfo_evtsets(context, &info, 1) == 0;

		there += is_there;
		if (is_there)
			CHECK_EQ(make_set(context, id, PFM_SETFL_TIME_SWITCH, 10), 0);
	}
	CHECK(there >= LAST - 2);
	CHECK_EQ(load(context, self_id()), 0);
	CHECK_EQ(pfm_start(context, NULL), 0);
	CHECK_EQ(pfm_model_time(10 * there), 0);
	for (uint16_t id = 0; id < LAST; id++) {
		pfarg_setinfo_t info = { .set_id = id };

		if (pfm_getinfo_evtsets(context, &info, 1) == 0) {
			CHECK_EQ(info.set_runs, id == 0 ? 2 : 1);
			CHECK(info.set_act_duration <= 10);
		}
	}
	CHECK_EQ(pfm_unload_context(context), 0);
}

static void
prepare(void)
{
	context = create(0);
	for (uint16_t id = 2; id < LAST; id++)
		CHECK_EQ(make_set(context, id, 0, 0), 0);
	CHECK_EQ(write_pmc(context, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(context, 4, (uint64_t)-5, PFM_REGFL_OVFL_NOTIFY), 0);
}

static void
tear(void (*operation)(void), unsigned long places)
{
	const int before = check_failures;
	unsigned long all = 0, count = ULONG_MAX;

	for (unsigned long i = 0; i <= places && check_failures == before; i++) {
		prepare();
		if (i)	/* the first time it comes to its end */
			count = all * i / places;
		count = step(operation, count);
		all = i ? all : count;
		check_whole();
		close(context);
	}
	if (check_failures != before)
		printf("after %lu of %lu instructions\n", count, all);
}

int
main(int argc, char **argv)
{
	alarm(120);	/* a lock that is never released */
	if (argc > 1)
		more = strtoul(argv[1], NULL, 10);
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	tear(make_first, 24 * more);
	tear(delete_first, 8 * more);
	tear(load_and_unload, 8 * more);
	return check_result();
}
