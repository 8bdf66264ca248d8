/*
 * NetBSD's hardware performance monitoring interface, on Linux.
 *
 * Names, values and the layout of struct pmc_counter_cfg are those of NetBSD/amd64;
 * the class and type identifiers are those of all machines that NetBSD had counters
 * for, and one of our own.  Manual page: pmc_control(2).
 *
 * PMC_MACHINE in the environment chooses the machine: linux (the default: this host's
 * counters), or a model that counts what pmc_model_advance() gives it: xscale, i586,
 * i686, k7.  With any other value every call fails with ENXIO.
 */
#ifndef _SYS_PMC_H_
#define _SYS_PMC_H_

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* pmc_control(), op */
#define PMC_OP_START 1     /* start a configured counter; argp is ignored */
#define PMC_OP_STOP 2      /* stop a counter; argp is ignored */
#define PMC_OP_CONFIGURE 3 /* argp: struct pmc_counter_cfg */
#define PMC_OP_PROFSTART 4 /* profile with a counter; argp: struct pmc_counter_cfg */
#define PMC_OP_PROFSTOP 5  /* profile no longer; argp is ignored */

/* pmc_get_info(), op */
#define PMC_INFO_NCOUNTERS 1                 /* argp: int; ctr is ignored */
#define PMC_INFO_CPUCTR_TYPE 2               /* argp: int; ctr -1: the class of the machine */
#define PMC_INFO_COUNTER_VALUE 3             /* argp: uint64_t */
#define PMC_INFO_ACCUMULATED_COUNTER_VALUE 4 /* argp: uint64_t */

/* Machines: the class, its cycle counter, its event counters. */
#define PMC_CLASS_I80200 0x10000 /* ARM XScale (PMC_MACHINE=xscale) */
#define PMC_TYPE_I80200_CCNT 0x10001
#define PMC_TYPE_I80200_PMCx 0x10002
#define PMC_CLASS_I586 0x10000 /* Pentium; the same numbers, on another machine */
#define PMC_TYPE_I586_TSC 0x10001
#define PMC_TYPE_I586_PMCx 0x10002
#define PMC_CLASS_I686 0x20000 /* Pentium Pro, II, III */
#define PMC_TYPE_I686_TSC 0x20001
#define PMC_TYPE_I686_PMCx 0x20002
#define PMC_CLASS_K7 0x30000 /* Athlon */
#define PMC_TYPE_K7_TSC 0x30001
#define PMC_TYPE_K7_PMCx 0x30002
#define PMC_CLASS_LINUX 0x40000 /* perf_event_open(2); not in NetBSD */
#define PMC_TYPE_LINUX_CYCLES 0x40001
#define PMC_TYPE_LINUX_PMCx 0x40002

/* Event identifiers of i686 and K7: the event, and its unit mask above. */
#define __PMC_EVID_EVENT_MASK 0x0000ffff
#define __PMC_EVID_UNIT_MASK 0xffff0000
#define __PMC_UNIT(x) (((x) << 16) & __PMC_EVID_UNIT_MASK)
#define __PMC_GET_UNIT(x) (((x) & __PMC_EVID_UNIT_MASK) >> 16)
#define __PMC_GET_EVENT(x) ((x) & __PMC_EVID_EVENT_MASK)

/** An event identifier. */
typedef int pmc_evid_t;

/** A number of counter ticks. */
typedef uint64_t pmc_ctr_t;

/** What a counter is to do. */
struct pmc_counter_cfg {
	pmc_evid_t event_id;   /* the event to count */
	pmc_ctr_t reset_value; /* ticks between two overflows; 0: the width of the counter */
	uint32_t flags;        /* not used */
};

/**
 * Configure a counter, start and stop it, profile with it.
 *
 * CONFIGURE sets event and value 0 and does not start; STOP and START resume where the
 * counter was; only CONFIGURE resets.  PROFSTART sends the process SIGPROF each
 * reset_value events, and switches ITIMER_PROF off until PROFSTOP.
 *
 * :param ctr: counter, 0 to PMC_INFO_NCOUNTERS - 1
 * :param op: PMC_OP_*
 * :param argp: struct pmc_counter_cfg of CONFIGURE and PROFSTART; else ignored
 * :return: 0, or -1 with errno: EFAULT (argp), EINVAL (ctr or op), ENXIO (START or STOP
 *     before CONFIGURE), EINPROGRESS (START of a running counter), EBUSY (CONFIGURE of a
 *     running counter, or one that is profiling; PROFSTART of one that runs somewhere),
 *     ENODEV (event not valid for the counter, or it cannot profile; linux: also several
 *     threads and no /proc that lists them), ENOMEM; linux: EACCES (perf_event_paranoid
 *     forbids it), EAGAIN (the process makes threads faster than they can be opened)
 *
 * Source: pmc_control(2), DESCRIPTION and ERRORS.
 */
extern int pmc_control(int ctr, int op, void *argp);

/**
 * Ask about the machine or a counter.
 *
 * :param ctr: counter, 0 to PMC_INFO_NCOUNTERS - 1; ignored by NCOUNTERS; -1 asks
 *     CPUCTR_TYPE for the class of the machine
 * :param op: PMC_INFO_*
 * :param argp: where the answer is stored: int for NCOUNTERS and CPUCTR_TYPE, uint64_t
 *     for the values, in events
 * :return: 0, or -1 with errno: EINVAL (ctr or op), ENXIO (a value before
 *     CONFIGURE), EFAULT (argp), ENODEV (linux: the program has closed the counter's
 *     descriptors), ENOMEM (also: more than 4095 processes had counters of a
 *     model at once, or more than 63 each below the other, so that what some of them
 *     counted is not known)
 *
 * Source: pmc_control(2), DESCRIPTION and ERRORS.
 */
extern int pmc_get_info(int ctr, int op, void *argp);

#ifdef __cplusplus
}
#endif

#endif /* _SYS_PMC_H_ */
