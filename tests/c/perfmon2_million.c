/*
 * The back end "host": 200,000 samples, or as many as are asked for, through the ring of one context: none is lost, none is
 * there twice.  The buffer gets full many times meanwhile.
 */
#include "perfmon2_events.h"

enum { ROOM = 20000, SAMPLE = sizeof(pfm_dfl_smpl_entry_t) + sizeof(uint64_t) };

static uint64_t taken, fills, last, last_time;

/*
 * Nothing counts now: the buffer is full, or all is stopped.  Each sample is of one fault, and has the number of those before.  The
 * kernel lets one counter count after the other: at a fault that masks the second one may have missed it.
 */
static void
check_samples(int fd, const pfm_dfl_smpl_hdr_t *header)
{
	const uint64_t counted = read_pmd(fd, 5);
	const char *at = (const char *)(header + 1);

	for (uint64_t i = 0; i < header->hdr_count && !check_failures; i++, at += SAMPLE) {
		const pfm_dfl_smpl_entry_t *entry = (const void *)at;
		uint64_t value;

		memcpy(&value, at + sizeof(*entry), sizeof(value));
		CHECK_EQ(entry->ovfl_pmd, 4);
		CHECK_EQ(entry->last_reset_val, (uint64_t)-1);
		CHECK(value >= last && entry->tstamp >= last_time);
		last = value;
		last_time = entry->tstamp;
	}
	taken += header->hdr_count;
	CHECK(taken >= counted && taken <= counted + fills);
}

int
main(int argc, char **argv)
{
	const uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
	pfm_dfl_smpl_arg_t arg = { .buf_size = sizeof(pfm_dfl_smpl_hdr_t) + ROOM * SAMPLE + 184 };
	pfarg_pmd_t pmd = { .reg_num = 4,
			    .reg_value = (uint64_t)-1,
			    .reg_long_reset = (uint64_t)-1,
			    .reg_short_reset = (uint64_t)-1,
			    .reg_flags = PFM_REGFL_OVFL_NOTIFY,
			    .reg_smpl_pmds = { 1 << 5 } };
	pfarg_ctx_t ctx = { 0 };
	const pfm_dfl_smpl_hdr_t *header;
	pfarg_msg_t message;
	int fd;

	begin_with_events();
	fd = pfm_create_context(&ctx, (char *)(uintptr_t)"default", &arg, sizeof(arg));
	CHECK(fd >= 0);
	header = mmap(NULL, arg.buf_size, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(header != MAP_FAILED);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmc(fd, 5, CYCLES_PMC), 0);
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(write_pmd(fd, 5, 0, 0), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	while (taken + header->hdr_count < wanted && !check_failures) {
		faults(1000);
		read_pmd(fd, 4); /* the library looks: the ring has room for so many */
		if (header->hdr_overflows == fills)
			continue;
		CHECK_EQ(read(fd, &message, sizeof(message)), sizeof(message));
		CHECK_EQ(message.type, PFM_MSG_OVFL);
		fills++;
		check_samples(fd, header);
		CHECK_EQ(pfm_restart(fd), 0);
	}
	CHECK_EQ(pfm_stop(fd), 0);
	check_samples(fd, header);
	CHECK(taken >= wanted);
	CHECK(fills >= wanted / ROOM - 1);
	printf("%llu samples of %llu faults, %llu times full\n", (unsigned long long)taken,
	       (unsigned long long)read_pmd(fd, 5), (unsigned long long)fills);
	munmap((void *)(uintptr_t)header, arg.buf_size);
	close(fd);
	return check_result();
}
