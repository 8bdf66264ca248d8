/*
 * NetBSD: a profile.  SIGPROF comes with each hundredth data cache miss, and the handler
 * notes which function ran.  On the model of an XScale (PMC_MACHINE=xscale).
 */
#include <sys/pmc.h>
#include <err.h>
#include <pmc_model.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define DCACHE_MISS 0xb

enum { SORT, SEARCH, FUNCTIONS };

static const char *names[FUNCTIONS] = { "sort", "search" };
static volatile sig_atomic_t running, ticks[FUNCTIONS];

static void
tick(int sig)
{
	(void)sig;
	ticks[running]++;
}

/* The work of a function: on a model, the misses that it would have. */
static void
run(int function, unsigned int misses)
{
	running = function;
	pmc_model_advance(DCACHE_MISS, misses);
}

int
main(void)
{
	struct pmc_counter_cfg cfg;

	memset(&cfg, 0, sizeof(cfg));
	cfg.event_id = DCACHE_MISS;
	cfg.reset_value = 100;
	signal(SIGPROF, tick);
	if (pmc_control(1, PMC_OP_PROFSTART, &cfg) < 0)
		err(1, "profile");
	run(SORT, 7500);
	run(SEARCH, 2500);
	if (pmc_control(1, PMC_OP_PROFSTOP, NULL) < 0)
		err(1, "profile");
	for (int f = 0; f < FUNCTIONS; f++)
		printf("%-6s %3d ticks\n", names[f], (int)ticks[f]);
	return 0;
}
