/*
 * The events to count: the program's, or those that the environment gives in their place.
 */
#include "library.h"

#include <errno.h>
#include <string.h>

#include "../base/environment.h"

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

/* Return the next significant character of a name, in lower case; 0: the end. */
static int
next_letter(const char **at, const char *end)
{
	while (*at < end && (**at == '-' || **at == '_' || **at == ' ' || **at == '\t'))
		++*at;
	if (*at == end)
		return 0;
	return **at >= 'A' && **at <= 'Z' ? *(*at)++ - 'A' + 'a' : *(*at)++;
}

enum likeness { NOT_ALIKE, BEGINS_SO, SAME };

static enum likeness
compare_names(const char *text, const char *end, const char *name)
{
	const char *const name_end = name + strlen(name);
	bool empty = true;

	for (;; empty = false) {
		const int given = next_letter(&text, end), known = next_letter(&name, name_end);

		if (!given)
			return !known ? SAME : empty ? NOT_ALIKE : BEGINS_SO;
		if (given != known)
			return NOT_ALIKE;
	}
}

uint32_t
perfex_event_matches(const struct perfex_cpu *cpu, const char *text, size_t size)
{
	const int number = perfex_event_number(text, size);
	uint32_t same = 0, begins = 0;

	if (number >= 0)
		return UINT32_C(1) << number;
	for (int i = 0; i < PERFEX_NUM_EVENTS; i++) {
		const enum likeness in_short = compare_names(text, text + size, cpu->events[i].short_name);
		const enum likeness in_full = compare_names(text, text + size, cpu->events[i].name);

		if (in_short == SAME) /* one only: two events, one on each counter, may have the full name */
			return UINT32_C(1) << i;
		same |= (uint32_t)(in_full == SAME) << i;
		begins |= (uint32_t)(in_short == BEGINS_SO || in_full == BEGINS_SO) << i;
	}
	return same ? same : begins;
}

/* Return the only event that is meant; -1: none, or several. */
static int
event_meant(const struct perfex_cpu *cpu, const char *text)
{
	const uint32_t found = perfex_event_matches(cpu, text, strlen(text));
	int event = -1;

	if (found && !(found & (found - 1)))
		for (event = 0; !(found >> event & 1); event++)
			;
	return event;
}

int
perfex_choose(int e0, int e1, struct perfex_choice *choice)
{
	static const char *const names[2] = { "T5_EVENT0", "T5_EVENT1" };

	choice->cpu = perfex_cpu_find(NULL);
	choice->events[0] = e0;
	choice->events[1] = e1;
	if (!choice->cpu)
		return -EINVAL;
	for (int i = 0; i < 2; i++) {
		const char *value = perfex_environment(names[i]);

		if (value)
			choice->events[i] = event_meant(choice->cpu, value);
		if (choice->events[i] < 0 || choice->events[i] >= PERFEX_NUM_EVENTS)
			return -EINVAL;
	}
	return choice->cpu->events[choice->events[0]].counter == choice->cpu->events[choice->events[1]].counter
		       ? -EINVAL
		       : 0;
}
