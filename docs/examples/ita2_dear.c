/*
 * Itanium 2: sample data cache misses of at least 16 cycles with the data EAR.  First as
 * the event says it, then with settings of our own, then free running, without a counter.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <perfmon/pfmlib_itanium2.h>

static pfmlib_input_param_t inp;
static pfmlib_output_param_t outp;
static pfmlib_ita2_input_param_t ita2_inp;

static void
show(const char *what)
{
	unsigned int i;
	int ret;

	memset(&outp, 0, sizeof(outp));
	ret = pfm_dispatch_events(&inp, &ita2_inp, &outp, NULL);
	if (ret != PFMLIB_SUCCESS)
		errx(1, "%s: %s", what, pfm_strerror(ret));
	printf("%s:", what);
	for (i = 0; i < outp.pfp_pmc_count; i++)
		printf(" PMC%u=0x%llx", outp.pfp_pmcs[i].reg_num, outp.pfp_pmcs[i].reg_value);
	printf(", samples in");
	for (i = 0; i < outp.pfp_pmd_count; i++)
		printf(" PMD%u", outp.pfp_pmds[i].reg_num);
	printf("\n");
}

int
main(void)
{
	pfmlib_ita2_ear_mode_t mode;
	unsigned int event;
	unsigned long umask;

	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	if (pfm_find_event("DATA_EAR_CACHE_LAT16", &event) != PFMLIB_SUCCESS || !pfm_ita2_is_dear(event))
		errx(1, "no data EAR event");
	pfm_ita2_get_ear_mode(event, &mode);
	pfm_ita2_get_event_umask(event, &umask);
	printf("EAR mode %d, unit mask 0x%lx\n", mode, umask);

	/* The event brings the settings. */
	inp.pfp_events[0].event = event;
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3;
	show("event");

	/* Settings of our own: the kernel too, IA-64 code only. */
	ita2_inp.pfp_ita2_dear.ear_used = 1;
	ita2_inp.pfp_ita2_dear.ear_mode = mode;
	ita2_inp.pfp_ita2_dear.ear_umask = umask;
	ita2_inp.pfp_ita2_dear.ear_plm = PFM_PLM0 | PFM_PLM3;
	ita2_inp.pfp_ita2_dear.ear_ism = PFMLIB_ITA2_ISM_IA64;
	show("settings");

	/* No event: the EAR runs, and nothing is counted. */
	inp.pfp_event_count = 0;
	show("free running");
	return 0;
}
