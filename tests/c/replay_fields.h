/*
 * Members of the model-specific input structures, by name: generated from the recorded calls.
 */
#ifndef TESTS_REPLAY_FIELDS_H
#define TESTS_REPLAY_FIELDS_H

#include "pfm3_models.h"

#include <stddef.h>

struct replay_field {
	const char *path;    /* NULL ends the list */
	size_t offset, size; /* bytes */
};

#define REPLAY_FIELD(type, path) { #path, offsetof(type, path), sizeof(((type *)NULL)->path) }

#define REPLAY_FIELDS(name, tag, type, fine) extern const struct replay_field replay_##tag##_fields[];
PFM3_MODELS(REPLAY_FIELDS)
#undef REPLAY_FIELDS

#endif /* TESTS_REPLAY_FIELDS_H */
