/*
 * What is counted: the program's events, or those that the environment gives in their place.
 */
#include "library.h"

#include <errno.h>
#include <string.h>

#include "../environment/environment.h"

const char *
perfex_environment(const char *name)
{
	const char *value = environment(name);

	return value && *value ? value : NULL;
}

const struct perfex_cpu *
perfex_cpu_find(const char *name)
{
	name = name ? name : perfex_environment("PERFEX_CPU");
	name = name ? name : "r10000";
	for (int i = 0; i < PERFEX_NUM_CPUS; i++)
		if (strcmp(name, perfex_cpus[i].name) == 0)
			return &perfex_cpus[i];
	return NULL;
}

double
perfex_default_clock(const struct perfex_cpu *cpu)
{
	return strcmp(cpu->base, "r12000") == 0 ? 300 : 196;
}

int
perfex_clock(const struct perfex_cpu *cpu, double *clock, bool *given)
{
	const char *value = perfex_environment("PERFEX_CLOCK");

	*given = value != NULL;
	*clock = value ? perfex_decimal(value, strlen(value), 9) : perfex_default_clock(cpu);
	return *clock > 0 ? 0 : -EINVAL;
}

int
perfex_choose(int e0, int e1, struct perfex_choice *choice)
{
	static const char *const names[2] = { "T5_EVENT0", "T5_EVENT1" };

	choice->cpu = perfex_cpu_find(NULL);
	choice->events[0] = e0;
	choice->events[1] = e1;
	for (int i = 0; i < 2; i++) {
		const char *value = perfex_environment(names[i]);

		if (value)
			choice->events[i] = perfex_event_number(value, strlen(value));
		if (choice->events[i] < 0 || choice->events[i] >= PERFEX_NUM_EVENTS)
			return -EINVAL;
	}
	if (!choice->cpu)
		return -EINVAL;
	return choice->cpu->events[choice->events[0]].counter == choice->cpu->events[choice->events[1]].counter
		? -EINVAL : 0;
}
