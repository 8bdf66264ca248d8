/*
 * The back end "host": periods that change, or that are shorter than the kernel can tell of.  No event is lost, and the
 * sampling goes on.
 */
#include "perfmon2_events.h"

enum {
	MOST = 1 << 16, /* samples that a buffer holds */
	FAULTS = 10000, /* fewer overflows than a look handles (MOST_AT_ONCE): the helper may not run before the end */
};

/* How a counter is sampled: PMD4, together with PMD5, which counts the same and is part of each sample. */
struct sampling {
	uint64_t event, first, period, random_mask;
	pfm_dfl_smpl_hdr_t *header;
	size_t size;
	int fd;
};

static void
begin(struct sampling *s)
{
	pfm_dfl_smpl_arg_t arg = { .buf_size = sizeof(pfm_dfl_smpl_hdr_t) + MOST * (sizeof(pfm_dfl_smpl_entry_t) + 8) +
					       184 };
	pfarg_pmd_t pmd = { .reg_num = 4,
			    .reg_value = -s->first,
			    .reg_long_reset = -s->period,
			    .reg_short_reset = -s->period,
			    .reg_flags = PFM_REGFL_OVFL_NOTIFY | (s->random_mask ? PFM_REGFL_RANDOM : 0),
			    .reg_random_mask = s->random_mask,
			    .reg_smpl_pmds = { 1 << 5 } };
	pfarg_ctx_t ctx = { 0 };

	s->fd = pfm_create_context(&ctx, (char *)(uintptr_t)"default", &arg, sizeof(arg));
	CHECK(s->fd >= 0);
	s->size = arg.buf_size;
	s->header = mmap(NULL, s->size, PROT_READ, MAP_SHARED, s->fd, 0);
	CHECK(s->header != MAP_FAILED);
	CHECK_EQ(write_pmc(s->fd, 4, s->event), 0);
	CHECK_EQ(write_pmc(s->fd, 5, s->event), 0);
	CHECK_EQ(pfm_write_pmds(s->fd, &pmd, 1), 0);
	CHECK_EQ(write_pmd(s->fd, 5, 0, 0), 0);
	CHECK_EQ(load(s->fd, self_id()), 0);
}

/* The periods of all samples and what the counter has of the next one. */
static uint64_t
sum_of(const struct sampling *s)
{
	const pfarg_pmd_t pmd = read_all_of(s->fd, 4, 0);
	uint64_t sum = pmd.reg_value - pmd.reg_last_reset_val;
	const char *at = (const char *)(s->header + 1);

	for (uint64_t i = 0; i < s->header->hdr_count; i++) {
		sum -= ((const pfm_dfl_smpl_entry_t *)(const void *)at)->last_reset_val;
		at += sizeof(pfm_dfl_smpl_entry_t) + sizeof(uint64_t);
	}
	return sum;
}

static void
end(struct sampling *s)
{
	munmap(s->header, s->size);
	close(s->fd);
}

/* Of each period that the program asks for there is a sample. */
static void
changing(uint64_t first, uint64_t period, uint64_t random_mask)
{
	struct sampling s = { .event = CYCLES_PMC, .first = first, .period = period, .random_mask = random_mask };
	uint64_t all;

	begin(&s);
	CHECK_EQ(pfm_start(s.fd, NULL), 0);
	faults(FAULTS);
	CHECK_EQ(pfm_stop(s.fd), 0);
	all = read_pmd(s.fd, 5);
	CHECK(all >= FAULTS);
	CHECK_EQ(sum_of(&s), all);
	CHECK(-read_pmd(s.fd, 4) <= period + random_mask); /* it is on the way to its next overflow */
	CHECK(s.header->hdr_count >= (FAULTS - first) / (period + random_mask));
	end(&s);
}

/* The clock's overflows are never where they should be. */
static void
clocked(uint64_t period, long ms)
{
	struct sampling s = { .event = TASK_CLOCK_PMC, .first = period, .period = period };

	begin(&s);
	CHECK_EQ(pfm_start(s.fd, NULL), 0);
	spin(ms);
	CHECK_EQ(pfm_stop(s.fd), 0);
	CHECK(-read_pmd(s.fd, 4) <= period || s.header->hdr_overflows); /* a slow machine may have filled the buffer */
	CHECK(s.header->hdr_count >= (uint64_t)ms * 1000000 / period - 3);
	end(&s);
}

/* On a slow machine a start and a stop take longer than a period, and a full buffer ends the counting. */
static bool
has_room(const struct sampling *s)
{
	return s->header->hdr_count < MOST / 2;
}

/* An overflow on the way to a stop is not lost, and the counter goes on after it. */
static void
stopped(void)
{
	struct sampling s = { .event = TASK_CLOCK_PMC, .first = 20000, .period = 20000 };

	begin(&s);
	for (int i = 0; i < 3000 && has_room(&s); i++) {
		CHECK_EQ(pfm_start(s.fd, NULL), 0);
		CHECK_EQ(pfm_stop(s.fd), 0);
		CHECK(-read_pmd(s.fd, 4) <= 20000);
	}
	end(&s);
}

/* The same on the way to another set: it is found when the set runs again. */
static void
switched(void)
{
	struct sampling s = { .event = TASK_CLOCK_PMC, .first = 20000, .period = 20000 };
	pfarg_start_t other = { .start_set = 1 }, first = { .start_set = 0 };

	begin(&s);
	CHECK_EQ(pfm_unload_context(s.fd), 0);
	CHECK_EQ(make_set(s.fd, 1, 0, 0), 0);
	CHECK_EQ(load(s.fd, self_id()), 0);
	for (int i = 0; i < 3000 && has_room(&s); i++) {
		CHECK_EQ(pfm_start(s.fd, &first), 0);
		CHECK_EQ(pfm_start(s.fd, &other), 0);
	}
	CHECK_EQ(pfm_start(s.fd, &first), 0);
	spin(1);
	CHECK_EQ(pfm_stop(s.fd), 0);
	CHECK(-read_pmd(s.fd, 4) <= 20000);
	end(&s);
}

/* What its event counts after an overflow that masks does not bring a counter's next overflow nearer. */
static void
masked(void)
{
	enum { ROOM = 60, SMPL = sizeof(pfm_dfl_smpl_entry_t) + 8 };
	pfm_dfl_smpl_arg_t arg = { .buf_size = sizeof(pfm_dfl_smpl_hdr_t) + (ROOM - 1) * SMPL + 184 };
	pfarg_ctx_t ctx = { 0 };
	const int fd = pfm_create_context(&ctx, (char *)(uintptr_t)"default", &arg, sizeof(arg));
	const pfm_dfl_smpl_hdr_t *header = mmap(NULL, arg.buf_size, PROT_READ, MAP_SHARED, fd, 0);
	const char *at = (const char *)(header + 1);
	uint64_t value = 0;

	for (uint16_t i = 0; i < 2; i++) {
		const uint64_t period = i == 0 ? 10 : 1003;
		pfarg_pmd_t pmd = { .reg_num = (uint16_t)(4 + i),
				    .reg_value = -period,
				    .reg_long_reset = -period,
				    .reg_short_reset = -period,
				    .reg_flags = PFM_REGFL_OVFL_NOTIFY,
				    .reg_smpl_pmds = { 1 << 6 } };

		CHECK_EQ(write_pmc(fd, pmd.reg_num, CYCLES_PMC), 0);
		CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	}
	CHECK_EQ(write_pmc(fd, 6, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 6, 0, 0), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	faults(777);
	CHECK_EQ(read_pmd(fd, 4), 0);
	CHECK_EQ(header->hdr_overflows, 1);
	CHECK_EQ(pfm_restart(fd), 0);
	faults(450);
	CHECK_EQ(pfm_stop(fd), 0);
	for (uint64_t i = 0; i < header->hdr_count && value == 0; i++, at += SMPL)
		if (((const pfm_dfl_smpl_entry_t *)(const void *)at)->ovfl_pmd == 5)
			memcpy(&value, at + sizeof(pfm_dfl_smpl_entry_t), sizeof(value));
	CHECK(value == 1002 || value == 1003); /* events count one after the other */
	munmap((void *)(uintptr_t)header, arg.buf_size);
	close(fd);
}

/* An overflow each nanosecond, which nobody is told of, does not keep the program in a call. */
static void
countless(void)
{
	pfarg_reg_t pmc = { .reg_num = 4, .reg_value = TASK_CLOCK_PMC };
	pfarg_reg_t pmd = {
		.reg_num = 4, .reg_value = (uint64_t)-1, .reg_long_reset = (uint64_t)-1, .reg_short_reset = (uint64_t)-1
	};
	pfarg_load_t target = { .load_pid = (uint32_t)self_id() };
	pfarg_context_t ctx;

	alarm(300); /* an end, were it to stay there */
	memset(&ctx, 0, sizeof(ctx));
	CHECK_EQ(perfmonctl(0, PFM_CREATE_CONTEXT, &ctx, 1), 0);
	CHECK_EQ(perfmonctl(ctx.ctx_fd, PFM_WRITE_PMCS, &pmc, 1), 0);
	CHECK_EQ(perfmonctl(ctx.ctx_fd, PFM_WRITE_PMDS, &pmd, 1), 0);
	CHECK_EQ(perfmonctl(ctx.ctx_fd, PFM_LOAD_CONTEXT, &target, 1), 0);
	CHECK_EQ(perfmonctl(ctx.ctx_fd, PFM_START, NULL, 0), 0);
	spin(100);
	CHECK_EQ(perfmonctl(ctx.ctx_fd, PFM_STOP, NULL, 0), 0);
	alarm(0);
	close(ctx.ctx_fd);
}

int
main(void)
{
	begin_with_events();
	changing(10, 10, 0);
	changing(10, 5, 0);
	changing(100, 7, 0);
	changing(7, 100, 0);
	changing(1, 1, 0);
	changing(10, 10, 0xf);
	changing(10, 10, 0xff);
	clocked(1000000, 100);
	clocked(100000, 100);
	clocked(2000, 20);
	stopped();
	switched();
	masked();
	countless();
	return check_result();
}
