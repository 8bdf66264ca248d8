/*
 * Four counters of Itanium 2: user and kernel cycles, instructions, and cycles in which
 * more than two instructions were nops.  Prints what has to be written and read.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <perfmon/pfmlib_itanium2.h>

#define NUM_EVENTS 4

static const char *events[NUM_EVENTS] = {
	"CPU_CYCLES", "IA64_INST_RETIRED", "NOPS_RETIRED", "L2_MISSES",
};

int
main(void)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	pfmlib_ita2_input_param_t ita2_inp;
	unsigned int i, width;
	int ret, type;

	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_get_pmu_type(&type);
	if (type != PFMLIB_ITANIUM2_PMU)
		errx(1, "this program is for Itanium 2");

	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(&ita2_inp, 0, sizeof(ita2_inp));

	for (i = 0; i < NUM_EVENTS; i++) {
		ret = pfm_find_event(events[i], &inp.pfp_events[i].event);
		if (ret != PFMLIB_SUCCESS)
			errx(1, "%s: %s", events[i], pfm_strerror(ret));
	}
	inp.pfp_event_count = NUM_EVENTS;
	inp.pfp_dfl_plm = PFM_PLM3;
	inp.pfp_events[0].plm = PFM_PLM0 | PFM_PLM3;
	ita2_inp.pfp_ita2_counters[2].thres = 2;

	ret = pfm_dispatch_events(&inp, &ita2_inp, &outp, NULL);
	if (ret != PFMLIB_SUCCESS)
		errx(1, "cannot configure events: %s", pfm_strerror(ret));

	pfm_get_hw_counter_width(&width);
	printf("counters have %u bits\n", width);
	for (i = 0; i < outp.pfp_pmc_count; i++)
		printf("write PMC%u = 0x%llx\n", outp.pfp_pmcs[i].reg_num, outp.pfp_pmcs[i].reg_value);
	for (i = 0; i < outp.pfp_pmd_count; i++)
		printf("read  PMD%u: %s\n", outp.pfp_pmds[i].reg_num, events[i]);
	return 0;
}
