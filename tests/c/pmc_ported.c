/*
 * A NetBSD program about pmc_control(2), pmc_get_info(2) and libpmc(3), written from their
 * manual pages: nothing in it is about Linux but the work that is measured, which a model has
 * to be given.  Prints what it finds; tests/pmc/test_ported.py knows the answers for xscale.
 */
#include <sys/types.h>
#include <sys/pmc.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <pmc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmc_model.h>

static volatile sig_atomic_t ticks;

static void
tick(int sig)
{
	(void)sig;
	ticks++;
}

static void
work(unsigned int misses)
{
	pmc_model_advance(0xb, misses);
}

static void
describe(void)
{
	int n, i, type;
	const struct pmc_event *ev;

	n = pmc_get_num_counters();
	printf("%d counters, class %s\n", n, pmc_get_counter_class_name(pmc_get_counter_class()));
	for (i = 0; i < n; i++) {
		if (pmc_get_counter_type(i, &type) < 0)
			err(1, "type of %d", i);
		printf("%d: %s\n", i, pmc_get_counter_type_name(type));
	}
	for (n = 0, ev = pmc_get_counter_event_list(); ev->name != NULL; ev++)
		n++;
	printf("%d events; %s is %#x\n", n, pmc_get_counter_event_name(0xb), 0xb);
}

static void
count(void)
{
	uint64_t value, accumulated;
	pid_t pid;

	if (pmc_configure_counter(1, "dcache-miss", 0, 0) < 0)
		err(1, "configure");
	if (pmc_start_counter(1) < 0)
		err(1, "start");
	work(1000);
	pid = fork();
	if (pid == 0) {
		work(234);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	if (pmc_stop_counter(1) < 0)
		err(1, "stop");
	work(1000);
	if (pmc_get_counter_value(1, &value) < 0 || pmc_get_accumulated_counter_value(1, &accumulated) < 0)
		err(1, "value");
	printf("dcache-miss: %" PRIu64 ", children %" PRIu64 "\n", value, accumulated);
}

/* A profiling tick on every hundredth data cache miss. */
static void
profile(void)
{
	struct pmc_counter_cfg cfg;

	memset(&cfg, 0, sizeof(cfg));
	cfg.event_id = 0xb;
	cfg.reset_value = 100;
	signal(SIGPROF, tick);
	if (pmc_control(2, PMC_OP_PROFSTART, &cfg) < 0)
		err(1, "profile");
	work(12345);
	if (pmc_control(2, PMC_OP_PROFSTOP, NULL) < 0)
		err(1, "profile");
	printf("%d ticks\n", (int)ticks);
}

static void
mistakes(void)
{
	int type;

	if (pmc_configure_counter(1, "Dcache-Miss", 0, 0) == 0 || errno != ESRCH)
		warn("an event of another case");
	if (pmc_configure_counter(1, NULL, 0, 0) == 0 || errno != ESRCH)
		warn("no event");
	if (pmc_configure_counter(0, "dcache-miss", 0, 0) == 0 || errno != ENODEV)
		warn("an event that the cycle counter has not");
	if (pmc_start_counter(0) == 0 || errno != ENXIO)
		warn("a counter that is not configured");
	if (pmc_get_counter_type(-1, &type) == 0 || errno != ENODEV)
		warn("a counter below 0");
	if (pmc_get_counter_type(99, &type) == 0 || errno != EINVAL)
		warn("a counter that is not there");
	if (pmc_get_counter_class_name(0x30000) != NULL || errno != ESRCH)
		warn("a class of another machine");
	if (pmc_get_counter_event_name(0x99) != NULL || errno != ESRCH)
		warn("an event that is not there");
}

int
main(void)
{
	describe();
	count();
	profile();
	mistakes();
	return 0;
}
