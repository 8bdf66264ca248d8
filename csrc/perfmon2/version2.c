/*
 * The calls of version 2.
 */
#include "call.h"

#include <errno.h>
#include <string.h>

#include "../counting/copy.h"

/* pfarg_setinfo_t of kernels 2.0 to 2.4, for a program that defines PFMLIB_OLD_PFMV2. */
struct old_setinfo {
	uint16_t	set_id, set_id_next;
	uint32_t	set_flags;
	uint64_t	set_ovfl_pmds[5];
	uint64_t	set_runs, set_timeout, set_act_duration, set_mmap_offset;
	uint64_t	set_avail_pmcs[5], set_avail_pmds[5];
	uint64_t	reserved[4];
};

_Static_assert(sizeof(struct old_setinfo) == 192, "pfarg_setinfo_t of kernels 2.0 to 2.4");

/* ---- contexts ------------------------------------------------------------------------------- */

static int
create(const pfarg_ctx_t *ctx, const char *name, const void *argument, size_t size, bool old_messages)
{
	struct call_creation wanted = { .old_messages = old_messages };
	pfm_dfl_smpl_arg_t format;
	pfarg_ctx_t asked = { 0 };
	int ret = call_check_machine();

	if (ret == 0 && copy_in(&asked, ctx, sizeof(asked)) < 0)
		ret = -EFAULT;
	if (ret == 0 && name)
		ret = call_read_format(name, argument, size, &format);
	if (ret < 0)
		return call_result(ret);
	wanted.flags = asked.ctx_flags;
	wanted.sampling = name ? &format : NULL;
	return call_result(call_create(&wanted));
}

int
pfm_create_context(pfarg_ctx_t *ctx, char *smpl_name, void *smpl_arg, size_t smpl_size)
{
	return create(ctx, smpl_name, smpl_arg, smpl_size, false);
}

int
pfm_create_context_v2old(pfarg_ctx_t *ctx, char *smpl_name, void *smpl_arg, size_t smpl_size)
{
	return create(ctx, smpl_name, smpl_arg, smpl_size, true);
}

static int
load(struct context *c, const void *argument)
{
	const pfarg_load_t *wanted = argument;

	return context_load(c, (pid_t)wanted->load_pid, wanted->load_set);
}

/* What is loaded already is refused by the load itself, after the checks of its target. */
int
pfm_load_context(int fd, pfarg_load_t *load_arg)
{
	pfarg_load_t wanted;
	const int refused = copy_in(&wanted, load_arg, sizeof(wanted)) < 0 ? -EFAULT : 0;

	return call_without(fd, refused, NEEDS_ANYTHING, load, &wanted);
}

static int
unload(struct context *c, const void *unused)
{
	(void)unused;
	context_unload(c);
	return 0;
}

int
pfm_unload_context(int fd)
{
	return call_without(fd, 0, NEEDS_STOPPED_EVEN_MASKED, unload, NULL);
}

static int
read_start(const void *from, unsigned int *set)
{
	pfarg_start_t wanted;

	if (copy_in(&wanted, from, sizeof(wanted)) < 0)
		return -EFAULT;
	*set = wanted.start_set;
	return 0;
}

/* The argument is looked at after the descriptor, and before the task. */
int
pfm_start(int fd, pfarg_start_t *start)
{
	struct context *c;
	unsigned int set = 0;
	int ret = 0;

	engine_enter();
	c = call_context(fd, true);
	if (!c)
		ret = choice_machine() ? -EBADF : -ENOSYS;
	if (ret == 0 && start)
		ret = read_start(start, &set);
	if (ret == 0)
		ret = check_task(c, NEEDS_STOPPED);
	if (ret == 0)
		ret = state_start(c, start ? &set : NULL);
	if (ret == 0)
		message_owner(c, fd);
	call_done(c);
	return call_result(ret);
}

static int
stop(struct context *c, const void *unused)
{
	(void)unused;
	return state_stop(c);
}

int
pfm_stop(int fd)
{
	return call_without(fd, 0, NEEDS_STOPPED, stop, NULL);
}

static int
restart(struct context *c, const void *unused)
{
	(void)unused;
	return state_restart(c, true);
}

int
pfm_restart(int fd)
{
	return call_without(fd, 0, NEEDS_NOTHING, restart, NULL);
}

/* ---- registers ------------------------------------------------------------------------------ */

static int
each_pmc(struct context *c, void *element)
{
	const pfarg_pmc_t *pmc = element;

	return state_write_pmc(c, pmc->reg_num, pmc->reg_set, pmc->reg_flags, pmc->reg_value);
}

int
pfm_write_pmcs(int fd, pfarg_pmc_t *pmcs, int count)
{
	return call_with_vector(fd, 0, &(struct call_vector){ pmcs, count, sizeof(*pmcs), NEEDS_STOPPED, false, each_pmc });
}

static int
each_pmd(struct context *c, void *element)
{
	return write_pmd(c, element, false);
}

int
pfm_write_pmds(int fd, pfarg_pmd_t *pmds, int count)
{
	return call_with_vector(fd, 0, &(struct call_vector){ pmds, count, sizeof(*pmds), NEEDS_STOPPED, false, each_pmd });
}

static int
each_read(struct context *c, void *element)
{
	pfarg_pmd_t *to = element;
	const struct pmd *pmd;
	const int ret = read_pmd(c, to->reg_num, to->reg_set, &pmd);

	if (ret < 0)
		return ret;
	to->reg_value = pmd->value;
	to->reg_last_reset_val = pmd->lval;
	to->reg_ovfl_switch_cnt = pmd->swcnt;
	return 0;
}

int
pfm_read_pmds(int fd, pfarg_pmd_t *pmds, int count)
{
	return call_with_vector(fd, 0, &(struct call_vector){ pmds, count, sizeof(*pmds), NEEDS_STOPPED, true, each_read });
}

/* ---- sets ----------------------------------------------------------------------------------- */

static int
each_created(struct context *c, void *element)
{
	const pfarg_setdesc_t *set = element;

	return set_change(c, set->set_id, set->set_flags, set->set_timeout);
}

int
pfm_create_evtsets(int fd, pfarg_setdesc_t *setd, int count)
{
	return call_with_vector(fd, 0,
				&(struct call_vector){ setd, count, sizeof(*setd), NEEDS_UNLOADED, false, each_created });
}

static int
each_deleted(struct context *c, void *element)
{
	const pfarg_setdesc_t *set = element;

	return set_delete(c, set->set_id);
}

int
pfm_delete_evtsets(int fd, pfarg_setdesc_t *setd, int count)
{
	return call_with_vector(fd, 0,
				&(struct call_vector){ setd, count, sizeof(*setd), NEEDS_UNLOADED, false, each_deleted });
}

static int
each_info(struct context *c, void *element)
{
	pfarg_setinfo_t *to = element;
	struct call_set_info info;
	const int ret = call_set_info(c, to->set_id, &info);

	if (ret < 0)
		return ret;
	to->set_flags = info.set->flags;
	memset(to->set_ovfl_pmds, 0, sizeof(to->set_ovfl_pmds));
	to->set_ovfl_pmds[0] = info.set->ovfl_pmds;
	to->set_runs = info.set->runs;
	to->set_timeout = info.left;
	to->set_act_duration = info.duration;
	memcpy(to->set_avail_pmcs, info.pmcs, sizeof(to->set_avail_pmcs));
	memset(to->set_avail_pmds, 0, sizeof(to->set_avail_pmds));
	to->set_avail_pmds[0] = c->machine->pmds;
	return 0;
}

int
pfm_getinfo_evtsets(int fd, pfarg_setinfo_t *info, int count)
{
	return call_with_vector(fd, 0, &(struct call_vector){ info, count, sizeof(*info), NEEDS_NOTHING, true, each_info });
}

static int
each_old_info(struct context *c, void *element)
{
	struct old_setinfo *to = element;
	pfarg_setinfo_t now = { .set_id = to->set_id };
	const int ret = each_info(c, &now);

	if (ret < 0)
		return ret;
	to->set_id_next = 0;
	to->set_flags = now.set_flags;
	to->set_runs = now.set_runs;
	to->set_timeout = now.set_timeout;
	to->set_act_duration = now.set_act_duration;
	to->set_mmap_offset = 0;
	memcpy(to->set_ovfl_pmds, now.set_ovfl_pmds, sizeof(to->set_ovfl_pmds));
	memcpy(to->set_avail_pmcs, now.set_avail_pmcs, sizeof(to->set_avail_pmcs));
	memcpy(to->set_avail_pmds, now.set_avail_pmds, sizeof(to->set_avail_pmds));
	return 0;
}

int
pfm_getinfo_evtsets_v2old(int fd, void *info, int count)
{
	return call_with_vector(fd, 0, &(struct call_vector){ info, count, sizeof(struct old_setinfo), NEEDS_NOTHING, true,
							      each_old_info });
}
