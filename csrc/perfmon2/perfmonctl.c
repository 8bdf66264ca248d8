/*
 * perfmonctl(2), version 2.0 of the interface: its commands as rows, and how running them
 * differs from other calls.
 */
#include "call.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/process.h"
#include "../base/copy.h"

enum { INTERFACE_VERSION = 0x20000, DEBUG_REGISTERS = 8 }; /* 2.0 */

/* ---- arguments of the commands ----------------------------------------------------------------------- */

/* Only the first word of the bit vectors is used. */
static const struct field pmc_fields[] = {
	FIELD(pfarg_reg_t, reg_num, number, IN),
	FIELD(pfarg_reg_t, reg_value, value, IN),
	FIELD(pfarg_reg_t, reg_flags, flags, BOTH),
	FIELD(pfarg_reg_t, reg_smpl_pmds[0], smpl_pmds, IN),
	FIELD(pfarg_reg_t, reg_reset_pmds[0], reset_pmds, IN),
	FIELD(pfarg_reg_t, reg_smpl_eventid, eventid, IN),
};

static const struct field pmd_fields[] = {
	FIELD(pfarg_reg_t, reg_num, number, IN),
	FIELD(pfarg_reg_t, reg_value, value, IN),
	FIELD(pfarg_reg_t, reg_flags, flags, BOTH),
	FIELD(pfarg_reg_t, reg_long_reset, long_reset, IN),
	FIELD(pfarg_reg_t, reg_short_reset, short_reset, IN),
	FIELD(pfarg_reg_t, reg_random_seed, seed, IN),
	FIELD(pfarg_reg_t, reg_random_mask, random_mask, IN),
};

static const struct field read_fields[] = {
	FIELD(pfarg_reg_t, reg_num, number, IN),
	FIELD(pfarg_reg_t, reg_flags, flags, BOTH),
	FIELD(pfarg_reg_t, reg_value, value, OUT),
	FIELD(pfarg_reg_t, reg_last_reset_val, last, OUT),
};

static const struct field reset_value_fields[] = {
	FIELD(pfarg_reg_t, reg_num, number, IN),
	FIELD(pfarg_reg_t, reg_flags, flags, BOTH),
	FIELD(pfarg_reg_t, reg_value, value, OUT),
};

static const struct field debug_fields[] = {
	FIELD(pfarg_dbreg_t, dbreg_num, number, IN),
	FIELD(pfarg_dbreg_t, dbreg_value, value, IN),
	FIELD(pfarg_dbreg_t, dbreg_flags, flags, BOTH),
};

static const struct field features_fields[] = {
	FIELD(pfarg_features_t, ft_version, value, OUT),
};

static const struct field load_fields[] = {
	FIELD(pfarg_load_t, load_pid, number, IN),
};

/* ---- actions of the commands -------------------------------------------------------------------------- */

static int
write_debug(struct context *c, const struct request *r, unsigned int first, uint64_t kernels)
{
	struct set *set = ctl_set(c);

	if (!set || r->number >= DEBUG_REGISTERS || !machine_pmc(c->machine, first))
		return -EINVAL;
	return state_set_pmc(c, set, first + (unsigned int)r->number, r->number & 1 ? r->value & ~kernels : r->value);
}

static int
run_write_ibr(struct context *c, struct request *r)
{
	return write_debug(c, r, PERFMON2_IBR0, UINT64_C(1) << 63);
}

static int
run_write_dbr(struct context *c, struct request *r)
{
	return write_debug(c, r, PERFMON2_DBR0, UINT64_C(3) << 62);
}

static int
run_reset_value(struct context *c, struct request *r)
{
	(void)c;
	return machine_old_default(choice_machine(), r->number, &r->value);
}

static int
run_features(struct context *c, struct request *r)
{
	(void)c;
	r->value = INTERFACE_VERSION;
	return 0;
}

static int
run_debug(struct context *c, struct request *r)
{
	(void)c;
	(void)r;
	return 0;
}

static int
check_target(struct context *c, pid_t target)
{
	const bool is_self = target == own_thread();
	int ret;

	if (c->state != UNLOADED || c->is_copy)
		return -EBUSY;
	if (target < 2)
		return -EPERM;
	ret = is_self ? 0 : process_may_trace(target);
	if (ret < 0)
		return ret;
	if (is_self && c->flags & PFM_FL_NOTIFY_BLOCK)
		return -EINVAL;
	if (!is_self && !choice()->np && !process_is_stopped(target))
		return -EBUSY;
	return (c->is_system && !is_self) || !ctl_set(c) ? -EINVAL : 0;
}

static int
run_load(struct context *c, struct request *r)
{
	const pid_t target = (pid_t)r->number;
	int ret = check_target(c, target);

	if (ret == 0)
		ret = context_bind(c, target, c->is_system ? sched_getcpu() : -1, ctl_set(c));
	return ret == -EEXIST ? -EBUSY : ret;
}

static int
run_start(struct context *c, struct request *r)
{
	return c->state == LOADED ? state_start(c, r) : -EINVAL;
}

/* ---- commands ------------------------------------------------------------------------------------------ */

enum { ONE = 1, MANY = -1, NOT_LOOKED_AT = 0 };

struct command {
	int number, count;
	bool needs_fd;
	struct call call; /* NEEDS_STOPPED: of another thread, if it is not masked; run is NULL: creation */
};

/* clang-format off */
static const struct command commands[] = {
	{ PFM_WRITE_PMCS, MANY, true, { ELEMENT(pfarg_reg_t, pmc_fields), NEEDS_STOPPED, true, true, state_write_ctl_pmc } },
	{ PFM_WRITE_PMDS, MANY, true, { ELEMENT(pfarg_reg_t, pmd_fields), NEEDS_STOPPED, true, true, ctl_write_pmd } },
	{ PFM_READ_PMDS, MANY, true, { ELEMENT(pfarg_reg_t, read_fields), NEEDS_STOPPED, true, true, ctl_read_pmd } },
	{ PFM_STOP, NOT_LOOKED_AT, true, { NO_ELEMENT, NEEDS_STOPPED, false, true, state_stop } },
	{ PFM_START, NOT_LOOKED_AT, true, { NO_ELEMENT, NEEDS_STOPPED, false, true, run_start } },
	{ PFM_CREATE_CONTEXT, ONE, false, { NO_ELEMENT, NEEDS_ANYTHING, true, true, NULL } },
	{ PFM_RESTART, NOT_LOOKED_AT, true, { NO_ELEMENT, NEEDS_NOTHING, false, true, state_restart_ctl } },
	{ PFM_GET_FEATURES, ONE, false, { ELEMENT(pfarg_features_t, features_fields), NEEDS_ANYTHING, true, true, run_features } },
	{ PFM_DEBUG, ONE, false, { { sizeof(unsigned int), NULL, 0 }, NEEDS_ANYTHING, false, true, run_debug } },
	{ PFM_GET_PMC_RESET_VAL, MANY, false, { ELEMENT(pfarg_reg_t, reset_value_fields), NEEDS_ANYTHING, true, true, run_reset_value } },
	{ PFM_LOAD_CONTEXT, ONE, true, { ELEMENT(pfarg_load_t, load_fields), NEEDS_STOPPED, true, true, run_load } },
	{ PFM_UNLOAD_CONTEXT, NOT_LOOKED_AT, true, { NO_ELEMENT, NEEDS_STOPPED_EVEN_MASKED, false, true, state_unload } },
	{ PFM_WRITE_IBRS, MANY, true, { ELEMENT(pfarg_dbreg_t, debug_fields), NEEDS_STOPPED, true, true, run_write_ibr } },
	{ PFM_WRITE_DBRS, MANY, true, { ELEMENT(pfarg_dbreg_t, debug_fields), NEEDS_STOPPED, true, true, run_write_dbr } },
};
/* clang-format on */

/* ---- creation ------------------------------------------------------------------------------- */

static int
finish_context(struct context *c, int fd, const pfm_default_smpl_arg_t *format, pfarg_context_t *made)
{
	int ret;

	c->is_ctl = true;
	c->ctl_fd = fd;
	for (unsigned int i = 0; i < PERFMON2_IBR0; i++)
		if (machine_old_pmc(c->machine, i))
			c->sets[0]->pmcs[i] = machine_old_pmc(c->machine, i)->init;
	message_make_long_queue(c);
	made->ctx_fd = fd;
	if (!format)
		return 0;
	ret = buffer_create(c, format->buf_size, CTL_LEAST_BUFFER, 0);
	if (ret < 0)
		return ret;
	made->ctx_smpl_vaddr = mmap(NULL, c->buffer_size, PROT_READ, MAP_SHARED, c->buffer_fd, 0);
	if (made->ctx_smpl_vaddr == MAP_FAILED)
		return -ENOMEM;
	c->program_buffer = made->ctx_smpl_vaddr;
	return 0;
}

/* Undo the creation if its result cannot be written to the caller. */
static int
perfmonctl_context(const struct machine *machine, pfarg_context_t *wanted, const pfm_default_smpl_arg_t *format,
		   void *argument)
{
	const unsigned long excluding = PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK;
	struct context *c;
	int fd, ret;

	if ((wanted->ctx_flags & excluding) == excluding)
		return -EINVAL;
	ret = context_create(machine, (uint32_t)wanted->ctx_flags, &c, &fd);
	if (ret < 0)
		return ret;
	ret = finish_context(c, fd, format, wanted);
	if (ret == 0 && copy_out(argument, wanted, sizeof(*wanted)) < 0)
		ret = -EFAULT;
	if (ret == 0)
		return 0;
	close(fd);
	context_free(c);
	return ret;
}

/* The format is found by its name; its argument follows the context's. */
static int
perfmonctl_create(void *argument, int count)
{
	static const pfm_uuid_t none, known = PFM_DEFAULT_SMPL_UUID;
	pfm_default_smpl_ctx_arg_t given;
	const struct machine *machine;
	bool has_format;

	if (count != 1)
		return -EINVAL;
	if (copy_in(&given.ctx_arg, argument, sizeof(given.ctx_arg)) < 0)
		return -EFAULT;
	has_format = memcmp(given.ctx_arg.ctx_smpl_buf_id, none, sizeof(none)) != 0;
	if (has_format && memcmp(given.ctx_arg.ctx_smpl_buf_id, known, sizeof(known)) != 0)
		return -EINVAL;
	if (has_format && copy_in(&given, argument, sizeof(given)) < 0)
		return -EFAULT;
	machine = choice_machine();
	return perfmonctl_context(machine, &given.ctx_arg, has_format ? &given.buf_arg : NULL, argument);
}

/* ---- the call ---------------------------------------------------------------------------------------- */

/* Who traces a stopped thread is not checked. */
static int
check_state(struct context *c, enum need need)
{
	if (c->state == UNLOADED || (!c->is_system && !c->is_copy && c->tid == own_thread()))
		return 0;
	if (c->is_copy)
		return -EBUSY;
	if (c->is_system)
		return choice()->np || sched_getcpu() == c->cpu ? 0 : -EBUSY;
	if (c->state == MASKED && need != NEEDS_STOPPED_EVEN_MASKED)
		return 0;
	return need == NEEDS_NOTHING || choice()->np || process_is_stopped(c->tid) ? 0 : -EBUSY;
}

/* The caller's memory is checked before the descriptor, and nothing is copied back before the command has run. */
static int
perfmonctl_run(struct context *c, const struct command *command, void *argument, int count)
{
	const struct call *call = &command->call;
	struct vector v;
	int ret = call_read(&v, call, argument, count, CTL_ARGUMENT_LIMIT);

	if (ret == 0 && command->needs_fd)
		ret = c ? check_state(c, call->need) : -EBADF;
	if (ret < 0)
		return ret;
	ret = call->element.size ? call_each(call, c, count, true) : call->run(c, NULL);
	return call->copies_back && call_write(&v) < 0 ? -EFAULT : ret;
}

static const struct command *
find_command(int wanted)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (commands[i].number == wanted)
			return &commands[i];
	return NULL;
}

static bool
is_count_wrong(const struct command *command, int count)
{
	return command->count == MANY ? count <= 0 : command->count == ONE && count != 1;
}

int
perfmonctl(int fd, int cmd, void *arg, int narg)
{
	const struct command *command = find_command(cmd);
	struct context *c = NULL;
	int ret;

	engine_enter();
	if (cmd == PFM_LOAD_CONTEXT) /* a closed context does not keep its thread or CPU */
		contexts_reap();
	if (!command || command->needs_fd)
		c = call_context(fd, true);
	if (!c && !choice_machine())
		ret = cmd == PFM_CREATE_CONTEXT && choice()->is_unreadable ? -EINVAL : -ENOSYS;
	else if (!command || is_count_wrong(command, narg))
		ret = -EINVAL;
	else
		ret = command->call.run ? perfmonctl_run(c, command, arg, narg) : perfmonctl_create(arg, narg);
	return call_done(c, ret);
}
