/*
 * perfmonctl(2): its sampling format.
 *
 * PFM_CREATE_CONTEXT maps the buffer and stores its address; mmap() of the descriptor works as for perfmon_dfl_smpl.h.
 */
#ifndef __PERFMON_DEFAULT_SMPL_H__
#define __PERFMON_DEFAULT_SMPL_H__

#include <stdint.h>

#include <perfmon/perfmon_compat.h>
#include <perfmon/perfmon_mmap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Its name: ctx_smpl_buf_id. */
#define PFM_DEFAULT_SMPL_UUID \
	{ 0x4d, 0x72, 0xbe, 0xc0, 0x06, 0x64, 0x41, 0x43, 0x82, 0xb4, 0xd3, 0xfd, 0x27, 0x24, 0x3c, 0x97 }

/* Version of the buffer's layout: hdr_version. */
#define PFM_DEFAULT_SMPL_VERSION_MAJ 2
#define PFM_DEFAULT_SMPL_VERSION_MIN 0
#define PFM_DEFAULT_SMPL_VERSION \
	(((PFM_DEFAULT_SMPL_VERSION_MAJ & 0xffff) << 16) | (PFM_DEFAULT_SMPL_VERSION_MIN & 0xffff))

/* Data registers that an entry can have; the largest entry; the least buffer. */
#define PFM_DEFAULT_MAX_PMDS 64
#define PFM_DEFAULT_MAX_ENTRY_SIZE (sizeof(pfm_default_smpl_entry_t) + sizeof(unsigned long) * PFM_DEFAULT_MAX_PMDS)
#define PFM_DEFAULT_SMPL_MIN_BUF_SIZE (sizeof(pfm_default_smpl_hdr_t) + PFM_DEFAULT_MAX_ENTRY_SIZE)

/** What the format wants to know when the context is made. */
typedef struct {
	unsigned long buf_size; /* bytes, header included */
	unsigned int flags;     /* not looked at */
	unsigned int res1;
	unsigned long reserved[2];
} pfm_default_smpl_arg_t;

/** The argument of PFM_CREATE_CONTEXT with this format. */
typedef struct {
	pfarg_context_t ctx_arg;        /* the context */
	pfm_default_smpl_arg_t buf_arg; /* its buffer */
} pfm_default_smpl_ctx_arg_t;

/** The beginning of the buffer. */
typedef struct {
	uint64_t hdr_count;    /* entries since the last restart */
	uint64_t hdr_cur_offs; /* where the next entry goes, in bytes */
	uint64_t dr_reserved2;
	uint64_t hdr_overflows; /* how often the buffer was found full */
	uint64_t hdr_buf_size;  /* bytes */
	uint32_t hdr_version;   /* PFM_DEFAULT_SMPL_VERSION */
	uint32_t hdr_reserved1;
	uint64_t hdr_reserved[10];
} pfm_default_smpl_hdr_t;

/** A sample; the values follow. */
typedef struct {
	pid_t pid; /* thread */
	uint8_t reserved1[3];
	uint8_t ovfl_pmd;        /* counter that overflowed */
	uint64_t last_reset_val; /* value from which it counted */
	unsigned long ip;        /* address of the instruction that was interrupted */
	uint64_t tstamp;         /* nanoseconds */
	uint16_t cpu;            /* CPU */
	uint16_t set;            /* 0 */
	pid_t tgid;              /* process */
} pfm_default_smpl_entry_t;

#ifdef __cplusplus
}
#endif

#endif /* __PERFMON_DEFAULT_SMPL_H__ */
