/*
 * What the table of functions says of libpfm 3, tried: functions_pfm3 csrc/functions.csv [keep|beside]
 */
#include "functions.h"

#include "pfm3_models.h"
#include <perfmon/pfmlib_gen_ia64.h>
#include <perfmon/perfmon.h>
#include <perfmon/perfmon_dfl_smpl.h>
#include <perfmon/perfmon_model.h>
#include <perfmon/perfmon_default_smpl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layout_pfm3.h"

static int
print_nothing(const char *format, ...)
{
	return format == NULL;
}

/* ---- the queries of the models: what they return is no error, or is one with any state ---- */

/* clang-format off */
#define CALL(name, ...)	static int call_##name(struct received *r) { (void)r; __VA_ARGS__ }
#define KIND(name)	CALL(name, (void)name(3); return 0;)
#define MEMBER(name, type)	CALL(name, type answer; return name(3, &answer);)
#define EAR_MODE(name, type)	CALL(name, type mode; (void)name(3, &mode); return 0;)
#define FINE(name, type) \
	CALL(name, pfmlib_output_param_t out; type model; memset(&out, 0, sizeof(out)); memset(&model, 0, sizeof(model)); \
	     (void)name(&out, &model); return 0;)

#define COMMON_KINDS(DO, tag)								\
	DO(pfm_##tag##_is_ear) DO(pfm_##tag##_is_dear) DO(pfm_##tag##_is_dear_tlb)	\
	DO(pfm_##tag##_is_dear_cache) DO(pfm_##tag##_is_iear) DO(pfm_##tag##_is_iear_tlb)	\
	DO(pfm_##tag##_is_iear_cache) DO(pfm_##tag##_support_opcm)			\
	DO(pfm_##tag##_support_iarr) DO(pfm_##tag##_support_darr)
#define KINDS(DO)									\
	COMMON_KINDS(DO, ita) COMMON_KINDS(DO, ita2) COMMON_KINDS(DO, mont)		\
	DO(pfm_ita_is_btb) DO(pfm_ita2_is_btb) DO(pfm_mont_is_etb)			\
	DO(pfm_ita2_is_dear_alat) DO(pfm_mont_is_dear_alat) DO(pfm_mont_support_all)
#define MEMBERS(DO)									\
	DO(pfm_ita_get_event_maxincr, unsigned int) DO(pfm_ita_get_event_umask, unsigned long)	\
	DO(pfm_ita2_get_event_maxincr, unsigned int) DO(pfm_ita2_get_event_umask, unsigned long)	\
	DO(pfm_ita2_get_event_group, int) DO(pfm_ita2_get_event_grp, int) DO(pfm_ita2_get_event_set, int)	\
	DO(pfm_mont_get_event_maxincr, unsigned int) DO(pfm_mont_get_event_umask, unsigned long)	\
	DO(pfm_mont_get_event_group, int) DO(pfm_mont_get_event_grp, int) DO(pfm_mont_get_event_set, int)	\
	DO(pfm_mont_get_event_type, int)
#define EAR_MODES(DO)									\
	DO(pfm_ita_get_ear_mode, pfmlib_ita_ear_mode_t)					\
	DO(pfm_ita2_get_ear_mode, pfmlib_ita2_ear_mode_t) DO(pfm_ita2_get_event_ear_mode, pfmlib_ita2_ear_mode_t)	\
	DO(pfm_mont_get_ear_mode, pfmlib_mont_ear_mode_t) DO(pfm_mont_get_event_ear_mode, pfmlib_mont_ear_mode_t)
#define FINES(DO)									\
	DO(pfm_ita2_irange_is_fine, pfmlib_ita2_output_param_t) DO(pfm_mont_irange_is_fine, pfmlib_mont_output_param_t)

KINDS(KIND)
MEMBERS(MEMBER)
EAR_MODES(EAR_MODE)
FINES(FINE)

/* ---- the generic functions ------------------------------------------------------------- */

#define NUMBER(name)	CALL(name, unsigned int number; return name(&number);)
#define REGISTERS(name)	CALL(name, pfmlib_regmask_t registers; return name(&registers);)
#define EVENT(name)	CALL(name, pfmlib_event_t event; return name(&event);)

#define NUMBERS(DO)									\
	DO(pfm_get_num_events) DO(pfm_get_num_pmds) DO(pfm_get_num_pmcs) DO(pfm_get_num_counters)	\
	DO(pfm_get_hw_counter_width) DO(pfm_get_version)
#define REGISTER_SETS(DO)	DO(pfm_get_impl_pmcs) DO(pfm_get_impl_pmds) DO(pfm_get_impl_counters)
#define EVENTS(DO)	DO(pfm_get_cycle_event) DO(pfm_get_inst_retired_event)

NUMBERS(NUMBER)
REGISTER_SETS(REGISTERS)
EVENTS(EVENT)

CALL(pfm_initialize, return pfm_initialize();)
CALL(pfm_force_pmu, return pfm_force_pmu(PFMLIB_MONTECITO_PMU);)
CALL(pfm_set_options, pfmlib_options_t options = { .pfm_verbose = 0 }; return pfm_set_options(&options);)
CALL(pfm_list_supported_pmus, return pfm_list_supported_pmus(print_nothing);)
CALL(pfm_get_pmu_name, char name[64]; return pfm_get_pmu_name(name, sizeof(name));)
CALL(pfm_get_pmu_type, int type; return pfm_get_pmu_type(&type);)
CALL(pfm_get_pmu_name_bytype, char name[64]; return pfm_get_pmu_name_bytype(PFMLIB_ITANIUM2_PMU, name, sizeof(name));)
CALL(pfm_is_pmu_supported, return pfm_is_pmu_supported(PFMLIB_ITANIUM2_PMU);)
CALL(pfm_find_event, unsigned int i; return pfm_find_event("IA64_INST_RETIRED", &i);)
CALL(pfm_find_event_byname, unsigned int i; return pfm_find_event_byname("IA64_INST_RETIRED", &i);)
CALL(pfm_find_event_bycode, unsigned int i; return pfm_find_event_bycode(0x12, &i);)
CALL(pfm_find_event_bycode_next, unsigned int i; return pfm_find_event_bycode_next(0x12, 0xffffffff, &i);)
CALL(pfm_find_full_event, pfmlib_event_t event; return pfm_find_full_event("CPU_OP_CYCLES_ALL", &event);)
CALL(pfm_get_max_event_name_len, size_t length; return pfm_get_max_event_name_len(&length);)
CALL(pfm_get_num_event_masks, unsigned int count; return pfm_get_num_event_masks(0, &count);)
CALL(pfm_get_event_name, char name[128]; return pfm_get_event_name(0, name, sizeof(name));)
CALL(pfm_get_full_event_name, char name[128]; pfmlib_event_t event = { .event = 0 };
     return pfm_get_full_event_name(&event, name, sizeof(name));)
CALL(pfm_get_event_code, int code; return pfm_get_event_code(0, &code);)
CALL(pfm_get_event_code_counter, int code; return pfm_get_event_code_counter(0, 4, &code);)
CALL(pfm_get_event_counters, pfmlib_regmask_t counters; return pfm_get_event_counters(0, &counters);)
CALL(pfm_start, CHECK_ERRNO(pfm_start(-1, NULL), ENOSYS); return 0;)
CALL(pfm_stop, CHECK_ERRNO(pfm_stop(-1), ENOSYS); return 0;)

/* perfmon2: without LIBPFM_PERFMON there is nothing. */
CALL(perfmonctl, CHECK_ERRNO(perfmonctl(-1, PFM_START, NULL, 0), ENOSYS); return 0;)
CALL(pfm_attach, CHECK_ERRNO(pfm_attach(-1, 0, PFM_NO_TARGET), ENOSYS); return 0;)
CALL(pfm_create, CHECK_ERRNO(pfm_create(0, NULL), ENOSYS); return 0;)
CALL(pfm_create_context, CHECK_ERRNO(pfm_create_context(NULL, NULL, NULL, 0), ENOSYS); return 0;)
CALL(pfm_create_context_v2old, CHECK_ERRNO(pfm_create_context_v2old(NULL, NULL, NULL, 0), ENOSYS); return 0;)
CALL(pfm_create_evtsets, CHECK_ERRNO(pfm_create_evtsets(-1, NULL, 0), ENOSYS); return 0;)
CALL(pfm_create_sets, CHECK_ERRNO(pfm_create_sets(-1, 0, NULL, 0), ENOSYS); return 0;)
CALL(pfm_delete_evtsets, CHECK_ERRNO(pfm_delete_evtsets(-1, NULL, 0), ENOSYS); return 0;)
CALL(pfm_getinfo_evtsets, CHECK_ERRNO(pfm_getinfo_evtsets(-1, NULL, 0), ENOSYS); return 0;)
CALL(pfm_getinfo_evtsets_v2old, CHECK_ERRNO(pfm_getinfo_evtsets_v2old(-1, NULL, 0), ENOSYS); return 0;)
CALL(pfm_getinfo_sets, CHECK_ERRNO(pfm_getinfo_sets(-1, 0, NULL, 0), ENOSYS); return 0;)
CALL(pfm_load_context, CHECK_ERRNO(pfm_load_context(-1, NULL), ENOSYS); return 0;)
CALL(pfm_model_advance, CHECK_ERRNO(pfm_model_advance(0, PFM_PLM3, 1), ENXIO); return 0;)
CALL(pfm_model_advance_code, CHECK_ERRNO(pfm_model_advance_code(0x12, 0, PFM_PLM3, 1), ENXIO); return 0;)
CALL(pfm_model_advance_task, CHECK_ERRNO(pfm_model_advance_task(getpid(), 0, PFM_PLM3, 1), ENXIO); return 0;)
CALL(pfm_model_set_ip, CHECK_ERRNO(pfm_model_set_ip(0), ENXIO); return 0;)
CALL(pfm_model_set_pmd, CHECK_ERRNO(pfm_model_set_pmd(0, 0), ENXIO); return 0;)
CALL(pfm_model_time, CHECK_ERRNO(pfm_model_time(1), ENXIO); return 0;)
CALL(pfm_model_time_task, CHECK_ERRNO(pfm_model_time_task(getpid(), 1), ENXIO); return 0;)
CALL(pfm_read, CHECK_ERRNO(pfm_read(-1, 0, PFM_RW_PMD, NULL, 0), ENOSYS); return 0;)
CALL(pfm_read_pmds, CHECK_ERRNO(pfm_read_pmds(-1, NULL, 0), ENOSYS); return 0;)
CALL(pfm_restart, CHECK_ERRNO(pfm_restart(-1), ENOSYS); return 0;)
CALL(pfm_set_state, CHECK_ERRNO(pfm_set_state(-1, 0, PFM_ST_STOP), ENOSYS); return 0;)
CALL(pfm_unload_context, CHECK_ERRNO(pfm_unload_context(-1), ENOSYS); return 0;)
CALL(pfm_write, CHECK_ERRNO(pfm_write(-1, 0, PFM_RW_PMC, NULL, 0), ENOSYS); return 0;)
CALL(pfm_write_pmcs, CHECK_ERRNO(pfm_write_pmcs(-1, NULL, 0), ENOSYS); return 0;)
CALL(pfm_write_pmds, CHECK_ERRNO(pfm_write_pmds(-1, NULL, 0), ENOSYS); return 0;)
CALL(pfm_mmap, CHECK(pfm_mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED); return 0;)
CALL(pfm_mmap64, CHECK(pfm_mmap64(NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED); return 0;)

CALL(pfm_strerror, r->stays[0] = pfm_strerror(PFMLIB_ERR_INVAL); return 0;)

/* An event of Montecito that has unit masks, once the library is initialised.  It is looked up once: what is tried beside
 * others is one function. */
static unsigned int event_with_masks;

CALL(pfm_find_event_mask, unsigned int mask; return pfm_find_event_mask(event_with_masks, "M", &mask);)
CALL(pfm_get_event_mask_code, unsigned int code; return pfm_get_event_mask_code(event_with_masks, 0, &code);)
CALL(pfm_get_event_mask_name, char name[64]; return pfm_get_event_mask_name(event_with_masks, 0, name, sizeof(name));)

/* Text to free; a call that fails leaves nothing to free. */
static int
description(pfm_err_t ret, char *text, char *failed, struct received *r)
{
	CHECK(!failed);
	r->frees[0] = text;
	return ret;
}

CALL(pfm_get_event_description, char *text = NULL, *none = NULL; CHECK(pfm_get_event_description(0xffffff, &none) != 0);
     pfm_err_t ret = pfm_get_event_description(0, &text); return description(ret, text, none, r);)
CALL(pfm_get_event_mask_description, char *text = NULL, *none = NULL;
     CHECK(pfm_get_event_mask_description(0xffffff, 0, &none) != 0);
     pfm_err_t ret = pfm_get_event_mask_description(event_with_masks, 0, &text); return description(ret, text, none, r);)

static int
call_pfm_dispatch_events(struct received *r)
{
	static _Thread_local pfmlib_input_param_t in;	/* too big for a stack */
	static _Thread_local pfmlib_output_param_t out;

	(void)r;
	in.pfp_dfl_plm = PFM_PLM3;
	in.pfp_event_count = 1;
	return pfm_dispatch_events(&in, NULL, &out, NULL);
}

/* ---- what the headers define ------------------------------------------------------------- */

#define MASKS		pfmlib_regmask_t a = { .bits = { 1 } }, b = { .bits = { 3 } }, c; unsigned int w; (void)a, (void)b, (void)c, (void)w;
CALL(pfm_regmask_isset, MASKS return !pfm_regmask_isset(&a, 0);)
CALL(pfm_regmask_set, MASKS return pfm_regmask_set(&a, 5);)
CALL(pfm_regmask_clr, MASKS return pfm_regmask_clr(&a, 5);)
CALL(pfm_regmask_weight, MASKS return pfm_regmask_weight(&a, &w);)
CALL(pfm_regmask_eq, MASKS return pfm_regmask_eq(&a, &b);)
CALL(pfm_regmask_and, MASKS return pfm_regmask_and(&c, &a, &b);)
CALL(pfm_regmask_andnot, MASKS return pfm_regmask_andnot(&c, &a, &b);)
CALL(pfm_regmask_or, MASKS return pfm_regmask_or(&c, &a, &b);)
CALL(pfm_regmask_copy, MASKS return pfm_regmask_copy(&c, &a);)
CALL(pfm_regmask_not, MASKS return pfm_regmask_not(&a);)
CALL(pfmlib_popcnt, return pfmlib_popcnt(6) != 2;)
#ifdef __ia64__	/* these are instructions of the processor there */
CALL(pfm_self_start, return pfm_self_start(-1);)
CALL(pfm_self_stop, return pfm_self_stop(-1);)
#else
CALL(pfm_self_start, CHECK_ERRNO(pfm_self_start(-1), ENOSYS); return 0;)
CALL(pfm_self_stop, CHECK_ERRNO(pfm_self_stop(-1), ENOSYS); return 0;)
#endif

/* ---- all ---------------------------------------------------------------------------------- */

#define ONE(name)		{ #name, call_##name, NULL },
#define ONE_OF(name, type)	ONE(name)

static const struct function all[] = {
	KINDS(ONE) MEMBERS(ONE_OF) EAR_MODES(ONE_OF) FINES(ONE_OF) NUMBERS(ONE) REGISTER_SETS(ONE) EVENTS(ONE)
	ONE(pfm_initialize) ONE(pfm_force_pmu) ONE(pfm_set_options) ONE(pfm_list_supported_pmus) ONE(pfm_get_pmu_name)
	ONE(pfm_get_pmu_type) ONE(pfm_get_pmu_name_bytype) ONE(pfm_is_pmu_supported) ONE(pfm_find_event)
	ONE(pfm_find_event_byname) ONE(pfm_find_event_bycode) ONE(pfm_find_event_bycode_next) ONE(pfm_find_full_event)
	ONE(pfm_get_max_event_name_len) ONE(pfm_get_num_event_masks) ONE(pfm_get_event_name) ONE(pfm_get_full_event_name)
	ONE(pfm_get_event_code) ONE(pfm_get_event_code_counter) ONE(pfm_get_event_counters) ONE(pfm_start) ONE(pfm_stop)
	ONE(pfm_strerror) ONE(pfm_find_event_mask) ONE(pfm_get_event_mask_code) ONE(pfm_get_event_mask_name)
	ONE(pfm_get_event_description) ONE(pfm_get_event_mask_description) ONE(pfm_dispatch_events)
	ONE(pfm_regmask_isset) ONE(pfm_regmask_set) ONE(pfm_regmask_clr) ONE(pfm_regmask_weight) ONE(pfm_regmask_eq)
	ONE(pfm_regmask_and) ONE(pfm_regmask_andnot) ONE(pfm_regmask_or) ONE(pfm_regmask_copy) ONE(pfm_regmask_not)
	ONE(perfmonctl) ONE(pfm_attach) ONE(pfm_create) ONE(pfm_create_context) ONE(pfm_create_context_v2old)
	ONE(pfm_create_evtsets) ONE(pfm_create_sets) ONE(pfm_delete_evtsets) ONE(pfm_getinfo_evtsets)
	ONE(pfm_getinfo_evtsets_v2old) ONE(pfm_getinfo_sets) ONE(pfm_load_context) ONE(pfm_mmap) ONE(pfm_mmap64)
	ONE(pfm_model_advance) ONE(pfm_model_advance_code) ONE(pfm_model_advance_task) ONE(pfm_model_set_ip)
	ONE(pfm_model_set_pmd) ONE(pfm_model_time) ONE(pfm_model_time_task) ONE(pfm_read) ONE(pfm_read_pmds)
	ONE(pfm_restart) ONE(pfm_set_state) ONE(pfm_unload_context) ONE(pfm_write) ONE(pfm_write_pmcs)
	ONE(pfm_write_pmds)
	ONE(pfmlib_popcnt) ONE(pfm_self_start) ONE(pfm_self_stop)
};
/* clang-format on */

static void
prepare(void)
{
	CHECK_EQ(pfm_initialize(), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_find_event("L3_READS_ALL_ALL", &event_with_masks), PFMLIB_SUCCESS);
}

#ifdef PFMLIB_MANUAL_LAYOUT
#define SONAME "libpfm-manual.so.3"
#else
#define SONAME "libpfm.so.3"
#endif

int
main(int argc, char **argv)
{
	const struct library library = {
		.name = "pfm3",
		.soname = SONAME,
		.functions = all,
		.count = sizeof(all) / sizeof(*all),
		.prepare = prepare,
		.has_kinds = true,
		.rounds = CHECK_ROUGHLY ? 10 : 200,
	};

	setenv("LIBPFM_FORCE_PMU", "4", 1); /* PFMLIB_MONTECITO_PMU */
	setenv("LIBPFM_PERFMON", "off", 1);
	return functions_main(argc, argv, &library);
}
