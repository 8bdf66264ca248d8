/*
 * The model (LIBPFM_PERFMON=model): counters that move only when the program says that events have happened, so that each
 * run gives the same counts.  Not in libpfm 3.10.
 */
#ifndef _PERFMON_MODEL_H_
#define _PERFMON_MODEL_H_

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Let the calling thread execute events.
 *
 * Counters that count them move; what overflows notifies, and the thread's signal handlers run, before the call
 * returns and before the events after it are counted.
 *
 * :param event: libpfm's index of the event, of the context's PMU
 * :param plm: at which privilege levels, PFM_PLM0 and so on; an event counts once
 * :param count: how many
 * :return: 0, also if no context is loaded; or -1 with errno: ENXIO (not the model, or no PMU), EINVAL (no such event
 *     or level)
 *
 * Source: pypfm.
 */
extern int pfm_model_advance(unsigned int event, unsigned int plm, uint64_t count);

/**
 * Let the calling thread execute events that are named by code and unit mask.
 *
 * :param es: code of the event
 * :param umask: unit mask
 * :param plm: as pfm_model_advance()
 * :param count: as pfm_model_advance()
 * :return: as pfm_model_advance()
 *
 * Source: pypfm.
 */
extern int pfm_model_advance_code(unsigned int es, unsigned int umask, unsigned int plm, uint64_t count);

/**
 * Let another thread execute events, on which a context of this process is loaded.
 *
 * :param tid: number of the thread
 * :param event: as pfm_model_advance()
 * :param plm: as pfm_model_advance()
 * :param count: as pfm_model_advance()
 * :return: as pfm_model_advance()
 *
 * Source: pypfm.
 */
extern int pfm_model_advance_task(pid_t tid, unsigned int event, unsigned int plm, uint64_t count);

/**
 * Let time pass: timeouts switch sets, durations grow.
 *
 * :param ns: nanoseconds for which the calling thread runs
 * :return: 0, or -1 with errno: ENXIO (not the model, or no PMU)
 *
 * Source: pypfm.
 */
extern int pfm_model_time(uint64_t ns);

/**
 * Let time pass for another thread, on which a context of this process is loaded.
 *
 * :param tid: number of the thread
 * :param ns: nanoseconds for which it runs
 * :return: as pfm_model_time()
 *
 * Source: pypfm.
 */
extern int pfm_model_time_task(pid_t tid, uint64_t ns);

/**
 * Say which instruction the next overflows interrupt.
 *
 * :param ip: its address, 0 at first
 * :return: 0, or -1 with errno: ENXIO (not the model, or no PMU)
 *
 * Source: pypfm.
 */
extern int pfm_model_set_ip(uint64_t ip);

/**
 * Write a data register as the processor does: event address registers, the branch or execution trace buffer.
 *
 * :param pmd: its number; no counter
 * :param value: its content
 * :return: 0, also if no context is loaded; or -1 with errno: ENXIO (not the model, or no PMU), EINVAL (no such
 *     register, or a counter)
 *
 * Source: pypfm.
 */
extern int pfm_model_set_pmd(unsigned int pmd, uint64_t value);

#ifdef __cplusplus
}
#endif

#endif /* _PERFMON_MODEL_H_ */
