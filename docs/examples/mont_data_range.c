/*
 * Montecito: count loads from one array, START to END, and see how well the data debug
 * registers hold it.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <perfmon/pfmlib_montecito.h>

int
main(int argc, char **argv)
{
	static pfmlib_input_param_t inp;
	static pfmlib_output_param_t outp;
	static pfmlib_mont_input_param_t mont_inp;
	static pfmlib_mont_output_param_t mont_outp;
	pfmlib_mont_output_rr_t *drange = &mont_outp.pfp_mont_drange;
	unsigned int i;
	int ret;

	if (argc != 3)
		errx(1, "usage: mont_data_range START END");
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_find_event("LOADS_RETIRED", &inp.pfp_events[0].event);
	if (!pfm_mont_support_darr(inp.pfp_events[0].event))
		errx(1, "the event ignores data ranges");
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3;
	mont_inp.pfp_mont_drange.rr_used = 1;
	mont_inp.pfp_mont_drange.rr_limits[0].rr_start = strtoul(argv[1], NULL, 0);
	mont_inp.pfp_mont_drange.rr_limits[0].rr_end = strtoul(argv[2], NULL, 0);

	ret = pfm_dispatch_events(&inp, &mont_inp, &outp, &mont_outp);
	if (ret != PFMLIB_SUCCESS)
		errx(1, "cannot configure events: %s", pfm_strerror(ret));
	for (i = 0; i < outp.pfp_pmc_count; i++)
		printf("PMC%u = 0x%llx\n", outp.pfp_pmcs[i].reg_num, outp.pfp_pmcs[i].reg_value);
	for (i = 0; i < drange->rr_nbr_used; i++)
		printf("DBR%u = 0x%llx\n", drange->rr_br[i].reg_num, drange->rr_br[i].reg_value);
	printf("%lu bytes too many before, %lu after\n", drange->rr_infos[0].rr_soff, drange->rr_infos[0].rr_eoff);
	return 0;
}
