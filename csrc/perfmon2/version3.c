/*
 * The calls of version 3.
 */
#include "call.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "../counting/copy.h"

/* ---- contexts ------------------------------------------------------------------------------- */

int
pfm_create(int flags, pfarg_sinfo_t *sif, ...)
{
	const int known = PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK | PFM_FL_OVFL_NO_MSG | PFM_FL_SMPL_FMT | PFM_ITA_FL_INSECURE;
	const int excluding = PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK;
	struct call_creation wanted = { .flags = (uint32_t)flags, .sif = sif };
	pfm_dfl_smpl_arg_t format;
	int ret = call_check_machine();

	if (ret == 0 && (flags & ~known || (flags & excluding) == excluding))
		ret = -EINVAL;
	if (ret == 0 && flags & PFM_FL_SMPL_FMT) {
		const char *name;
		const void *argument;
		va_list rest;

		va_start(rest, sif);
		name = va_arg(rest, const char *);
		argument = va_arg(rest, const void *);
		ret = call_read_format(name, argument, va_arg(rest, size_t), &format);
		va_end(rest);
		wanted.sampling = &format;
	}
	return call_result(ret < 0 ? ret : call_create(&wanted));
}

struct target {
	int	number;
};

static int
attach(struct context *c, const void *argument)
{
	const struct target *target = argument;

	return context_load(c, target->number, 0);
}

static int
detach(struct context *c, const void *unused)
{
	(void)unused;
	if (c->state == UNLOADED)
		return -EINVAL;
	context_unload(c);
	return 0;
}

int
pfm_attach(int fd, int flags, int target)
{
	const int refused = flags ? -EINVAL : 0;

	if (target == PFM_NO_TARGET)
		return call_without(fd, refused, NEEDS_STOPPED_EVEN_MASKED, detach, NULL);
	return call_without(fd, refused, NEEDS_ANYTHING, attach, &(struct target){ target });
}

static int
set_state(struct context *c, const void *argument)
{
	const int *state = argument;

	return *state == PFM_ST_STOP ? state_stop(c) : state_restart(c, true);
}

int
pfm_set_state(int fd, int flags, int state)
{
	const bool is_known = state == PFM_ST_START || state == PFM_ST_STOP || state == PFM_ST_RESTART;

	if (!flags && state == PFM_ST_START)
		return pfm_start(fd, NULL);
	return call_without(fd, flags || !is_known ? -EINVAL : 0, state == PFM_ST_RESTART ? NEEDS_NOTHING : NEEDS_STOPPED,
			    set_state, &state);
}

/* ---- registers ------------------------------------------------------------------------------ */

static int
each_pmc(struct context *c, void *element)
{
	const pfarg_pmr_t *pmc = element;

	return state_write_pmc(c, pmc->reg_num, pmc->reg_set, pmc->reg_flags, pmc->reg_value);
}

static int
each_pmd(struct context *c, void *element)
{
	const pfarg_pmr_t *from = element;
	const pfarg_pmd_t pmd = { .reg_num = from->reg_num, .reg_set = from->reg_set, .reg_flags = from->reg_flags,
				  .reg_value = from->reg_value };

	return write_pmd(c, &pmd, true);
}

static int
each_attributes(struct context *c, void *element)
{
	const pfarg_pmd_attr_t *from = element;
	pfarg_pmd_t pmd = {
		.reg_num = from->reg_num, .reg_set = from->reg_set, .reg_flags = from->reg_flags, .reg_value = from->reg_value,
		.reg_long_reset = from->reg_long_reset, .reg_short_reset = from->reg_short_reset,
		.reg_random_mask = from->reg_random_mask, .reg_ovfl_switch_cnt = from->reg_ovfl_swcnt,
		.reg_smpl_eventid = from->reg_smpl_eventid,
	};

	memcpy(pmd.reg_smpl_pmds, from->reg_smpl_pmds, sizeof(pmd.reg_smpl_pmds));
	memcpy(pmd.reg_reset_pmds, from->reg_reset_pmds, sizeof(pmd.reg_reset_pmds));
	return write_pmd(c, &pmd, false);
}

static int
each_read(struct context *c, void *element)
{
	pfarg_pmr_t *to = element;
	const struct pmd *pmd;
	const int ret = read_pmd(c, to->reg_num, to->reg_set, &pmd);

	if (ret == 0)
		to->reg_value = pmd->value;
	return ret;
}

static int
each_read_attributes(struct context *c, void *element)
{
	pfarg_pmd_attr_t *to = element;
	const struct pmd *pmd;
	const int ret = read_pmd(c, to->reg_num, to->reg_set, &pmd);

	if (ret < 0)
		return ret;
	to->reg_value = pmd->value;
	to->reg_last_value = pmd->lval;
	to->reg_ovfl_swcnt = pmd->swcnt;
	return 0;
}

/* Control registers cannot be read: found out last. */
static int
each_refused(struct context *c, void *element)
{
	(void)c;
	(void)element;
	return -EINVAL;
}

/* A size in bytes as a number of elements, -1: it is none.  Too many are E2BIG after the descriptor, however many. */
static long
elements(size_t sz, size_t size)
{
	if (sz == 0 || sz % size)
		return -1;
	return sz / size <= ARGUMENT_LIMIT ? (long)(sz / size) : ARGUMENT_LIMIT + 1;
}

static int
vector(int fd, int refused, void *v, size_t sz, struct call_vector call)
{
	call.elements = v;
	call.count = elements(sz, call.size);
	return call_with_vector(fd, refused, &call);
}

int
pfm_write(int fd, int flags, int type, void *pms, size_t sz)
{
	struct call_vector call = { .size = sizeof(pfarg_pmr_t), .need = NEEDS_STOPPED };

	switch (type) {
	case PFM_RW_PMC:
		call.each = each_pmc;
		break;
	case PFM_RW_PMD:
		call.each = each_pmd;
		break;
	case PFM_RW_PMD_ATTR:
		call.each = each_attributes;
		call.size = sizeof(pfarg_pmd_attr_t);
		break;
	default:
		flags = -1;
	}
	return vector(fd, flags ? -EINVAL : 0, pms, sz, call);
}

int
pfm_read(int fd, int flags, int type, void *pmds, size_t sz)
{
	struct call_vector call = { .size = sizeof(pfarg_pmr_t), .need = NEEDS_STOPPED, .copies_back = true };

	switch (type) {
	case PFM_RW_PMC:
		call.each = each_refused;
		break;
	case PFM_RW_PMD:
		call.each = each_read;
		break;
	case PFM_RW_PMD_ATTR:
		call.each = each_read_attributes;
		call.size = sizeof(pfarg_pmd_attr_t);
		break;
	default:
		flags = -1;
	}
	return vector(fd, flags ? -EINVAL : 0, pmds, sz, call);
}

/* ---- sets ----------------------------------------------------------------------------------- */

static int
each_created(struct context *c, void *element)
{
	const pfarg_set_desc_t *set = element;

	return set_change(c, set->set_id, set->set_flags, set->set_timeout);
}

int
pfm_create_sets(int fd, int flags, pfarg_set_desc_t *s, size_t sz)
{
	return vector(fd, flags ? -EINVAL : 0, s, sz,
		      (struct call_vector){ .size = sizeof(*s), .need = NEEDS_UNLOADED, .each = each_created });
}

static int
each_info(struct context *c, void *element)
{
	pfarg_set_info_t *to = element;
	struct call_set_info info;
	const int ret = call_set_info(c, to->set_id, &info);

	if (ret < 0)
		return ret;
	memset(to->set_ovfl_pmds, 0, sizeof(to->set_ovfl_pmds));
	to->set_ovfl_pmds[0] = info.set->ovfl_pmds;
	to->set_runs = info.set->runs;
	to->set_timeout = info.left;
	to->set_duration = info.duration;
	return 0;
}

int
pfm_getinfo_sets(int fd, int flags, pfarg_set_info_t *info, size_t sz)
{
	return vector(fd, flags ? -EINVAL : 0, info, sz,
		      (struct call_vector){ .size = sizeof(*info), .need = NEEDS_NOTHING, .copies_back = true,
					    .each = each_info });
}
