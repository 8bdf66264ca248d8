/*
 * Private: what a program asks the valgrind that runs it.
 */
#ifndef PYPFM_PERFEX_VALGRIND_H
#define PYPFM_PERFEX_VALGRIND_H

#include <stdbool.h>

/* Whether valgrind runs this process; false too on machines whose sequence of instructions is not known here. */
bool valgrind_runs(void);

/* A command to the monitor of valgrind or its tool, done when it returns; false: they have none of that name. */
bool valgrind_command(const char *command);

#endif /* PYPFM_PERFEX_VALGRIND_H */
