/*
 * The machines.  Class, type and event names are those of NetBSD's libpmc; the event
 * tables are csrc/tables/pmc_*_events.csv.
 */
#include "machine.h"

#include <string.h>

/* clang-format off */
static const struct pmc_machine machines[] = {
	{
		.name = "linux", .class_id = PMC_CLASS_LINUX, .class_name = "Linux",
		.cycle_name = "Linux cycle counter", .counter_name = "Linux performance counter",
		.num_counters = 8, .cycle_counter = true, .width = 64, .interrupts = true,
		.table = &pmc_linux_table, .backend = &pmc_linux_backend,
	},
	{
		.name = "xscale", .class_id = PMC_CLASS_I80200, .class_name = "i80200",
		.cycle_name = "i80200 cycle counter", .counter_name = "i80200 performance counter",
		.num_counters = 3, .cycle_counter = true, .width = 32, .interrupts = true, .clocks = true,
		.table = &pmc_xscale_table, .backend = &pmc_model_backend,
	},
	{	/* overflow is a pin of the processor, not an interrupt */
		.name = "i586", .class_id = PMC_CLASS_I586, .class_name = "i586",
		.cycle_name = "i586 cycle counter", .counter_name = "i586 performance counter",
		.num_counters = 2, .width = 40, .interrupts = false,
		.table = &pmc_i586_table, .backend = &pmc_model_backend,
	},
	{
		.name = "i686", .class_id = PMC_CLASS_I686, .class_name = "i686",
		.cycle_name = "i686 cycle counter", .counter_name = "i686 performance counter",
		.num_counters = 2, .width = 40, .interrupts = true,
		.table = &pmc_i686_table, .backend = &pmc_model_backend,
	},
	{
		.name = "k7", .class_id = PMC_CLASS_K7, .class_name = "K7",
		.cycle_name = "K7 cycle counter", .counter_name = "K7 performance counter",
		.num_counters = 4, .width = 40, .interrupts = true,
		.table = &pmc_k7_table, .backend = &pmc_model_backend,
	},
};
/* clang-format on */

const struct pmc_machine *
pmc_machine_at(size_t index)
{
	return index < sizeof(machines) / sizeof(machines[0]) ? &machines[index] : NULL;
}

const struct pmc_machine *
pmc_machine_find(const char *name)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (name && strcmp(name, machines[i].name) == 0)
			return &machines[i];
	return NULL;
}

int
pmc_machine_event(const struct pmc_machine *machine, pmc_evid_t id)
{
	for (size_t i = 0; i < machine->table->count; i++)
		if (machine->table->events[i].val == id)
			return (int)i;
	return -1;
}
