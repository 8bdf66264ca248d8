/*
 * The sampling buffer of perfmon2: how it is mapped, what a sample has, when it is full, what restart does; with a rate.
 */
#include "perfmon2_check.h"

static char name[] = "default";

/* mmap() is pfm_mmap() here, by the linker or by perfmon_dfl_smpl.h. */
static int
create_sampling(uint64_t size, uint32_t flags, pfm_dfl_smpl_hdr_t **header)
{
	pfarg_ctx_t ctx = { .ctx_flags = flags };
	pfm_dfl_smpl_arg_t format = { .buf_size = size, .buf_flags = 5 };
	const int fd = pfm_create_context(&ctx, name, &format, sizeof(format));

	CHECK(fd >= 0);
	*header = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(*header != MAP_FAILED);
	return fd;
}

static void
start_with(int fd, pfarg_pmd_t *pmds, int count)
{
	for (int i = 0; i < count; i++)
		CHECK_EQ(write_pmc(fd, pmds[i].reg_num, CYCLES_PMC), 0);
	CHECK_EQ(pfm_write_pmds(fd, pmds, count), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
}

static pfarg_pmd_t
counter(uint16_t number, uint64_t period, uint32_t flags, uint64_t smpl)
{
	return (pfarg_pmd_t){ .reg_num = number,
			      .reg_value = -period,
			      .reg_short_reset = -period,
			      .reg_long_reset = -period,
			      .reg_flags = flags,
			      .reg_smpl_pmds = { smpl } };
}

static int
sampling(uint64_t size, uint64_t smpl, uint32_t flags, pfm_dfl_smpl_hdr_t **buffer)
{
	pfarg_pmd_t pmd = counter(4, 10, flags, smpl);
	const int fd = create_sampling(size, 0, buffer);

	pmd.reg_long_reset = (uint64_t)-20;
	start_with(fd, &pmd, 1);
	return fd;
}

static void
header(void)
{
	pfm_dfl_smpl_hdr_t *buffer;
	const int fd = sampling(5000, 0, 0, &buffer);

	CHECK_EQ(buffer->hdr_version, 0x10000);
	CHECK_EQ(buffer->hdr_buf_size, 5000);
	CHECK_EQ(buffer->hdr_buf_flags, 5);
	CHECK_EQ(buffer->hdr_cur_offs, 128);
	CHECK_EQ(buffer->hdr_min_buf_space, 184);
	CHECK_EQ(buffer->hdr_count + buffer->hdr_overflows, 0);
	close(fd);
	CHECK_EQ(buffer->hdr_buf_size, 5000); /* until it is unmapped */
	munmap(buffer, 5000);
}

/* 68 entries of 56 bytes: then less is left than the largest entry would take. */
static void
filled(void)
{
	pfm_dfl_smpl_hdr_t *buffer;
	pfm_dfl_smpl_entry_t *entry;
	const int fd = sampling(4096, 0xc, PFM_REGFL_OVFL_NOTIFY, &buffer);
	char message[64];

	CHECK_EQ(write_pmd(fd, 2, 0, 0), 0);
	CHECK_EQ(pfm_model_set_pmd(2, 222), 0);
	CHECK_EQ(pfm_model_set_pmd(3, 333), 0);
	CHECK_EQ(pfm_model_set_ip(0x1000), 0);
	CHECK_EQ(pfm_model_time(77), 0);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	CHECK_EQ(cycles(679), 0);
	CHECK_EQ(buffer->hdr_count, 67);
	entry = (pfm_dfl_smpl_entry_t *)(buffer + 1);
	CHECK_EQ(entry->pid, self_id());
	CHECK_EQ(entry->tgid, getpid());
	CHECK_EQ(entry->ovfl_pmd, 4);
	CHECK_EQ(entry->set, 0);
	CHECK_EQ((int64_t)entry->last_reset_val, -10);
	CHECK_EQ(entry->ip, 0x1000);
	CHECK_EQ(entry->tstamp, 77);
	CHECK_EQ(((uint64_t *)(entry + 1))[0], 222);
	CHECK_EQ(((uint64_t *)(entry + 1))[1], 333);
	CHECK_EQ(cycles(100), 0);
	CHECK_EQ(buffer->hdr_count, 68);
	CHECK_EQ(buffer->hdr_cur_offs, 3936);
	CHECK_EQ(buffer->hdr_overflows, 1);
	CHECK_EQ(read(fd, message, sizeof(message)), 64);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(buffer->hdr_count, 0);
	CHECK_EQ(buffer->hdr_cur_offs, 128);
	CHECK_EQ(buffer->hdr_overflows, 1);
	CHECK_EQ((int64_t)read_pmd(fd, 4), -20);
	CHECK_EQ(cycles(20), 0);
	CHECK_EQ(buffer->hdr_count, 1);
	CHECK_EQ((int64_t)read_pmd(fd, 4), -10);
	close(fd);
	munmap(buffer, 4096);
}

/* Nobody is told: only unload helps. */
static void
filled_without_notification(void)
{
	pfm_dfl_smpl_hdr_t *buffer;
	const int fd = sampling(128 + 184, 0, 0, &buffer);

	CHECK_EQ(cycles(100), 0);
	CHECK_EQ(buffer->hdr_count, 1);
	CHECK_EQ(buffer->hdr_overflows, 1);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	CHECK_EQ(pfm_unload_context(fd), 0);
	close(fd);
	munmap(buffer, 312);
}

static void
mappings(void)
{
	pfm_dfl_smpl_hdr_t *buffer;
	const int fd = sampling(4096, 0, 0, &buffer), plain = create(0);
	void *mine;

	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EACCES);
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, 4097, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, plain, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, -1, 0) == MAP_FAILED && errno == EBADF);
	mine = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 8192); /* the offset is not looked at */
	CHECK(mine != MAP_FAILED && memcmp(mine, buffer, 128) == 0);
	CHECK_ERRNO(mprotect(buffer, 4096, PROT_READ | PROT_WRITE), EACCES);
	munmap(mine, 4096);
	mine = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mine != MAP_FAILED);
	munmap(mine, 4096);
	munmap(buffer, 4096);
	close(plain);
	close(fd);
}

/* No more than the process may lock. */
static void
limits(void)
{
	const struct rlimit little = { 8192, 8192 };
	pfm_dfl_smpl_hdr_t *buffer;
	pfarg_ctx_t ctx = { .ctx_flags = 0 };
	pfm_dfl_smpl_arg_t format = { .buf_size = 4097 };

	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &little), 0);
	CHECK(sampling(4096, 0, 0, &buffer) >= 0);
	CHECK_ERRNO(pfm_create_context(&ctx, name, &format, sizeof(format)), ENOMEM);
	format.buf_size = UINT64_MAX;
	CHECK_ERRNO(pfm_create_context(&ctx, name, &format, sizeof(format)), ENOMEM);
	format.buf_size = 4096;
	CHECK(pfm_create_context(&ctx, name, &format, sizeof(format)) >= 0);
}

/* With a rate a thread's own time makes the events. */
static void
with_a_rate(void)
{
	pfm_dfl_smpl_hdr_t *buffer;
	const int fd = sampling(4096, 0, PFM_REGFL_OVFL_NOTIFY, &buffer);
	char message[64];
	uint64_t before;

	while (__atomic_load_n(&buffer->hdr_overflows, __ATOMIC_RELAXED) == 0)
		;
	CHECK_EQ(read(fd, message, sizeof(message)), 64);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(pfm_restart(fd), 0);
	before = read_pmd(fd, 4);
	for (volatile int i = 0; i < 10000000; i++)
		;
	CHECK_EQ(read_pmd(fd, 4), before);
	close(fd);
}

/* The least buffer of each PMU, and the space that it says it needs. */
static void
least_sizes(void)
{
	static const struct {
		int pmu;
		uint64_t space;
	} least[] = {
		{ PFMLIB_ITANIUM_PMU, 184 },
		{ PFMLIB_ITANIUM2_PMU, 184 },
		{ PFMLIB_MONTECITO_PMU, 320 },
		{ PFMLIB_GEN_IA64_PMU, 72 },
	};
	pfm_dfl_smpl_arg_t format = { .buf_flags = 9, .res1 = 8 };
	pfarg_ctx_t ctx = { .ctx_flags = PFM_FL_SMPL_FMT };
	pfm_dfl_smpl_hdr_t *header;

	for (size_t i = 0; i < sizeof(least) / sizeof(*least); i++) {
		CHECK_EQ(pfm_force_pmu(least[i].pmu), 0);
		format.buf_size = 127 + least[i].space;
		CHECK_ERRNO(pfm_create_context(&ctx, name, &format, sizeof(format)), EINVAL);
		close(create_sampling(128 + least[i].space, 0, &header));
		CHECK_EQ(header->hdr_min_buf_space, least[i].space);
		CHECK_EQ(header->hdr_buf_size, 128 + least[i].space); /* not rounded */
		munmap(header, 4096);
	}
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), 0);
}

/* Values in ascending order, counters as they stand, with the ones that wrap at 0. */
static void
values_of_a_sample(void)
{
	pfarg_pmd_t pmds[] = { counter(5, 10, 0, 1 << 4 | 1 << 5 | 1 << 17), counter(4, 1000, 0, 0) };
	const pfm_dfl_smpl_entry_t *entry;
	pfm_dfl_smpl_hdr_t *header;
	const int fd = create_sampling(4096, 0, &header);
	const uint64_t *values;

	pmds[0].reg_short_reset = (uint64_t)-20;
	pmds[0].reg_reset_pmds[0] = 1 << 4;
	pmds[1].reg_short_reset = 500;
	start_with(fd, pmds, 2);
	CHECK_EQ(pfm_model_set_pmd(17, 1717), 0);
	CHECK_EQ(cycles(30), 0);
	entry = (const void *)(header + 1);
	values = (const void *)(entry + 1);
	CHECK_EQ(header->hdr_cur_offs, 128 + 2 * (40 + 24));
	CHECK_EQ((int64_t)entry->last_reset_val, -10);
	CHECK_EQ((int64_t)values[0], -990);
	CHECK_EQ(values[1], 0);
	CHECK_EQ(values[2], 1717);
	entry = (const void *)(values + 3);
	values = (const void *)(entry + 1);
	CHECK_EQ((int64_t)entry->last_reset_val, -20);
	CHECK_EQ(values[0], 520); /* it was reset, too */
	CHECK_EQ(entry->reserved, 0);
	close(fd);
	munmap(header, 4096);
}

/* A set that overflows into the next one: the sample has the old set, and its reset waits. */
static void
with_sets(void)
{
	pfarg_pmd_t pmd = counter(4, 10, 0, 0);
	pfarg_pmc_t pmc = { .reg_num = 4, .reg_set = 6, .reg_value = CYCLES_PMC };
	const pfm_dfl_smpl_entry_t *entries;
	pfm_dfl_smpl_hdr_t *header;
	const int fd = create_sampling(4096, 0, &header);

	CHECK_EQ(make_set(fd, 0, PFM_SETFL_OVFL_SWITCH, 0), 0);
	CHECK_EQ(make_set(fd, 6, PFM_SETFL_OVFL_SWITCH, 0), 0);
	pmd.reg_ovfl_switch_cnt = 1;
	CHECK_EQ(pfm_write_pmcs(fd, &pmc, 1), 0);
	pmd.reg_set = 6;
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	pmd.reg_set = 0;
	start_with(fd, &pmd, 1);
	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(read_pmd(fd, 4), 0);
	CHECK_EQ(cycles(14), 0);
	entries = (const void *)(header + 1);
	CHECK_EQ(header->hdr_count, 2);
	CHECK_EQ(entries[0].set, 0);
	CHECK_EQ(entries[1].set, 6);
	CHECK_EQ((int64_t)read_pmd(fd, 4), -6);
	close(fd);
	munmap(header, 4096);
}

int
main(void)
{
	IN_CHILD(check_begin("model,rate=1000,np", PFMLIB_ITANIUM2_PMU); with_a_rate(););
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	header();
	filled();
	filled_without_notification();
	mappings();
	least_sizes();
	values_of_a_sample();
	with_sets();
	IN_CHILD(limits(););
	return check_result();
}
