/*
 * Itanium's address ranges: loads from an array (data ranges, DBRs), or (-DIRR) instructions of a function (code ranges,
 * IBRs), which perfmon2 has as PMC256 to PMC271.  -DITA, -DITA2, -DMONT: which PMU.  -DV3: calls of version 3.
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
#define INPUT pfmlib_ita_input_param_t
#define OUTPUT pfmlib_ita_output_param_t
#define RANGE(m, which) (m).pfp_ita_##which
#elif defined(ITA2)
#include <perfmon/pfmlib_itanium2.h>
#define WANTED PFMLIB_ITANIUM2_PMU
#define INPUT pfmlib_ita2_input_param_t
#define OUTPUT pfmlib_ita2_output_param_t
#define RANGE(m, which) (m).pfp_ita2_##which
#else
#include <perfmon/pfmlib_montecito.h>
#define WANTED PFMLIB_MONTECITO_PMU
#define INPUT pfmlib_mont_input_param_t
#define OUTPUT pfmlib_mont_output_param_t
#define RANGE(m, which) (m).pfp_mont_##which
#endif

#ifdef IRR
#define KIND irange
#define FIRST_PMC 256
#define EVENT "IA64_INST_RETIRED"
#else
#define KIND drange
#define FIRST_PMC 264
#define EVENT "LOADS_RETIRED"
#endif
#define RANGE2(m, which) RANGE(m, which)

static volatile unsigned long array[4096] __attribute__((aligned(32768)));

int
main(void)
{
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	INPUT model;
	OUTPUT found;
	int type = 0, fd, ret, r;
	unsigned int i, n = 0, j;
	unsigned long sum = 0;
#ifdef V3
	pfarg_pmr_t pc[32], pd[16], ibr[8];
#else
	pfarg_pmc_t pc[32], ibr[8];
	pfarg_pmd_t pd[16];
	pfarg_ctx_t ctx;
	pfarg_load_t load_args;

	memset(&ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
#endif
	memset(&model, 0, sizeof(model));
	memset(&found, 0, sizeof(found));
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	memset(ibr, 0, sizeof(ibr));
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_get_pmu_type(&type);
	if (type != WANTED)
		errx(2, "this program does not work with this PMU");
	if (pfm_find_event(EVENT, &inp.pfp_events[0].event) != PFMLIB_SUCCESS)
		errx(1, "no event");
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3;
	RANGE2(model, KIND).rr_used = 1;
#ifdef IRR
	RANGE2(model, KIND).rr_limits[0].rr_start = 0x4000000000001000UL;
	RANGE2(model, KIND).rr_limits[0].rr_end = 0x4000000000001100UL;
#else
	RANGE2(model, KIND).rr_limits[0].rr_start = (unsigned long)array;
	RANGE2(model, KIND).rr_limits[0].rr_end = (unsigned long)array + sizeof(array);
#endif
	if ((ret = pfm_dispatch_events(&inp, &model, &outp, &found)) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events: %s", pfm_strerror(ret));
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
	n = RANGE2(found, KIND).rr_nbr_used;
	for (i = 0; i < n; i++) {
		ibr[i].reg_num = FIRST_PMC + RANGE2(found, KIND).rr_br[i].reg_num;
		ibr[i].reg_value = RANGE2(found, KIND).rr_br[i].reg_value;
	}
#ifdef V3
	r = (fd = pfm_create(0, NULL)) == -1 || pfm_write(fd, 0, PFM_RW_PMC, pc, sizeof(*pc) * outp.pfp_pmc_count) ||
	    pfm_write(fd, 0, PFM_RW_PMC, ibr, sizeof(*ibr) * n) ||
	    pfm_write(fd, 0, PFM_RW_PMD, pd, sizeof(*pd) * outp.pfp_pmd_count) || pfm_attach(fd, 0, getpid());
#else
	load_args.load_pid = getpid();
	r = (fd = pfm_create_context(&ctx, NULL, NULL, 0)) == -1 || pfm_write_pmcs(fd, pc, outp.pfp_pmc_count) ||
	    pfm_write_pmcs(fd, ibr, n) || pfm_write_pmds(fd, pd, outp.pfp_pmd_count) ||
	    pfm_load_context(fd, &load_args);
#endif
	if (r)
		err(1, "cannot monitor");
	pfm_self_start(fd);
	for (j = 0; j < 2000; j++)
		for (i = 0; i < 4096; i++)
			sum += array[i];
	pfm_self_stop(fd);
#ifdef V3
	if (pfm_read(fd, 0, PFM_RW_PMD, pd, sizeof(*pd)))
#else
	if (pfm_read_pmds(fd, pd, 1))
#endif
		err(1, "cannot read");
	printf("%u registers\nPMD%u %" PRIu64 " sum %lu\n", n, pd[0].reg_num, (uint64_t)pd[0].reg_value, sum);
	return 0;
}
