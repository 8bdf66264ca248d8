/*
 * perfmonctl(2): the opcode matcher (default), data ranges by PFM_WRITE_DBRS (-DDRR), code ranges by PFM_WRITE_IBRS
 * (-DIRR).  -DITA, -DITA2, -DMONT: which PMU.
 */
#include <sys/types.h>
#include <err.h>
#include <errno.h>
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
#define PART(m, which) (m).pfp_ita_##which
#define TAGGED "IA64_TAGGED_INST_RETIRED_PMC8"
#elif defined(ITA2)
#include <perfmon/pfmlib_itanium2.h>
#define WANTED PFMLIB_ITANIUM2_PMU
#define INPUT pfmlib_ita2_input_param_t
#define OUTPUT pfmlib_ita2_output_param_t
#define PART(m, which) (m).pfp_ita2_##which
#define TAGGED "IA64_TAGGED_INST_RETIRED_IBRP0_PMC8"
#else
#include <perfmon/pfmlib_montecito.h>
#define WANTED PFMLIB_MONTECITO_PMU
#define INPUT pfmlib_mont_input_param_t
#define OUTPUT pfmlib_mont_output_param_t
#define PART(m, which) (m).pfp_mont_##which
#define TAGGED "IA64_TAGGED_INST_RETIRED_IBRP0_PMC32_33"
#endif

static void
range(INPUT *in)
{
#if defined(DRR)
	PART(*in, drange).rr_used = 1;
	PART(*in, drange).rr_limits[0].rr_start = 0x6000000000008000UL;
	PART(*in, drange).rr_limits[0].rr_end = 0x6000000000010000UL;
#elif defined(IRR)
	PART(*in, irange).rr_used = 1;
	PART(*in, irange).rr_limits[0].rr_start = 0x4000000000001000UL;
	PART(*in, irange).rr_limits[0].rr_end = 0x4000000000001100UL;
#elif defined(MONT)
	in->pfp_mont_opcm1.opcm_used = in->pfp_mont_opcm1.opcm_b = 1;
	in->pfp_mont_opcm1.opcm_match = 0x1400028003UL;
#else
	PART(*in, pmc8).opcm_used = 1;
	PART(*in, pmc8).pmc_val = 0x80003b0003fffff8UL;
#endif
}

int
main(void)
{
#if defined(DRR)
	const char *event = "LOADS_RETIRED";
#elif defined(IRR)
	const char *event = "IA64_INST_RETIRED";
#else
	const char *event = TAGGED;
#endif
	pfmlib_input_param_t inp;
	pfmlib_output_param_t outp;
	INPUT in;
	OUTPUT out;
	pfarg_reg_t pc[16], pd[16];
	pfarg_dbreg_t db[8];
	pfarg_context_t ctx[1];
	pfarg_load_t load_args;
	volatile unsigned long busy;
	unsigned int i, n = 0;
	int fd, type = 0, ret;

	memset(&in, 0, sizeof(in));
	memset(&out, 0, sizeof(out));
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(pc, 0, sizeof(pc));
	memset(pd, 0, sizeof(pd));
	memset(db, 0, sizeof(db));
	memset(ctx, 0, sizeof(ctx));
	memset(&load_args, 0, sizeof(load_args));
	if (pfm_initialize() != PFMLIB_SUCCESS)
		errx(1, "cannot initialize the library");
	pfm_get_pmu_type(&type);
	if (type != WANTED)
		errx(2, "this program does not work with this PMU");
	range(&in);
	if (pfm_find_event(event, &inp.pfp_events[0].event) != PFMLIB_SUCCESS)
		errx(1, "no event %s", event);
	inp.pfp_event_count = 1;
	inp.pfp_dfl_plm = PFM_PLM3;
	if ((ret = pfm_dispatch_events(&inp, &in, &outp, &out)) != PFMLIB_SUCCESS)
		errx(1, "cannot configure events: %s", pfm_strerror(ret));
	if (perfmonctl(0, PFM_CREATE_CONTEXT, ctx, 1) == -1)
		err(1, "PFM_CREATE_CONTEXT");
	fd = ctx->ctx_fd;
	for (i = 0; i < outp.pfp_pmc_count; i++) {
		pc[i].reg_num = outp.pfp_pmcs[i].reg_num;
		pc[i].reg_value = outp.pfp_pmcs[i].reg_value;
	}
	for (i = 0; i < outp.pfp_pmd_count; i++)
		pd[i].reg_num = outp.pfp_pmds[i].reg_num;
	if (perfmonctl(fd, PFM_WRITE_PMCS, pc, outp.pfp_pmc_count) == -1)
		err(1, "PFM_WRITE_PMCS");
	if (perfmonctl(fd, PFM_WRITE_PMDS, pd, outp.pfp_pmd_count) == -1)
		err(1, "PFM_WRITE_PMDS");
#if defined(DRR) || defined(IRR)
#ifdef DRR
#define KIND drange
#define COMMAND PFM_WRITE_DBRS
#else
#define KIND irange
#define COMMAND PFM_WRITE_IBRS
#endif
#define PART2(m, which) PART(m, which)
	n = PART2(out, KIND).rr_nbr_used;
	for (i = 0; i < n; i++) {
		db[i].dbreg_num = PART2(out, KIND).rr_br[i].reg_num;
		db[i].dbreg_value = PART2(out, KIND).rr_br[i].reg_value;
	}
	if (perfmonctl(fd, COMMAND, db, n) == -1)
		err(1, "cannot write debug registers");
#endif
	load_args.load_pid = getpid();
	if (perfmonctl(fd, PFM_LOAD_CONTEXT, &load_args, 1) == -1)
		err(1, "PFM_LOAD_CONTEXT");
	pfm_self_start(fd);
	for (busy = 0; busy < 10000000; busy++)
		;
	pfm_self_stop(fd);
	if (perfmonctl(fd, PFM_READ_PMDS, pd, 1) == -1)
		err(1, "PFM_READ_PMDS");
	printf("%u registers\nPMD%u %lu %s\n", n, pd[0].reg_num, pd[0].reg_value, event);
	return 0;
}
