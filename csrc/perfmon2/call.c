/*
 * What calls have in common: the checks in their order, the caller's memory, the context.
 */
#include "call.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "../counting/copy.h"

int
call_result(int ret)
{
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

/* Without a machine a number that is no context's descriptor is not looked at. */
static int
check_descriptor(const struct entry *e, int refused)
{
	if (!e && !choice_machine())
		return -ENOSYS;
	if (refused < 0)
		return refused;
	return e ? 0 : -EBADF;
}

/* A signal handler may call: the elements are not on its stack, nor in memory that is taken for them. */
static int
run_vector(struct entry *e, const struct call_vector *v)
{
	static uint64_t room[ARGUMENT_LIMIT / sizeof(uint64_t)];	/* the engine is entered by one */
	const size_t size = (size_t)v->count * v->size;
	const bool is_there = size && size <= sizeof(room) && copy_is_there(v->elements, size, v->copies_back);
	char *element = (char *)room;
	int ret;

	if (size > sizeof(room))
		return -E2BIG;
	if (!is_there && size && copy_in(room, v->elements, size) < 0)
		return -EFAULT;
	if (is_there)
		memcpy(room, v->elements, size);
	ret = check_task(e->context, v->need);
	for (long i = 0; i < v->count && ret == 0; i++, element += v->size)
		ret = v->each(e, element);
	if (is_there && v->copies_back)
		memcpy(v->elements, room, size);
	else if (v->copies_back && size && copy_out(v->elements, room, size) < 0)
		return -EFAULT;
	return ret;
}

int
call_with_vector(int fd, int refused, const struct call_vector *v)
{
	struct entry *e;
	int ret;

	engine_enter();
	e = v->need == NEEDS_UNLOADED ? entry_find(fd) : entry_find_registers(fd);
	if (v->count < 0 || (size_t)v->count >= INT_MAX / v->size)
		refused = refused ? refused : -EINVAL;
	ret = check_descriptor(e, refused);
	if (ret == 0)
		ret = run_vector(e, v);
	entry_release(e);
	engine_leave();
	return call_result(ret);
}

int
call_without(int fd, int refused, enum need need, call_one one, const void *argument)
{
	struct entry *e;
	int ret;

	engine_enter();
	if (need == NEEDS_ANYTHING)	/* what is closed does not keep its thread or CPU */
		entry_reap();
	e = entry_find(fd);
	ret = check_descriptor(e, refused);
	if (ret == 0)
		ret = check_task(e->context, need);
	if (ret == 0)
		ret = one(e, argument);
	entry_release(e);
	engine_leave();
	return call_result(ret);
}

int
call_check_machine(void)
{
	int ret;

	engine_enter();
	ret = choice()->is_unreadable ? -EINVAL : choice_machine() ? 0 : -ENOSYS;
	engine_leave();
	return ret;
}

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

int
call_read_format(const char *name, const void *argument, size_t size, pfm_dfl_smpl_arg_t *format)
{
	char text[sizeof(PFM_DFL_SMPL_NAME) + 1];

	if (read_text(name, text, sizeof(text)) < 0)
		return -EFAULT;
	if (strcmp(text, PFM_DFL_SMPL_NAME) != 0 || size != sizeof(*format))
		return -EINVAL;
	return copy_in(format, argument, size) < 0 ? -EFAULT : 0;
}

static int
finish(struct entry *e, const struct call_creation *wanted)
{
	pfarg_sinfo_t sif = { { 0 }, { 0 }, { 0 } };
	int ret = wanted->sampling ? sample_create(e, wanted->sampling) : 0;

	if (ret < 0 || !wanted->sif)
		return ret;
	machine_pmcs(e->context->machine, sif.sif_avail_pmcs);
	sif.sif_avail_pmds[0] = e->context->machine->pmds;
	return copy_out(wanted->sif, &sif, sizeof(sif)) < 0 ? -EFAULT : 0;
}

int
call_create(const struct call_creation *wanted)
{
	const uint32_t excluding = PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK;
	const struct machine *machine;
	struct entry *e;
	int fd, ret;

	if ((wanted->flags & excluding) == excluding)
		return -EINVAL;
	engine_enter();
	machine = choice_machine();
	ret = machine ? entry_create(machine, wanted->flags, &e, &fd) : -ENOSYS;
	if (ret == 0) {
		e->context->old_messages = wanted->old_messages;
		ret = finish(e, wanted);
		if (ret < 0) {
			close(fd);
			entry_destroy(e);
		} else {
			entry_release(e);
		}
	}
	engine_leave();
	return ret < 0 ? ret : fd;
}

int
call_set_info(struct context *c, unsigned int id, struct call_set_info *info)
{
	const struct set *set = set_find(c, id);

	if (!set)
		return -EINVAL;
	*info = (struct call_set_info){ .set = set, .duration = set->duration, .left = set->remaining };
	if (c->is_system && c->state == LOADED && c->started && set == active_set(c) && engine_clock() > set->since)
		info->duration += engine_clock() - set->since;
	machine_pmcs(c->machine, info->pmcs);
	return 0;
}
