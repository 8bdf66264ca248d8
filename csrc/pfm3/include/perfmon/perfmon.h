/*
 * The part of the perfmon2 kernel interface that libpfm 3's inline helpers
 * name.  No current Linux kernel has perfmon2, so both calls fail.
 */
#ifndef __PERFMON_H__
#define __PERFMON_H__

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfarg_start pfarg_start_t;

/**
 * Start the counters of a perfmon2 context.
 *
 * :param fd: context, ignored
 * :param start: start arguments, ignored; may be NULL
 * :return: always -1, with errno set to ENOSYS
 *
 * Source: perfmon2 kernel interface; pypfm page "Conformance and deviations".
 */
extern int pfm_start(int fd, pfarg_start_t *start);

/**
 * Stop the counters of a perfmon2 context.
 *
 * :param fd: context, ignored
 * :return: always -1, with errno set to ENOSYS
 *
 * Source: perfmon2 kernel interface; pypfm page "Conformance and deviations".
 */
extern int pfm_stop(int fd);

#ifdef __cplusplus
}
#endif

#endif /* __PERFMON_H__ */
