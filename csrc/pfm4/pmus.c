/*
 * The modifiers of the events of PMUs, and what the environment and the host say of them.
 */
#include "pfm4.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "../base/environment.h"

static const struct pfm4_modifier os_modifiers[] = {
	{ "u", "count in user programs", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_U },
	{ "k", "count in the kernel", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_K },
	{ "h", "count in the hypervisor", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_H },
	{ "period", "occurrences from one sample to the next", PFM_ATTR_MOD_INTEGER, PFM_ATTR_CTRL_PERF_EVENT,
	  PFM4_OS_PERIOD },
	{ "freq", "samples a second", PFM_ATTR_MOD_INTEGER, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_FREQ },
	{ "precise", "precision of the sampled address, 0 to 3", PFM_ATTR_MOD_INTEGER, PFM_ATTR_CTRL_PERF_EVENT,
	  PFM4_OS_PRECISE },
	{ "excl", "have the PMU alone", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_EXCL },
	{ "mg", "count in guests", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_MG },
	{ "mh", "count in the host", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_MH },
	{ "cpu", "processor to count on", PFM_ATTR_MOD_INTEGER, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_CPU },
	{ "pinned", "keep on the PMU all the time", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_PINNED },
	{ "hw_smpl", "let the hardware take the samples", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT,
	  PFM4_OS_HW_SMPL },
};

/* Modifiers of PFM_OS_PERF_EVENT; PFM_OS_PERF_EVENT_EXT has all. */
#define BASIC_MODIFIERS (1u << PFM4_OS_U | 1u << PFM4_OS_K | 1u << PFM4_OS_H | 1u << PFM4_OS_MG | 1u << PFM4_OS_MH)

const struct pfm4_pmu *
pfm4_pmu_at(int place)
{
	return place >= 0 && place < pfm4_num_pmus ? pfm4_pmus[place] : NULL;
}

int
pfm4_place_of(pfm_pmu_t id)
{
	for (int i = 0; i < pfm4_num_pmus; i++)
		if (pfm4_pmus[i]->id == id)
			return i;
	return -1;
}

unsigned int
pfm4_levels(const struct pfm4_pmu *pmu, const struct pfm4_pmu_state *pmu_state)
{
	if (pmu_state->plm)
		return pmu_state->plm;
	return pmu->levels;
}

uint64_t
pfm4_event_code(const struct pfm4_context *context, const struct pfm4_pmu *pmu, const struct pfm4_event *event)
{
	return pmu->code ? pmu->code(context, event) : event->code;
}

int
pfm4_opaque(const struct pfm4_pmu *pmu, int n)
{
	return (int)((unsigned int)pmu->id << 21 | (unsigned int)n);
}

/* Operating system modifiers that an event has, as a set. */
static unsigned int
os_modifier_set(const struct pfm4_pmu *pmu, unsigned int plm, const struct pfm4_event *event, pfm_os_t os)
{
	unsigned int set = os == PFM_OS_PERF_EVENT ? BASIC_MODIFIERS : (1u << (PFM4_OS_HW_SMPL + 1)) - 1;

	if (!(plm & PFM_PLMH))
		set &= ~(1u << PFM4_OS_H);
	return set & ~pmu->lacks(event);
}

int
pfm4_modifiers(const struct pfm4_pmu *pmu, unsigned int plm, const struct pfm4_event *event, pfm_os_t os,
	       const struct pfm4_modifier **list)
{
	unsigned int hw = event->modifiers, set = 0;
	int n = 0;

	if (os != PFM_OS_NONE) { /* levels are the operating system's there */
		hw &= ~(1u << PFM4_K | 1u << PFM4_U);
		set = os_modifier_set(pmu, plm, event, os);
	}
	for (const struct pfm4_modifier *m = pmu->hw_modifiers; m && m->name; m++)
		if (hw >> m->code & 1)
			list[n++] = m;
	for (unsigned int i = 0; i < sizeof(os_modifiers) / sizeof(*os_modifiers); i++)
		if (set >> i & 1)
			list[n++] = &os_modifiers[i];
	return n;
}

void
pfm4_context_for(struct pfm4_context *context, const struct pfm4_pmu *pmu)
{
	int place = pfm4_place_of(pmu->id);

	*context = (struct pfm4_context){ .perf_layers = 1 };
	context->pmus[place].known = context->pmus[place].active = 1;
	context->pmus[place].plm = pfm4_levels(pmu, &context->pmus[place]);
}

/* 1 if a PMU's name contains one of the comma-separated items. */
static int
is_disabled(const char *name, const char *items)
{
	while (*items) {
		size_t len = strcspn(items, ",");

		if (len > 0 && memmem(name, strlen(name), items, len))
			return 1;
		items += len + (items[len] == ',');
	}
	return 0;
}

/* Read the environment that decides which PMUs are initialised. */
static void
read_pmu_variables(struct pfm4_context *context, unsigned int *disabled)
{
	const char *items = environment("LIBPFM_DISABLED_PMUS");

	if (environment("LIBPFM_ENCODE_INACTIVE"))
		context->encode_inactive = 1;
	if (!items)
		return; /* what was disabled before stays so */
	*disabled = 0;
	for (int i = 0; i < pfm4_num_pmus; i++)
		if (is_disabled(pfm4_pmus[i]->name, items))
			*disabled |= 1u << i;
}

/* Levels of a PMU that becomes active. */
static unsigned int
supported_plm(const struct pfm4_context *context, const struct pfm4_pmu *pmu)
{
	unsigned int levels = pmu->levels;

	for (int i = 0; pmu->levels_of_core && i < pfm4_num_pmus; i++)
		if (pfm4_pmus[i]->type == PFM_PMU_TYPE_CORE && context->pmus[i].active)
			levels &= pfm4_pmus[i]->levels;
	return levels;
}

/* With LIBPFM_VERBOSE=1 where no PMU is active: what was looked for, and what selects one on any host. */
static void
explain_no_pmu(const char *force)
{
	const char *verbose = environment("LIBPFM_VERBOSE");

	if (!verbose || *verbose < '1' || *verbose > '9')
		return;
	if (force)
		fprintf(stderr, "no active PMU: LIBPFM_FORCE_PMU=%s is none of libpfm 4, which takes a name\n", force);
	else
		fprintf(stderr,
			"no active PMU: the processor is no known one (LIBPFM_X86_CPUID and LIBPFM_IA64_CPUID3 stand "
			"for others), and there is no %s\n",
			PFM4_PARANOID);
	fprintf(stderr, "LIBPFM_FORCE_PMU selects a PMU on any host:");
	for (int i = 0; i < pfm4_num_pmus; i++)
		fprintf(stderr, " %s", pfm4_pmus[i]->name);
	fprintf(stderr, "\n");
}

/* The place of the PMU whose name begins with the text up to a comma; -1: none.  One of this kind of host comes first. */
static int
forced_place(const char *force)
{
	size_t len = strcspn(force, ",");
	int found = -1;

	for (int i = 0; i < pfm4_num_pmus; i++) {
		if (strncasecmp(pfm4_pmus[i]->name, force, len) != 0)
			continue;
		if (!pfm4_pmus[i]->retired)
			return i;
		if (found < 0)
			found = i;
	}
	return found;
}

void
pfm4_initialize(struct pfm4_context *context, unsigned int *disabled)
{
	const char *force = environment("LIBPFM_FORCE_PMU");
	int forced = force ? forced_place(force) : -1;
	bool active = false;

	read_pmu_variables(context, disabled);
	context->perf_layers = access(PFM4_PARANOID, F_OK) == 0;
	for (int i = 0; i < pfm4_num_pmus; i++) {
		struct pfm4_pmu_state *state = &context->pmus[i];

		if (*disabled >> i & 1)
			continue;
		state->known = 1;
		if (force ? i != forced : !pfm4_pmus[i]->detect(pfm4_pmus[i], context))
			continue;
		state->plm = supported_plm(context, pfm4_pmus[i]);
		state->active = 1;
		active = true;
		if (force)
			break; /* PMUs after it are not known then (quirk) */
	}
	if (!active)
		explain_no_pmu(force);
}
