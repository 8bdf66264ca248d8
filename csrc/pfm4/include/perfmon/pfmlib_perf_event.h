/*
 * libpfm 4.13.0: encoding for the perf_event interface of Linux.
 */
#ifndef __PFMLIB_PERF_EVENTS_H__
#define __PFMLIB_PERF_EVENTS_H__

#include <perfmon/pfmlib.h>
#include <perfmon/perf_event.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Argument of pfm_get_os_event_encoding() for the perf_event interfaces. */
typedef struct {
	struct perf_event_attr *attr; /* filled in; what the caller set beforehand is kept */
	char **fstr;                  /* receives the fully qualified string to free, or NULL */
	size_t size;                  /* size of this structure */
	int idx;                      /* receives the opaque index of the event */
	int cpu;                      /* receives the value of cpu=, or -1 */
	int flags;                    /* left as it is */
	int pad0;                     /* left as it is */
} pfm_perf_encode_arg_t;

#if defined(__LP64__) || defined(SWIG)
#define PFM_PERF_ENCODE_ABI0 40
#else
#define PFM_PERF_ENCODE_ABI0 28
#endif

/**
 * Encode an event string for perf_event_open(): the older form for
 * PFM_OS_PERF_EVENT_EXT.
 *
 * :param str: [PMU::]EVENT[:ATTRIBUTE...]
 * :param dfl_plm: privilege levels where the string names none, PFM_PLM*
 * :param attr: filled in; attr->size bytes at most are written
 * :param fstr: receives the fully qualified string to free, or NULL
 * :param idx: receives the opaque index of the event, or NULL
 * :return: as pfm_get_os_event_encoding()
 *
 * Source: libpfm 4.13.0, pfm_get_perf_event_encoding(3).
 */
extern pfm_err_t pfm_get_perf_event_encoding(const char *str, int dfl_plm, struct perf_event_attr *attr, char **fstr,
					     int *idx);

#ifdef __cplusplus
}
#endif

#endif /* __PFMLIB_PERF_EVENTS_H__ */
