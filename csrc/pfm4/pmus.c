/*
 * The list of PMUs, the modifiers of their events, and what the environment and
 * the host say of them.
 */
#include "pfm4.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const struct pfm4_pmu *const pmus[PFM4_NUM_PMUS] = { &pfm4_glm, &pfm4_perf, &pfm4_perf_raw };

static const struct pfm4_modifier hw_modifiers[] = {
	{ "k", "count in the kernel (privilege level 0)", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PMU, PFM4_K },
	{ "u", "count in user programs (privilege levels 1 to 3)", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PMU, PFM4_U },
	{ "e", "count changes from no occurrence to some", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PMU, PFM4_E },
	{ "i", "invert the comparison with the counter mask", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PMU, PFM4_I },
	{ "c", "count cycles with at least this many occurrences, 0 to 255", PFM_ATTR_MOD_INTEGER, PFM_ATTR_CTRL_PMU, PFM4_C },
};

static const struct pfm4_modifier os_modifiers[] = {
	{ "u", "count in user programs", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_U },
	{ "k", "count in the kernel", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_K },
	{ "h", "count in the hypervisor", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_H },
	{ "period", "occurrences from one sample to the next", PFM_ATTR_MOD_INTEGER, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_PERIOD },
	{ "freq", "samples a second", PFM_ATTR_MOD_INTEGER, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_FREQ },
	{ "precise", "precision of the sampled address, 0 to 3", PFM_ATTR_MOD_INTEGER, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_PRECISE },
	{ "excl", "have the PMU alone", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_EXCL },
	{ "mg", "count in guests", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_MG },
	{ "mh", "count in the host", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_MH },
	{ "cpu", "processor to count on", PFM_ATTR_MOD_INTEGER, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_CPU },
	{ "pinned", "keep on the PMU all the time", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_PINNED },
	{ "hw_smpl", "let the hardware take the samples", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PERF_EVENT, PFM4_OS_HW_SMPL },
};

/* Modifiers of PFM_OS_PERF_EVENT; PFM_OS_PERF_EVENT_EXT has all. */
#define BASIC_MODIFIERS	(1u << PFM4_OS_U | 1u << PFM4_OS_K | 1u << PFM4_OS_H | 1u << PFM4_OS_MG | 1u << PFM4_OS_MH)

const struct pfm4_pmu *
pfm4_pmu_at(int place)
{
	return place >= 0 && place < PFM4_NUM_PMUS ? pmus[place] : NULL;
}

int
pfm4_place_of(pfm_pmu_t id)
{
	for (int i = 0; i < PFM4_NUM_PMUS; i++)
		if (pmus[i]->id == id)
			return i;
	return -1;
}

unsigned int
pfm4_levels(const struct pfm4_pmu *pmu, const struct pfm4_pmu_state *pmu_state)
{
	if (pmu_state->plm)
		return pmu_state->plm;
	return pmu == &pfm4_glm ? PFM_PLM0 | PFM_PLM3 : PFM_PLM0 | PFM_PLM3 | PFM_PLMH;
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
	if (pmu == &pfm4_perf && event->perf_type == PERF_TYPE_SOFTWARE)
		set &= ~(1u << PFM4_OS_H | 1u << PFM4_OS_PRECISE);
	if (pmu == &pfm4_glm && !(event->flags & PFM4_PEBS))
		set &= ~(1u << PFM4_OS_PRECISE);
	if (pmu != &pfm4_perf_raw)
		set &= ~(1u << PFM4_OS_HW_SMPL);
	return set;
}

int
pfm4_modifiers(const struct pfm4_pmu *pmu, unsigned int plm, const struct pfm4_event *event,
	       pfm_os_t os, const struct pfm4_modifier **list)
{
	unsigned int hw = event->modifiers, set = 0;
	int n = 0;

	if (os != PFM_OS_NONE) {	/* levels are the operating system's there */
		hw &= ~(1u << PFM4_K | 1u << PFM4_U);
		set = os_modifier_set(pmu, plm, event, os);
	}
	for (unsigned int i = 0; i < sizeof(hw_modifiers) / sizeof(*hw_modifiers); i++)
		if (hw >> i & 1)
			list[n++] = &hw_modifiers[i];
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

/* What has to be known before the PMUs are walked. */
static void
read_environment(struct pfm4_context *context, unsigned int *disabled)
{
	const char *items = getenv("LIBPFM_DISABLED_PMUS");

	if (getenv("LIBPFM_ENCODE_INACTIVE"))
		context->encode_inactive = 1;
	if (!items)
		return;		/* what was disabled before stays so */
	*disabled = 0;
	for (int i = 0; i < PFM4_NUM_PMUS; i++)
		if (is_disabled(pmus[i]->name, items))
			*disabled |= 1u << i;
}

/* Levels of a PMU that becomes active: those of perf follow an active core PMU. */
static unsigned int
supported_plm(const struct pfm4_context *context, int place)
{
	if (pmus[place] == &pfm4_glm || (pmus[place] == &pfm4_perf && context->pmus[0].active))
		return PFM_PLM0 | PFM_PLM3;
	return PFM_PLM0 | PFM_PLM3 | PFM_PLMH;
}

void
pfm4_initialize(struct pfm4_context *context, unsigned int *disabled)
{
	const char *force = getenv("LIBPFM_FORCE_PMU");
	size_t len = force ? strcspn(force, ",") : 0;

	read_environment(context, disabled);
	context->perf_layers = access(PFM4_PARANOID, F_OK) == 0;
	for (int i = 0; i < PFM4_NUM_PMUS; i++) {
		struct pfm4_pmu_state *state = &context->pmus[i];

		if (*disabled >> i & 1)
			continue;
		state->known = 1;
		if (!(force ? strncasecmp(pmus[i]->name, force, len) == 0 : pmus[i]->detect()))
			continue;
		state->plm = supported_plm(context, i);
		state->active = 1;
		if (force)
			break;
	}
}
