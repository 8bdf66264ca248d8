/*
 * Itanium's opcode matcher: counts the instructions that match, in the program itself.  -DITA, -DITA2, -DMONT: which PMU.
 * -DV3: calls of version 3.
 */
#include <sys/types.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#if defined(ITA)
#include <perfmon/pfmlib_itanium.h>
#define WANTED PFMLIB_ITANIUM_PMU
#elif defined(ITA2)
#include <perfmon/pfmlib_itanium2.h>
#define WANTED PFMLIB_ITANIUM2_PMU
#else
#include <perfmon/pfmlib_montecito.h>
#define WANTED PFMLIB_MONTECITO_PMU
#endif

int
main(void)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	volatile unsigned long busy;
	unsigned int i;
	int type = 0, fd, ret;
#ifdef V3
	pfarg_pmr_t pc[16], pd[16];
#else
	pfarg_pmc_t pc[16];
	pfarg_pmd_t pd[16];
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
#endif
#if defined(ITA)
	pfmlib_ita_input_param_t model;
	const char *event = "IA64_TAGGED_INST_RETIRED_PMC8";

	memset(&model, 0, sizeof(model));
	model.pfp_ita_pmc8.opcm_used = 1;
	model.pfp_ita_pmc8.pmc_val = 0x80003b0003fffff8UL; /* br.cloop */
#elif defined(ITA2)
	pfmlib_ita2_input_param_t model;
	const char *event = "IA64_TAGGED_INST_RETIRED_IBRP0_PMC8";

	memset(&model, 0, sizeof(model));
	model.pfp_ita2_pmc8.opcm_used = 1;
	model.pfp_ita2_pmc8.pmc_val = 0xffff8e0003fffffbUL;
#else
	pfmlib_mont_input_param_t model;
	const char *event = "IA64_TAGGED_INST_RETIRED_IBRP0_PMC32_33";

	memset(&model, 0, sizeof(model));
	model.pfp_mont_opcm1.opcm_used = 1;
	model.pfp_mont_opcm1.opcm_b = 1;
	model.pfp_mont_opcm1.opcm_match = 0x1400028003UL;
	model.pfp_mont_opcm1.opcm_mask = 0x7fffUL;
#endif
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_get_pmu_type(&type);
	if (type != WANTED)
		errx(2, "this program does not work with this PMU");
	if (pfm_find_event(event, &inp.pfp_events[0].event) != PFMLIB_SUCCESS)
		errx(1, "no event %s", event);
	pfm_get_inst_retired_event(&inp.pfp_events[1]);
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3;
	if ((ret = pfm_dispatch_events(&inp, &model, &outp, NULL)) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events: %s", pfm_strerror(ret));
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
		printf("PMC%u %llx\n", outp.pfp_pmcs[i].reg_num, outp.pfp_pmcs[i].reg_value);
	}
	for (i = 0; i < outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
#ifdef V3
	if ((fd = pfm_create(0, NULL)) == -1 || pfm_write(fd, 0, PFM_RW_PMC, pc, sizeof(*pc) * outp.pfp_pmc_count) ||
	    pfm_write(fd, 0, PFM_RW_PMD, pd, sizeof(*pd) * outp.pfp_pmd_count) || pfm_attach(fd, 0, getpid()))
		err(1, "cannot monitor");
#else
	load_args.load_pid = getpid();
	if ((fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1 || pfm_write_pmcs(fd, pc, outp.pfp_pmc_count) ||
	    pfm_write_pmds(fd, pd, outp.pfp_pmd_count) || pfm_load_context(fd, &load_args))
		err(1, "cannot monitor");
#endif
	pfm_self_start(fd);
	for (busy = 0; busy < 10000000; busy++)
		;
	pfm_self_stop(fd);
#ifdef V3
	if (pfm_read(fd, 0, PFM_RW_PMD, pd, sizeof(*pd)))
#else
	if (pfm_read_pmds(fd, pd, 1))
#endif
		err(1, "cannot read");
	printf("PMD%u %" PRIu64 " %s\n", pd[0].reg_num, (uint64_t)pd[0].reg_value, event);
	return 0;
}
