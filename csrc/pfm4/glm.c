/*
 * The Goldmont PMU: unit mask groups, the rules of the two offcore response
 * events, the raw codes.
 */
#include "request.h"

#include <string.h>

#include "../base/environment.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

/* Bits of an event select register. */
enum {
	UMASK_SHIFT = 8,
	USER_BIT = 16,
	KERNEL_BIT = 17,
	EDGE_BIT = 18,
	INTERRUPT_BIT = 20,
	ENABLE_BIT = 22,
	INVERT_BIT = 23,
	CMASK_SHIFT = 24
};

/* Width of a raw unit mask. */
enum { UMASK_BITS = 8, OFFCORE_UMASK_BITS = 38 };

#define NO_GROUP (-1)

static const struct pfm4_modifier hw_modifiers[] = {
	{ "k", "count in the kernel (privilege level 0)", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PMU, PFM4_K },
	{ "u", "count in user programs (privilege levels 1 to 3)", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PMU, PFM4_U },
	{ "e", "count changes from no occurrence to some", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PMU, PFM4_E },
	{ "i", "invert the comparison with the counter mask", PFM_ATTR_MOD_BOOL, PFM_ATTR_CTRL_PMU, PFM4_I },
	{ "c", "count cycles with at least this many occurrences, 0 to 255", PFM_ATTR_MOD_INTEGER, PFM_ATTR_CTRL_PMU,
	  PFM4_C },
	{ .name = NULL },
};

/* The entries of a string, taken together. */
struct selection {
	uint64_t umask;                            /* bits of the unit masks */
	unsigned int seen;                         /* groups with a unit mask, as a set */
	int count[PFM4_MAX_GROUPS];                /* explicit unit masks of each group */
	unsigned int alone;                        /* groups that hold one unit mask only */
	int limit;                                 /* no group above this one, or NO_GROUP */
	int only;                                  /* no group but 0 and this one, or NO_GROUP */
	int levels_given;                          /* u or k is mentioned */
	uint64_t modifiers[PFM4_NUM_HW_MODIFIERS]; /* values of k, u, e, i, c */
};

static pfm_err_t
select_umask(struct selection *s, const struct pfm4_umask *umask)
{
	unsigned int group = umask->group;

	if (umask->flags & PFM4_EXCL_GRP_GT)
		s->limit = (int)group;
	if (umask->flags & PFM4_EXCL_GRP_BUT_0)
		s->only = (int)group;
	if (umask->flags & PFM4_NCOMBO)
		s->alone |= 1u << group;
	if (++s->count[group] > 1 && s->alone >> group & 1)
		return PFM_ERR_FEATCOMB;
	s->umask |= umask->code;
	s->seen |= 1u << group;
	return PFM_SUCCESS;
}

static pfm_err_t
select_raw(struct selection *s, const struct pfm4_request *r, uint64_t value)
{
	int bits = r->event->flags & PFM4_NHM_OFFCORE ? OFFCORE_UMASK_BITS : UMASK_BITS;

	if (value >> bits)
		return PFM_ERR_ATTR;
	s->umask = value;
	s->seen = (1u << r->event->num_groups) - 1;
	return PFM_SUCCESS;
}

static pfm_err_t
select_modifier(struct selection *s, const struct pfm4_entry *entry)
{
	int code = entry->modifier->code;

	if (entry->modifier->ctrl != PFM_ATTR_CTRL_PMU)
		return PFM_SUCCESS; /* the operating system's */
	if (code == PFM4_C && entry->value > 255)
		return PFM_ERR_ATTR_VAL;
	if (code == PFM4_U || code == PFM4_K)
		s->levels_given = 1;
	s->modifiers[code] = code == PFM4_C ? entry->value : entry->value != 0;
	return PFM_SUCCESS;
}

static pfm_err_t
glm_select(const struct pfm4_request *r, struct selection *s)
{
	pfm_err_t ret = PFM_SUCCESS;

	*s = (struct selection){ .limit = NO_GROUP, .only = NO_GROUP };
	for (int i = 0; i < r->num_entries && ret == PFM_SUCCESS; i++) {
		const struct pfm4_entry *entry = &r->entries[i];

		if (entry->umask)
			ret = select_umask(s, entry->umask);
		else if (entry->modifier)
			ret = select_modifier(s, entry);
		else
			ret = select_raw(s, r, entry->value);
	}
	if (!s->levels_given) {
		s->modifiers[PFM4_K] = (r->dfl_plm & PFM_PLM0) != 0;
		s->modifiers[PFM4_U] = (r->dfl_plm & PFM_PLM3) != 0;
	}
	return ret;
}

/* Fill one empty group with its default, unless it may stay empty.  *limit is
 * the highest group that is still allowed. */
static pfm_err_t
default_of_group(struct pfm4_request *r, struct selection *s, int group, int *limit)
{
	int done = 0;

	for (int i = 0; i < r->event->num_umasks; i++) {
		const struct pfm4_umask *umask = &r->event->umasks[i];

		if (umask->group != group)
			continue;
		if ((*limit != NO_GROUP && group > *limit) || umask->flags & PFM4_GRP_DFL_NONE ||
		    (s->only != NO_GROUP && group != 0 && group != s->only)) {
			done = 1;
			continue;
		}
		if (!(umask->flags & PFM4_DFL))
			continue;
		done = 1;
		s->umask |= umask->code; /* its own bits, even of an alias */
		pfm4_add_default(r, i);
		if (umask->flags & PFM4_EXCL_GRP_GT) {
			if (*limit != NO_GROUP)
				return PFM_ERR_UMASK;
			*limit = group;
		}
	}
	return done ? PFM_SUCCESS : PFM_ERR_UMASK;
}

static pfm_err_t
add_defaults(struct pfm4_request *r, struct selection *s)
{
	int limit = s->limit;
	pfm_err_t ret = PFM_SUCCESS;

	for (int group = 0; group < r->event->num_groups && ret == PFM_SUCCESS; group++)
		if (!(s->seen >> group & 1))
			ret = default_of_group(r, s, group, &limit);
	return ret;
}

/* OUTSTANDING allows requests only, ANY_RESPONSE no snoop. */
static pfm_err_t
check_exclusions(const struct pfm4_request *r, const struct selection *s)
{
	for (int group = 1; s->only != NO_GROUP && group < r->event->num_groups; group++)
		if (group != s->only && s->count[group])
			return PFM_ERR_FEATCOMB;
	for (int i = 0; s->limit != NO_GROUP && i < r->num_entries; i++)
		if (r->entries[i].umask && r->entries[i].umask->group > s->limit)
			return PFM_ERR_FEATCOMB;
	return PFM_SUCCESS;
}

static void
set_codes(struct pfm4_request *r, const struct selection *s)
{
	uint64_t code = r->event->code;

	r->num_codes = 1;
	if (r->event->flags & PFM4_NHM_OFFCORE) {
		r->codes[1] = s->umask;
		r->num_codes = 2;
	} else {
		code |= s->umask << UMASK_SHIFT;
	}
	r->codes[0] = code | s->modifiers[PFM4_U] << USER_BIT | s->modifiers[PFM4_K] << KERNEL_BIT |
		      s->modifiers[PFM4_E] << EDGE_BIT | (uint64_t)1 << INTERRUPT_BIT | (uint64_t)1 << ENABLE_BIT |
		      s->modifiers[PFM4_I] << INVERT_BIT | s->modifiers[PFM4_C] << CMASK_SHIFT;
}

static pfm_err_t
glm_encode(struct pfm4_request *r)
{
	struct selection s;
	pfm_err_t ret = glm_select(r, &s);

	if (ret == PFM_SUCCESS)
		ret = add_defaults(r, &s);
	if (ret == PFM_SUCCESS)
		ret = check_exclusions(r, &s);
	if (ret != PFM_SUCCESS)
		return ret;
	pfm4_append(r, r->event->name);
	pfm4_append_umasks(r);
	set_codes(r, &s);
	pfm4_append_hw_modifiers(r, s.modifiers);
	return PFM_SUCCESS;
}

struct processor {
	unsigned int family, model; /* 0, 0: not Intel's */
};

static struct processor
ask_cpuid(void)
{
	struct processor p = { 0, 0 };
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d;

	__cpuid(0, a, b, c, d);
	if (a < 1 || b != signature_INTEL_ebx || c != signature_INTEL_ecx || d != signature_INTEL_edx)
		return p;
	__cpuid(1, a, b, c, d);
	p.family = a >> 8 & 0xf;
	p.model = (a >> 4 & 0xf) + (a >> 12 & 0xf0);
#endif
	return p;
}

/* LIBPFM_X86_CPUID=family:model stands for the processor, in decimal.  CPUID is
 * asked once: in a virtual machine the instruction takes microseconds. */
static struct processor
host_processor(void)
{
	static struct processor host;
	static int asked;
	const char *given = environment("LIBPFM_X86_CPUID");
	struct processor p = { 0, 0 };
	char tail;

	if (given)
		return sscanf(given, "%u:%u%c", &p.family, &p.model, &tail) == 2 ? p : (struct processor){ 0, 0 };
	if (!asked) {
		host = ask_cpuid();
		asked = 1;
	}
	return host;
}

static int
glm_detect(const struct pfm4_pmu *pmu, struct pfm4_context *context)
{
	struct processor p = host_processor();

	(void)pmu;
	(void)context;
	return p.family == 6 && (p.model == 92 || p.model == 95);
}

static unsigned int
glm_lacks(const struct pfm4_event *event)
{
	return 1u << PFM4_OS_HW_SMPL | (event->flags & PFM4_PEBS ? 0 : 1u << PFM4_OS_PRECISE);
}

const struct pfm4_pmu pfm4_glm = {
	.name = "glm",
	.desc = "Intel Goldmont",
	.id = PFM_PMU_INTEL_GLM,
	.type = PFM_PMU_TYPE_CORE,
	.table = &pfm4_glm_table,
	.max_encoding = 2,
	.num_cntrs = 4,
	.num_fixed_cntrs = 3,
	.levels = PFM_PLM0 | PFM_PLM3,
	.raw_umasks = 1,
	.shows_defaults = 1,
	.hw_modifiers = hw_modifiers,
	/* The kernel sets these bits: from attr.exclude_*, and the one that lets the counter run. */
	.not_in_config = 1ull << USER_BIT | 1ull << KERNEL_BIT | 1ull << INTERRUPT_BIT | 1ull << ENABLE_BIT,
	.lacks = glm_lacks,
	.match = pfm4_match,
	.encode = glm_encode,
	.detect = glm_detect,
};
