/*
 * perfmonctl(2), version 2.0 of the interface: its commands, on the same engine.
 */
#include "call.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/process.h"
#include "../counting/copy.h"

#define DEBUG_REGISTERS	8

enum { INTERFACE_VERSION = 0x20000 };	/* 2.0 */
enum { CTL_LIMIT = 4096, NO_COUNT = 0, MANY = -1 };
enum { NEEDS_FD = 1, STOPPED = 2, COPIES_BACK = 4 };

/* A command: what it is given, and what it does with one element, or with the context. */
struct command {
	int		number;
	size_t		size;
	int		count;		/* 1, MANY, or NO_COUNT: it has no argument */
	unsigned int	flags;
	int		(*run)(struct context *c, void *argument);
};

/* ---- registers ------------------------------------------------------------------------------ */

/* What a register that is refused says, and the call. */
static int
refuse(unsigned long *flags)
{
	*flags = (*flags & ~(unsigned long)(PFM_REG_RETFL_MASK)) | PFM_REG_RETFL_EINVAL;
	return -EINVAL;
}

static void
accept(unsigned long *flags)
{
	*flags &= ~(unsigned long)PFM_REG_RETFL_MASK;
}

/* It knows one set only.  NULL: another version's call has deleted all. */
static struct set *
first_set(struct context *c)
{
	return c->num_sets ? c->sets[0] : NULL;
}

static bool
is_privilege_wrong(const struct context *c, const struct pmc_rule *rule, uint64_t value)
{
	const unsigned int bit = rule->flags & PMC_PM6 ? 6 : 4;

	return rule->flags & (PMC_PM6 | PMC_PM4) && value != rule->init && (value >> bit & 1) != c->is_system;
}

static void
write_attributes(struct context *c, struct set *set, const pfarg_reg_t *reg)
{
	const uint64_t bit = UINT64_C(1) << reg->reg_num;
	struct pmd *pmd = &set->pmds[reg->reg_num];

	use_pmds(c, set, bit | reg->reg_smpl_pmds[0] | reg->reg_reset_pmds[0]);
	pmd->flags = (uint32_t)reg->reg_flags & (PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM);
	pmd->smpl_pmds = reg->reg_smpl_pmds[0];
	pmd->reset_pmds = reg->reg_reset_pmds[0];
	pmd->eventid = reg->reg_smpl_eventid;
	set->ovfl_notify = pmd->flags & PFM_REGFL_OVFL_NOTIFY ? set->ovfl_notify | bit : set->ovfl_notify & ~bit;
}

static int
check_ctl_pmc(struct context *c, const struct set *set, const pfarg_reg_t *reg, uint64_t *value)
{
	const struct pmc_rule *rule = machine_old_pmc(c->machine, reg->reg_num);
	const bool is_counter = rule && rule->flags & PMC_OI;

	if (!rule || is_privilege_wrong(c, rule, reg->reg_value))
		return -EINVAL;
	if (is_counter && (reg->reg_smpl_pmds[0] | reg->reg_reset_pmds[0]) & ~c->machine->pmds)
		return -EINVAL;
	if (!is_counter && reg->reg_flags & (PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM))
		return -EINVAL;
	*value = (reg->reg_value & ~rule->reserved) | (rule->init & rule->reserved);
	return machine_check_pmc(c->machine, &(struct pmc_rule){ .flags = rule->flags & PMC_OI }, reg->reg_num, c->is_system,
				 set->pmcs, value);
}

static int
write_pmcs(struct context *c, void *argument)
{
	struct set *set = first_set(c);
	pfarg_reg_t *reg = argument;
	uint64_t value;
	int ret;

	if (!set || check_ctl_pmc(c, set, reg, &value) < 0)
		return refuse(&reg->reg_flags);
	ret = state_set_pmc(c, set, reg->reg_num, value);
	if (ret < 0) {
		refuse(&reg->reg_flags);
		return ret;
	}
	accept(&reg->reg_flags);
	use_pmds(c, set, machine_pmds_of_pmc(c->machine, reg->reg_num));
	if (c->machine->counters >> reg->reg_num & 1)
		write_attributes(c, set, reg);
	return 0;
}

static bool
has_pmd(const struct context *c, unsigned int number)
{
	return number < PERFMON2_PMDS && c->machine->pmds >> number & 1;
}

static int
write_pmds(struct context *c, void *argument)
{
	struct set *set = first_set(c);
	pfarg_reg_t *reg = argument;
	struct pmd *pmd;

	if (!set || !has_pmd(c, reg->reg_num))
		return refuse(&reg->reg_flags);
	accept(&reg->reg_flags);
	use_pmds(c, set, machine_pmd_group(c->machine, UINT64_C(1) << reg->reg_num));
	pmd = &set->pmds[reg->reg_num];
	pmd->value = pmd->lval = reg->reg_value;
	pmd->long_reset = reg->reg_long_reset;
	pmd->short_reset = reg->reg_short_reset;
	pmd->seed = reg->reg_random_seed;
	pmd->random_mask = reg->reg_random_mask;
	set->ovfl_pmds &= ~(UINT64_C(1) << reg->reg_num);
	return 0;
}

static int
read_pmds(struct context *c, void *argument)
{
	pfarg_reg_t *reg = argument;
	const struct set *set = first_set(c);
	const struct pmd *pmd;
	const int ret = set ? read_pmd(c, reg->reg_num, set->id, &pmd) : -EINVAL;

	if (ret < 0) {
		refuse(&reg->reg_flags);
		return ret;
	}
	accept(&reg->reg_flags);
	reg->reg_value = pmd->value;
	reg->reg_last_reset_val = pmd->lval;
	return 0;
}

static int
write_debug(struct context *c, pfarg_dbreg_t *reg, unsigned int first, uint64_t kernels)
{
	struct set *set = first_set(c);
	const unsigned int number = first + reg->dbreg_num;
	int ret;

	if (!set || reg->dbreg_num >= DEBUG_REGISTERS || !machine_pmc(c->machine, first))
		return refuse(&reg->dbreg_flags);
	ret = state_set_pmc(c, set, number, reg->dbreg_num & 1 ? reg->dbreg_value & ~kernels : reg->dbreg_value);
	if (ret < 0) {
		refuse(&reg->dbreg_flags);
		return ret;
	}
	accept(&reg->dbreg_flags);
	return 0;
}

static int
write_ibrs(struct context *c, void *argument)
{
	return write_debug(c, argument, PERFMON2_IBR0, UINT64_C(1) << 63);
}

static int
write_dbrs(struct context *c, void *argument)
{
	return write_debug(c, argument, PERFMON2_DBR0, UINT64_C(3) << 62);
}

/* ---- without a context ---------------------------------------------------------------------- */

static int
get_reset_value(struct context *c, void *argument)
{
	pfarg_reg_t *reg = argument;
	uint64_t value;

	(void)c;
	if (machine_old_default(choice_machine(), reg->reg_num, &value) < 0)
		return refuse(&reg->reg_flags);
	accept(&reg->reg_flags);
	reg->reg_value = value;
	return 0;
}

static int
get_features(struct context *c, void *argument)
{
	(void)c;
	((pfarg_features_t *)argument)->ft_version = INTERFACE_VERSION;
	return 0;
}

static int
debug(struct context *c, void *argument)
{
	(void)c;
	(void)argument;
	return 0;
}

/* ---- contexts ------------------------------------------------------------------------------- */

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
	return c->is_system && !is_self ? -EINVAL : 0;
}

static int
load(struct context *c, void *argument)
{
	const pid_t target = (pid_t)((pfarg_load_t *)argument)->load_pid;
	struct set *set = first_set(c);
	int ret = check_target(c, target);

	if (ret == 0)
		ret = set ? context_bind(c, target, c->is_system ? sched_getcpu() : -1, set) : -EINVAL;
	return ret == -EEXIST ? -EBUSY : ret;
}

static int
unload(struct context *c, void *unused)
{
	(void)unused;
	context_unload(c);
	return 0;
}

static int
start(struct context *c, void *unused)
{
	(void)unused;
	return c->state == LOADED ? state_start(c, NULL) : -EINVAL;
}

static int
stop(struct context *c, void *unused)
{
	(void)unused;
	return state_stop(c);
}

static int
restart(struct context *c, void *unused)
{
	(void)unused;
	if (c->state == UNLOADED || (c->state == LOADED && !c->buffer))
		return -EBUSY;
	if (!c->is_system && c->tid != own_thread() && c->state == MASKED && c->can_restart == 0)
		return -EINVAL;
	if (c->can_restart)
		c->can_restart--;
	return state_restart(c, false);
}

static const struct command commands[] = {
	{ PFM_WRITE_PMCS, sizeof(pfarg_reg_t), MANY, NEEDS_FD | STOPPED | COPIES_BACK, write_pmcs },
	{ PFM_WRITE_PMDS, sizeof(pfarg_reg_t), MANY, NEEDS_FD | STOPPED | COPIES_BACK, write_pmds },
	{ PFM_READ_PMDS, sizeof(pfarg_reg_t), MANY, NEEDS_FD | STOPPED | COPIES_BACK, read_pmds },
	{ PFM_STOP, 0, NO_COUNT, NEEDS_FD | STOPPED, stop },
	{ PFM_START, 0, NO_COUNT, NEEDS_FD | STOPPED, start },
	{ PFM_CREATE_CONTEXT, sizeof(pfarg_context_t), 1, COPIES_BACK, NULL },
	{ PFM_RESTART, 0, NO_COUNT, NEEDS_FD, restart },
	{ PFM_GET_FEATURES, sizeof(pfarg_features_t), 1, COPIES_BACK, get_features },
	{ PFM_DEBUG, sizeof(unsigned int), 1, 0, debug },
	{ PFM_GET_PMC_RESET_VAL, sizeof(pfarg_reg_t), MANY, COPIES_BACK, get_reset_value },
	{ PFM_LOAD_CONTEXT, sizeof(pfarg_load_t), 1, NEEDS_FD | STOPPED | COPIES_BACK, load },
	{ PFM_UNLOAD_CONTEXT, 0, NO_COUNT, NEEDS_FD | STOPPED, unload },
	{ PFM_WRITE_IBRS, sizeof(pfarg_dbreg_t), MANY, NEEDS_FD | STOPPED | COPIES_BACK, write_ibrs },
	{ PFM_WRITE_DBRS, sizeof(pfarg_dbreg_t), MANY, NEEDS_FD | STOPPED | COPIES_BACK, write_dbrs },
};

/* ---- creation ------------------------------------------------------------------------------- */

static int
finish(struct context *c, int fd, const pfm_default_smpl_arg_t *format, pfarg_context_t *made)
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
	return made->ctx_smpl_vaddr == MAP_FAILED ? -ENOMEM : 0;
}

/* What is made is taken back if the caller cannot be told. */
static int
create(const struct machine *machine, pfarg_context_t *wanted, const pfm_default_smpl_arg_t *format, void *argument)
{
	const unsigned long excluding = PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK;
	struct context *c;
	int fd, ret;

	if ((wanted->ctx_flags & excluding) == excluding)
		return -EINVAL;
	ret = context_create(machine, (uint32_t)wanted->ctx_flags, &c, &fd);
	if (ret < 0)
		return ret;
	ret = finish(c, fd, format, wanted);
	if (ret == 0 && copy_out(argument, wanted, sizeof(*wanted)) < 0)
		ret = -EFAULT;
	if (ret == 0)
		return 0;
	if (format && ret == -EFAULT)
		munmap(wanted->ctx_smpl_vaddr, c->buffer_size);
	close(fd);
	context_free(c);
	return ret;
}

/* The format is known by its name, and its argument follows the context's. */
static int
read_and_create(void *argument, int count)
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
	return create(machine, &given.ctx_arg, has_format ? &given.buf_arg : NULL, argument);
}

/* ---- the call ------------------------------------------------------------------------------- */

static int
check_state(struct context *c, const struct command *command)
{
	if (c->state == UNLOADED || (!c->is_system && !c->is_copy && c->tid == own_thread()))
		return 0;
	if (c->is_copy)
		return -EBUSY;
	if (c->is_system)
		return choice()->np || sched_getcpu() == c->cpu ? 0 : -EBUSY;
	if (c->state == MASKED && command->number != PFM_UNLOAD_CONTEXT)
		return 0;
	return !(command->flags & STOPPED) || choice()->np || process_is_stopped(c->tid) ? 0 : -EBUSY;
}

static int
run(struct context *c, int fd, const struct command *command, void *argument, int count)
{
	static uint64_t room[CTL_LIMIT / sizeof(uint64_t)];	/* the engine is entered by one */
	const size_t size = command->count == NO_COUNT ? 0 : (size_t)count * command->size;
	int ret = 0;

	if (size > sizeof(room))
		return -E2BIG;
	if (size && copy_in(room, argument, size) < 0)
		return -EFAULT;
	if (command->flags & NEEDS_FD) {
		ret = c ? check_state(c, command) : -EBADF;
		if (ret < 0)	/* nothing is copied back */
			return ret;
	}
	if (command->count == NO_COUNT) {
		ret = command->run(c, NULL);
		if (command->number == PFM_START && ret == 0)
			message_owner(c, fd);
		return ret;
	}
	for (int i = 0; i < count && ret == 0; i++)
		ret = command->run(c, (char *)room + (size_t)i * command->size);
	if (command->flags & COPIES_BACK && copy_out(argument, room, size) < 0)
		return -EFAULT;
	return ret;
}

static const struct command *
find_command(int number)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (commands[i].number == number)
			return &commands[i];
	return NULL;
}

static bool
is_count_wrong(const struct command *command, int count)
{
	return command->count == MANY ? count <= 0 : command->count != NO_COUNT && count != command->count;
}

int
perfmonctl(int fd, int cmd, void *arg, int narg)
{
	const struct command *command = find_command(cmd);
	struct context *c = NULL;
	int ret;

	engine_enter();
	if (cmd == PFM_LOAD_CONTEXT)
		contexts_reap();
	if (!command || command->flags & NEEDS_FD)
		c = call_context(fd, true);
	if (!c && !choice_machine())
		ret = cmd == PFM_CREATE_CONTEXT && choice()->is_unreadable ? -EINVAL : -ENOSYS;
	else if (!command || is_count_wrong(command, narg))
		ret = -EINVAL;
	else
		ret = command->run ? run(c, fd, command, arg, narg) : read_and_create(arg, narg);
	call_done(c);
	return call_result(ret);
}
