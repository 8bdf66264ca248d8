/*
 * The models of xscale, i586, i686 and k7 (PMC_MACHINE): they count the events that the
 * program gives them.  Not in NetBSD.
 */
#ifndef _PMC_MODEL_H_
#define _PMC_MODEL_H_

#include <sys/pmc.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Let the model execute events in the calling process.
 *
 * Running counters configured with the event move by count, and profiling ones send
 * SIGPROF at each overflow, before the call returns.  On xscale, 0x100 is a clock, and
 * 64 of them also move counters configured with 0x101 by one.
 *
 * :param event_id: an event of the machine
 * :param count: how many of them
 * :return: 0, or -1 with errno: ENODEV (not an event of the machine, or the machine is
 *     no model), ENXIO (PMC_MACHINE names no machine), ENOMEM
 */
extern int pmc_model_advance(pmc_evid_t event_id, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif /* _PMC_MODEL_H_ */
