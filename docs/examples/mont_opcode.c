/*
 * Montecito: count one instruction, nop.m 0, inside a range of code.  Opcode matcher 1
 * compares all bits of an instruction but its qualifying predicate, bits 5:0.
 */
#include <err.h>
#include <stdio.h>
#include <perfmon/pfmlib_montecito.h>

int
main(void)
{
	static pfmlib_input_param_t inp;
	static pfmlib_output_param_t outp;
	static pfmlib_mont_input_param_t mont_inp;
	static pfmlib_mont_output_param_t mont_outp;
	pfmlib_mont_output_rr_t *irange = &mont_outp.pfp_mont_irange;
	unsigned int i;
	int ret;

	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_find_event("IA64_TAGGED_INST_RETIRED_IBRP0_PMC32_33", &inp.pfp_events[0].event);
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3;

	mont_inp.pfp_mont_opcm1.opcm_used = 1;
	mont_inp.pfp_mont_opcm1.opcm_m = 1;		/* M slots only */
	mont_inp.pfp_mont_opcm1.opcm_match = 0x8000000;	/* nop.m 0: x4 is 1, all else 0 */
	mont_inp.pfp_mont_opcm1.opcm_mask = 0x3f;	/* the predicate does not count */

	mont_inp.pfp_mont_irange.rr_used = 1;
	mont_inp.pfp_mont_irange.rr_limits[0].rr_start = 0x4000000000010000;
	mont_inp.pfp_mont_irange.rr_limits[0].rr_end = 0x4000000000014000;

	ret = pfm_dispatch_events(&inp, &mont_inp, &outp, &mont_outp);
	if (ret != PFMLIB_SUCCESS)
		errx(1, "cannot configure events: %s", pfm_strerror(ret));
	for (i = 0; i < outp.pfp_pmc_count; i++)
		printf("PMC%-2u = 0x%016llx\n", outp.pfp_pmcs[i].reg_num, outp.pfp_pmcs[i].reg_value);
	for (i = 0; i < irange->rr_nbr_used; i++)
		printf("IBR%-2u = 0x%016llx\n", irange->rr_br[i].reg_num, irange->rr_br[i].reg_value);
	return 0;
}
