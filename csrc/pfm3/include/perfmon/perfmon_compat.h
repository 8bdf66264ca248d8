/*
 * perfmonctl(2): the performance monitoring call of Linux for IA-64 before perfmon2, version 2.0.
 *
 * pfarg_load_t, the argument of PFM_LOAD_CONTEXT, is in perfmon_v2.h: a program includes perfmon.h, which brings this header
 * unless PFM_NO_PERFMON_COMPAT is defined.
 */
#ifndef _PERFMON_COMPAT_H_
#define _PERFMON_COMPAT_H_

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Commands. */
#define PFM_WRITE_PMCS 0x01
#define PFM_WRITE_PMDS 0x02
#define PFM_READ_PMDS 0x03
#define PFM_STOP 0x04
#define PFM_START 0x05
#define PFM_ENABLE 0x06  /* a name only: refused */
#define PFM_DISABLE 0x07 /* a name only: refused */
#define PFM_CREATE_CONTEXT 0x08
#define PFM_DESTROY_CONTEXT 0x09 /* a name only: refused */
#define PFM_RESTART 0x0a
#define PFM_PROTECT_CONTEXT 0x0b /* a name only: refused */
#define PFM_GET_FEATURES 0x0c
#define PFM_DEBUG 0x0d
#define PFM_UNPROTECT_CONTEXT 0x0e /* a name only: refused */
#define PFM_GET_PMC_RESET_VAL 0x0f
#define PFM_LOAD_CONTEXT 0x10
#define PFM_UNLOAD_CONTEXT 0x11
#define PFM_WRITE_IBRS 0x20
#define PFM_WRITE_DBRS 0x21

/* What a call says of a register that it refuses, in its flags. */
#define PFM_REG_RETFL_NOTAVAIL ((int)(1U << 31)) /* the processor does not have it */
#define PFM_REG_RETFL_EINVAL (1 << 30)           /* number, value or flags are wrong */
#define PFM_REG_RETFL_MASK (PFM_REG_RETFL_NOTAVAIL | PFM_REG_RETFL_EINVAL)
#define PFM_REG_HAS_ERROR(flag) (((flag) & PFM_REG_RETFL_MASK) != 0)

/** Names a sampling format. */
typedef unsigned char pfm_uuid_t[16];

/** A context to make: argument of PFM_CREATE_CONTEXT. */
typedef struct {
	unsigned char ctx_smpl_buf_id[16]; /* sampling format; zeros: none */
	unsigned long ctx_flags;           /* PFM_FL_... */
	unsigned int ctx_reserved1;
	int ctx_fd;           /* out: the descriptor */
	void *ctx_smpl_vaddr; /* out: address of the sampling buffer */
	unsigned long ctx_reserved3[11];
} pfarg_context_t;

/** A register: argument of PFM_WRITE_PMCS, PFM_WRITE_PMDS, PFM_READ_PMDS and PFM_GET_PMC_RESET_VAL. */
typedef struct {
	unsigned int reg_num;   /* which register */
	unsigned short reg_set; /* not looked at */
	unsigned short reg_reserved1;
	unsigned long reg_value;           /* value */
	unsigned long reg_flags;           /* in: PFM_REGFL_... of a PMC; out: PFM_REG_RETFL_... */
	unsigned long reg_long_reset;      /* PMD: value after a notification */
	unsigned long reg_short_reset;     /* PMD: value after another overflow */
	unsigned long reg_reset_pmds[4];   /* PMC: registers that an overflow resets */
	unsigned long reg_random_seed;     /* PMD: of the random reset values */
	unsigned long reg_random_mask;     /* PMD: bits of the random number that a reset takes off */
	unsigned long reg_last_reset_val;  /* out, PMD: value that it was last written or reset to */
	unsigned long reg_smpl_pmds[4];    /* PMC: registers that a sample records */
	unsigned long reg_smpl_eventid;    /* PMC: the program's own */
	unsigned long reg_ovfl_switch_cnt; /* not looked at */
	unsigned long reg_reserved2[2];
} pfarg_reg_t;

/** A debug register: argument of PFM_WRITE_IBRS and PFM_WRITE_DBRS. */
typedef struct {
	unsigned int dbreg_num;   /* which register, 0 to 7 */
	unsigned short dbreg_set; /* not looked at */
	unsigned short dbreg_reserved1;
	unsigned long dbreg_value; /* value */
	unsigned long dbreg_flags; /* out: PFM_REG_RETFL_... */
	unsigned long dbreg_reserved2[1];
} pfarg_dbreg_t;

/** Which interface there is: argument of PFM_GET_FEATURES. */
typedef struct {
	unsigned int ft_version; /* out: version of the interface */
	unsigned int ft_reserved;
	unsigned long reserved[4];
} pfarg_features_t;

/** The message of an overflow, of a context made by perfmonctl(). */
typedef struct {
	int msg_type;                   /* PFM_MSG_OVFL */
	int msg_ctx_fd;                 /* descriptor of the context */
	unsigned long msg_ovfl_pmds[4]; /* counters that overflowed and notify */
	unsigned short msg_active_set;  /* 0 */
	unsigned short msg_reserved1;
	unsigned int msg_reserved2;
	unsigned long msg_tstamp; /* 0 */
} pfm_ovfl_msg_t;

/** The message of the end of the monitored thread, of a context made by perfmonctl(). */
typedef struct {
	int msg_type;             /* PFM_MSG_END */
	int msg_ctx_fd;           /* descriptor of the context */
	unsigned long msg_tstamp; /* 0 */
} pfm_end_msg_t;

/** What all messages of a context made by perfmonctl() have. */
typedef struct {
	int msg_type;             /* PFM_MSG_... */
	int msg_ctx_fd;           /* descriptor of the context */
	unsigned long msg_tstamp; /* 0 */
} pfm_gen_msg_t;

/** A message, as read() returns one from the descriptor of a context made by perfmonctl(). */
typedef union {
	int type;                    /* PFM_MSG_... */
	pfm_ovfl_msg_t pfm_ovfl_msg; /* of PFM_MSG_OVFL */
	pfm_end_msg_t pfm_end_msg;   /* of PFM_MSG_END */
	pfm_gen_msg_t pfm_gen_msg;   /* of any */
} pfm_msg_t;

/**
 * Do what a command says.
 *
 * :param fd: context; not looked at by PFM_CREATE_CONTEXT, PFM_GET_FEATURES, PFM_DEBUG and PFM_GET_PMC_RESET_VAL
 * :param cmd: PFM_WRITE_PMCS and others
 * :param arg: the command's argument
 * :param narg: number of registers in it, or 1
 * :return: 0, or -1 with errno: ENOSYS (no PMU), EINVAL (command, number, register, value, state), E2BIG (more than
 *     4096 bytes), ENOMEM, EFAULT, EBADF, EBUSY (state, thread not stopped, other CPU), ESRCH, EPERM
 *
 * Source: perfmonctl(2) of Linux 2.6 for IA-64.
 */
extern int perfmonctl(int fd, int cmd, void *arg, int narg);

#ifdef __cplusplus
}
#endif

#endif /* _PERFMON_COMPAT_H_ */
