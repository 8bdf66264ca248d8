/*
 * Private: counts of this process that callgrind simulates, under perfex(1).
 *
 * Callgrind does not tell the program what it has counted, but at the program's request it appends that to a file, and
 * begins at 0: a part.  Parts add up, to perfex's totals too, which regions so leave as they are.  perfex says in
 * PERFEX_VALGRIND where the files are; the number of the process follows.
 */
#ifndef PYPFM_PERFEX_SIMULATED_H
#define PYPFM_PERFEX_SIMULATED_H

#include <sys/types.h>

#include "library.h"

/* What was counted from a place in the file on. */
struct simulated {
	off_t		at;
	uint64_t	counts[PERFEX_NUM_SIMULATED];
	unsigned int	known;	/* bits of those that are counted */
};

/* Let callgrind write a part: the file, to be closed, and where that ended. */
int simulated_write(off_t *end);

/* Add what was written since, up to an end.  -EIO: a part was cut off. */
int simulated_add(struct simulated *simulated, int file, off_t end);

/* An event's count.  -ENODEV: callgrind does not count it; -EBUSY: it has not counted at all (perfex -s). */
int simulated_value(const struct simulated *simulated, const struct perfex_cpu *cpu, int event, double clock,
		    uint64_t *value);

#endif /* PYPFM_PERFEX_SIMULATED_H */
