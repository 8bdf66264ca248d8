/*
 * The perf_event interface of Linux as libpfm 4.13.0 knows it (Linux 5.18), with what was named up to Linux 6.1:
 * constants, the 128-byte attribute structure, records, the system call.
 *
 * It may stand in one file with <linux/perf_event.h>, before or after it, and no name of that one is lost.  If
 * <linux/perf_event.h> comes first, its definitions are used.  If this header comes first, the newer of the two is: the
 * kernel's, from Linux 6.2 on, has more members and names than are here, and takes the C types of this header then.  A
 * program that defines PFM_OWN_PERF_EVENT has the structures of this header whatever the machine's kernel headers are.
 */
#ifndef __PERFMON_PERF_EVENT_H__
#define __PERFMON_PERF_EVENT_H__

#include <sys/types.h>
#include <unistd.h>
#include <inttypes.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <linux/types.h>
#include <linux/ioctl.h>
#include <asm/byteorder.h>
#else /* the same attributes and numbers; there is nothing to call */
#include <errno.h>
#endif

#if defined(__linux__) && !defined(_DEFAULT_SOURCE) && !defined(__cplusplus)
long syscall(long number, ...); /* which <unistd.h> hides with -std=c11 or _POSIX_C_SOURCE */
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if !defined(_LINUX_PERF_EVENT_H) && !defined(_UAPI_LINUX_PERF_EVENT_H)

/* Is the kernel's header here, and newer?  What <linux/version.h> defines is not left to the program. */
#if defined(__linux__) && defined(__has_include) && !defined(PFM_OWN_PERF_EVENT)
#if __has_include(<linux/perf_event.h>) && __has_include(<linux/version.h>)
#pragma push_macro("LINUX_VERSION_CODE")
#pragma push_macro("LINUX_VERSION_MAJOR")
#pragma push_macro("LINUX_VERSION_PATCHLEVEL")
#pragma push_macro("LINUX_VERSION_SUBLEVEL")
#pragma push_macro("KERNEL_VERSION")
#undef LINUX_VERSION_CODE
#undef LINUX_VERSION_MAJOR
#undef LINUX_VERSION_PATCHLEVEL
#undef LINUX_VERSION_SUBLEVEL
#undef KERNEL_VERSION
#include <linux/version.h>
#if LINUX_VERSION_CODE >= 0x060200
/* With __u64 its members would be another C type than uint64_t, which programs for libpfm print and point to. */
#define __u8 uint8_t
#define __u16 uint16_t
#define __u32 uint32_t
#define __s32 int32_t
#define __u64 uint64_t
#define __s64 int64_t
#include <linux/perf_event.h>
#undef __u8
#undef __u16
#undef __u32
#undef __s32
#undef __u64
#undef __s64
#endif
#pragma pop_macro("LINUX_VERSION_CODE")
#pragma pop_macro("LINUX_VERSION_MAJOR")
#pragma pop_macro("LINUX_VERSION_PATCHLEVEL")
#pragma pop_macro("LINUX_VERSION_SUBLEVEL")
#pragma pop_macro("KERNEL_VERSION")
#endif
#endif

#ifndef _LINUX_PERF_EVENT_H
#define _LINUX_PERF_EVENT_H

/* attr.type */
enum perf_type_id {
	PERF_TYPE_HARDWARE = 0,
	PERF_TYPE_SOFTWARE = 1,
	PERF_TYPE_TRACEPOINT = 2,
	PERF_TYPE_HW_CACHE = 3,
	PERF_TYPE_RAW = 4,
	PERF_TYPE_BREAKPOINT = 5,
	PERF_TYPE_MAX
};

/* attr.config of PERF_TYPE_HARDWARE and PERF_TYPE_HW_CACHE, which may name one of several PMUs */
#define PERF_PMU_TYPE_SHIFT 32        /* from this bit on, the type of the PMU; 0 is any */
#define PERF_HW_EVENT_MASK 0xffffffff /* the bits of the event itself */

/* attr.config of PERF_TYPE_HARDWARE */
enum perf_hw_id {
	PERF_COUNT_HW_CPU_CYCLES = 0,
	PERF_COUNT_HW_INSTRUCTIONS = 1,
	PERF_COUNT_HW_CACHE_REFERENCES = 2,
	PERF_COUNT_HW_CACHE_MISSES = 3,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS = 4,
	PERF_COUNT_HW_BRANCH_MISSES = 5,
	PERF_COUNT_HW_BUS_CYCLES = 6,
	PERF_COUNT_HW_STALLED_CYCLES_FRONTEND = 7,
	PERF_COUNT_HW_STALLED_CYCLES_BACKEND = 8,
	PERF_COUNT_HW_REF_CPU_CYCLES = 9,
	PERF_COUNT_HW_MAX
};

/* attr.config of PERF_TYPE_HW_CACHE: id | op << 8 | result << 16 */
enum perf_hw_cache_id {
	PERF_COUNT_HW_CACHE_L1D = 0,
	PERF_COUNT_HW_CACHE_L1I = 1,
	PERF_COUNT_HW_CACHE_LL = 2,
	PERF_COUNT_HW_CACHE_DTLB = 3,
	PERF_COUNT_HW_CACHE_ITLB = 4,
	PERF_COUNT_HW_CACHE_BPU = 5,
	PERF_COUNT_HW_CACHE_NODE = 6,
	PERF_COUNT_HW_CACHE_MAX
};

/* attr.config of PERF_TYPE_HW_CACHE: op */
enum perf_hw_cache_op_id {
	PERF_COUNT_HW_CACHE_OP_READ = 0,
	PERF_COUNT_HW_CACHE_OP_WRITE = 1,
	PERF_COUNT_HW_CACHE_OP_PREFETCH = 2,
	PERF_COUNT_HW_CACHE_OP_MAX
};

/* attr.config of PERF_TYPE_HW_CACHE: result */
enum perf_hw_cache_op_result_id {
	PERF_COUNT_HW_CACHE_RESULT_ACCESS = 0,
	PERF_COUNT_HW_CACHE_RESULT_MISS = 1,
	PERF_COUNT_HW_CACHE_RESULT_MAX
};

/* attr.config of PERF_TYPE_SOFTWARE */
enum perf_sw_ids {
	PERF_COUNT_SW_CPU_CLOCK = 0,
	PERF_COUNT_SW_TASK_CLOCK = 1,
	PERF_COUNT_SW_PAGE_FAULTS = 2,
	PERF_COUNT_SW_CONTEXT_SWITCHES = 3,
	PERF_COUNT_SW_CPU_MIGRATIONS = 4,
	PERF_COUNT_SW_PAGE_FAULTS_MIN = 5,
	PERF_COUNT_SW_PAGE_FAULTS_MAJ = 6,
	PERF_COUNT_SW_ALIGNMENT_FAULTS = 7,
	PERF_COUNT_SW_EMULATION_FAULTS = 8,
	PERF_COUNT_SW_DUMMY = 9,
	PERF_COUNT_SW_BPF_OUTPUT = 10,
	PERF_COUNT_SW_CGROUP_SWITCHES = 11,
	PERF_COUNT_SW_MAX
};

/* attr.sample_type */
enum perf_event_sample_format {
	PERF_SAMPLE_IP = 1U << 0,
	PERF_SAMPLE_TID = 1U << 1,
	PERF_SAMPLE_TIME = 1U << 2,
	PERF_SAMPLE_ADDR = 1U << 3,
	PERF_SAMPLE_READ = 1U << 4,
	PERF_SAMPLE_CALLCHAIN = 1U << 5,
	PERF_SAMPLE_ID = 1U << 6,
	PERF_SAMPLE_CPU = 1U << 7,
	PERF_SAMPLE_PERIOD = 1U << 8,
	PERF_SAMPLE_STREAM_ID = 1U << 9,
	PERF_SAMPLE_RAW = 1U << 10,
	PERF_SAMPLE_BRANCH_STACK = 1U << 11,
	PERF_SAMPLE_REGS_USER = 1U << 12,
	PERF_SAMPLE_STACK_USER = 1U << 13,
	PERF_SAMPLE_WEIGHT = 1U << 14,
	PERF_SAMPLE_DATA_SRC = 1U << 15,
	PERF_SAMPLE_IDENTIFIER = 1U << 16,
	PERF_SAMPLE_TRANSACTION = 1U << 17,
	PERF_SAMPLE_REGS_INTR = 1U << 18,
	PERF_SAMPLE_PHYS_ADDR = 1U << 19,
	PERF_SAMPLE_AUX = 1U << 20,
	PERF_SAMPLE_CGROUP = 1U << 21,
	PERF_SAMPLE_DATA_PAGE_SIZE = 1U << 22,
	PERF_SAMPLE_CODE_PAGE_SIZE = 1U << 23,
	PERF_SAMPLE_WEIGHT_STRUCT = 1U << 24,
	PERF_SAMPLE_MAX = 1U << 25
};
#define PERF_SAMPLE_WEIGHT_TYPE (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT) /* both forms of the weight */

/* The field of PERF_SAMPLE_TRANSACTION: what a transaction of the processor was, and why it ended. */
__extension__ enum {
	PERF_TXN_ELISION = 1 << 0,        /* it elided a lock */
	PERF_TXN_TRANSACTION = 1 << 1,    /* the program had started it */
	PERF_TXN_SYNC = 1 << 2,           /* the sampled instruction ended it */
	PERF_TXN_ASYNC = 1 << 3,          /* something else ended it */
	PERF_TXN_RETRY = 1 << 4,          /* it may succeed when tried again */
	PERF_TXN_CONFLICT = 1 << 5,       /* ended: another processor used its memory */
	PERF_TXN_CAPACITY_WRITE = 1 << 6, /* ended: it wrote too much */
	PERF_TXN_CAPACITY_READ = 1 << 7,  /* ended: it read too much */
	PERF_TXN_MAX = 1 << 8,
	PERF_TXN_ABORT_MASK = 0xffffffffULL << 32, /* the code that the program ended it with */
	PERF_TXN_ABORT_SHIFT = 32                  /* first bit of this code */
};

/* The bits of attr.branch_sample_type, by number. */
enum perf_branch_sample_type_shift {
	PERF_SAMPLE_BRANCH_USER_SHIFT = 0,
	PERF_SAMPLE_BRANCH_KERNEL_SHIFT = 1,
	PERF_SAMPLE_BRANCH_HV_SHIFT = 2,
	PERF_SAMPLE_BRANCH_ANY_SHIFT = 3,
	PERF_SAMPLE_BRANCH_ANY_CALL_SHIFT = 4,
	PERF_SAMPLE_BRANCH_ANY_RETURN_SHIFT = 5,
	PERF_SAMPLE_BRANCH_IND_CALL_SHIFT = 6,
	PERF_SAMPLE_BRANCH_ABORT_TX_SHIFT = 7,
	PERF_SAMPLE_BRANCH_IN_TX_SHIFT = 8,
	PERF_SAMPLE_BRANCH_NO_TX_SHIFT = 9,
	PERF_SAMPLE_BRANCH_COND_SHIFT = 10,
	PERF_SAMPLE_BRANCH_CALL_STACK_SHIFT = 11,
	PERF_SAMPLE_BRANCH_IND_JUMP_SHIFT = 12,
	PERF_SAMPLE_BRANCH_CALL_SHIFT = 13,
	PERF_SAMPLE_BRANCH_NO_FLAGS_SHIFT = 14,
	PERF_SAMPLE_BRANCH_NO_CYCLES_SHIFT = 15,
	PERF_SAMPLE_BRANCH_TYPE_SAVE_SHIFT = 16,
	PERF_SAMPLE_BRANCH_HW_INDEX_SHIFT = 17,
	PERF_SAMPLE_BRANCH_MAX_SHIFT = 18, /* as in libpfm 4.13.0: Linux has one bit more by now */
	PERF_SAMPLE_BRANCH_PRIV_SAVE_SHIFT = 18
};

/* attr.branch_sample_type */
enum perf_branch_sample_type {
	PERF_SAMPLE_BRANCH_USER = 1U << 0,
	PERF_SAMPLE_BRANCH_KERNEL = 1U << 1,
	PERF_SAMPLE_BRANCH_HV = 1U << 2,
	PERF_SAMPLE_BRANCH_ANY = 1U << 3,
	PERF_SAMPLE_BRANCH_ANY_CALL = 1U << 4,
	PERF_SAMPLE_BRANCH_ANY_RETURN = 1U << 5,
	PERF_SAMPLE_BRANCH_IND_CALL = 1U << 6,
	PERF_SAMPLE_BRANCH_ABORT_TX = 1U << 7,
	PERF_SAMPLE_BRANCH_IN_TX = 1U << 8,
	PERF_SAMPLE_BRANCH_NO_TX = 1U << 9,
	PERF_SAMPLE_BRANCH_COND = 1U << 10,
	PERF_SAMPLE_BRANCH_CALL_STACK = 1U << 11,
	PERF_SAMPLE_BRANCH_IND_JUMP = 1U << 12,
	PERF_SAMPLE_BRANCH_CALL = 1U << 13,
	PERF_SAMPLE_BRANCH_NO_FLAGS = 1U << 14,
	PERF_SAMPLE_BRANCH_NO_CYCLES = 1U << 15,
	PERF_SAMPLE_BRANCH_TYPE_SAVE = 1U << 16,
	PERF_SAMPLE_BRANCH_HW_INDEX = 1U << 17,
	PERF_SAMPLE_BRANCH_MAX = 1U << 18,      /* as in libpfm 4.13.0 */
	PERF_SAMPLE_BRANCH_PRIV_SAVE = 1U << 18 /* with the privilege level; Linux 6.1 */
};
#define PERF_SAMPLE_BRANCH_PLM_ALL \
	(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV) /* all privilege levels */

/* perf_branch_entry.type: what kind of branch was taken */
enum {
	PERF_BR_UNKNOWN = 0,
	PERF_BR_COND = 1,   /* conditional */
	PERF_BR_UNCOND = 2, /* unconditional */
	PERF_BR_IND = 3,    /* through a register */
	PERF_BR_CALL = 4,
	PERF_BR_IND_CALL = 5,
	PERF_BR_RET = 6,
	PERF_BR_SYSCALL = 7,
	PERF_BR_SYSRET = 8, /* back from a system call */
	PERF_BR_COND_CALL = 9,
	PERF_BR_COND_RET = 10,
	PERF_BR_ERET = 11,       /* back from an exception */
	PERF_BR_IRQ = 12,        /* interrupt */
	PERF_BR_SERROR = 13,     /* system error */
	PERF_BR_NO_TX = 14,      /* outside of a transaction */
	PERF_BR_EXTEND_ABI = 15, /* new_type says it */
	PERF_BR_MAX
};

/* perf_branch_entry.spec: was it speculative, and right? */
enum {
	PERF_BR_SPEC_NA = 0, /* the processor does not say */
	PERF_BR_SPEC_WRONG_PATH = 1,
	PERF_BR_NON_SPEC_CORRECT_PATH = 2,
	PERF_BR_SPEC_CORRECT_PATH = 3,
	PERF_BR_SPEC_MAX
};

/* perf_branch_entry.new_type, where type is PERF_BR_EXTEND_ABI */
enum {
	PERF_BR_NEW_FAULT_ALGN = 0, /* alignment fault */
	PERF_BR_NEW_FAULT_DATA = 1, /* fault of a data access */
	PERF_BR_NEW_FAULT_INST = 2, /* fault of an instruction fetch */
	PERF_BR_NEW_ARCH_1 = 3,     /* what the architecture says, as do those below */
	PERF_BR_NEW_ARCH_2 = 4,
	PERF_BR_NEW_ARCH_3 = 5,
	PERF_BR_NEW_ARCH_4 = 6,
	PERF_BR_NEW_ARCH_5 = 7,
	PERF_BR_NEW_MAX
};
#define PERF_BR_ARM64_FIQ PERF_BR_NEW_ARCH_1        /* arm64: fast interrupt */
#define PERF_BR_ARM64_DEBUG_HALT PERF_BR_NEW_ARCH_2 /* arm64: into the debug state */
#define PERF_BR_ARM64_DEBUG_EXIT PERF_BR_NEW_ARCH_3 /* arm64: out of the debug state */
#define PERF_BR_ARM64_DEBUG_INST PERF_BR_NEW_ARCH_4 /* arm64: debug exception of an instruction */
#define PERF_BR_ARM64_DEBUG_DATA PERF_BR_NEW_ARCH_5 /* arm64: debug exception of a data access */

/* perf_branch_entry.priv: the privilege level that it went to */
enum {
	PERF_BR_PRIV_UNKNOWN = 0,
	PERF_BR_PRIV_USER = 1,
	PERF_BR_PRIV_KERNEL = 2,
	PERF_BR_PRIV_HV = 3 /* hypervisor */
};

/* The word before sampled registers: how wide the program's are. */
enum perf_sample_regs_abi {
	PERF_SAMPLE_REGS_ABI_NONE = 0, /* no registers follow */
	PERF_SAMPLE_REGS_ABI_32 = 1,   /* a 32-bit program */
	PERF_SAMPLE_REGS_ABI_64 = 2    /* a 64-bit program */
};

/* attr.read_format */
enum perf_event_read_format {
	PERF_FORMAT_TOTAL_TIME_ENABLED = 1U << 0,
	PERF_FORMAT_TOTAL_TIME_RUNNING = 1U << 1,
	PERF_FORMAT_ID = 1U << 2,
	PERF_FORMAT_GROUP = 1U << 3,
	PERF_FORMAT_MAX = 1U << 4, /* as in libpfm 4.13.0 */
	PERF_FORMAT_LOST = 1U << 4 /* how many samples were lost; Linux 6.0 */
};

/* attr.size of each version of the interface. */
#define PERF_ATTR_SIZE_VER0 64
#define PERF_ATTR_SIZE_VER1 72
#define PERF_ATTR_SIZE_VER2 80
#define PERF_ATTR_SIZE_VER3 96
#define PERF_ATTR_SIZE_VER4 104
#define PERF_ATTR_SIZE_VER5 112
#define PERF_ATTR_SIZE_VER6 120
#define PERF_ATTR_SIZE_VER7 128

/** What perf_event_open() is to measure. */
struct perf_event_attr {
	uint32_t type;   /* PERF_TYPE_* */
	uint32_t size;   /* of this structure */
	uint64_t config; /* event, by type */
	__extension__ union {
		uint64_t sample_period; /* events between two samples */
		uint64_t sample_freq;   /* or, with freq, samples a second */
	};
	uint64_t sample_type;                  /* PERF_SAMPLE_* */
	uint64_t read_format;                  /* PERF_FORMAT_* */
	uint64_t disabled                 : 1; /* it begins switched off */
	uint64_t inherit                  : 1; /* later threads and children count, too */
	uint64_t pinned                   : 1; /* always on the PMU, or an error */
	uint64_t exclusive                : 1; /* its group does not share the PMU */
	uint64_t exclude_user             : 1; /* not what user programs do */
	uint64_t exclude_kernel           : 1; /* not what the kernel does */
	uint64_t exclude_hv               : 1; /* not what the hypervisor does */
	uint64_t exclude_idle             : 1; /* not the idle loop */
	uint64_t mmap                     : 1; /* record executable mappings */
	uint64_t comm                     : 1; /* record names of commands */
	uint64_t freq                     : 1; /* sample_freq, not sample_period */
	uint64_t inherit_stat             : 1; /* counts go with a thread's events at a context switch */
	uint64_t enable_on_exec           : 1; /* execve() switches it on */
	uint64_t task                     : 1; /* record fork and exit */
	uint64_t watermark                : 1; /* wakeup_watermark, not wakeup_events */
	uint64_t precise_ip               : 2; /* how exact a sample's address has to be, 0 to 3 */
	uint64_t mmap_data                : 1; /* record other mappings, too */
	uint64_t sample_id_all            : 1; /* other records have the identity of a sample */
	uint64_t exclude_host             : 1; /* not the host of virtual machines */
	uint64_t exclude_guest            : 1; /* not virtual machines */
	uint64_t exclude_callchain_kernel : 1; /* no kernel addresses in call chains */
	uint64_t exclude_callchain_user   : 1; /* no user addresses in call chains */
	uint64_t mmap2                    : 1; /* mappings are recorded with their inode */
	uint64_t comm_exec                : 1; /* names are marked that execve() gave */
	uint64_t use_clockid              : 1; /* time stamps are of clockid */
	uint64_t context_switch           : 1; /* record context switches */
	uint64_t write_backward           : 1; /* the buffer is written from its end */
	uint64_t namespaces               : 1; /* record namespaces */
	uint64_t ksymbol                  : 1; /* record symbols of the kernel that come and go */
	uint64_t bpf_event                : 1; /* record BPF programs */
	uint64_t aux_output               : 1; /* the group leader's AUX buffer takes the data */
	uint64_t cgroup                   : 1; /* record control groups */
	uint64_t text_poke                : 1; /* record changes of the kernel's code */
	uint64_t build_id                 : 1; /* mappings are recorded with the build identifier */
	uint64_t inherit_thread           : 1; /* inherited by threads only, not by processes */
	uint64_t remove_on_exec           : 1; /* execve() ends it */
	uint64_t sigtrap                  : 1; /* an overflow sends SIGTRAP */
	uint64_t __reserved_1             : 26;
	__extension__ union {
		uint32_t wakeup_events;    /* samples until a reader is woken */
		uint32_t wakeup_watermark; /* or bytes */
	};
	uint32_t bp_type; /* of PERF_TYPE_BREAKPOINT: read, write, execute */
	__extension__ union {
		uint64_t bp_addr;     /* of a breakpoint: address */
		uint64_t kprobe_func; /* of a kprobe: name of the function */
		uint64_t uprobe_path; /* of a uprobe: the file */
		uint64_t config1;     /* second code of an event */
	};
	__extension__ union {
		uint64_t bp_len;       /* of a breakpoint: bytes */
		uint64_t kprobe_addr;  /* of a kprobe without a name: address */
		uint64_t probe_offset; /* of a probe: offset in the function or file */
		uint64_t config2;      /* third code of an event */
	};
	uint64_t branch_sample_type; /* PERF_SAMPLE_BRANCH_* */
	uint64_t sample_regs_user;   /* user registers that a sample has, a bit for each */
	uint32_t sample_stack_user;  /* bytes of the user stack that a sample has */
	int32_t clockid;             /* clock of the time stamps */
	uint64_t sample_regs_intr;   /* registers at the interrupt that a sample has */
	uint32_t aux_watermark;      /* bytes of the AUX buffer until a reader is woken */
	uint16_t sample_max_stack;   /* addresses in a call chain at most */
	uint16_t __reserved_2;
	uint32_t aux_sample_size; /* bytes of the AUX buffer that a sample has */
	uint32_t __reserved_3;
	uint64_t sig_data; /* what SIGTRAP tells the program: si_perf_data */
};

/** A branch that was taken, as samples with PERF_SAMPLE_BRANCH_STACK have it. */
struct perf_branch_entry {
	uint64_t from;           /* address of the branch */
	uint64_t to;             /* address of its target */
	uint64_t mispred   : 1;  /* the prediction was wrong */
	uint64_t predicted : 1;  /* the prediction was right; neither bit: the processor does not say */
	uint64_t in_tx     : 1;  /* inside of a transaction */
	uint64_t abort     : 1;  /* it is the end of a transaction that failed */
	uint64_t cycles    : 16; /* since the branch before, 0 if that is not known */
	uint64_t type      : 4;  /* PERF_BR_* */
	uint64_t spec      : 2;  /* PERF_BR_SPEC_*; in libpfm 4.13.0 reserved, as are the next two */
	uint64_t new_type  : 4;  /* PERF_BR_NEW_* */
	uint64_t priv      : 3;  /* PERF_BR_PRIV_* */
	uint64_t reserved  : 31;
};

/** The weight of a sample: one number, or with PERF_SAMPLE_WEIGHT_STRUCT three. */
union perf_sample_weight {
	uint64_t full; /* PERF_SAMPLE_WEIGHT */
	__extension__ struct {
		uint32_t var1_dw; /* which mean what the processor's documentation says */
		uint16_t var2_w;  /* as var1_dw */
		uint16_t var3_w;  /* as var1_dw */
	};
};

/** Argument of PERF_EVENT_IOC_QUERY_BPF: the BPF programs of a tracepoint. */
struct perf_event_query_bpf {
	uint32_t ids_len;              /* how many elements ids has */
	uint32_t prog_cnt;             /* receives how many programs there are */
	__extension__ uint32_t ids[0]; /* receives their numbers */
};

/* ioctl() on the file descriptor of an event. */
#ifdef __linux__
#define PERF_EVENT_IOC_ENABLE _IO('$', 0)
#define PERF_EVENT_IOC_DISABLE _IO('$', 1)
#define PERF_EVENT_IOC_REFRESH _IO('$', 2)
#define PERF_EVENT_IOC_RESET _IO('$', 3)
#define PERF_EVENT_IOC_PERIOD _IOW('$', 4, uint64_t)
#define PERF_EVENT_IOC_SET_OUTPUT _IO('$', 5)
#define PERF_EVENT_IOC_SET_FILTER _IOW('$', 6, char *)
#define PERF_EVENT_IOC_ID _IOR('$', 7, uint64_t *)
#define PERF_EVENT_IOC_SET_BPF _IOW('$', 8, uint32_t)
#define PERF_EVENT_IOC_PAUSE_OUTPUT _IOW('$', 9, uint32_t)
#define PERF_EVENT_IOC_QUERY_BPF _IOWR('$', 10, struct perf_event_query_bpf *)
#define PERF_EVENT_IOC_MODIFY_ATTRIBUTES _IOW('$', 11, struct perf_event_attr *)
#endif

/* argument of PERF_EVENT_IOC_ENABLE and others */
enum perf_event_ioc_flags { PERF_IOC_FLAG_GROUP = 1U << 0 };

/* flags of perf_event_open() */
#define PERF_FLAG_FD_NO_GROUP (1UL << 0)
#define PERF_FLAG_FD_OUTPUT (1UL << 1)
#define PERF_FLAG_PID_CGROUP (1UL << 2)
#define PERF_FLAG_FD_CLOEXEC (1UL << 3)

/** The first page of the buffer of an event. */
struct perf_event_mmap_page {
	uint32_t version;        /* of this structure */
	uint32_t compat_version; /* oldest version that it is compatible with */
	uint32_t lock;           /* changes while the kernel writes: read again */
	uint32_t index;          /* of the hardware counter, from 1; 0: none */
	int64_t offset;          /* to add to what the counter holds */
	uint64_t time_enabled;   /* nanoseconds that the event was on */
	uint64_t time_running;   /* nanoseconds that it had a counter */
	__extension__ union {
		uint64_t capabilities; /* the next bits in one number */
		__extension__ struct {
			uint64_t cap_bit0               : 1;  /* 0 */
			uint64_t cap_bit0_is_deprecated : 1;  /* 1: the bits after it count */
			uint64_t cap_user_rdpmc         : 1;  /* programs may read the counter */
			uint64_t cap_user_time          : 1;  /* time_shift, time_mult and time_offset are set */
			uint64_t cap_user_time_zero     : 1;  /* time_zero is set */
			uint64_t cap_user_time_short    : 1;  /* time_cycles and time_mask are set */
			uint64_t cap_____res            : 58; /* 0 */
		};
	};
	uint16_t pmc_width;   /* bits of the counter */
	uint16_t time_shift;  /* time stamp counter to nanoseconds: shift, */
	uint32_t time_mult;   /* factor, */
	uint64_t time_offset; /* and what is added for time_enabled and time_running */
	uint64_t time_zero;   /* or for the time of samples */
	uint32_t size;        /* of this structure without what is reserved */
	uint32_t __reserved_1;
	uint64_t time_cycles; /* of a short time stamp counter: its value at an update */
	uint64_t time_mask;   /* of a short time stamp counter: its bits */
	uint8_t __reserved[928];
	uint64_t data_head;   /* where the kernel writes next */
	uint64_t data_tail;   /* up to where the program has read */
	uint64_t data_offset; /* where the data begin in the mapping */
	uint64_t data_size;   /* their room in bytes */
	uint64_t aux_head;    /* the same of the AUX buffer: written, */
	uint64_t aux_tail;    /* read, */
	uint64_t aux_offset;  /* its place, */
	uint64_t aux_size;    /* its room */
};
/** Head of a record in the buffer. */
struct perf_event_header {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc; /* PERF_RECORD_MISC_* */
	uint16_t size; /* of the record */
};

#define PERF_RECORD_MISC_CPUMODE_MASK (7 << 0)
#define PERF_RECORD_MISC_CPUMODE_UNKNOWN (0 << 0)
#define PERF_RECORD_MISC_KERNEL (1 << 0)
#define PERF_RECORD_MISC_USER (2 << 0)
#define PERF_RECORD_MISC_HYPERVISOR (3 << 0)
#define PERF_RECORD_MISC_GUEST_KERNEL (4 << 0)
#define PERF_RECORD_MISC_GUEST_USER (5 << 0)
#define PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT (1 << 12) /* perf only: /proc/PID/maps took too long to read */
#define PERF_RECORD_MISC_MMAP_DATA (1 << 13)              /* PERF_RECORD_MMAP: the mapping is not executable */
#define PERF_RECORD_MISC_COMM_EXEC (1 << 13)              /* PERF_RECORD_COMM: because of execve() */
#define PERF_RECORD_MISC_FORK_EXEC (1 << 13)              /* PERF_RECORD_FORK: perf only, before execve() */
#define PERF_RECORD_MISC_SWITCH_OUT (1 << 13)             /* PERF_RECORD_SWITCH: away from the thread */
#define PERF_RECORD_MISC_EXACT_IP (1 << 14)               /* PERF_RECORD_SAMPLE: the address is the instruction's own */
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT (1 << 14)     /* PERF_RECORD_SWITCH: the thread could have gone on */
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)          /* PERF_RECORD_MMAP2: it has the build identifier */
#define PERF_RECORD_MISC_EXT_RESERVED (1 << 15)           /* kept for later */

/** A namespace, of which PERF_RECORD_NAMESPACES has several. */
struct perf_ns_link_info {
	uint64_t dev; /* device of its file under /proc/PID/ns */
	uint64_t ino; /* the inode */
};

/* Their places in that record. */
enum {
	NET_NS_INDEX = 0, /* network */
	UTS_NS_INDEX = 1, /* name of the host */
	IPC_NS_INDEX = 2,
	PID_NS_INDEX = 3,
	USER_NS_INDEX = 4,
	MNT_NS_INDEX = 5, /* mounts */
	CGROUP_NS_INDEX = 6,
	NR_NAMESPACES
};

/* perf_event_header.type */
enum perf_event_type {
	PERF_RECORD_MMAP = 1,
	PERF_RECORD_LOST = 2,
	PERF_RECORD_COMM = 3,
	PERF_RECORD_EXIT = 4,
	PERF_RECORD_THROTTLE = 5,
	PERF_RECORD_UNTHROTTLE = 6,
	PERF_RECORD_FORK = 7,
	PERF_RECORD_READ = 8,
	PERF_RECORD_SAMPLE = 9,
	PERF_RECORD_MMAP2 = 10,
	PERF_RECORD_AUX = 11,
	PERF_RECORD_ITRACE_START = 12,
	PERF_RECORD_LOST_SAMPLES = 13,
	PERF_RECORD_SWITCH = 14,
	PERF_RECORD_SWITCH_CPU_WIDE = 15,
	PERF_RECORD_NAMESPACES = 16,
	PERF_RECORD_KSYMBOL = 17,
	PERF_RECORD_BPF_EVENT = 18,
	PERF_RECORD_CGROUP = 19,
	PERF_RECORD_TEXT_POKE = 20,
	PERF_RECORD_AUX_OUTPUT_HW_ID = 21,
	PERF_RECORD_MAX
};

/* The type of a PERF_RECORD_KSYMBOL, code of the kernel that comes and goes. */
enum perf_record_ksymbol_type {
	PERF_RECORD_KSYMBOL_TYPE_UNKNOWN = 0,
	PERF_RECORD_KSYMBOL_TYPE_BPF = 1, /* a BPF program, compiled */
	PERF_RECORD_KSYMBOL_TYPE_OOL = 2, /* instructions that a probe or tracer has moved */
	PERF_RECORD_KSYMBOL_TYPE_MAX
};
#define PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER (1 << 0) /* it goes */

/* The type of a PERF_RECORD_BPF_EVENT. */
enum perf_bpf_event_type {
	PERF_BPF_EVENT_UNKNOWN = 0,
	PERF_BPF_EVENT_PROG_LOAD = 1,   /* a program was loaded */
	PERF_BPF_EVENT_PROG_UNLOAD = 2, /* a program was unloaded */
	PERF_BPF_EVENT_MAX
};

#define PERF_MAX_STACK_DEPTH 127      /* addresses that a call chain has, if the system is not set otherwise */
#define PERF_MAX_CONTEXTS_PER_STACK 8 /* marks PERF_CONTEXT_* that a call chain has */

/* Marks between the addresses of a call chain: where those that follow are; -32, -128 ... as unsigned 64-bit numbers. */
__extension__ enum perf_callchain_context {
	PERF_CONTEXT_HV = 0xffffffffffffffe0ULL,           /* in the hypervisor */
	PERF_CONTEXT_KERNEL = 0xffffffffffffff80ULL,       /* in the kernel */
	PERF_CONTEXT_USER = 0xfffffffffffffe00ULL,         /* in the program */
	PERF_CONTEXT_GUEST = 0xfffffffffffff800ULL,        /* in a virtual machine */
	PERF_CONTEXT_GUEST_KERNEL = 0xfffffffffffff780ULL, /* in its kernel */
	PERF_CONTEXT_GUEST_USER = 0xfffffffffffff600ULL,   /* in a program of it */
	PERF_CONTEXT_MAX = 0xfffffffffffff001ULL           /* no mark is less */
};

/* The flags of a PERF_RECORD_AUX, a piece of the trace of a device or processor. */
#define PERF_AUX_FLAG_TRUNCATED 0x01                    /* it did not fit into the buffer */
#define PERF_AUX_FLAG_OVERWRITE 0x02                    /* the buffer is written round and round: a snapshot */
#define PERF_AUX_FLAG_PARTIAL 0x04                      /* something is missing in between */
#define PERF_AUX_FLAG_COLLISION 0x08                    /* a sample met another one */
#define PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK 0xff00       /* the format, which is the PMU's */
#define PERF_AUX_FLAG_CORESIGHT_FORMAT_CORESIGHT 0x0000 /* CoreSight: framed */
#define PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW 0x0100       /* CoreSight: as the source wrote it */

/** Where the data of a memory access came from: the field of PERF_SAMPLE_DATA_SRC. */
union perf_mem_data_src {
	uint64_t val; /* all in one number */
	__extension__ struct {
		uint64_t mem_op      : 5;  /* PERF_MEM_OP_* */
		uint64_t mem_lvl     : 14; /* PERF_MEM_LVL_* */
		uint64_t mem_snoop   : 5;  /* PERF_MEM_SNOOP_* */
		uint64_t mem_lock    : 2;  /* PERF_MEM_LOCK_* */
		uint64_t mem_dtlb    : 7;  /* PERF_MEM_TLB_* */
		uint64_t mem_lvl_num : 4;  /* PERF_MEM_LVLNUM_* */
		uint64_t mem_remote  : 1;  /* PERF_MEM_REMOTE_* */
		uint64_t mem_snoopx  : 2;  /* PERF_MEM_SNOOPX_* */
		uint64_t mem_blk     : 3;  /* PERF_MEM_BLK_* */
		uint64_t mem_hops    : 3;  /* PERF_MEM_HOPS_* */
		uint64_t mem_rsvd    : 18;
	};
};

/* mem_op: the instruction, one or more bits */
#define PERF_MEM_OP_NA 0x01     /* not known, as every other _NA */
#define PERF_MEM_OP_LOAD 0x02   /* it reads */
#define PERF_MEM_OP_STORE 0x04  /* it writes */
#define PERF_MEM_OP_PFETCH 0x08 /* it prefetches */
#define PERF_MEM_OP_EXEC 0x10   /* the access is for code */
#define PERF_MEM_OP_SHIFT 0     /* first bit in val, as every other _SHIFT */

/* mem_lvl: hit or missed, and where; older than mem_lvl_num, which is set as well */
#define PERF_MEM_LVL_NA 0x01        /* not known */
#define PERF_MEM_LVL_HIT 0x02       /* hit */
#define PERF_MEM_LVL_MISS 0x04      /* missed */
#define PERF_MEM_LVL_L1 0x08        /* first cache */
#define PERF_MEM_LVL_LFB 0x10       /* line fill buffer: on its way already */
#define PERF_MEM_LVL_L2 0x20        /* second cache */
#define PERF_MEM_LVL_L3 0x40        /* third cache */
#define PERF_MEM_LVL_LOC_RAM 0x80   /* memory of this node */
#define PERF_MEM_LVL_REM_RAM1 0x100 /* memory one hop away */
#define PERF_MEM_LVL_REM_RAM2 0x200 /* memory two hops away */
#define PERF_MEM_LVL_REM_CCE1 0x400 /* a cache one hop away */
#define PERF_MEM_LVL_REM_CCE2 0x800 /* a cache two hops away */
#define PERF_MEM_LVL_IO 0x1000      /* memory of a device */
#define PERF_MEM_LVL_UNC 0x2000     /* memory that is not cached */
#define PERF_MEM_LVL_SHIFT 5        /* first bit in val */

/* mem_remote: whether mem_lvl_num is of another node */
#define PERF_MEM_REMOTE_REMOTE 0x01 /* it is */
#define PERF_MEM_REMOTE_SHIFT 37    /* first bit in val */

/* mem_lvl_num: where, one number */
#define PERF_MEM_LVLNUM_L1 0x01        /* first cache */
#define PERF_MEM_LVLNUM_L2 0x02        /* second cache */
#define PERF_MEM_LVLNUM_L3 0x03        /* third cache */
#define PERF_MEM_LVLNUM_L4 0x04        /* fourth cache */
#define PERF_MEM_LVLNUM_CXL 0x09       /* memory on a CXL link */
#define PERF_MEM_LVLNUM_IO 0x0a        /* memory of a device */
#define PERF_MEM_LVLNUM_ANY_CACHE 0x0b /* a cache */
#define PERF_MEM_LVLNUM_LFB 0x0c       /* line fill buffer */
#define PERF_MEM_LVLNUM_RAM 0x0d       /* memory */
#define PERF_MEM_LVLNUM_PMEM 0x0e      /* persistent memory */
#define PERF_MEM_LVLNUM_NA 0x0f        /* not known */
#define PERF_MEM_LVLNUM_SHIFT 33       /* first bit in val */

/* mem_snoop, mem_snoopx: what asking the other caches brought */
#define PERF_MEM_SNOOP_NA 0x01    /* not known */
#define PERF_MEM_SNOOP_NONE 0x02  /* none was asked */
#define PERF_MEM_SNOOP_HIT 0x04   /* one had it */
#define PERF_MEM_SNOOP_MISS 0x08  /* none had it */
#define PERF_MEM_SNOOP_HITM 0x10  /* one had it, changed */
#define PERF_MEM_SNOOP_SHIFT 19   /* first bit in val */
#define PERF_MEM_SNOOPX_FWD 0x01  /* it was handed on */
#define PERF_MEM_SNOOPX_PEER 0x02 /* it came from a peer's cache */
#define PERF_MEM_SNOOPX_SHIFT 38  /* first bit in val */

/* mem_lock: was the instruction atomic? */
#define PERF_MEM_LOCK_NA 0x01     /* not known */
#define PERF_MEM_LOCK_LOCKED 0x02 /* it was */
#define PERF_MEM_LOCK_SHIFT 24    /* first bit in val */

/* mem_dtlb: how the address was translated */
#define PERF_MEM_TLB_NA 0x01   /* not known */
#define PERF_MEM_TLB_HIT 0x02  /* hit */
#define PERF_MEM_TLB_MISS 0x04 /* missed */
#define PERF_MEM_TLB_L1 0x08   /* first TLB */
#define PERF_MEM_TLB_L2 0x10   /* second TLB */
#define PERF_MEM_TLB_WK 0x20   /* the processor walked the page table */
#define PERF_MEM_TLB_OS 0x40   /* the kernel was asked */
#define PERF_MEM_TLB_SHIFT 26  /* first bit in val */

/* mem_blk: why a load had to wait */
#define PERF_MEM_BLK_NA 0x01   /* not known, or it had not */
#define PERF_MEM_BLK_DATA 0x02 /* a store's data could not be forwarded */
#define PERF_MEM_BLK_ADDR 0x04 /* its address was like that of a store */
#define PERF_MEM_BLK_SHIFT 40  /* first bit in val */

/* mem_hops: how far away, one number */
#define PERF_MEM_HOPS_0 0x01   /* another core of the node */
#define PERF_MEM_HOPS_1 0x02   /* another node of the socket */
#define PERF_MEM_HOPS_2 0x03   /* another socket of the board */
#define PERF_MEM_HOPS_3 0x04   /* another board */
#define PERF_MEM_HOPS_SHIFT 43 /* first bit in val */

/** The bits of a value in val: PERF_MEM_S(LVL, L2). */
#define PERF_MEM_S(a, s) ((uint64_t)PERF_MEM_##a##_##s << PERF_MEM_##a##_SHIFT)

#endif /* _LINUX_PERF_EVENT_H */

/* What libpfm has and Linux has not: a program that brings the kernel's header may have its own. */

/** The branches of a sample, from the latest to the oldest. */
struct perf_branch_stack {
	uint64_t nr;                                       /* how many entries follow */
	__extension__ struct perf_branch_entry entries[0]; /* the branches */
};

#define cap_usr_rdpmc cap_user_rdpmc /* libpfm's spelling */

#endif /* not the program's own <linux/perf_event.h> */

/* libpfm's names of perf_event_header.misc, older than PERF_RECORD_MISC_* */
#ifndef PERF_EVENT_MISC_CPUMODE_MASK
#define PERF_EVENT_MISC_CPUMODE_MASK (3 << 0)    /* two of the three bits: guests look like the kernel or unknown */
#define PERF_EVENT_MISC_CPUMODE_UNKNOWN (0 << 0) /* not known */
#define PERF_EVENT_MISC_KERNEL (1 << 0)          /* in the kernel */
#define PERF_EVENT_MISC_USER (2 << 0)            /* in a program */
#define PERF_EVENT_MISC_HYPERVISOR (3 << 0)      /* in the hypervisor */
#endif
#ifndef PERF_RECORD_MISC_EXACT
#define PERF_RECORD_MISC_EXACT (1 << 14) /* PERF_RECORD_MISC_EXACT_IP */
#endif

/** The same under the name that libpfm has for it. */
typedef struct perf_event_attr perf_event_attr_t;

#ifndef __NR_perf_event_open
#if defined(__x86_64__)
#define __NR_perf_event_open 298
#elif defined(__i386__)
#define __NR_perf_event_open 336
#elif defined(__aarch64__)
#define __NR_perf_event_open 241
#endif
#endif

/**
 * Open an event.
 *
 * :param hw_event_uptr: what to measure
 * :param pid: process, 0 for the calling one, -1 for all
 * :param cpu: processor, -1 for any
 * :param group_fd: leader of the group, or -1
 * :param flags: PERF_FLAG_*
 * :return: a file descriptor, or -1 with errno
 *
 * Source: perf_event_open(2).
 */
static inline int
perf_event_open(struct perf_event_attr *hw_event_uptr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
#ifdef __linux__
	return (int)syscall(__NR_perf_event_open, hw_event_uptr, pid, cpu, group_fd, flags);
#else
	(void)hw_event_uptr, (void)pid, (void)cpu, (void)group_fd, (void)flags;
	errno = ENOSYS;
	return -1;
#endif
}

#ifdef __cplusplus
}
#endif

#endif /* __PERFMON_PERF_EVENT_H__ */
