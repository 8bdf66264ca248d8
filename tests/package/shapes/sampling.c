/*
 * Samples of libpfm 4's header, as Google Benchmark, Caliper and libpfm's own examples read them; C and C++.
 *
 * First a record with branches and the source of data that is put together here, then those that the kernel
 * writes into the ring buffer of a software event.  What is printed does not depend on the machine, but for the last
 * line, which says whether it lets a program sample.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <perfmon/err.h>
#include <perfmon/pfmlib_perf_event.h>

#define SAMPLE_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION)

struct record {
	struct perf_event_header header;
	uint64_t ip;
	uint64_t nr;
	struct perf_branch_entry entries[2];
	uint64_t source;
	uint64_t transaction;
};

static const char *
mode(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_GUEST_KERNEL ? 0 : misc & PERF_EVENT_MISC_CPUMODE_MASK) {
	case PERF_EVENT_MISC_KERNEL:
		return "kernel";
	case PERF_EVENT_MISC_USER:
		return "user";
	case PERF_EVENT_MISC_HYPERVISOR:
		return "hypervisor";
	default:
		return "another";
	}
}

static void
print_branches(const struct perf_branch_stack *stack)
{
	for (uint64_t i = 0; i < stack->nr; i++) {
		const struct perf_branch_entry *b = &stack->entries[i];

		printf("branch %" PRIx64 " -> %" PRIx64 " %s%s%s%s %u cycles, type %u\n", (uint64_t)b->from,
		       (uint64_t)b->to, b->mispred ? "M" : "-", b->predicted ? "P" : "-", b->in_tx ? "X" : "-",
		       b->abort ? "A" : "-", (unsigned int)b->cycles, (unsigned int)b->type);
	}
}

static void
print_source(uint64_t value)
{
	union perf_mem_data_src source;

	source.val = value;
	printf("source op %x lvl %x snoop %x lock %x tlb %x remote %x hops %x:%s%s%s%s%s\n",
	       (unsigned int)source.mem_op, (unsigned int)source.mem_lvl, (unsigned int)source.mem_snoop,
	       (unsigned int)source.mem_lock, (unsigned int)source.mem_dtlb, (unsigned int)source.mem_remote,
	       (unsigned int)source.mem_hops, source.mem_op & PERF_MEM_OP_LOAD ? " load" : "",
	       source.mem_lvl & PERF_MEM_LVL_HIT ? " hit" : "", source.mem_lvl & PERF_MEM_LVL_L3 ? " L3" : "",
	       source.mem_snoop & PERF_MEM_SNOOP_HITM ? " HITM" : "", source.mem_dtlb & PERF_MEM_TLB_WK ? " walk" : "");
}

static void
print_record(const unsigned char *bytes)
{
	struct perf_event_header header;
	uint64_t words[2], transaction;

	memcpy(&header, bytes, sizeof(header));
	memcpy(words, bytes + sizeof(header), sizeof(words));
	printf("type %u size %u %s%s ip %" PRIx64 "\n", header.type, header.size, mode(header.misc),
	       header.misc & PERF_RECORD_MISC_EXACT_IP ? " exact" : "", words[0]);
	bytes += sizeof(header) + sizeof(words[0]);
	print_branches((const struct perf_branch_stack *)(const void *)bytes);
	bytes += sizeof(struct perf_branch_stack) + (size_t)words[1] * sizeof(struct perf_branch_entry);
	memcpy(words, bytes, sizeof(words));
	print_source(words[0]);
	transaction = words[1];
	printf("transaction%s%s, code %" PRIx64 "\n", transaction & PERF_TXN_CONFLICT ? " conflict" : "",
	       transaction & PERF_TXN_RETRY ? " retry" : "",
	       (transaction & PERF_TXN_ABORT_MASK) >> PERF_TXN_ABORT_SHIFT);
}

static void
print_made_up(void)
{
	struct record r;

	memset(&r, 0, sizeof(r));
	r.header.type = PERF_RECORD_SAMPLE;
	r.header.misc = PERF_EVENT_MISC_USER | PERF_RECORD_MISC_EXACT;
	r.header.size = sizeof(r);
	r.ip = 0x401000;
	r.nr = 2;
	r.entries[0].from = 0x401010;
	r.entries[0].to = 0x402000;
	r.entries[0].predicted = 1;
	r.entries[0].cycles = 0xffff;
	r.entries[1].from = 0xffffffff81000000;
	r.entries[1].mispred = r.entries[1].abort = 1;
	r.entries[1].type = 6;
	r.source = (uint64_t)PERF_MEM_OP_LOAD << PERF_MEM_OP_SHIFT |
		   (uint64_t)(PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3) << PERF_MEM_LVL_SHIFT |
		   (uint64_t)PERF_MEM_SNOOP_HITM << PERF_MEM_SNOOP_SHIFT |
		   (uint64_t)PERF_MEM_LOCK_LOCKED << PERF_MEM_LOCK_SHIFT |
		   (uint64_t)(PERF_MEM_TLB_WK | PERF_MEM_TLB_MISS) << PERF_MEM_TLB_SHIFT |
		   (uint64_t)PERF_MEM_REMOTE_REMOTE << PERF_MEM_REMOTE_SHIFT |
		   (uint64_t)PERF_MEM_HOPS_2 << PERF_MEM_HOPS_SHIFT;
	r.transaction = (uint64_t)PERF_TXN_CONFLICT | PERF_TXN_RETRY | (uint64_t)0x2a << PERF_TXN_ABORT_SHIFT;
	print_record((const unsigned char *)&r);
	printf("sample type %x %d contexts %" PRIx64 " %" PRIx64 " depth %d aux %x bpf %d regs %d branch any %d\n",
	       (unsigned int)SAMPLE_TYPE, PERF_MAX_CONTEXTS_PER_STACK, (uint64_t)PERF_CONTEXT_KERNEL,
	       (uint64_t)PERF_CONTEXT_MAX, PERF_MAX_STACK_DEPTH, PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK,
	       PERF_BPF_EVENT_PROG_UNLOAD, PERF_SAMPLE_REGS_ABI_64, 1 << PERF_SAMPLE_BRANCH_ANY_SHIFT);
}

/* Page faults of this process, a sample each: how many records have the right event. */
static int
sample(int pages)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	struct perf_event_mmap_page *page;
	unsigned char *data;
	uint64_t id = 0, tail;
	int fd, found = 0;

	memset(&attr, 0, sizeof(attr));
	memset(&arg, 0, sizeof(arg));
	attr.size = sizeof(attr);
	arg.attr = &attr;
	arg.size = sizeof(arg);
	if (pfm_get_os_event_encoding("PERF_COUNT_SW_PAGE_FAULTS:period=1", PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg) !=
	    PFM_SUCCESS)
		errx(2, "no such event");
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER;
	attr.read_format = PERF_FORMAT_ID;
	attr.disabled = 1;
	fd = perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	page = (struct perf_event_mmap_page *)mmap(NULL, 9 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	data = (unsigned char *)mmap(NULL, (size_t)pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				     -1, 0);
	if (page == MAP_FAILED || data == MAP_FAILED)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		err(2, "ioctl");
	for (int i = 0; i < pages; i++)
		data[(size_t)i * 4096] = 1;
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	for (tail = page->data_tail; tail < page->data_head;) {
		const unsigned char *at = (const unsigned char *)page + page->data_offset + tail % page->data_size;
		const struct perf_event_header *header = (const struct perf_event_header *)(const void *)at;
		uint64_t of;

		memcpy(&of, at + sizeof(*header), sizeof(of));
		found += header->type == PERF_RECORD_SAMPLE && of == id;
		tail += header->size;
	}
	page->data_tail = tail;
	return found;
}

int
main(void)
{
	int ret;

	if (pfm_initialize() != PFM_SUCCESS)
		errx(2, "no PMU");
	print_made_up();
	ret = sample(100);
	if (ret < 0)
		printf("this machine does not sample: %s\n", strerror(-ret));
	else
		printf("%s\n", ret >= 100 ? "samples" : "samples are missing");
	return 0;
}
