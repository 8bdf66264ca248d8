/*
 * Montecito: the execution trace buffer.  First it records returns, then the addresses of
 * the instructions that retire (IP-EAR).
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <perfmon/pfmlib_montecito.h>

static pfmlib_input_param_t inp;
static pfmlib_mont_input_param_t mont_inp;

static void
show(const char *what)
{
	pfmlib_output_param_t outp;
	unsigned int i;
	int ret;

	memset(&outp, 0, sizeof(outp));
	ret = pfm_dispatch_events(&inp, &mont_inp, &outp, NULL);
	if (ret != PFMLIB_SUCCESS)
		errx(1, "%s: %s", what, pfm_strerror(ret));
	printf("%s:", what);
	for (i = 0; i < outp.pfp_pmc_count; i++)
		printf(" PMC%u=0x%llx", outp.pfp_pmcs[i].reg_num, outp.pfp_pmcs[i].reg_value);
	printf(", first PMD%u, last PMD%u\n", outp.pfp_pmds[0].reg_num, outp.pfp_pmds[outp.pfp_pmd_count - 1].reg_num);
}

int
main(void)
{
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	inp.pfp_dfl_plm = PFM_PLM3;
	if (pfm_find_event("ETB_EVENT", &inp.pfp_events[0].event) != PFMLIB_SUCCESS)
		errx(1, "no such event");
	inp.pfp_event_count = 1;
	show("all branches");

	mont_inp.pfp_mont_etb.etb_used = 1;
	mont_inp.pfp_mont_etb.etb_tm = 2;	/* taken */
	mont_inp.pfp_mont_etb.etb_ptm = 3;	/* target predicted or not */
	mont_inp.pfp_mont_etb.etb_ppm = 3;	/* path predicted or not */
	mont_inp.pfp_mont_etb.etb_brt = 2;	/* returns */
	show("returns");

	/* Instruction addresses: another use of the same buffer. */
	memset(&mont_inp, 0, sizeof(mont_inp));
	mont_inp.pfp_mont_ipear.ipear_used = 1;
	mont_inp.pfp_mont_ipear.ipear_delay = 100;
	inp.pfp_event_count = 0;
	show("addresses");
	return 0;
}
