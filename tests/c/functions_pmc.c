/*
 * What the table of functions says of libpmc, tried on a model: functions_pmc csrc/functions.csv
 */
#include "functions.h"

#include "pmc_check.h"
#include "layout_pmc.h"

#define CALL(name, ...) \
	static int call_##name(struct received *r) \
	{ \
		(void)r; \
		__VA_ARGS__ \
	}

/* Other threads start, stop and configure the same counter: such a call may fail as the manual page says. */
static int
fails(int ret, int first, int second)
{
	return ret != 0 && errno != first && errno != second;
}

CALL(pmc_control, CHECK_EQ(pmc_control(1, PMC_OP_PROFSTOP, NULL), 0); return fails(stop(2), ENXIO, ENXIO);)
CALL(pmc_get_info, int number; return pmc_get_info(0, PMC_INFO_NCOUNTERS, &number);)
CALL(pmc_configure_counter, return fails(pmc_configure_counter(1, "dcache-miss", 0, 0), EBUSY, EBUSY);)
CALL(pmc_start_counter, return fails(pmc_start_counter(1), EINPROGRESS, ENXIO);)
CALL(pmc_stop_counter, return fails(pmc_stop_counter(1), ENXIO, ENXIO);)
CALL(pmc_get_num_counters, return pmc_get_num_counters() != 3;)
CALL(pmc_get_counter_class, return pmc_get_counter_class() != PMC_CLASS_I80200;)
CALL(pmc_get_counter_type, int type; return pmc_get_counter_type(0, &type);)
CALL(pmc_get_counter_value, uint64_t value; return fails(pmc_get_counter_value(1, &value), ENXIO, ENXIO);)
CALL(pmc_get_accumulated_counter_value, uint64_t value;
     return fails(pmc_get_accumulated_counter_value(1, &value), ENXIO, ENXIO);)
CALL(pmc_get_counter_class_name, r->stays[0] = pmc_get_counter_class_name(PMC_CLASS_I80200); return !r->stays[0];)
CALL(pmc_get_counter_type_name, r->stays[0] = pmc_get_counter_type_name(PMC_TYPE_I80200_CCNT); return !r->stays[0];)
CALL(pmc_get_counter_event_name, r->stays[0] = pmc_get_counter_event_name(DCACHE_MISS); return !r->stays[0];)
CALL(pmc_model_advance, return pmc_model_advance(DCACHE_MISS, 3);)

/* The list, and the names in it. */
static int
call_pmc_get_counter_event_list(struct received *r)
{
	const struct pmc_event *list = pmc_get_counter_event_list();

	for (const struct pmc_event *event = list; event && event->name; event++)
		if (!functions_in_library(event->name))
			return 1;
	r->stays[0] = list;
	return !list;
}

#define ONE(name) { #name, call_##name, NULL },

/* clang-format off */
static const struct function all[] = {
	ONE(pmc_control) ONE(pmc_get_info) ONE(pmc_configure_counter) ONE(pmc_start_counter) ONE(pmc_stop_counter)
	ONE(pmc_get_num_counters) ONE(pmc_get_counter_class) ONE(pmc_get_counter_type) ONE(pmc_get_counter_value)
	ONE(pmc_get_accumulated_counter_value) ONE(pmc_get_counter_class_name) ONE(pmc_get_counter_type_name)
	ONE(pmc_get_counter_event_name) ONE(pmc_get_counter_event_list) ONE(pmc_model_advance)
};
/* clang-format on */

static void
prepare(void)
{
}

int
main(int argc, char **argv)
{
	const struct library library = {
		.name = "pmc",
		.soname = "libpmc.so.1",
		.functions = all,
		.count = sizeof(all) / sizeof(*all),
		.prepare = prepare,
		.rounds = CHECK_ROUGHLY ? 20 : 500,
	};

	check_begin("xscale");
	return functions_main(argc, argv, &library);
}
