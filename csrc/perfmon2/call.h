/*
 * Private: a call of any version: a row that says what it is given and what it needs, and one way to run it.
 */
#ifndef PYPFM_PERFMON2_CALL_H
#define PYPFM_PERFMON2_CALL_H

#include "engine.h"

enum { ARGUMENT_LIMIT = 16384, CTL_ARGUMENT_LIMIT = 4096 }; /* bytes of one call */

/* The direction in which a member is copied. */
enum way { IN = 1, OUT = 2, BOTH = 3 };

/* A member of a caller's structure, and of struct request: a number, or a bit vector. */
struct field {
	uint16_t at, size, to;
	uint8_t way;
};

#define FIELD(type, member, of_request, way) \
	{ offsetof(type, member), sizeof(((type *)0)->member), offsetof(struct request, of_request), way }

/* A structure that is an element of a call. */
struct element {
	size_t size; /* 0: there is none */
	const struct field *fields;
	size_t num_fields;
};

#define ELEMENT(type, fields) { sizeof(type), fields, sizeof(fields) / sizeof(*(fields)) }
#define NO_ELEMENT { 0, NULL, 0 }

/* The state that the context's task must have. */
enum need { NEEDS_UNLOADED, NEEDS_STOPPED, NEEDS_STOPPED_EVEN_MASKED, NEEDS_NOTHING, NEEDS_ANYTHING };

struct call {
	struct element element; /* what it is given */
	enum need need;
	bool copies_back;
	bool tells;                                       /* it may send a message */
	int (*run)(struct context *c, struct request *r); /* of one element */
};

/*
 * Run a call on a context: 0, or -1 with errno.  elements, count: the caller's, count is -1 if it is too large to be a
 * number of elements; for a call without an argument NULL, 1.  given: the known parts of the request; NULL: none.
 * refused: a negative errno value that the caller's other arguments have, before the descriptor is examined; or 0.
 */
int call_run(const struct call *call, int fd, int refused, void *elements, long count, const struct request *given);

/* The caller's elements, copied while the engine is entered. */
struct vector {
	void *elements;
	size_t size;   /* bytes */
	bool is_there; /* the kernel need not be asked again */
};

/*
 * The parts of a call, which perfmonctl() does in another order.  marks: the flags of each element receive its result.
 */
int call_read(struct vector *v, const struct call *call, void *elements, long count, size_t limit);
int call_each(const struct call *call, struct context *c, long count, bool marks);
int call_write(const struct vector *v);

/*
 * Begin a call inside engine_enter(): find the context of a descriptor, brought up to date.  NULL: the descriptor is no
 * context's.  tells: the call may send a message.  Then the end of the call, which leaves the engine; NULL: nothing to
 * do.
 */
struct context *call_context(int fd, bool tells);
int call_done(struct context *c, int ret); /* ret: 0 or a descriptor; of a negative errno value, -1 with errno */

#endif /* PYPFM_PERFMON2_CALL_H */
