/*
 * How a call is run: the checks in their order, the caller's memory, each element.
 */
#include "call.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <string.h>

#include "../base/process.h"
#include "../base/copy.h"

/*
 * A signal handler may call: large arrays are neither on its stack nor allocated.  One thread at a time is in the
 * engine.
 */
static uint64_t room[ARGUMENT_LIMIT / sizeof(uint64_t)];

/* ---- the caller's structures and requests -------------------------------------------------------- */

static uint64_t
read_number(const void *from, size_t size)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (size) {
	case sizeof(two):
		memcpy(&two, from, sizeof(two));
		return two;
	case sizeof(four):
		memcpy(&four, from, sizeof(four));
		return four;
	default:
		memcpy(&eight, from, sizeof(eight));
		return eight;
	}
}

static void
call_write_number(void *to, size_t size, uint64_t number)
{
	const uint16_t two = (uint16_t)number;
	const uint32_t four = (uint32_t)number;

	memcpy(to,
	       size == sizeof(two)    ? (const void *)&two
	       : size == sizeof(four) ? (const void *)&four
				      : (const void *)&number,
	       size);
}

static void
read_element(const struct element *element, const char *from, struct request *r)
{
	for (size_t i = 0; i < element->num_fields; i++) {
		const struct field *f = &element->fields[i];

		if (!(f->way & IN))
			continue;
		if (f->size > sizeof(uint64_t))
			memcpy((char *)r + f->to, from + f->at, f->size);
		else
			*(uint64_t *)(void *)((char *)r + f->to) = read_number(from + f->at, f->size);
	}
}

/* Write back only the flags of an element that was refused. */
static void
write_element(const struct element *element, const struct request *r, char *to, bool is_refused)
{
	for (size_t i = 0; i < element->num_fields; i++) {
		const struct field *f = &element->fields[i];
		const char *from = (const char *)r + f->to;

		if (!(f->way & OUT) || (is_refused && f->to != offsetof(struct request, flags)))
			continue;
		if (f->size > sizeof(uint64_t))
			memcpy(to + f->at, from, f->size);
		else
			call_write_number(to + f->at, f->size, *(const uint64_t *)(const void *)from);
	}
}

/* marks: the flags of each register receive its result. */
static void
mark(struct request *r, bool is_refused)
{
	const uint64_t marks = (uint64_t)PFM_REG_RETFL_MASK, refused = (uint64_t)PFM_REG_RETFL_EINVAL;

	r->flags = (r->flags & ~marks) | (is_refused ? refused : 0);
}

int
call_each(const struct call *call, struct context *c, long count, bool marks)
{
	char *at = (char *)room;
	int ret = 0;

	for (long i = 0; i < count && ret == 0; i++, at += call->element.size) {
		struct request r = { 0 };

		read_element(&call->element, at, &r);
		ret = call->run(c, &r);
		if (marks)
			mark(&r, ret < 0);
		if (ret == 0 || marks)
			write_element(&call->element, &r, at, ret < 0);
	}
	return ret;
}

/* ---- checks ------------------------------------------------------------------------------------- */

int
check_thread(pid_t tid)
{
	const int ret = process_may_trace(tid);

	return ret == 0 && !choice()->np && !process_is_stopped_here(tid) ? -ESRCH : ret;
}

static int
check_task(struct context *c, enum need need)
{
	if (c->state == UNLOADED || need == NEEDS_ANYTHING)
		return 0;
	if (need == NEEDS_UNLOADED)
		return -EBUSY;
	if (c->is_copy)
		return need == NEEDS_NOTHING ? 0 : -ESRCH;
	if (c->is_system)
		return choice()->np || sched_getcpu() == c->cpu ? 0 : -EBUSY;
	if (c->tid == own_thread() || need == NEEDS_NOTHING)
		return 0;
	if (c->state == MASKED && need != NEEDS_STOPPED_EVEN_MASKED)
		return 0;
	return check_thread(c->tid);
}

/* Without a machine, a number that is no context's descriptor is not examined. */
static int
check_descriptor(const struct context *c, int refused)
{
	if (!c && !choice_machine())
		return -ENOSYS;
	if (refused < 0)
		return refused;
	return c ? 0 : -EBADF;
}

/* ---- the call ----------------------------------------------------------------------------------- */

/* If the program has closed our end of the pipe, the context can no longer be used. */
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

int
call_done(struct context *c, int ret)
{
	if (c)
		helper_plan(context_settle(c));
	engine_leave();
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

int
call_read(struct vector *v, const struct call *call, void *elements, long count, size_t limit)
{
	if (call->element.size && (size_t)count > limit / call->element.size)
		return -E2BIG;
	*v = (struct vector){ .elements = elements, .size = (size_t)count * call->element.size };
	v->is_there = v->size && copy_is_there(elements, v->size, call->copies_back);
	if (v->is_there)
		memcpy(room, elements, v->size);
	return v->is_there || v->size == 0 || copy_in(room, elements, v->size) == 0 ? 0 : -EFAULT;
}

int
call_write(const struct vector *v)
{
	if (!v->is_there)
		return v->size && copy_out(v->elements, room, v->size) < 0 ? -EFAULT : 0;
	memcpy(v->elements, room, v->size);
	return 0;
}

static int
run_elements(const struct call *call, struct context *c, void *elements, long count)
{
	struct vector v;
	int ret = call_read(&v, call, elements, count, ARGUMENT_LIMIT);

	if (ret < 0)
		return ret;
	ret = check_task(c, call->need);
	if (ret == 0)
		ret = call_each(call, c, count, false);
	return call->copies_back && call_write(&v) < 0 ? -EFAULT : ret;
}

static int
run_one(const struct call *call, struct context *c, const struct request *given)
{
	struct request r = given ? *given : (struct request){ 0 };
	const int ret = check_task(c, call->need);

	return ret < 0 ? ret : call->run(c, &r);
}

int
call_run(const struct call *call, int fd, int refused, void *elements, long count, const struct request *given)
{
	struct context *c;
	int ret;

	engine_enter();
	if (call->need == NEEDS_ANYTHING) /* a closed context does not keep its thread or CPU */
		contexts_reap();
	c = call_context(fd, call->tells);
	if (call->element.size && (count < 0 || (size_t)count >= INT_MAX / call->element.size))
		refused = refused ? refused : -EINVAL;
	ret = check_descriptor(c, refused);
	if (ret == 0)
		ret = call->element.size ? run_elements(call, c, elements, count) : run_one(call, c, given);
	return call_done(c, ret);
}
