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

/* Without our end of the pipe, which the program has closed, nothing can be done with the context any more. */
struct context *
call_context(int fd, bool tells)
{
	struct context *c = context_find(fd);

	if (c && tells && !c->is_copy && !context_has_writer(c)) {
		context_free(c);
		return NULL;
	}
	if (c)
		context_catch_up(c);
	return c;
}

void
call_done(struct context *c)
{
	if (c)
		context_settle(c);
	engine_leave();
}

/* Without a machine a number that is no context's descriptor is not looked at. */
static int
check_descriptor(const struct context *c, int refused)
{
	if (!c && !choice_machine())
		return -ENOSYS;
	if (refused < 0)
		return refused;
	return c ? 0 : -EBADF;
}

/* A signal handler may call: the elements are not on its stack, nor in memory that is taken for them. */
static int
run_vector(struct context *c, const struct call_vector *v)
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
	ret = check_task(c, v->need);
	for (long i = 0; i < v->count && ret == 0; i++, element += v->size)
		ret = v->each(c, element);
	if (is_there && v->copies_back)
		memcpy(v->elements, room, size);
	else if (v->copies_back && size && copy_out(v->elements, room, size) < 0)
		return -EFAULT;
	return ret;
}

int
call_with_vector(int fd, int refused, const struct call_vector *v)
{
	struct context *c;
	int ret;

	engine_enter();
	c = call_context(fd, v->need == NEEDS_UNLOADED);
	if (v->count < 0 || (size_t)v->count >= INT_MAX / v->size)
		refused = refused ? refused : -EINVAL;
	ret = check_descriptor(c, refused);
	if (ret == 0)
		ret = run_vector(c, v);
	call_done(c);
	return call_result(ret);
}

int
call_without(int fd, int refused, enum need need, call_one one, const void *argument)
{
	struct context *c;
	int ret;

	engine_enter();
	if (need == NEEDS_ANYTHING)	/* what is closed does not keep its thread or CPU */
		contexts_reap();
	c = call_context(fd, true);
	ret = check_descriptor(c, refused);
	if (ret == 0)
		ret = check_task(c, need);
	if (ret == 0)
		ret = one(c, argument);
	call_done(c);
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
finish(struct context *c, const struct call_creation *wanted)
{
	pfarg_sinfo_t sif = { { 0 }, { 0 }, { 0 } };
	const pfm_dfl_smpl_arg_t *sampling = wanted->sampling;
	int ret = sampling ? buffer_create(c, sampling->buf_size, sample_least_buffer(c->machine), sampling->buf_flags) : 0;

	if (ret < 0 || !wanted->sif)
		return ret;
	machine_pmcs(c->machine, sif.sif_avail_pmcs);
	sif.sif_avail_pmds[0] = c->machine->pmds;
	return copy_out(wanted->sif, &sif, sizeof(sif)) < 0 ? -EFAULT : 0;
}

int
call_create(const struct call_creation *wanted)
{
	const uint32_t excluding = PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK;
	const struct machine *machine;
	struct context *c;
	int fd, ret;

	if ((wanted->flags & excluding) == excluding)
		return -EINVAL;
	engine_enter();
	machine = choice_machine();
	ret = machine ? context_create(machine, wanted->flags, &c, &fd) : -ENOSYS;
	if (ret == 0) {
		c->old_messages = wanted->old_messages;
		ret = finish(c, wanted);
		if (ret < 0) {
			close(fd);
			context_free(c);
		}
	}
	engine_leave();
	return ret < 0 ? ret : fd;
}

int
call_set_info(struct context *c, unsigned int id, struct call_set_info *info)
{
	const struct set *set = set_find(c, id);
	uint64_t now;

	if (!set)
		return -EINVAL;
	now = set == c->active && c->state == LOADED ? choice()->backend->clock(c) : 0;
	*info = (struct call_set_info){ .set = set, .duration = set->duration, .left = set->remaining };
	if (c->is_system && c->state == LOADED && c->started && set == c->active && now > set->since)
		info->duration += now - set->since;
	machine_pmcs(c->machine, info->pmcs);
	return 0;
}
