/*
 * Memory safety of pfm_dispatch_events(): structures with stale or absurd
 * contents.  Where libpfm 3.10 wrote past an array or crashed, an error code
 * comes back and not one byte outside the structures changes.
 */
#include "check_pfm3.h"

#include <perfmon/pfmlib_itanium2.h>
#include <perfmon/pfmlib_montecito.h>

#define CANARY 0xc5

static pfmlib_input_param_t inp;
static pfmlib_output_param_t outp;

/* The model's output between canaries. */
static struct {
	unsigned char before[256];
	pfmlib_ita2_output_param_t out;
	unsigned char after[4096];
} ita2;
static struct {
	unsigned char before[256];
	pfmlib_mont_output_param_t out;
	unsigned char after[4096];
} mont;

static int
intact(const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != CANARY)
			return 0;
	return 1;
}

static void
start(const char *name)
{
	memset(&inp, 0, sizeof(inp));
	memset(&ita2, CANARY, sizeof(ita2));
	memset(&ita2.out, 0, sizeof(ita2.out));
	memset(&mont, CANARY, sizeof(mont));
	memset(&mont.out, 0, sizeof(mont.out));
	inp.pfp_dfl_plm = PFM_PLM3;
	if (!name)
		return;
	inp.pfp_event_count = 1;
	CHECK_EQ(pfm_find_event(name, &inp.pfp_events[0].event), PFMLIB_SUCCESS);
}

static void
check_canaries(void)
{
	CHECK(intact(ita2.before, sizeof(ita2.before)) && intact(ita2.after, sizeof(ita2.after)));
	CHECK(intact(mont.before, sizeof(mont.before)) && intact(mont.after, sizeof(mont.after)));
#ifndef PFMLIB_MANUAL_LAYOUT
	for (int i = 0; i < 6; i++) { /* after the ranges, inside the structure */
		CHECK_EQ(ita2.out.reserved[i], 0);
		CHECK_EQ(mont.out.reserved[i], 0);
	}
#endif
}

/* A range that needs four registers in fine mode, eight or two otherwise. */
struct range {
	const char *event;
	int data;
	unsigned long from, to;
	unsigned int flags;
	unsigned int needs;
};

static const struct range ita2_ranges[] = {
	{ "IA64_INST_RETIRED", 0, 0x1000, 0x1040, 0, 4 },
	{ "NOPS_RETIRED", 0, 0x1ff0, 0x2010, 0, 2 },
	{ "IA64_INST_RETIRED", 0, 0x10000, 0x14000, PFMLIB_ITA2_RR_NO_FINE_MODE, 2 },
	{ "LOADS_RETIRED", 1, 0x1000, 0x2000, 0, 2 },
	{ "LOADS_RETIRED", 1, 0x1001, 0x2003, 0, 8 },
};
static const struct range mont_ranges[] = {
	{ "IA64_INST_RETIRED", 0, 0x1000, 0x2000, 0, 4 },
	{ "L2I_PREFETCHES", 0, 0x1000, 0x20000, 0, 2 },
	{ "IA64_INST_RETIRED", 0, 0x10000, 0x20000, PFMLIB_MONT_RR_NO_FINE_MODE, 2 },
	{ "LOADS_RETIRED", 1, 0x1000, 0x2000, 0, 2 },
	{ "LOADS_RETIRED", 1, 0x1001, 0x2fff, 0, 8 },
};

/* What has to come back for a count of registers left in the output. */
static void
check_return(const struct range *r, unsigned int stale, unsigned int left, pfm_err_t ret)
{
	if (stale <= 8 && stale + r->needs <= 8) {
		CHECK_EQ(ret, PFMLIB_SUCCESS);
		CHECK_EQ(left, stale + r->needs);
	} else
		CHECK_EQ(ret, r->data ? PFMLIB_ERR_DRRTOOMANY : PFMLIB_ERR_IRRTOOMANY);
}

static void
stale_ita2(const struct range *r, unsigned int stale)
{
	static pfmlib_ita2_input_param_t in;
	pfmlib_ita2_input_rr_t *rr = r->data ? &in.pfp_ita2_drange : &in.pfp_ita2_irange;
	pfmlib_ita2_output_rr_t *out = r->data ? &ita2.out.pfp_ita2_drange : &ita2.out.pfp_ita2_irange;
	pfm_err_t ret;

	start(r->event);
	memset(&in, 0, sizeof(in));
	in.pfp_ita2_counters[0].flags = PFMLIB_ITA2_FL_EVT_NO_QUALCHECK;
	rr->rr_used = 1;
	rr->rr_flags = r->flags;
	rr->rr_limits[0].rr_start = r->from;
	rr->rr_limits[0].rr_end = r->to;
	out->rr_nbr_used = stale;
	ret = pfm_dispatch_events(&inp, &in, &outp, &ita2.out);
	check_return(r, stale, out->rr_nbr_used, ret);
	check_canaries();
}

static void
stale_mont(const struct range *r, unsigned int stale)
{
	static pfmlib_mont_input_param_t in;
	pfmlib_mont_input_rr_t *rr = r->data ? &in.pfp_mont_drange : &in.pfp_mont_irange;
	pfmlib_mont_output_rr_t *out = r->data ? &mont.out.pfp_mont_drange : &mont.out.pfp_mont_irange;
	pfm_err_t ret;

	start(r->event);
	memset(&in, 0, sizeof(in));
	in.pfp_mont_counters[0].flags = PFMLIB_MONT_FL_EVT_NO_QUALCHECK;
	rr->rr_used = 1;
	rr->rr_flags = r->flags;
	rr->rr_limits[0].rr_start = r->from;
	rr->rr_limits[0].rr_end = r->to;
	out->rr_nbr_used = stale;
	ret = pfm_dispatch_events(&inp, &in, &outp, &mont.out);
	check_return(r, stale, out->rr_nbr_used, ret);
	check_canaries();
}

typedef void (*stale_test)(const struct range *, unsigned int);

static void
stale_registers(stale_test test, const struct range *ranges, size_t count)
{
	static const unsigned int huge[] = { 0x7fffffff, 0x80000000, 0xfffffff8, 0xfffffffe, 0xffffffff };

	for (size_t r = 0; r < count; r++) {
		for (unsigned int stale = 0; stale <= 20; stale++)
			test(&ranges[r], stale);
		for (size_t i = 0; i < sizeof(huge) / sizeof(*huge); i++)
			test(&ranges[r], huge[i]);
	}
}

/* rr_used with another value than 1 skips a step but still looks at the registers. */
static void
stale_and_half_used(unsigned int stale)
{
	static pfmlib_ita2_input_param_t in2;
	static pfmlib_mont_input_param_t in4;

	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), PFMLIB_SUCCESS);
	start("LOADS_RETIRED");
	memset(&in2, 0, sizeof(in2));
	in2.pfp_ita2_drange.rr_used = 2;
	in2.pfp_ita2_drange.rr_limits[0].rr_end = 0x1000;
	ita2.out.pfp_ita2_drange.rr_nbr_used = stale;
	ita2.out.pfp_ita2_irange.rr_nbr_used = stale;
	CHECK_EQ(pfm_dispatch_events(&inp, &in2, &outp, &ita2.out), PFMLIB_SUCCESS);
	CHECK_EQ(ita2.out.pfp_ita2_drange.rr_nbr_used, stale);
	check_canaries();

	CHECK_EQ(pfm_force_pmu(PFMLIB_MONTECITO_PMU), PFMLIB_SUCCESS);
	start("LOADS_RETIRED");
	memset(&in4, 0, sizeof(in4));
	in4.pfp_mont_drange.rr_used = 2;
	in4.pfp_mont_drange.rr_limits[0].rr_end = 0x1000;
	mont.out.pfp_mont_drange.rr_nbr_used = stale;
	mont.out.pfp_mont_irange.rr_nbr_used = stale;
	CHECK_EQ(pfm_dispatch_events(&inp, &in4, &outp, &mont.out), PFMLIB_SUCCESS);
	CHECK_EQ(mont.out.pfp_mont_drange.rr_nbr_used, stale);
	check_canaries();
}

/* A number in stale entries of both ranges: none of the library's arrays is that long. */
static void
stale_register_number(unsigned int num)
{
	static pfmlib_ita2_input_param_t in;

	start("LOADS_RETIRED");
	memset(&in, 0, sizeof(in));
	in.pfp_ita2_drange.rr_used = 1;
	in.pfp_ita2_drange.rr_limits[0].rr_start = 0x1000;
	in.pfp_ita2_drange.rr_limits[0].rr_end = 0x2000;
	in.pfp_ita2_irange = in.pfp_ita2_drange;
	in.pfp_ita2_counters[0].flags = PFMLIB_ITA2_FL_EVT_NO_QUALCHECK;
	for (int i = 0; i < 8; i++) {
		ita2.out.pfp_ita2_drange.rr_br[i].reg_num = num;
		ita2.out.pfp_ita2_irange.rr_br[i].reg_num = num;
	}
	ita2.out.pfp_ita2_drange.rr_nbr_used = 6;
	ita2.out.pfp_ita2_irange.rr_nbr_used = 6;
	CHECK_EQ(pfm_dispatch_events(&inp, &in, &outp, &ita2.out), PFMLIB_SUCCESS);
	/* The stale entries stand for no pair; those of this call are pair 0. */
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count),
		   "5=0xcd28 14=0xdb4 13=0x2078fefefee6 8=0xffffffff3ffffffc 15=0xffffffff");
	check_canaries();
}

static void
stale_register_numbers(void)
{
	static const unsigned int numbers[] = {
		8, 9, 10, 64, 0x1000, 0x7ffffffe, 0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffffe, 0xffffffff,
	};

	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), PFMLIB_SUCCESS);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		stale_register_number(numbers[i]);
}

static void
unit_masks_without_end(int type, const char *name)
{
	static const unsigned int counts[] = { 49, 50, 0x7fffffff, 0x80000000, 0xffffffff };
	char full[64] = "untouched";

	CHECK_EQ(pfm_force_pmu(type), PFMLIB_SUCCESS);
	start(name);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		inp.pfp_events[0].num_masks = counts[i];
		CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_ERR_UMASK);
		CHECK_EQ(pfm_get_full_event_name(&inp.pfp_events[0], full, sizeof(full)), PFMLIB_ERR_UMASK);
		CHECK_TEXT(full, "untouched");
	}
}

/* All 48 unit masks: each valid, one not. */
static void
unit_masks_to_the_end(void)
{
	char full[256];

	CHECK_EQ(pfm_force_pmu(PFMLIB_MONTECITO_PMU), PFMLIB_SUCCESS);
	start("L3_INSERTS");
	inp.pfp_events[0].num_masks = PFMLIB_MAX_MASKS_PER_EVENT;
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_SUCCESS);
	for (size_t size = 1; size <= 10 + 2 * 48 + 1; size++) {
		memset(full, CANARY, sizeof(full));
		CHECK_EQ(pfm_get_full_event_name(&inp.pfp_events[0], full, size),
			 size == 10 + 2 * 48 + 1 ? PFMLIB_SUCCESS : PFMLIB_ERR_FULL);
		CHECK(intact((unsigned char *)full + size, sizeof(full) - size));
	}
	inp.pfp_events[0].unit_masks[47] = 4;
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_ERR_UMASK);
	inp.pfp_events[0].unit_masks[47] = 0xffffffff;
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_ERR_UMASK);
}

/* Every combination of NULL for the four pointers. */
static void
null_combinations(int type, void *model_in, void *model_out)
{
	CHECK_EQ(pfm_force_pmu(type), PFMLIB_SUCCESS);
	for (int bits = 0; bits < 16; bits++) {
		pfmlib_input_param_t *p = bits & 1 ? &inp : NULL;
		void *mi = bits & 2 ? model_in : NULL;
		pfmlib_output_param_t *q = bits & 4 ? &outp : NULL;
		void *mo = bits & 8 ? model_out : NULL;
		int good = p && q && (mi || !mo);

		start("BRANCH_EVENT");
		CHECK_EQ(pfm_dispatch_events(p, mi, q, mo), good ? PFMLIB_SUCCESS : PFMLIB_ERR_INVAL);
		check_canaries();
	}
}

static void
all_null_combinations(void)
{
	static pfmlib_ita2_input_param_t in2;
	static pfmlib_mont_input_param_t in4;

	null_combinations(PFMLIB_ITANIUM2_PMU, &in2, &ita2.out);
	null_combinations(PFMLIB_MONTECITO_PMU, &in4, &mont.out);
}

static void
huge_event_counts(int type, unsigned int counters)
{
	static const unsigned int counts[] = { 511, 512, 513, 0x7fffffff, 0x80000000, 0xffffffff };

	CHECK_EQ(pfm_force_pmu(type), PFMLIB_SUCCESS);
	start("BRANCH_EVENT");
	inp.pfp_event_count = counters + 1;
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_ERR_NOASSIGN);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		inp.pfp_event_count = counts[i];
		CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL),
			 counts[i] < PFMLIB_MAX_PMCS ? PFMLIB_ERR_NOASSIGN : PFMLIB_ERR_INVAL);
	}
}

static void
absurd_values(int type, unsigned int events)
{
	CHECK_EQ(pfm_force_pmu(type), PFMLIB_SUCCESS);
	start("BRANCH_EVENT");
	inp.pfp_events[0].event = events;
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_ERR_INVAL);
	inp.pfp_events[0].event = 0xffffffff;
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_ERR_INVAL);
	memset(&inp, 0xff, sizeof(inp));
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_ERR_INVAL);
	start(NULL); /* no event: the entries are not looked at */
	memset(inp.pfp_events, 0xff, sizeof(inp.pfp_events));
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_SUCCESS);
	CHECK_EQ(outp.pfp_pmc_count, 0);
}

/* All bytes of the model's input set: codes vary, but nothing breaks. */
static void
input_of_ones(void)
{
	static pfmlib_ita2_input_param_t in2;
	static pfmlib_mont_input_param_t in4;

	memset(&in2, 0xff, sizeof(in2));
	memset(&in4, 0xff, sizeof(in4));
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), PFMLIB_SUCCESS);
	start("NOPS_RETIRED");
	CHECK_EQ(pfm_dispatch_events(&inp, &in2, &outp, &ita2.out), PFMLIB_ERR_INVAL); /* I-EAR mode */
	check_canaries();
	CHECK_EQ(pfm_force_pmu(PFMLIB_MONTECITO_PMU), PFMLIB_SUCCESS);
	start("NOPS_RETIRED");
	CHECK_EQ(pfm_dispatch_events(&inp, &in4, &outp, &mont.out), PFMLIB_ERR_NOTSUPP); /* ALL_THRD */
	check_canaries();
}

/* An error before the registers are computed leaves the output as it was. */
static void
output_zeroed_or_untouched(void)
{
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), PFMLIB_SUCCESS);
	start("CPU_CYCLES");
	memset(&outp, CANARY, sizeof(outp));
	inp.pfp_events[0].num_masks = 1;
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_ERR_UMASK);
	CHECK(intact((unsigned char *)&outp, sizeof(outp)));
	inp.pfp_events[0].num_masks = 0;
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, NULL), PFMLIB_SUCCESS);
	CHECK_EQ(outp.pfp_pmcs[0].reg_reserved1, 0);
	CHECK_EQ(outp.pfp_pmcs[1].reg_num, 0);
	CHECK_EQ(outp.pfp_pmds[511].reg_alt_addr, 0);
	CHECK_EQ(outp.reserved[6], 0);
}

int
main(void)
{
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), PFMLIB_SUCCESS);
	stale_registers(stale_ita2, ita2_ranges, sizeof(ita2_ranges) / sizeof(*ita2_ranges));
	CHECK_EQ(pfm_force_pmu(PFMLIB_MONTECITO_PMU), PFMLIB_SUCCESS);
	stale_registers(stale_mont, mont_ranges, sizeof(mont_ranges) / sizeof(*mont_ranges));
	for (unsigned int stale = 0; stale <= 20; stale++)
		stale_and_half_used(stale);
	stale_and_half_used(0xffffffff);
	stale_register_numbers();
	unit_masks_without_end(PFMLIB_ITANIUM2_PMU, "CPU_CYCLES");
	unit_masks_without_end(PFMLIB_MONTECITO_PMU, "CPU_OP_CYCLES_ALL");
	unit_masks_without_end(PFMLIB_MONTECITO_PMU, "L3_INSERTS");
	unit_masks_to_the_end();
	all_null_combinations();
	huge_event_counts(PFMLIB_ITANIUM2_PMU, 4);
	huge_event_counts(PFMLIB_MONTECITO_PMU, 12);
	absurd_values(PFMLIB_ITANIUM2_PMU, 497);
	absurd_values(PFMLIB_MONTECITO_PMU, 637);
	input_of_ones();
	output_zeroed_or_untouched();
	return check_result();
}
