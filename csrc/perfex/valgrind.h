/*
 * Private: requests of a program to the valgrind that runs it.
 */
#ifndef PYPFM_PERFEX_VALGRIND_H
#define PYPFM_PERFEX_VALGRIND_H

#include <stdbool.h>
#include <stdint.h>

/* Tell whether valgrind runs this process; false too on machines whose sequence of instructions is not known here. */
bool valgrind_runs(void);

/*
 * Read the counts of perfex's tool for this process (tool/tool.h, REQUEST_READ): as many as there is room for; return
 * the tool's result; 0: it is another tool.
 */
uintptr_t valgrind_counts(uint64_t *counts, unsigned int room);

/* Ask the tool for a step of a region (tool/tool.h, REQUEST_REGION); returns its answer, 0 without the tool. */
uintptr_t valgrind_region(int what);

#endif /* PYPFM_PERFEX_VALGRIND_H */
