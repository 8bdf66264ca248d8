/*
 * Private: functions of libpfm 3 that perfmon2, which is a part of it, needs.
 */
#ifndef PYPFM_PFM3_FOR_PERFMON2_H
#define PYPFM_PFM3_FOR_PERFMON2_H

#include <stdbool.h>
#include <stdint.h>

int pfm3_verbose_fd(void); /* where it prints in verbose mode; -1: nowhere */
int pfm3_pmu_type(void);   /* the current PMU, or what would be found; -1: none */
/* The counters that can count a code, and whether one counter alone does: false, there is no such event. */
bool pfm3_event_of_code(int type, unsigned int es, unsigned int umask, uint64_t *counters, bool *is_normal);
bool pfm3_event_code(int type, unsigned int event, unsigned int *es, unsigned int *umask);

#endif /* PYPFM_PFM3_FOR_PERFMON2_H */
