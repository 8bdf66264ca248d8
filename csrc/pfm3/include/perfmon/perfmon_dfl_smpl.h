/*
 * The perfmon2 interface: the sampling format "default".
 *
 * The buffer is mapped from the context's descriptor: a header, and entries one after the other, each followed
 * by the values of the data registers that the counter wanted to be recorded, 64 bits each.
 *
 * A program's mmap() has to be pfm_mmap(), because no descriptor that a library can make has both messages and a mapping:
 * perfmon_mmap.h says how.
 */
#ifndef __PERFMON_DFL_SMPL_H__
#define __PERFMON_DFL_SMPL_H__

#include <perfmon/perfmon.h>
#include <perfmon/perfmon_mmap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Its name, for pfm_create_context() and pfm_create(). */
#define PFM_DFL_SMPL_NAME "default"

#ifdef PFMLIB_OLD_PFMV2
#define PFM_DFL_SMPL_UUID \
	{ 0xd1, 0x39, 0xb2, 0x9e, 0x62, 0xe8, 0x40, 0xe4, 0xb4, 0x02, 0x73, 0x07, 0x87, 0x92, 0xe9, 0x37 }
#endif

/* Version of the buffer's layout: hdr_version. */
#define PFM_DFL_SMPL_VERSION_MAJ 1
#define PFM_DFL_SMPL_VERSION_MIN 0
#define PFM_DFL_SMPL_VERSION (((PFM_DFL_SMPL_VERSION_MAJ & 0xffff) << 16) | (PFM_DFL_SMPL_VERSION_MIN & 0xffff))

/** What the format wants to know when the context is made. */
typedef struct {
	uint64_t buf_size;  /* bytes, header included */
	uint32_t buf_flags; /* kept in the header */
	uint32_t res1;
	uint64_t reserved[6];
} pfm_dfl_smpl_arg_t;

/** The beginning of the buffer. */
typedef struct {
	uint64_t hdr_count;         /* entries since the last restart */
	uint64_t hdr_cur_offs;      /* where the next entry goes, in bytes */
	uint64_t hdr_overflows;     /* how often the buffer was found full */
	uint64_t hdr_buf_size;      /* bytes, as asked for */
	uint64_t hdr_min_buf_space; /* bytes without which it is full: the largest entry */
	uint32_t hdr_version;       /* PFM_DFL_SMPL_VERSION */
	uint32_t hdr_buf_flags;     /* as given */
	uint64_t hdr_reserved[10];
} pfm_dfl_smpl_hdr_t;

/** A sample; the values follow. */
typedef struct {
	uint32_t pid;      /* thread */
	uint16_t ovfl_pmd; /* counter that overflowed */
	uint16_t reserved;
	uint64_t last_reset_val; /* value from which it counted */
	uint64_t ip;             /* address of the instruction that was interrupted */
	uint64_t tstamp;         /* nanoseconds */
	uint16_t cpu;            /* CPU */
	uint16_t set;            /* active set */
	uint32_t tgid;           /* process */
} pfm_dfl_smpl_entry_t;

#ifdef __cplusplus
}
#endif

#endif /* __PERFMON_DFL_SMPL_H__ */
