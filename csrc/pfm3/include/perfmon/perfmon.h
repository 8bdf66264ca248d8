/*
 * The perfmon2 interface: what its calls share, and the calls of its version 3.
 *
 * A program makes a context, which is a file descriptor, writes control registers (PMC) and data registers
 * (PMD), binds the context to a thread or a CPU, starts and stops it, and reads the data registers, which have
 * 64 bits.  perfmon_v2.h, which this header includes, has the calls of version 2; one descriptor serves both.
 *
 * A program that defines PFMLIB_OLD_PFMV2 gets the structures of kernels 2.0 to 2.4.  One that defines PFM_NO_PERFMON_COMPAT is
 * spared perfmon_compat.h, perfmonctl() with its names: build scripts take pfm_msg_t there for a sign of the older interface.
 */
#ifndef __PERFMON_H__
#define __PERFMON_H__

#include <sys/types.h>
#include <stdint.h>

#include <perfmon/perfmon_ia64.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many registers of each kind a processor may have. */
#define PFM_ARCH_MAX_PMCS 320
#define PFM_ARCH_MAX_PMDS 320
#define PFM_MAX_PMCS PFM_ARCH_MAX_PMCS
#define PFM_MAX_PMDS PFM_ARCH_MAX_PMDS

/* Bit vectors of registers: register r is bit r % PFM_BPL of word r / PFM_BPL. */
#define PFM_BPL (sizeof(uint64_t) << 3)
#define PFM_BVSIZE(x) (((x) + PFM_BPL - 1) / PFM_BPL)
#ifndef SWIG
#define PFM_PMD_BV PFM_BVSIZE(PFM_MAX_PMDS)
#define PFM_PMC_BV PFM_BVSIZE(PFM_MAX_PMCS)
#endif

/* Of a context: ctx_flags of pfm_create_context(), flags of pfm_create(). */
#define PFM_FL_NOTIFY_BLOCK 0x01 /* block the thread at a notification; here it is only masked */
#define PFM_FL_SYSTEM_WIDE 0x02  /* monitor a CPU */
#define PFM_FL_SMPL_FMT 0x04     /* pfm_create(): a sampling format follows */
#define PFM_FL_OVFL_NO_MSG 0x80  /* a notification is a signal without a message */

/* Of a register: reg_flags. */
#define PFM_REGFL_OVFL_NOTIFY 0x1 /* PMD: an overflow notifies */
#define PFM_REGFL_RANDOM 0x2      /* PMD: reset values are random */
#define PFM_REGFL_NO_EMUL64 0x4   /* PMC: no interrupt, the counter keeps its own width */

/* Kinds of registers: type of pfm_write() and pfm_read(). */
#define PFM_RW_PMD 1      /* values of data registers */
#define PFM_RW_PMC 2      /* control registers */
#define PFM_RW_PMD_ATTR 3 /* data registers with all attributes */

/* No thread and no CPU: target of pfm_attach(). */
#define PFM_NO_TARGET (-1)

/* What pfm_set_state() does. */
#define PFM_ST_START 1
#define PFM_ST_STOP 2
#define PFM_ST_RESTART 3

/* Of a set: when the next one takes over. */
#define PFM_SETFL_OVFL_SWITCH 0x01 /* after overflows */
#define PFM_SETFL_TIME_SWITCH 0x02 /* after a time */

/* Kinds of messages. */
#define PFM_MSG_OVFL 1 /* a counter overflowed */
#define PFM_MSG_END 2  /* the monitored thread has ended */

/* Parts of a version number. */
#define PFM_VERSION_MAJOR(x) (((x) >> 16) & 0xffff)
#define PFM_VERSION_MINOR(x) ((x) & 0xffff)

/** What the calls of version 3 return: 0 or a descriptor, or -1 with errno. */
typedef int os_err_t;

/** The registers that a program may use: result of pfm_create(). */
typedef struct {
	uint64_t sif_avail_pmcs[PFM_BVSIZE(PFM_MAX_PMCS)]; /* control registers */
	uint64_t sif_avail_pmds[PFM_BVSIZE(PFM_MAX_PMDS)]; /* data registers */
	uint64_t sif_reserved[4];
} pfarg_sinfo_t;

/** A register and its value: element of PFM_RW_PMC and PFM_RW_PMD. */
typedef struct {
	uint16_t reg_num;   /* which register */
	uint16_t reg_set;   /* of which set */
	uint32_t reg_flags; /* PFM_REGFL_... */
	uint64_t reg_value; /* value */
} pfarg_pmr_t;

/** A data register with its attributes: element of PFM_RW_PMD_ATTR. */
typedef struct {
	uint16_t reg_num;                                  /* which register */
	uint16_t reg_set;                                  /* of which set */
	uint32_t reg_flags;                                /* PFM_REGFL_... */
	uint64_t reg_value;                                /* value */
	uint64_t reg_long_reset;                           /* value after a notification */
	uint64_t reg_short_reset;                          /* value after another overflow */
	uint64_t reg_random_mask;                          /* bits of the random number that a reset takes off */
	uint64_t reg_smpl_pmds[PFM_BVSIZE(PFM_MAX_PMDS)];  /* registers that a sample records */
	uint64_t reg_reset_pmds[PFM_BVSIZE(PFM_MAX_PMDS)]; /* registers that an overflow resets */
	uint64_t reg_ovfl_swcnt;                           /* overflows until the set is switched */
	uint64_t reg_smpl_eventid;                         /* the program's own */
	uint64_t reg_last_value;                           /* value that it was last written or reset to */
	uint64_t reg_reserved[8];
} pfarg_pmd_attr_t;

#ifndef PFMLIB_OLD_PFMV2

/** A set to make or change: element of pfm_create_sets(). */
typedef struct {
	uint16_t set_id; /* which set */
	uint16_t set_reserved1;
	uint32_t set_flags;   /* PFM_SETFL_... */
	uint64_t set_timeout; /* nanoseconds until the switch */
	uint64_t reserved[6];
} pfarg_set_desc_t;

/** What is known of a set: element of pfm_getinfo_sets(). */
typedef struct {
	uint16_t set_id; /* which set */
	uint16_t set_reserved1;
	uint32_t set_reserved2;
	uint64_t set_ovfl_pmds[PFM_BVSIZE(PFM_MAX_PMDS)]; /* counters of the last overflow */
	uint64_t set_runs;                                /* how often it was activated */
	uint64_t set_timeout;                             /* nanoseconds that are left */
	uint64_t set_duration;                            /* nanoseconds that it has counted */
	uint64_t set_reserved3[4];
} pfarg_set_info_t;

/** The message of an overflow. */
typedef struct {
	uint32_t msg_type;                                /* PFM_MSG_OVFL */
	uint32_t msg_ovfl_pid;                            /* the number of the thread, in spite of the name */
	uint16_t msg_active_set;                          /* set that counted */
	uint16_t msg_ovfl_cpu;                            /* CPU */
	uint32_t msg_ovfl_tid;                            /* the number of the process */
	uint64_t msg_ovfl_ip;                             /* address of the instruction that was interrupted */
	uint64_t msg_ovfl_pmds[PFM_BVSIZE(PFM_MAX_PMDS)]; /* counters that overflowed */
} pfarg_ovfl_msg_t;

#else

/* Kernels 2.0 to 2.4 had fewer registers in a message. */
#define PFM_MAX_HW_PMDS 256
#define PFM_HW_PMD_BV PFM_BVSIZE(PFM_MAX_HW_PMDS)

/** The message of an overflow. */
typedef struct {
	uint32_t msg_type;                     /* PFM_MSG_OVFL */
	uint32_t msg_ovfl_pid;                 /* the number of the thread, in spite of the name */
	uint64_t msg_ovfl_pmds[PFM_HW_PMD_BV]; /* counters that overflowed */
	uint16_t msg_active_set;               /* set that counted */
	uint16_t msg_ovfl_cpu;                 /* CPU */
	uint32_t msg_ovfl_tid;                 /* the number of the process */
	uint64_t msg_ovfl_ip;                  /* address of the instruction that was interrupted */
} pfarg_ovfl_msg_t;

#endif /* PFMLIB_OLD_PFMV2 */

/** A message, as read() returns one from a context's descriptor. */
typedef union {
	uint32_t type;                 /* PFM_MSG_... */
	pfarg_ovfl_msg_t pfm_ovfl_msg; /* of PFM_MSG_OVFL */
} pfarg_msg_t;

#ifndef PFMLIB_OLD_PFMV2

/**
 * Write registers.
 *
 * The elements are written in order. The first that is refused ends the call; those before it stay written.
 *
 * :param fd: context
 * :param flags: 0
 * :param type: PFM_RW_PMC and PFM_RW_PMD: of elements pfarg_pmr_t; PFM_RW_PMD_ATTR: of elements pfarg_pmd_attr_t.
 *     PFM_RW_PMD changes value and flags only, the other attributes stay
 * :param pms: the elements
 * :param sz: their size in bytes
 * :return: 0, or -1 with errno: ENOSYS (no PMU), EINVAL (flags, type, size, register, flag or set), EBADF,
 *     E2BIG (more than 16384 bytes), EFAULT, ESRCH or EPERM (another thread that is not stopped by the caller),
 *     EBUSY (another CPU)
 *
 * Source: perfmon2 kernel interface 3.0.
 */
extern int pfm_write(int fd, int flags, int type, void *pms, size_t sz);

/**
 * Read data registers.
 *
 * The values are those of the moment, if the register's set is counting, else those that were saved.
 *
 * :param fd: context
 * :param flags: 0
 * :param type: PFM_RW_PMD: of elements pfarg_pmr_t; PFM_RW_PMD_ATTR: of elements pfarg_pmd_attr_t; PFM_RW_PMC is
 *     refused after all other checks
 * :param pmds: the elements, in which number and set are given
 * :param sz: their size in bytes
 * :return: 0, or -1 with errno: as pfm_write(); EINVAL also if a register was not used yet
 *
 * Source: perfmon2 kernel interface 3.0.
 */
extern int pfm_read(int fd, int flags, int type, void *pmds, size_t sz);

/**
 * Start, stop or restart a context.
 *
 * :param fd: context
 * :param flags: 0
 * :param state: PFM_ST_START, PFM_ST_STOP, PFM_ST_RESTART: as pfm_start(fd, NULL), pfm_stop(fd), pfm_restart(fd)
 * :return: 0, or -1 with errno: EINVAL (flags, state), and those of the three calls
 *
 * Source: perfmon2 kernel interface 3.0.
 */
extern int pfm_set_state(int fd, int flags, int state);

/**
 * Make sets, or change them.
 *
 * :param fd: context, which is not loaded
 * :param flags: 0
 * :param s: the sets
 * :param sz: their size in bytes
 * :return: 0, or -1 with errno: as pfm_create_evtsets(); EINVAL also of flags and size
 *
 * Source: perfmon2 kernel interface 3.0.
 */
extern int pfm_create_sets(int fd, int flags, pfarg_set_desc_t *s, size_t sz);

/**
 * What is known of sets.
 *
 * :param fd: context
 * :param flags: 0
 * :param info: in: numbers of the sets; out: all else
 * :param sz: their size in bytes
 * :return: 0, or -1 with errno: as pfm_getinfo_evtsets(); EINVAL also of flags and size
 *
 * Source: perfmon2 kernel interface 3.0.
 */
extern int pfm_getinfo_sets(int fd, int flags, pfarg_set_info_t *info, size_t sz);

/**
 * Bind a context to a thread or a CPU, or release it.
 *
 * :param fd: context
 * :param flags: 0
 * :param target: number of the thread; of the CPU, if the context is system-wide; PFM_NO_TARGET: release
 * :return: 0, or -1 with errno: as pfm_load_context() with set 0, and pfm_unload_context(); EINVAL also of flags,
 *     and if there is nothing to release
 *
 * Source: perfmon2 kernel interface 3.0.
 */
extern int pfm_attach(int fd, int flags, int target);

#endif /* PFMLIB_OLD_PFMV2 */

#ifdef __cplusplus
}
#endif

#include <perfmon/perfmon_v2.h>

#endif /* __PERFMON_H__ */
