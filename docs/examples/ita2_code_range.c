/*
 * Itanium 2: count the instructions that retire inside one function, START to END.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/pfmlib_itanium2.h>

/* begin: request */
static void
request(pfmlib_input_param_t *inp, pfmlib_ita2_input_param_t *ita2_inp,
	unsigned long start, unsigned long end)
{
	memset(inp, 0, sizeof(*inp));
	memset(ita2_inp, 0, sizeof(*ita2_inp));
	if (pfm_find_event("IA64_INST_RETIRED", &inp->pfp_events[0].event) != PFMLIB_SUCCESS)
		errx(1, "no such event");
	inp->pfp_event_count = 1;
	inp->pfp_dfl_plm = PFM_PLM3;
	ita2_inp->pfp_ita2_irange.rr_used = 1;
	ita2_inp->pfp_ita2_irange.rr_limits[0].rr_start = start;
	ita2_inp->pfp_ita2_irange.rr_limits[0].rr_end = end;
}
/* end: request */

/* begin: answer */
static void
show(pfmlib_output_param_t *outp, pfmlib_ita2_output_param_t *ita2_outp)
{
	pfmlib_ita2_output_rr_t *irange = &ita2_outp->pfp_ita2_irange;
	unsigned int i;

	for (i = 0; i < outp->pfp_pmc_count; i++)
		printf("PMC%-2u = 0x%016llx\n", outp->pfp_pmcs[i].reg_num, outp->pfp_pmcs[i].reg_value);
	for (i = 0; i < irange->rr_nbr_used; i++)
		printf("IBR%-2u = 0x%016llx\n", irange->rr_br[i].reg_num, irange->rr_br[i].reg_value);
	printf("%s mode, %lu bytes too many before, %lu after\n",
	       pfm_ita2_irange_is_fine(outp, ita2_outp) ? "fine" : "mask",
	       irange->rr_infos[0].rr_soff, irange->rr_infos[0].rr_eoff);
}
/* end: answer */

int
main(int argc, char **argv)
{
	static pfmlib_input_param_t inp;
	static pfmlib_output_param_t outp;
	static pfmlib_ita2_input_param_t ita2_inp;
	static pfmlib_ita2_output_param_t ita2_outp;
	int ret;

	if (argc != 3)
		errx(1, "usage: ita2_code_range START END");
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	request(&inp, &ita2_inp, strtoul(argv[1], NULL, 0), strtoul(argv[2], NULL, 0));
	ret = pfm_dispatch_events(&inp, &ita2_inp, &outp, &ita2_outp);
	if (ret != PFMLIB_SUCCESS)
		errx(1, "cannot configure events: %s", pfm_strerror(ret));
	show(&outp, &ita2_outp);
	return 0;
}
