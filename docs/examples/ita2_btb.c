/*
 * Itanium 2: record mispredicted taken branches in the branch trace buffer, a sample each
 * time that a counter of branches overflows.  The registers are taken apart with the
 * unions of the header.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <perfmon/pfmlib_itanium2.h>

int
main(void)
{
	static pfmlib_input_param_t inp;
	static pfmlib_output_param_t outp;
	static pfmlib_ita2_input_param_t ita2_inp;
	pfm_ita2_pmc_reg_t reg;
	unsigned int i;
	int ret;

	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	if (pfm_find_event("BRANCH_EVENT", &inp.pfp_events[0].event) != PFMLIB_SUCCESS)
		errx(1, "no such event");
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3;

	ita2_inp.pfp_ita2_btb.btb_used = 1;
	ita2_inp.pfp_ita2_btb.btb_ds = 0;	/* record the target */
	ita2_inp.pfp_ita2_btb.btb_tm = 2;	/* taken */
	ita2_inp.pfp_ita2_btb.btb_ptm = 1;	/* target mispredicted */
	ita2_inp.pfp_ita2_btb.btb_ppm = 3;	/* path predicted or not */
	ita2_inp.pfp_ita2_btb.btb_brt = 0;	/* of every kind */

	ret = pfm_dispatch_events(&inp, &ita2_inp, &outp, NULL);
	if (ret != PFMLIB_SUCCESS)
		errx(1, "cannot configure events: %s", pfm_strerror(ret));
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		reg.pmc_val = outp.pfp_pmcs[i].reg_value;
		if (outp.pfp_pmcs[i].reg_num == 12)
			printf("PMC12 = 0x%lx: tm %u, ptm %u, ppm %u, plm %u\n", reg.pmc_val,
			       (unsigned int)reg.pmc12_ita2_reg.btbc_tm, (unsigned int)reg.pmc12_ita2_reg.btbc_ptm,
			       (unsigned int)reg.pmc12_ita2_reg.btbc_ppm, (unsigned int)reg.pmc12_ita2_reg.btbc_plm);
		else if (outp.pfp_pmcs[i].reg_num < 8)
			printf("PMC%u = 0x%lx: event 0x%x\n", outp.pfp_pmcs[i].reg_num, reg.pmc_val,
			       (unsigned int)reg.pmc_ita2_counter_reg.pmc_es);
		else
			printf("PMC%u = 0x%lx\n", outp.pfp_pmcs[i].reg_num, reg.pmc_val);
	}
	printf("to read at each sample:");
	for (i = 0; i < outp.pfp_pmd_count; i++)
		printf(" PMD%u", outp.pfp_pmds[i].reg_num);
	printf("\n");
	return 0;
}
