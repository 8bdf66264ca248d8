/*
 * The perf_event interface of Linux as libpfm 4.13.0 knows it (Linux 5.18):
 * constants, the 128-byte attribute structure, records, the system call.
 *
 * If <linux/perf_event.h> was included before, its definitions are used, and if
 * this header comes first it stands for that one.
 */
#ifndef __PERFMON_PERF_EVENT_H__
#define __PERFMON_PERF_EVENT_H__

#include <sys/types.h>
#include <inttypes.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/types.h>
#include <linux/ioctl.h>
#include <asm/byteorder.h>

#if !defined(_DEFAULT_SOURCE) && !defined(__cplusplus)
long syscall(long number, ...); /* which <unistd.h> hides with -std=c11 or _POSIX_C_SOURCE */
#endif

#ifdef __cplusplus
extern "C" {
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

enum perf_hw_cache_op_id {
	PERF_COUNT_HW_CACHE_OP_READ = 0,
	PERF_COUNT_HW_CACHE_OP_WRITE = 1,
	PERF_COUNT_HW_CACHE_OP_PREFETCH = 2,
	PERF_COUNT_HW_CACHE_OP_MAX
};

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
	PERF_SAMPLE_BRANCH_MAX = 1U << 18
};

/* attr.read_format */
enum perf_event_read_format {
	PERF_FORMAT_TOTAL_TIME_ENABLED = 1U << 0,
	PERF_FORMAT_TOTAL_TIME_RUNNING = 1U << 1,
	PERF_FORMAT_ID = 1U << 2,
	PERF_FORMAT_GROUP = 1U << 3,
	PERF_FORMAT_MAX = 1U << 4
};

/* attr.size of each version of the interface. */
#define PERF_ATTR_SIZE_VER0	64
#define PERF_ATTR_SIZE_VER1	72
#define PERF_ATTR_SIZE_VER2	80
#define PERF_ATTR_SIZE_VER3	96
#define PERF_ATTR_SIZE_VER4	104
#define PERF_ATTR_SIZE_VER5	112
#define PERF_ATTR_SIZE_VER6	120
#define PERF_ATTR_SIZE_VER7	128

/** What perf_event_open() is to measure. */
struct perf_event_attr {
	uint32_t	type;		/* PERF_TYPE_* */
	uint32_t	size;		/* of this structure */
	uint64_t	config;		/* event, by type */
	union {
		uint64_t	sample_period;
		uint64_t	sample_freq;
	};
	uint64_t	sample_type;	/* PERF_SAMPLE_* */
	uint64_t	read_format;	/* PERF_FORMAT_* */
	uint64_t	disabled:1;
	uint64_t	inherit:1;
	uint64_t	pinned:1;
	uint64_t	exclusive:1;
	uint64_t	exclude_user:1;
	uint64_t	exclude_kernel:1;
	uint64_t	exclude_hv:1;
	uint64_t	exclude_idle:1;
	uint64_t	mmap:1;
	uint64_t	comm:1;
	uint64_t	freq:1;
	uint64_t	inherit_stat:1;
	uint64_t	enable_on_exec:1;
	uint64_t	task:1;
	uint64_t	watermark:1;
	uint64_t	precise_ip:2;
	uint64_t	mmap_data:1;
	uint64_t	sample_id_all:1;
	uint64_t	exclude_host:1;
	uint64_t	exclude_guest:1;
	uint64_t	exclude_callchain_kernel:1;
	uint64_t	exclude_callchain_user:1;
	uint64_t	mmap2:1;
	uint64_t	comm_exec:1;
	uint64_t	use_clockid:1;
	uint64_t	context_switch:1;
	uint64_t	write_backward:1;
	uint64_t	namespaces:1;
	uint64_t	ksymbol:1;
	uint64_t	bpf_event:1;
	uint64_t	aux_output:1;
	uint64_t	cgroup:1;
	uint64_t	text_poke:1;
	uint64_t	build_id:1;
	uint64_t	inherit_thread:1;
	uint64_t	remove_on_exec:1;
	uint64_t	sigtrap:1;
	uint64_t	__reserved_1:26;
	union {
		uint32_t	wakeup_events;
		uint32_t	wakeup_watermark;
	};
	uint32_t	bp_type;
	union {
		uint64_t	bp_addr;
		uint64_t	kprobe_func;
		uint64_t	uprobe_path;
		uint64_t	config1;	/* second code of an event */
	};
	union {
		uint64_t	bp_len;
		uint64_t	kprobe_addr;
		uint64_t	probe_offset;
		uint64_t	config2;
	};
	uint64_t	branch_sample_type;	/* PERF_SAMPLE_BRANCH_* */
	uint64_t	sample_regs_user;
	uint32_t	sample_stack_user;
	int32_t		clockid;
	uint64_t	sample_regs_intr;
	uint32_t	aux_watermark;
	uint16_t	sample_max_stack;
	uint16_t	__reserved_2;
	uint32_t	aux_sample_size;
	uint32_t	__reserved_3;
	uint64_t	sig_data;
};

/* ioctl() on the file descriptor of an event. */
#define PERF_EVENT_IOC_ENABLE			_IO('$', 0)
#define PERF_EVENT_IOC_DISABLE			_IO('$', 1)
#define PERF_EVENT_IOC_REFRESH			_IO('$', 2)
#define PERF_EVENT_IOC_RESET			_IO('$', 3)
#define PERF_EVENT_IOC_PERIOD			_IOW('$', 4, uint64_t)
#define PERF_EVENT_IOC_SET_OUTPUT		_IO('$', 5)
#define PERF_EVENT_IOC_SET_FILTER		_IOW('$', 6, char *)
#define PERF_EVENT_IOC_ID			_IOR('$', 7, uint64_t *)
#define PERF_EVENT_IOC_SET_BPF			_IOW('$', 8, uint32_t)
#define PERF_EVENT_IOC_PAUSE_OUTPUT		_IOW('$', 9, uint32_t)
#define PERF_EVENT_IOC_MODIFY_ATTRIBUTES	_IOW('$', 11, struct perf_event_attr *)

enum perf_event_ioc_flags {
	PERF_IOC_FLAG_GROUP = 1U << 0
};

/* flags of perf_event_open() */
#define PERF_FLAG_FD_NO_GROUP	(1UL << 0)
#define PERF_FLAG_FD_OUTPUT	(1UL << 1)
#define PERF_FLAG_PID_CGROUP	(1UL << 2)
#define PERF_FLAG_FD_CLOEXEC	(1UL << 3)

/** The first page of the buffer of an event. */
struct perf_event_mmap_page {
	uint32_t	version;
	uint32_t	compat_version;
	uint32_t	lock;
	uint32_t	index;
	int64_t		offset;
	uint64_t	time_enabled;
	uint64_t	time_running;
	union {
		uint64_t	capabilities;
		struct {
			uint64_t	cap_bit0:1;
			uint64_t	cap_bit0_is_deprecated:1;
			uint64_t	cap_user_rdpmc:1;
			uint64_t	cap_user_time:1;
			uint64_t	cap_user_time_zero:1;
			uint64_t	cap_user_time_short:1;
			uint64_t	cap_____res:58;
		};
	};
	uint16_t	pmc_width;
	uint16_t	time_shift;
	uint32_t	time_mult;
	uint64_t	time_offset;
	uint64_t	time_zero;
	uint32_t	size;
	uint32_t	__reserved_1;
	uint64_t	time_cycles;
	uint64_t	time_mask;
	uint8_t		__reserved[928];
	uint64_t	data_head;
	uint64_t	data_tail;
	uint64_t	data_offset;
	uint64_t	data_size;
	uint64_t	aux_head;
	uint64_t	aux_tail;
	uint64_t	aux_offset;
	uint64_t	aux_size;
};
#define cap_usr_rdpmc	cap_user_rdpmc	/* libpfm's spelling */

/** Head of a record in the buffer. */
struct perf_event_header {
	uint32_t	type;	/* PERF_RECORD_* */
	uint16_t	misc;	/* PERF_RECORD_MISC_* */
	uint16_t	size;	/* of the record */
};

#define PERF_RECORD_MISC_CPUMODE_MASK	(7 << 0)
#define PERF_RECORD_MISC_CPUMODE_UNKNOWN	(0 << 0)
#define PERF_RECORD_MISC_KERNEL		(1 << 0)
#define PERF_RECORD_MISC_USER		(2 << 0)
#define PERF_RECORD_MISC_HYPERVISOR	(3 << 0)
#define PERF_RECORD_MISC_GUEST_KERNEL	(4 << 0)
#define PERF_RECORD_MISC_GUEST_USER	(5 << 0)
#define PERF_RECORD_MISC_EXACT_IP	(1 << 14)

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

#endif /* _LINUX_PERF_EVENT_H */

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
	return (int)syscall(__NR_perf_event_open, hw_event_uptr, pid, cpu, group_fd, flags);
}

#ifdef __cplusplus
}
#endif

#endif /* __PERFMON_PERF_EVENT_H__ */
