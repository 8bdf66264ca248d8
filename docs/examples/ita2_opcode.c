/*
 * Itanium 2: count retired branch instructions with opcode matcher PMC8, which lets all
 * B-slot instructions through, whatever their opcode.
 */
#include <err.h>
#include <stdio.h>
#include <perfmon/pfmlib_itanium2.h>

int
main(void)
{
	static pfmlib_input_param_t inp;
	static pfmlib_output_param_t outp;
	static pfmlib_ita2_input_param_t ita2_inp;
	pfm_ita2_pmc_reg_t matcher = { .pmc_val = 0 };
	unsigned int i;
	int ret;

	matcher.pmc8_9_ita2_reg.opcm_b = 1;
	matcher.pmc8_9_ita2_reg.opcm_mask = 0x7ffffff;	/* bits not to compare: all */

	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_find_event("IA64_TAGGED_INST_RETIRED_IBRP0_PMC8", &inp.pfp_events[0].event);
	if (!pfm_ita2_support_opcm(inp.pfp_events[0].event))
		errx(1, "the event ignores the opcode matchers");
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3;
	ita2_inp.pfp_ita2_pmc8.opcm_used = 1;
	ita2_inp.pfp_ita2_pmc8.pmc_val = matcher.pmc_val;

	ret = pfm_dispatch_events(&inp, &ita2_inp, &outp, NULL);
	if (ret != PFMLIB_SUCCESS)
		errx(1, "cannot configure events: %s", pfm_strerror(ret));
	for (i = 0; i < outp.pfp_pmc_count; i++)
		printf("PMC%-2u = 0x%016llx\n", outp.pfp_pmcs[i].reg_num, outp.pfp_pmcs[i].reg_value);

	/* Cycles have no opcode, and the library says so ... */
	pfm_find_event("CPU_CYCLES", &inp.pfp_events[1].event);
	inp.pfp_event_count = 2;
	ret = pfm_dispatch_events(&inp, &ita2_inp, &outp, NULL);
	printf("with CPU_CYCLES: %s\n", pfm_strerror(ret));
	/* ... unless it is told that they may count unfiltered. */
	ita2_inp.pfp_ita2_counters[1].flags = PFMLIB_ITA2_FL_EVT_NO_QUALCHECK;
	ret = pfm_dispatch_events(&inp, &ita2_inp, &outp, NULL);
	printf("without the check: %s\n", pfm_strerror(ret));
	return 0;
}
