/*
 * The perfmon2 interface, version 2: its structures and calls.  Included by perfmon.h.
 */
#ifndef __PERFMON_V2_H__
#define __PERFMON_V2_H__

#ifndef __PERFMON_H__
#error "include perfmon/perfmon.h, which includes this header"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A context to make: argument of pfm_create_context(). */
typedef struct {
	uint32_t ctx_flags; /* PFM_FL_... */
	uint32_t ctx_reserved1;
	uint64_t ctx_reserved3[7];
} pfarg_ctx_t;

/** A control register: element of pfm_write_pmcs(). */
typedef struct {
	uint16_t reg_num;   /* which register */
	uint16_t reg_set;   /* of which set */
	uint32_t reg_flags; /* PFM_REGFL_NO_EMUL64 or 0 */
	uint64_t reg_value; /* value */
	uint64_t reg_reserved2[4];
} pfarg_pmc_t;

/** A data register: element of pfm_write_pmds() and pfm_read_pmds(). */
typedef struct {
	uint16_t reg_num;                                  /* which register */
	uint16_t reg_set;                                  /* of which set */
	uint32_t reg_flags;                                /* PFM_REGFL_... */
	uint64_t reg_value;                                /* value */
	uint64_t reg_long_reset;                           /* value after a notification */
	uint64_t reg_short_reset;                          /* value after another overflow */
	uint64_t reg_last_reset_val;                       /* value that it was last written or reset to */
	uint64_t reg_ovfl_switch_cnt;                      /* overflows until the set is switched */
	uint64_t reg_reset_pmds[PFM_BVSIZE(PFM_MAX_PMDS)]; /* registers that an overflow resets */
	uint64_t reg_smpl_pmds[PFM_BVSIZE(PFM_MAX_PMDS)];  /* registers that a sample records */
	uint64_t reg_smpl_eventid;                         /* the program's own */
	uint64_t reg_random_mask;                          /* bits of the random number that a reset takes off */
	uint32_t reg_random_seed;                          /* not looked at */
	uint32_t reg_reserved2[7];
} pfarg_pmd_t;

/** Where to start: argument of pfm_start(). */
typedef struct {
	uint16_t start_set; /* set to start */
	uint16_t start_reserved1;
	uint32_t start_reserved2;
	uint64_t reserved3[3];
} pfarg_start_t;

/** What to monitor: argument of pfm_load_context(). */
typedef struct {
	uint32_t load_pid; /* number of the thread; of the CPU, if the context is system-wide */
	uint16_t load_set; /* set that is active first */
	uint16_t load_reserved1;
	uint64_t load_reserved2[3];
} pfarg_load_t;

#ifndef PFMLIB_OLD_PFMV2

/** A set to make, change or delete: element of pfm_create_evtsets() and pfm_delete_evtsets(). */
typedef struct {
	uint16_t set_id; /* which set */
	uint16_t set_reserved1;
	uint32_t set_flags;   /* PFM_SETFL_... */
	uint64_t set_timeout; /* nanoseconds until the switch */
	uint64_t reserved[6];
} pfarg_setdesc_t;

/** What is known of a set: element of pfm_getinfo_evtsets(). */
typedef struct {
	uint16_t set_id; /* which set */
	uint16_t set_reserved1;
	uint32_t set_flags;                                /* PFM_SETFL_... */
	uint64_t set_ovfl_pmds[PFM_BVSIZE(PFM_MAX_PMDS)];  /* counters of the last overflow */
	uint64_t set_runs;                                 /* how often it was activated */
	uint64_t set_timeout;                              /* nanoseconds that are left */
	uint64_t set_act_duration;                         /* nanoseconds that it has counted */
	uint64_t set_avail_pmcs[PFM_BVSIZE(PFM_MAX_PMCS)]; /* control registers that there are */
	uint64_t set_avail_pmds[PFM_BVSIZE(PFM_MAX_PMDS)]; /* data registers that there are */
	uint64_t set_reserved3[6];
} pfarg_setinfo_t;

#else

/** A set to make, change or delete: element of pfm_create_evtsets() and pfm_delete_evtsets(). */
typedef struct {
	uint16_t set_id;          /* which set */
	uint16_t set_id_next;     /* not looked at */
	uint32_t set_flags;       /* PFM_SETFL_... */
	uint64_t set_timeout;     /* nanoseconds until the switch */
	uint64_t set_mmap_offset; /* not looked at */
	uint64_t reserved[5];
} pfarg_setdesc_t;

/** What is known of a set: element of pfm_getinfo_evtsets(). */
typedef struct {
	uint16_t set_id;                                   /* which set */
	uint16_t set_id_next;                              /* 0 */
	uint32_t set_flags;                                /* PFM_SETFL_... */
	uint64_t set_ovfl_pmds[PFM_BVSIZE(PFM_MAX_PMDS)];  /* counters of the last overflow */
	uint64_t set_runs;                                 /* how often it was activated */
	uint64_t set_timeout;                              /* nanoseconds that are left */
	uint64_t set_act_duration;                         /* nanoseconds that it has counted */
	uint64_t set_mmap_offset;                          /* 0 */
	uint64_t set_avail_pmcs[PFM_BVSIZE(PFM_MAX_PMCS)]; /* control registers that there are */
	uint64_t set_avail_pmds[PFM_BVSIZE(PFM_MAX_PMDS)]; /* data registers that there are */
	uint64_t reserved[4];
} pfarg_setinfo_t;

#endif /* PFMLIB_OLD_PFMV2 */

/**
 * pfm_create_context() of a program that defines PFMLIB_OLD_PFMV2: the messages have the 56 bytes of kernels 2.0 to 2.4.
 *
 * :param ctx: flags of the context
 * :param smpl_name: sampling format, or NULL
 * :param smpl_arg: the format's argument
 * :param smpl_size: its size in bytes
 * :return: as pfm_create_context()
 *
 * Source: perfmon2 kernel interface 2.0; such a program calls it under the name without the suffix.
 */
extern int pfm_create_context_v2old(pfarg_ctx_t *ctx, char *smpl_name, void *smpl_arg, size_t smpl_size);

/**
 * pfm_getinfo_evtsets() of a program that defines PFMLIB_OLD_PFMV2: the structure has the layout of kernels 2.0 to 2.4.
 *
 * :param fd: context
 * :param info: in: numbers of the sets; out: all else
 * :param count: number of elements, pfarg_setinfo_t of 192 bytes
 * :return: as pfm_getinfo_evtsets()
 *
 * Source: perfmon2 kernel interface 2.0; such a program calls it under the name without the suffix.
 */
extern int pfm_getinfo_evtsets_v2old(int fd, void *info, int count);

#ifndef PFMLIB_OLD_PFMV2

/**
 * Make a context.
 *
 * It has one set, 0, whose control registers have their defaults and whose data registers are 0.
 *
 * :param ctx: flags of the context; nothing is written to it
 * :param smpl_name: sampling format: "default", or NULL for none
 * :param smpl_arg: the format's argument, pfm_dfl_smpl_arg_t
 * :param smpl_size: its size in bytes
 * :return: the descriptor, or -1 with errno: ENOSYS (no PMU), EFAULT, EINVAL (format, size of its argument or of its
 *     buffer, flags that exclude each other), EMFILE, ENFILE, ENOMEM (also: no more locked memory)
 *
 * Source: perfmon2 kernel interface 2.8.
 */
extern int pfm_create_context(pfarg_ctx_t *ctx, char *smpl_name, void *smpl_arg, size_t smpl_size);

/**
 * What is known of sets, in any state of the context.
 *
 * :param fd: context
 * :param info: in: numbers of the sets; out: all else
 * :param count: number of elements
 * :return: 0, or -1 with errno: ENOSYS (no PMU), EINVAL (count, no such set), EBADF, E2BIG (more than 16384 bytes),
 *     EFAULT, EBUSY (another CPU)
 *
 * Source: perfmon2 kernel interface 2.8.
 */
extern int pfm_getinfo_evtsets(int fd, pfarg_setinfo_t *info, int count);

#elif defined(__GNUC__)

extern int pfm_create_context(pfarg_ctx_t *, char *, void *, size_t) __asm__("pfm_create_context_v2old");
extern int pfm_getinfo_evtsets(int, pfarg_setinfo_t *, int) __asm__("pfm_getinfo_evtsets_v2old");

#else

#define pfm_create_context pfm_create_context_v2old
#define pfm_getinfo_evtsets pfm_getinfo_evtsets_v2old

#endif /* PFMLIB_OLD_PFMV2 */

/**
 * Write control registers.
 *
 * Bits that are reserved take the register's default. The elements are written in order; the first that is
 * refused ends the call, and those before it stay written.
 *
 * :param fd: context
 * :param pmcs: the registers; nothing is written to them
 * :param count: their number
 * :return: 0, or -1 with errno: ENOSYS (no PMU), EINVAL (count, register, flag, set, or a value that the processor
 *     must not have), EBADF, E2BIG (more than 16384 bytes), EFAULT, ESRCH or EPERM (another thread that is not
 *     stopped by the caller), EBUSY (another CPU), ENOTSUP or ENODEV (this host cannot count that)
 *
 * Source: perfmon2 kernel interface 2.8.
 */
extern int pfm_write_pmcs(int fd, pfarg_pmc_t *pmcs, int count);

/**
 * Write data registers and their attributes.
 *
 * :param fd: context
 * :param pmds: the registers; nothing is written to them
 * :param count: their number
 * :return: 0, or -1 with errno: as pfm_write_pmcs(); EINVAL also if a register that is to be sampled or reset does
 *     not exist
 *
 * Source: perfmon2 kernel interface 2.8.
 */
extern int pfm_write_pmds(int fd, pfarg_pmd_t *pmds, int count);

/**
 * Read data registers.
 *
 * Value, last reset value and the overflows that are left until the set is switched are written to each element.
 *
 * :param fd: context
 * :param pmds: the registers
 * :param count: their number
 * :return: 0, or -1 with errno: as pfm_write_pmcs(); EINVAL also if a register was not used yet
 *
 * Source: perfmon2 kernel interface 2.8.
 */
extern int pfm_read_pmds(int fd, pfarg_pmd_t *pmds, int count);

/**
 * Bind a context to a thread, or, if it is system-wide, to a CPU.
 *
 * The messages that wait are dropped. Nothing counts until pfm_start().
 *
 * :param fd: context, which is not loaded
 * :param load: thread or CPU, and the set that is active first
 * :return: 0, or -1 with errno: ENOSYS (no PMU), EFAULT, EBADF, ESRCH (no such thread, or not stopped by the
 *     caller), EPERM, EBUSY (loaded already; sessions of the other kind), EINVAL (no such set; another CPU than the
 *     caller's; PFM_FL_NOTIFY_BLOCK and the calling thread), EEXIST (the thread has a context), ENOTSUP or ENODEV
 *     (this host cannot count that), EAGAIN (no thread to look after it), EMFILE or ENFILE (no descriptor to look at the
 *     thread with, or to drop the messages)
 *
 * Source: perfmon2 kernel interface 2.8.
 */
extern int pfm_load_context(int fd, pfarg_load_t *load);

/**
 * Start counting.
 *
 * :param fd: context, which is loaded
 * :param start: set to start with; NULL: the active one
 * :return: 0, or -1 with errno: ENOSYS (no PMU), EBADF, EFAULT, EINVAL (not loaded, no such set), ESRCH or EPERM
 *     (another thread that is not stopped by the caller), EBUSY (another CPU)
 *
 * Source: perfmon2 kernel interface 2.8.
 */
extern int pfm_start(int fd, pfarg_start_t *start);

/**
 * Stop counting.
 *
 * :param fd: context, which is loaded
 * :return: 0, or -1 with errno: ENOSYS (no PMU), EBADF, EINVAL (not loaded), ESRCH or EPERM (another thread that is
 *     not stopped by the caller), EBUSY (another CPU)
 *
 * Source: perfmon2 kernel interface 2.8.
 */
extern int pfm_stop(int fd);

/**
 * Go on after a notification: counters are reset, a sampling buffer is empty again.
 *
 * :param fd: context, which is loaded
 * :return: 0, or -1 with errno: ENOSYS (no PMU), EBADF, EBUSY (not loaded, no notification to go on after, another CPU)
 *
 * Source: perfmon2 kernel interface 2.8.
 */
extern int pfm_restart(int fd);

/**
 * Make sets, or change them: then their control registers have their defaults again.
 *
 * :param fd: context, which is not loaded
 * :param setd: the sets; nothing is written to them
 * :param count: their number
 * :return: 0, or -1 with errno: ENOSYS (no PMU), EINVAL (count, flags, timeout), EBADF, E2BIG (more than 16384
 *     bytes), EFAULT, EBUSY (loaded), ENOMEM
 *
 * Source: perfmon2 kernel interface 2.8.
 */
extern int pfm_create_evtsets(int fd, pfarg_setdesc_t *setd, int count);

/**
 * Delete sets.
 *
 * :param fd: context, which is not loaded
 * :param setd: the sets, of which only the numbers matter
 * :param count: their number
 * :return: 0, or -1 with errno: ENOSYS (no PMU), EINVAL (count, no such set), EBADF, E2BIG (more than 16384 bytes),
 *     EFAULT, EBUSY (loaded)
 *
 * Source: perfmon2 kernel interface 2.8.
 */
extern int pfm_delete_evtsets(int fd, pfarg_setdesc_t *setd, int count);

/**
 * Release the thread or CPU; the data registers keep their values.
 *
 * :param fd: context
 * :return: 0, also if it is not loaded; or -1 with errno: ENOSYS (no PMU), EBADF, ESRCH or EPERM (another thread that
 *     is not stopped by the caller), EBUSY (another CPU)
 *
 * Source: perfmon2 kernel interface 2.8.
 */
extern int pfm_unload_context(int fd);

/**
 * Make a context, version 3 of the call.
 *
 * With PFM_FL_SMPL_FMT three arguments follow, with the types of those of pfm_create_context(): name, argument and size of
 * the sampling format.
 *
 * :param flags: PFM_FL_..., PFM_ITA_FL_INSECURE; others are refused
 * :param sif: where the registers that there are are stored; may be NULL
 * :return: the descriptor, or -1 with errno: as pfm_create_context()
 *
 * Source: perfmon2 kernel interface 3.0.
 */
extern int pfm_create(int flags, pfarg_sinfo_t *sif, ...);

#ifdef __cplusplus
}
#endif

#endif /* __PERFMON_V2_H__ */
