/*
 * libpmc(3): counters by event name, on top of the two system calls.
 */
#include "machine.h"

#include <errno.h>
#include <string.h>

int
pmc_configure_counter(int ctr, const char *evname, pmc_ctr_t reset_val, uint32_t flags)
{
	const struct pmc_event *event = pmc_get_counter_event_list();
	struct pmc_counter_cfg cfg = { .reset_value = reset_val, .flags = flags };

	if (!event)
		return -1;
	while (event->name && !(evname && strcmp(event->name, evname) == 0))
		event++;
	if (!event->name)
		return errno = ESRCH, -1;
	cfg.event_id = event->val;
	return pmc_control(ctr, PMC_OP_CONFIGURE, &cfg);
}

int
pmc_start_counter(int ctr)
{
	return pmc_control(ctr, PMC_OP_START, NULL);
}

int
pmc_stop_counter(int ctr)
{
	return pmc_control(ctr, PMC_OP_STOP, NULL);
}

int
pmc_get_num_counters(void)
{
	int number;

	return pmc_get_info(0, PMC_INFO_NCOUNTERS, &number) < 0 ? 0 : number;
}

int
pmc_get_counter_class(void)
{
	int class_id;

	return pmc_get_info(-1, PMC_INFO_CPUCTR_TYPE, &class_id) < 0 ? 0 : class_id;
}

int
pmc_get_counter_type(int ctr, int *typep)
{
	if (ctr < 0)
		return errno = ENODEV, -1;
	return pmc_get_info(ctr, PMC_INFO_CPUCTR_TYPE, typep);
}

int
pmc_get_counter_value(int ctr, uint64_t *valp)
{
	return pmc_get_info(ctr, PMC_INFO_COUNTER_VALUE, valp);
}

int
pmc_get_accumulated_counter_value(int ctr, uint64_t *valp)
{
	return pmc_get_info(ctr, PMC_INFO_ACCUMULATED_COUNTER_VALUE, valp);
}

/* The machine that the names belong to; NULL with errno ESRCH: nothing has a name. */
static const struct pmc_machine *
current_machine(void)
{
	const struct pmc_state *state = pmc_current();

	if (!state)
		return errno = ESRCH, NULL;
	return pmc_state_machine(state);
}

const char *
pmc_get_counter_class_name(int classval)
{
	const struct pmc_machine *m = current_machine();

	if (m && classval == m->class_id)
		return m->class_name;
	if (m && classval == m->class_id + 1)
		return m->cycle_name;
	if (m && classval == m->class_id + 2)
		return m->counter_name;
	return errno = ESRCH, NULL;
}

const char *
pmc_get_counter_type_name(int type)
{
	return pmc_get_counter_class_name(type);
}

const char *
pmc_get_counter_event_name(pmc_evid_t event)
{
	const struct pmc_machine *m = current_machine();
	int row = m ? pmc_machine_event(m, event) : -1;

	return row < 0 ? (errno = ESRCH, NULL) : m->table->events[row].name;
}

const struct pmc_event *
pmc_get_counter_event_list(void)
{
	const struct pmc_machine *m = current_machine();

	return m ? m->table->events : NULL;
}
