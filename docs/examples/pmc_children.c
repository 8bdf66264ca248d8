/*
 * NetBSD: pmc_control(2) and pmc_get_info(2) themselves.  What this process counts, and
 * what its ended children have counted, on the model of an XScale (PMC_MACHINE=xscale).
 */
#include <sys/types.h>
#include <sys/pmc.h>
#include <sys/wait.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <pmc_model.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DCACHE_MISS 0xb

int
main(void)
{
	struct pmc_counter_cfg cfg;
	uint64_t own, children;
	int n, i;

	if (pmc_get_info(0, PMC_INFO_NCOUNTERS, &n) < 0)
		err(1, "no counters");
	printf("%d counters\n", n);

	memset(&cfg, 0, sizeof(cfg));
	cfg.event_id = DCACHE_MISS;
	if (pmc_control(0, PMC_OP_CONFIGURE, &cfg) < 0 && errno == ENODEV)
		printf("counter 0 counts cycles only\n");
	if (pmc_control(1, PMC_OP_CONFIGURE, &cfg) < 0)
		err(1, "configure");
	if (pmc_control(1, PMC_OP_START, NULL) < 0)
		err(1, "start");
	pmc_model_advance(DCACHE_MISS, 1000);
	fflush(stdout);
	for (i = 0; i < 3; i++) {
		if (fork() == 0) {
			pmc_model_advance(DCACHE_MISS, 100);
			_exit(0);
		}
		wait(NULL);
	}
	if (pmc_control(1, PMC_OP_STOP, NULL) < 0)
		err(1, "stop");
	if (pmc_get_info(1, PMC_INFO_COUNTER_VALUE, &own) < 0)
		err(1, "value");
	if (pmc_get_info(1, PMC_INFO_ACCUMULATED_COUNTER_VALUE, &children) < 0)
		err(1, "accumulated value");
	printf("data cache misses: %" PRIu64 ", of children: %" PRIu64 "\n", own, children);
	return 0;
}
