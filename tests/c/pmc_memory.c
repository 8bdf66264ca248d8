/*
 * Addresses that are no memory, in whole or in part: EFAULT; first with the kernel's copying between
 * processes, then, in a child, with that forbidden, as in some containers.
 */
#include "descriptors.h"
#include "pmc_check.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static char *pages; /* one of them, then one that nobody may touch */
static char *read_only;
static size_t size;

static void *
last_bytes(size_t count)
{
	return pages + size - count;
}

static void
structures(void)
{
	struct pmc_counter_cfg cfg = { .event_id = DCACHE_MISS };

	for (size_t present = 0; present < sizeof(cfg); present++) {
		memset(pages, 0, size);
		CHECK_ERRNO(pmc_control(1, PMC_OP_CONFIGURE, last_bytes(present)), EFAULT);
		CHECK_ERRNO(pmc_control(1, PMC_OP_PROFSTART, last_bytes(present)), EFAULT);
	}
	memcpy(last_bytes(sizeof(cfg)), &cfg, sizeof(cfg));
	CHECK_EQ(pmc_control(1, PMC_OP_CONFIGURE, last_bytes(sizeof(cfg))), 0);
	CHECK_EQ(pmc_control(1, PMC_OP_PROFSTART, last_bytes(sizeof(cfg))), 0);
	CHECK_EQ(profile_stop(1), 0);
	memcpy(pages + 1, &cfg, sizeof(cfg)); /* no alignment is asked for */
	CHECK_EQ(pmc_control(1, PMC_OP_CONFIGURE, pages + 1), 0);
	CHECK_EQ(pmc_control(1, PMC_OP_CONFIGURE, memcpy(last_bytes(100), &cfg, sizeof(cfg))), 0);
	mprotect(read_only, size, PROT_READ | PROT_WRITE);
	memcpy(read_only, &cfg, sizeof(cfg));
	mprotect(read_only, size, PROT_READ);
	CHECK_EQ(pmc_control(1, PMC_OP_CONFIGURE, read_only), 0);
	mprotect(read_only, size, PROT_NONE);
	CHECK_ERRNO(pmc_control(1, PMC_OP_CONFIGURE, read_only), EFAULT);
	mprotect(read_only, size, PROT_READ);
}

static const struct {
	int op;
	size_t size;
} requests[] = {
	{ PMC_INFO_NCOUNTERS, sizeof(int) },
	{ PMC_INFO_CPUCTR_TYPE, sizeof(int) },
	{ PMC_INFO_COUNTER_VALUE, sizeof(uint64_t) },
	{ PMC_INFO_ACCUMULATED_COUNTER_VALUE, sizeof(uint64_t) },
};

/* An answer leaves alone what lies beside it. */
static void
nothing_beside(void)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		unsigned char bytes[32];

		memset(bytes, 0xa5, sizeof(bytes));
		CHECK_EQ(pmc_get_info(1, requests[i].op, bytes + 8), 0);
		for (size_t at = 0; at < sizeof(bytes); at++)
			if (at < 8 || at >= 8 + requests[i].size)
				CHECK_EQ(bytes[at], 0xa5);
	}
}

static void
answers(void)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		int op = requests[i].op;

		for (size_t present = 0; present < requests[i].size; present++)
			CHECK_ERRNO(pmc_get_info(1, op, last_bytes(present)), EFAULT);
		CHECK_EQ(pmc_get_info(1, op, last_bytes(requests[i].size)), 0);
		CHECK_EQ(pmc_get_info(1, op, pages + 3), 0);
		CHECK_ERRNO(pmc_get_info(1, op, read_only), EFAULT);
		CHECK_ERRNO(pmc_get_info(1, op, (void *)(uintptr_t)nothing_beside), EFAULT); /* code */
		CHECK_ERRNO(pmc_get_info(1, op, NULL), EFAULT);
		CHECK_ERRNO(pmc_get_info(1, op, (void *)UINTPTR_MAX), EFAULT);
		CHECK_ERRNO(pmc_get_info(1, op, (void *)(UINTPTR_MAX / 2)), EFAULT);
	}
}

static void
everywhere(void)
{
	structures();
	answers();
	nothing_beside();
}

#define DENY(number) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static bool
forbid_copying(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		DENY(SYS_process_vm_readv),
		DENY(SYS_process_vm_writev),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void
without_copying(void)
{
	struct iovec nothing = { 0 };
	int before = open_descriptors("");

	if (!forbid_copying() || process_vm_readv(getpid(), &nothing, 1, &nothing, 1, 0) == 0 || errno != EPERM) {
		printf("no seccomp filter here: pipes are not tried\n");
		return;
	}
	everywhere();
	CHECK_EQ(open_descriptors(""), before);
}

int
main(void)
{
	check_begin("xscale");
	size = (size_t)sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK_EQ(mprotect(pages + size, size, PROT_NONE), 0);
	read_only = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	everywhere();
	IN_CHILD(without_copying(););
	return check_result();
}
