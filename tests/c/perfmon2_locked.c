/*
 * The back end "host" where the kernel gives no more memory for rings (perf_event_mlock_kb): a context has a smaller one, or
 * none, and its overflows are looked for.
 */
#include "perfmon2_events.h"

#include <grp.h>
#include <sys/prctl.h>

static void *ring;
static int ring_fd;
static size_t ring_size; /* a page for its head, and one */

static void
skip(const char *reason)
{
	printf("skipped: %s\n", reason);
	exit(CHECK_SKIPPED);
}

static bool
become(uid_t user)
{
	return setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0;
}

/* Root may have more; what there is belongs to a user: another run of this program has another one. */
static void
be_nobody(void)
{
	enum { NOBODY = 65534 };
	const struct rlimit memory = { 1 << 20, 1 << 20 }; /* for sampling buffers; for rings, too */

	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &memory), 0);
	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || (!become(1 + NOBODY + (uid_t)getpid()) && !become(NOBODY))))
		skip("the program is root, and cannot be anybody else");
	prctl(PR_SET_DUMPABLE, 1);
}

static int
open_event(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.exclude_kernel = 1,
					.exclude_hv = 1 };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void *
map(size_t size, int fd)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

/* All memory for rings that the kernel gives; of the first one there is least, which can be given back. */
static void
take_all(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	long most = 100000;

	ring_size = 2 * page;
	ring_fd = open_event();
	CHECK(ring_fd >= 0);
	ring = map(ring_size, ring_fd);
	if (ring == MAP_FAILED)
		skip(strerror(errno));
	for (size_t pages = 1024; pages >= 1; pages /= 2) {
		int fd;

		do {
			fd = open_event();
			CHECK(fd >= 0);
			if (most-- == 0)
				skip("the kernel gives as many rings as one asks for");
		} while (map((1 + pages) * page, fd) != MAP_FAILED && close(fd) == 0);
		CHECK_EQ(errno, EPERM);
		close(fd);
	}
}

static void
wait_for_message(int fd, pfarg_msg_t *message)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };

	CHECK_EQ(poll(&end, 1, 5000), 1);
	CHECK_EQ(read(fd, message, sizeof(*message)), sizeof(*message));
	CHECK_EQ(message->type, PFM_MSG_OVFL);
	CHECK_EQ(message->pfm_ovfl_msg.msg_ovfl_pmds[0], 1 << 4);
}

/* An overflow is told and masks, again and again.  Without a ring the counter has the faults until somebody looked, too. */
static void
overflows(bool has_ring)
{
	pfarg_pmd_t pmd = notifying(100);
	const int fd = counting(0, 0, 0);
	uint64_t late = 0;
	pfarg_msg_t message;

	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(write_pmc(fd, 5, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 5, 0, 0), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	for (int round = 1; round <= 20; round++) {
		const uint64_t before = read_pmd(fd, 5);
		uint64_t residue;

		faults(300);
		wait_for_message(fd, &message); /* nobody calls meanwhile */
		residue = read_pmd(fd, 4);
		CHECK(!has_ring || residue == 0);
		late += residue;
		CHECK(read_pmd(fd, 5) - before - residue >= 99 && read_pmd(fd, 5) - before - residue <= 101);
		faults(50); /* masked */
		CHECK_EQ(read_pmd(fd, 4), residue);
		CHECK_EQ(pfm_restart(fd), 0);
	}
	CHECK(has_ring || late > 0);
	close(fd);
}

/* All samples are there, and what is left of the next one is in the counter. */
static void
samples(void)
{
	enum { ROOM = 8000 };
	pfm_dfl_smpl_arg_t arg = { .buf_size = sizeof(pfm_dfl_smpl_hdr_t) + ROOM * sizeof(pfm_dfl_smpl_entry_t) };
	pfarg_pmd_t pmd = notifying(10);
	pfarg_ctx_t ctx = { 0 };
	const int fd = pfm_create_context(&ctx, (char *)(uintptr_t)"default", &arg, sizeof(arg));
	const pfm_dfl_smpl_hdr_t *header = mmap(NULL, arg.buf_size, PROT_READ, MAP_SHARED, fd, 0);
	uint64_t count;

	CHECK(fd >= 0 && header != MAP_FAILED);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(write_pmc(fd, 5, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 5, 0, 0), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	faults(5000);
	count = header->hdr_count;
	for (int ms = 0; ms < 5000 && count < 250; ms++) { /* nobody calls: of a ring half may wait */
		usleep(1000);
		count = header->hdr_count;
	}
	CHECK(count >= 250);
	faults(5000);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK(read_pmd(fd, 5) >= 10000);
	CHECK_EQ(header->hdr_overflows, 0);
	CHECK_EQ(header->hdr_count * 10 + read_pmd(fd, 4) - (uint64_t)-10, read_pmd(fd, 5));
	munmap((void *)(uintptr_t)header, arg.buf_size);
	close(fd);
}

/* What the context takes of the memory that is left: it is not there for another one. */
static void
with_a_small_ring(void)
{
	const int fd = counting(0, 0, 0);

	ring = map(ring_size, ring_fd);
	CHECK(ring == MAP_FAILED && errno == EPERM);
	CHECK_EQ(pfm_unload_context(fd), 0);
	ring = map(ring_size, ring_fd);
	CHECK(ring != MAP_FAILED);
	munmap(ring, ring_size);
	close(fd);
	overflows(true);
	samples();
}

int
main(void)
{
	be_nobody();
	begin_with_events();
	CHECK_ERRNO(load(-1, 0), EBADF); /* this frees what has been closed */
	take_all();
	overflows(false);
	samples();
	munmap(ring, ring_size);
	with_a_small_ring();
	return check_result();
}
