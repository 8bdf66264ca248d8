/*
 * Counting where there is no perf_event_open(2): no event can be opened.
 */
#include <errno.h>

#include "ring.h"
#include "set.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" // NOLINTBEGIN(misc-unused-parameters)

/* clang-format off */
#define ABSENT(name, ...)	int name(__VA_ARGS__) { return -ENOSYS; }

ABSENT(counting_open, const struct perf_event_attr *attr)
ABSENT(counting_open_thread, const struct perf_event_attr *attr, pid_t tid)
ABSENT(counting_open_cpu, const struct perf_event_attr *attr, pid_t tid, int cpu)
ABSENT(counting_start, int fd)
ABSENT(counting_resume, int fd)
ABSENT(counting_stop, int fd)
ABSENT(counting_read, int fd, struct counting_value *value)
ABSENT(counting_scale, const struct counting_value *value, uint64_t *count)
ABSENT(counting_lost, int fd, uint64_t *lost)
ABSENT(counting_close, int fd)

ABSENT(counting_set_open, const struct perf_event_attr *attr, struct counting_set **set)
ABSENT(counting_set_open_own, const struct perf_event_attr *attr, struct counting_set **set)
ABSENT(counting_set_enable, const struct counting_set *set)
ABSENT(counting_set_disable, const struct counting_set *set)
ABSENT(counting_set_read, const struct counting_set *set, uint64_t *count)
ABSENT(counting_set_signal, const struct counting_set *set, int signal)
void counting_set_close(struct counting_set *set) { }

ABSENT(counting_ring_open, int fd, size_t pages, struct counting_ring *ring)
ABSENT(counting_ring_take, struct counting_ring *ring, struct counting_end *ends, int room, uint64_t *lost)
ABSENT(counting_ring_lives, struct counting_ring *ring, struct counting_life *lives, int room)
uint64_t counting_ring_end(const struct counting_ring *ring) { return 0; }
bool counting_ring_sample(struct counting_ring *ring, uint64_t end, struct counting_sample *sample) { return false; }
void counting_ring_close(struct counting_ring *ring) { } // NOLINTEND(misc-unused-parameters)
/* clang-format on */
