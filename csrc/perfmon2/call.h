/*
 * Private: what the calls of version 2 and 3 are made of.
 */
#ifndef PYPFM_PERFMON2_CALL_H
#define PYPFM_PERFMON2_CALL_H

#include "engine.h"

/* 0 or a descriptor; of a negative errno value, -1 with errno. */
int call_result(int ret);

/*
 * The context of a descriptor, up to date: inside engine_enter().  NULL: it is none's.  tells: a call that may send a message.  And
 * at the end of the call, which leaves the engine; NULL is nothing to do.
 */
struct context *call_context(int fd, bool tells);
void call_done(struct context *c);

enum { ARGUMENT_LIMIT = 16384 };	/* bytes */

/* What a call does with one element; it may change it. */
typedef int (*call_each)(struct context *c, void *element);

/* A call with a vector.  count is -1 if it is too large to be a number of elements. */
struct call_vector {
	void		*elements;
	long		count;
	size_t		size;		/* of an element */
	enum need	need;
	bool		copies_back;
	call_each	each;
};

/* refused: a negative errno value that the caller's other arguments have, before the descriptor is looked at; or 0. */
int call_with_vector(int fd, int refused, const struct call_vector *vector);

/* A call without one: the context is locked, and the task has been checked. */
typedef int (*call_one)(struct context *c, const void *argument);
int call_without(int fd, int refused, enum need need, call_one one, const void *argument);

/* Make a context: with a sampling format, if there is an argument for it.  sif: as pfm_create(). */
struct call_creation {
	uint32_t			flags;
	bool				old_messages;
	const pfm_dfl_smpl_arg_t	*sampling;
	pfarg_sinfo_t			*sif;
};
int call_create(const struct call_creation *wanted);

/* ENOSYS, or EINVAL if the environment cannot be read; 0. */
int call_check_machine(void);

/* The format's name and argument, in the caller's memory. */
int call_read_format(const char *name, const void *argument, size_t size, pfm_dfl_smpl_arg_t *format);

/* What the sets' calls of both versions give and take. */
struct call_set_info {
	const struct set	*set;
	uint64_t		duration, left;
	uint64_t		pmcs[PERFMON2_PMC_WORDS];
};
int call_set_info(struct context *c, unsigned int id, struct call_set_info *info);

#endif /* PYPFM_PERFMON2_CALL_H */
