/*
 * The calls of versions 2 and 3: their arguments, and what they do.
 */
#include "call.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "../base/copy.h"

/* pfarg_setinfo_t of kernels 2.0 to 2.4, for a program that defines PFMLIB_OLD_PFMV2. */
struct old_setinfo {
	uint16_t set_id, set_id_next;
	uint32_t set_flags;
	uint64_t set_ovfl_pmds[5];
	uint64_t set_runs, set_timeout, set_act_duration, set_mmap_offset;
	uint64_t set_avail_pmcs[5], set_avail_pmds[5];
	uint64_t reserved[4];
};

_Static_assert(sizeof(struct old_setinfo) == 192, "pfarg_setinfo_t of kernels 2.0 to 2.4");

/* ---- what the calls are given --------------------------------------------------------------------- */

static const struct field pmc_fields[] = {
	FIELD(pfarg_pmc_t, reg_num, number, IN),
	FIELD(pfarg_pmc_t, reg_set, set, IN),
	FIELD(pfarg_pmc_t, reg_flags, flags, IN),
	FIELD(pfarg_pmc_t, reg_value, value, IN),
};

static const struct field pmd_fields[] = {
	FIELD(pfarg_pmd_t, reg_num, number, IN),
	FIELD(pfarg_pmd_t, reg_set, set, IN),
	FIELD(pfarg_pmd_t, reg_flags, flags, IN),
	FIELD(pfarg_pmd_t, reg_value, value, IN),
	FIELD(pfarg_pmd_t, reg_long_reset, long_reset, IN),
	FIELD(pfarg_pmd_t, reg_short_reset, short_reset, IN),
	FIELD(pfarg_pmd_t, reg_ovfl_switch_cnt, swcnt, IN),
	FIELD(pfarg_pmd_t, reg_reset_pmds, reset_pmds, IN),
	FIELD(pfarg_pmd_t, reg_smpl_pmds, smpl_pmds, IN),
	FIELD(pfarg_pmd_t, reg_smpl_eventid, eventid, IN),
	FIELD(pfarg_pmd_t, reg_random_mask, random_mask, IN),
};

static const struct field read_pmd_fields[] = {
	FIELD(pfarg_pmd_t, reg_num, number, IN),
	FIELD(pfarg_pmd_t, reg_set, set, IN),
	FIELD(pfarg_pmd_t, reg_value, value, OUT),
	FIELD(pfarg_pmd_t, reg_last_reset_val, last, OUT),
	FIELD(pfarg_pmd_t, reg_ovfl_switch_cnt, swcnt, OUT),
};

static const struct field pmr_fields[] = {
	FIELD(pfarg_pmr_t, reg_num, number, IN),
	FIELD(pfarg_pmr_t, reg_set, set, IN),
	FIELD(pfarg_pmr_t, reg_flags, flags, IN),
	FIELD(pfarg_pmr_t, reg_value, value, BOTH),
};

static const struct field attr_fields[] = {
	FIELD(pfarg_pmd_attr_t, reg_num, number, IN),
	FIELD(pfarg_pmd_attr_t, reg_set, set, IN),
	FIELD(pfarg_pmd_attr_t, reg_flags, flags, IN),
	FIELD(pfarg_pmd_attr_t, reg_value, value, IN),
	FIELD(pfarg_pmd_attr_t, reg_long_reset, long_reset, IN),
	FIELD(pfarg_pmd_attr_t, reg_short_reset, short_reset, IN),
	FIELD(pfarg_pmd_attr_t, reg_random_mask, random_mask, IN),
	FIELD(pfarg_pmd_attr_t, reg_smpl_pmds, smpl_pmds, IN),
	FIELD(pfarg_pmd_attr_t, reg_reset_pmds, reset_pmds, IN),
	FIELD(pfarg_pmd_attr_t, reg_ovfl_swcnt, swcnt, IN),
	FIELD(pfarg_pmd_attr_t, reg_smpl_eventid, eventid, IN),
};

static const struct field read_attr_fields[] = {
	FIELD(pfarg_pmd_attr_t, reg_num, number, IN),        FIELD(pfarg_pmd_attr_t, reg_set, set, IN),
	FIELD(pfarg_pmd_attr_t, reg_value, value, OUT),      FIELD(pfarg_pmd_attr_t, reg_last_value, last, OUT),
	FIELD(pfarg_pmd_attr_t, reg_ovfl_swcnt, swcnt, OUT),
};

static const struct field setdesc_fields[] = {
	/* version 3 has the same members under another name */
	FIELD(pfarg_setdesc_t, set_id, set, IN),
	FIELD(pfarg_setdesc_t, set_flags, flags, IN),
	FIELD(pfarg_setdesc_t, set_timeout, timeout, IN),
};

_Static_assert(sizeof(pfarg_setdesc_t) == sizeof(pfarg_set_desc_t), "sets");
_Static_assert(offsetof(pfarg_setdesc_t, set_timeout) == offsetof(pfarg_set_desc_t, set_timeout), "sets");

static const struct field setinfo_fields[] = {
	FIELD(pfarg_setinfo_t, set_id, set, IN),
	FIELD(pfarg_setinfo_t, set_flags, flags, OUT),
	FIELD(pfarg_setinfo_t, set_ovfl_pmds, ovfl_pmds, OUT),
	FIELD(pfarg_setinfo_t, set_runs, runs, OUT),
	FIELD(pfarg_setinfo_t, set_timeout, timeout, OUT),
	FIELD(pfarg_setinfo_t, set_act_duration, duration, OUT),
	FIELD(pfarg_setinfo_t, set_avail_pmcs, pmcs, OUT),
	FIELD(pfarg_setinfo_t, set_avail_pmds, pmds, OUT),
};

static const struct field old_setinfo_fields[] = {
	FIELD(struct old_setinfo, set_id, set, IN),
	FIELD(struct old_setinfo, set_id_next, zero, OUT),
	FIELD(struct old_setinfo, set_flags, flags, OUT),
	FIELD(struct old_setinfo, set_ovfl_pmds, ovfl_pmds, OUT),
	FIELD(struct old_setinfo, set_runs, runs, OUT),
	FIELD(struct old_setinfo, set_timeout, timeout, OUT),
	FIELD(struct old_setinfo, set_act_duration, duration, OUT),
	FIELD(struct old_setinfo, set_mmap_offset, zero, OUT),
	FIELD(struct old_setinfo, set_avail_pmcs, pmcs, OUT),
	FIELD(struct old_setinfo, set_avail_pmds, pmds, OUT),
};

static const struct field set_info_fields[] = {
	FIELD(pfarg_set_info_t, set_id, set, IN),
	FIELD(pfarg_set_info_t, set_ovfl_pmds, ovfl_pmds, OUT),
	FIELD(pfarg_set_info_t, set_runs, runs, OUT),
	FIELD(pfarg_set_info_t, set_timeout, timeout, OUT),
	FIELD(pfarg_set_info_t, set_duration, duration, OUT),
};

static const struct field start_fields[] = {
	FIELD(pfarg_start_t, start_set, set, IN),
};

/* ---- the calls: what they need, and do ------------------------------------------------------------- */

/* A control register cannot be read: this is checked last. */
static int
calls_refuse(struct context *c, struct request *r)
{
	(void)c;
	(void)r;
	return -EINVAL;
}

/* The load itself refuses a loaded context, after the checks of its target. */
/* clang-format off */
static const struct call load = { NO_ELEMENT, NEEDS_ANYTHING, false, true, state_load };
static const struct call unload = { NO_ELEMENT, NEEDS_STOPPED_EVEN_MASKED, false, true, state_unload };
static const struct call detach = { NO_ELEMENT, NEEDS_STOPPED_EVEN_MASKED, false, true, state_detach };
static const struct call start = { NO_ELEMENT, NEEDS_STOPPED, false, true, state_start };
static const struct call start_of_set = { ELEMENT(pfarg_start_t, start_fields), NEEDS_STOPPED, false, true, state_start_set };
static const struct call stop = { NO_ELEMENT, NEEDS_STOPPED, false, true, state_stop };
static const struct call restart = { NO_ELEMENT, NEEDS_NOTHING, false, true, state_restart };

static const struct call write_pmcs = { ELEMENT(pfarg_pmc_t, pmc_fields), NEEDS_STOPPED, false, false, state_write_pmc };
static const struct call write_pmds = { ELEMENT(pfarg_pmd_t, pmd_fields), NEEDS_STOPPED, false, false, write_pmd };
static const struct call read_pmds = { ELEMENT(pfarg_pmd_t, read_pmd_fields), NEEDS_STOPPED, true, false, read_pmd };
static const struct call create_sets = { ELEMENT(pfarg_setdesc_t, setdesc_fields), NEEDS_UNLOADED, false, true, set_change };
static const struct call delete_sets = { ELEMENT(pfarg_setdesc_t, setdesc_fields), NEEDS_UNLOADED, false, true, set_delete };
static const struct call tell_sets = { ELEMENT(pfarg_setinfo_t, setinfo_fields), NEEDS_NOTHING, true, false, state_tell_set };
static const struct call tell_old_sets = { ELEMENT(struct old_setinfo, old_setinfo_fields), NEEDS_NOTHING, true, false, state_tell_set };
static const struct call tell_sets_v3 = { ELEMENT(pfarg_set_info_t, set_info_fields), NEEDS_NOTHING, true, false, state_tell_set };
/* clang-format on */

/* Version 3's, by PFM_RW_PMD, PFM_RW_PMC, PFM_RW_PMD_ATTR. */
enum { TYPES = 4 };
static const struct call writes[TYPES] = {
	[PFM_RW_PMD] = { ELEMENT(pfarg_pmr_t, pmr_fields), NEEDS_STOPPED, false, false, write_pmd_value },
	[PFM_RW_PMC] = { ELEMENT(pfarg_pmr_t, pmr_fields), NEEDS_STOPPED, false, false, state_write_pmc },
	[PFM_RW_PMD_ATTR] = { ELEMENT(pfarg_pmd_attr_t, attr_fields), NEEDS_STOPPED, false, false, write_pmd },
};
static const struct call reads[TYPES] = {
	[PFM_RW_PMD] = { ELEMENT(pfarg_pmr_t, pmr_fields), NEEDS_STOPPED, true, false, read_pmd },
	[PFM_RW_PMC] = { ELEMENT(pfarg_pmr_t, pmr_fields), NEEDS_STOPPED, true, false, calls_refuse },
	[PFM_RW_PMD_ATTR] = { ELEMENT(pfarg_pmd_attr_t, read_attr_fields), NEEDS_STOPPED, true, false, read_pmd },
};

/* ---- contexts ------------------------------------------------------------------------------------- */

/* A string of the caller's that is no longer than the room; a longer one is cut. */
static int
read_text(const char *from, char *text, size_t room)
{
	if (!from)
		return -EFAULT;
	for (size_t i = 0; i < room; i++) {
		if (copy_in(&text[i], from + i, 1) < 0)
			return -EFAULT;
		if (!text[i])
			return 0;
	}
	text[room - 1] = '\0';
	return 0;
}

/* The format's name and argument, in the caller's memory. */
static int
read_format(const char *name, const void *argument, size_t size, pfm_dfl_smpl_arg_t *format)
{
	char text[sizeof(PFM_DFL_SMPL_NAME) + 1];

	if (read_text(name, text, sizeof(text)) < 0)
		return -EFAULT;
	if (strcmp(text, PFM_DFL_SMPL_NAME) != 0 || size != sizeof(*format))
		return -EINVAL;
	return copy_in(format, argument, size) < 0 ? -EFAULT : 0;
}

/* ENOSYS, or EINVAL if the environment cannot be read; 0. */
static int
check_machine(void)
{
	int ret;

	engine_enter();
	ret = choice()->is_unreadable ? -EINVAL : choice_machine() ? 0 : -ENOSYS;
	engine_leave();
	return ret;
}

static int
finish_creation(struct context *c, const pfm_dfl_smpl_arg_t *format, pfarg_sinfo_t *told)
{
	pfarg_sinfo_t sif = { { 0 }, { 0 }, { 0 } };
	int ret = format ? buffer_create(c, format->buf_size, sample_least_buffer(c->machine), format->buf_flags) : 0;

	if (ret < 0 || !told)
		return ret;
	machine_pmcs(c->machine, sif.sif_avail_pmcs);
	sif.sif_avail_pmds[0] = c->machine->pmds;
	return copy_out(told, &sif, sizeof(sif)) < 0 ? -EFAULT : 0;
}

/* Create a context.  refused: an error found before.  format, told: may be NULL. */
static int
calls_create(int refused, uint32_t flags, bool old_messages, const pfm_dfl_smpl_arg_t *format, pfarg_sinfo_t *told)
{
	const uint32_t excluding = PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK;
	const struct machine *machine;
	struct context *c = NULL;
	int fd = -1, ret = refused ? refused : (flags & excluding) == excluding ? -EINVAL : 0;

	engine_enter();
	machine = choice_machine();
	if (ret == 0)
		ret = machine ? context_create(machine, flags, &c, &fd) : -ENOSYS;
	if (ret == 0) {
		c->old_messages = old_messages;
		ret = finish_creation(c, format, told);
		if (ret < 0) {
			close(fd);
			context_free(c);
		}
	}
	return call_done(NULL, ret < 0 ? ret : fd);
}

static int
create_v2(const pfarg_ctx_t *ctx, const char *name, const void *argument, size_t size, bool old_messages)
{
	pfm_dfl_smpl_arg_t format;
	pfarg_ctx_t asked = { 0 };
	int ret = check_machine();

	if (ret == 0 && copy_in(&asked, ctx, sizeof(asked)) < 0)
		ret = -EFAULT;
	if (ret == 0 && name)
		ret = read_format(name, argument, size, &format);
	return calls_create(ret, asked.ctx_flags, old_messages, name ? &format : NULL, NULL);
}

int
pfm_create_context(pfarg_ctx_t *ctx, char *smpl_name, void *smpl_arg, size_t smpl_size)
{
	return create_v2(ctx, smpl_name, smpl_arg, smpl_size, false);
}

int
pfm_create_context_v2old(pfarg_ctx_t *ctx, char *smpl_name, void *smpl_arg, size_t smpl_size)
{
	return create_v2(ctx, smpl_name, smpl_arg, smpl_size, true);
}

int
pfm_create(int flags, pfarg_sinfo_t *sif, ...)
{
	const int known =
		PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK | PFM_FL_OVFL_NO_MSG | PFM_FL_SMPL_FMT | PFM_ITA_FL_INSECURE;
	const int excluding = PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK;
	pfm_dfl_smpl_arg_t format;
	int ret = check_machine();

	if (ret == 0 && (flags & ~known || (flags & excluding) == excluding))
		ret = -EINVAL;
	if (ret == 0 && flags & PFM_FL_SMPL_FMT) {
		const char *name;
		const void *argument;
		va_list rest;

		va_start(rest, sif);
		name = va_arg(rest, const char *);
		argument = va_arg(rest, const void *);
		ret = read_format(name, argument, va_arg(rest, size_t), &format);
		va_end(rest);
	}
	return calls_create(ret, (uint32_t)flags, false, flags & PFM_FL_SMPL_FMT ? &format : NULL, sif);
}

int
pfm_load_context(int fd, pfarg_load_t *load_arg)
{
	pfarg_load_t wanted = { 0 };
	const int refused = copy_in(&wanted, load_arg, sizeof(wanted)) < 0 ? -EFAULT : 0;

	return call_run(&load, fd, refused, NULL, 1,
			&(struct request){ .number = wanted.load_pid, .set = wanted.load_set });
}

int
pfm_attach(int fd, int flags, int target)
{
	return call_run(target == PFM_NO_TARGET ? &detach : &load, fd, flags ? -EINVAL : 0, NULL, 1,
			&(struct request){ .number = (unsigned int)target });
}

int
pfm_unload_context(int fd)
{
	return call_run(&unload, fd, 0, NULL, 1, NULL);
}

/* The argument is checked after the descriptor, and before the task. */
int
pfm_start(int fd, pfarg_start_t *set)
{
	return call_run(set ? &start_of_set : &start, fd, 0, set, 1, NULL);
}

int
pfm_stop(int fd)
{
	return call_run(&stop, fd, 0, NULL, 1, NULL);
}

int
pfm_restart(int fd)
{
	return call_run(&restart, fd, 0, NULL, 1, NULL);
}

int
pfm_set_state(int fd, int flags, int state)
{
	const struct call *call = state == PFM_ST_START ? &start : state == PFM_ST_RESTART ? &restart : &stop;
	const bool is_known = state == PFM_ST_START || state == PFM_ST_STOP || state == PFM_ST_RESTART;

	return call_run(call, fd, flags || !is_known ? -EINVAL : 0, NULL, 1, NULL);
}

/* ---- registers and sets: version 2 ------------------------------------------------------------------ */

#define VECTOR(name, type, call) \
	int name(int fd, type *elements, int count) \
	{ \
		return call_run(call, fd, 0, elements, count, NULL); \
	}

VECTOR(pfm_write_pmcs, pfarg_pmc_t, &write_pmcs)
VECTOR(pfm_write_pmds, pfarg_pmd_t, &write_pmds)
VECTOR(pfm_read_pmds, pfarg_pmd_t, &read_pmds)
VECTOR(pfm_create_evtsets, pfarg_setdesc_t, &create_sets)
VECTOR(pfm_delete_evtsets, pfarg_setdesc_t, &delete_sets)
VECTOR(pfm_getinfo_evtsets, pfarg_setinfo_t, &tell_sets)
VECTOR(pfm_getinfo_evtsets_v2old, void, &tell_old_sets)

/* ---- registers and sets: version 3, whose vectors have a size in bytes ------------------------------- */

/* Too many are E2BIG after the descriptor, however many. */
static int
run_sized(const struct call *call, int fd, int refused, void *elements, size_t sz)
{
	const size_t size = call->element.size, count = sz / size;
	const long limited = sz == 0 || sz % size ? -1 : count <= ARGUMENT_LIMIT ? (long)count : ARGUMENT_LIMIT + 1;

	return call_run(call, fd, refused, elements, limited, NULL);
}

static int
run_typed(const struct call calls[TYPES], int fd, int flags, int type, void *elements, size_t sz)
{
	const bool is_known = type >= 0 && type < TYPES && calls[type].run;

	return run_sized(&calls[is_known ? type : PFM_RW_PMD], fd, flags || !is_known ? -EINVAL : 0, elements, sz);
}

int
pfm_write(int fd, int flags, int type, void *pms, size_t sz)
{
	return run_typed(writes, fd, flags, type, pms, sz);
}

int
pfm_read(int fd, int flags, int type, void *pmds, size_t sz)
{
	return run_typed(reads, fd, flags, type, pmds, sz);
}

int
pfm_create_sets(int fd, int flags, pfarg_set_desc_t *s, size_t sz)
{
	return run_sized(&create_sets, fd, flags ? -EINVAL : 0, s, sz);
}

int
pfm_getinfo_sets(int fd, int flags, pfarg_set_info_t *info, size_t sz)
{
	return run_sized(&tell_sets_v3, fd, flags ? -EINVAL : 0, info, sz);
}
