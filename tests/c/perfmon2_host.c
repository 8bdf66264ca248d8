/*
 * The back end "host": counts, overflows, samples, sets, other tasks.
 */
#include "perfmon2_events.h"

/* It counts from start to stop, in 64 bits, and while it is loaded. */
static void
counts(void)
{
	const int fd = counting(UINT64_C(1) << 50, 0, 0);

	faults(100);
	CHECK_EQ(read_pmd(fd, 4), UINT64_C(1) << 50);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	faults(1000);
	CHECK(is_about(read_pmd(fd, 4), (UINT64_C(1) << 50) + 1000));
	faults(500);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK(is_about(read_pmd(fd, 4), (UINT64_C(1) << 50) + 1500));
	faults(100);
	CHECK(is_about(read_pmd(fd, 4), (UINT64_C(1) << 50) + 1500));
	CHECK_EQ(write_pmd(fd, 4, 7, 0), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	faults(10);
	CHECK(is_about(read_pmd(fd, 4), 17));
	CHECK_EQ(write_pmd(fd, 4, 0, 0), 0);
	faults(10);
	CHECK_EQ(pfm_unload_context(fd), 0);
	CHECK(is_about(read_pmd(fd, 4), 10));
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	faults(10);
	CHECK(is_about(read_pmd(fd, 4), 20));
	close(fd);
}

/* A counter without an interrupt has its own width. */
static void
narrow(void)
{
	const uint64_t low = (UINT64_C(1) << 47) - 1;
	pfarg_pmc_t pmc = { .reg_num = 4, .reg_value = CYCLES_PMC, .reg_flags = PFM_REGFL_NO_EMUL64 };
	const int fd = create(0);

	CHECK_EQ(pfm_write_pmcs(fd, &pmc, 1), 0);
	CHECK_EQ(write_pmd(fd, 4, (UINT64_C(5) << 47 | low) - 9, PFM_REGFL_OVFL_NOTIFY), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	faults(100);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK(is_about(read_pmd(fd, 4), (UINT64_C(5) << 47) + 90));
	close(fd);
}

/* What this host cannot count is refused when it would have to. */
static void
refusals(void)
{
	int fd = counting(0, 0, 0);

	CHECK_ERRNO(write_pmc(fd, 5, 0x77 << 8 | 8), ENOTSUP);
	CHECK_ERRNO(write_pmc(fd, 5, CYCLES_PMC | 2), ENOTSUP);       /* a level that is not here */
	CHECK_ERRNO(write_pmc(fd, 5, CYCLES_PMC | 1 << 20), ENOTSUP); /* a threshold */
	CHECK_ERRNO(write_pmc(fd, 5, CYCLES_PMC | 1 << 24), ENOTSUP); /* IA-32 */
	CHECK_ERRNO(write_pmc(fd, 8, 0), ENOTSUP);                    /* an opcode matcher */
	CHECK_ERRNO(write_pmc(fd, 256, 1), ENOTSUP);
	CHECK_ERRNO(write_pmc(fd, 5, 0x40 << 8 | 8), ENODEV);
	CHECK_EQ(write_pmc(fd, 8, 0xffffffff3fffffff), 0); /* its default */
	CHECK_EQ(write_pmc(fd, 5, 0x77 << 8), 0);          /* at no level */
	CHECK_EQ(pfm_start(fd, NULL), 0);
	faults(10);
	CHECK(is_about(read_pmd(fd, 4), 10)); /* what counted goes on */
	close(fd);
	fd = create(0);
	CHECK_EQ(write_pmc(fd, 4, 0x77 << 8 | 8), 0);
	CHECK_ERRNO(load(fd, self_id()), ENOTSUP);
	CHECK_EQ(write_pmc(fd, 4, 0x40 << 8 | 8), 0);
	CHECK_ERRNO(load(fd, self_id()), ENODEV);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, 0, 0), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	faults(10);
	CHECK_EQ(write_pmc(fd, 4, 0), 0); /* it stops at what it has */
	faults(10);
	CHECK(is_about(read_pmd(fd, 4), 10));
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	faults(10);
	CHECK(is_about(read_pmd(fd, 4), 20));
	CHECK_ERRNO(pfm_model_advance_code(CYCLES, 0, 8, 1), ENXIO);
	close(fd);
}

/* An overflow stops the counting, and is told; restart begins anew. */
static void
overflows(void)
{
	pfarg_pmd_t pmd = { .reg_num = 4,
			    .reg_value = (uint64_t)-100,
			    .reg_long_reset = (uint64_t)-200,
			    .reg_flags = PFM_REGFL_OVFL_NOTIFY };
	pfarg_msg_t message;
	int fd = create(0);

	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(write_pmc(fd, 5, TASK_CLOCK_PMC), 0);
	CHECK_EQ(write_pmd(fd, 5, 0, 0), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	for (int round = 0; round < 3; round++) {
		faults(1000);
		CHECK_EQ(read(fd, &message, sizeof(message)), sizeof(message));
		CHECK_EQ(message.type, PFM_MSG_OVFL);
		CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_pmds[0], 1 << 4);
		CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_pid, self_id());
		CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_tid, getpid());
		CHECK(message.pfm_ovfl_msg.msg_ovfl_ip != 0);
		CHECK_EQ(read_pmd(fd, 4), 0);
		CHECK(read_pmd(fd, 5) > 0);
		CHECK_EQ(pfm_restart(fd), 0);
		CHECK(read_pmd(fd, 4) - (uint64_t)-200 < 20);
	}
	close(fd);
}

/* A value that is written while its counter runs moves its overflow, in whatever state its event is. */
static void
written(void)
{
	const int fd = counting((uint64_t)-10000, PFM_REGFL_OVFL_NOTIFY, 0);

	CHECK_EQ(pfm_start(fd, NULL), 0);
	faults(5000);
	CHECK_EQ(write_pmd(fd, 4, (uint64_t)-10000, PFM_REGFL_OVFL_NOTIFY), 0);
	faults(5500);
	CHECK(is_about(read_pmd(fd, 4), (uint64_t)-4500));
	CHECK_EQ(write_pmd(fd, 4, 0, 0), 0); /* none at all */
	faults(20000);
	CHECK(is_about(read_pmd(fd, 4), 20000));
	CHECK_EQ(write_pmd(fd, 4, (uint64_t)-10, PFM_REGFL_OVFL_NOTIFY), 0);
	faults(100);
	CHECK_EQ(read_pmd(fd, 4), 0); /* masked at the overflow */
	CHECK_EQ(write_pmd(fd, 4, (uint64_t)-50, PFM_REGFL_OVFL_NOTIFY), 0);
	faults(100);
	CHECK_EQ(read_pmd(fd, 4), (uint64_t)-50);
	CHECK_EQ(pfm_restart(fd), 0); /* its long reset value */
	faults(100);
	CHECK(is_about(read_pmd(fd, 4), 100));
	close(fd);
}

/* Context switches, which happen in the kernel. */
static void
switches(void)
{
	int fd = create(0);

	CHECK_EQ(write_pmc(fd, 4, SWITCHES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, 0, 0), 0);
	if (load(fd, self_id()) < 0) {
		CHECK_EQ(errno, EPERM);
		printf("context switches are not counted: %s\n", strerror(EPERM));
		close(fd);
		return;
	}
	CHECK_EQ(pfm_start(fd, NULL), 0);
	for (int i = 0; i < 20; i++)
		usleep(1000);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK(read_pmd(fd, 4) >= 20);
	close(fd);
}

/* Without descriptors for the events nothing is loaded, and nothing is left open. */
static void
without_descriptors(void)
{
	struct rlimit before, few;
	const int fd = create(0);
	int lowest;

	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, 0, 0), 0);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	lowest = dup(0);
	close(lowest);
	for (int more = 0; more < 3; more++) {
		few = (struct rlimit){ (rlim_t)(lowest + more), before.rlim_max };
		CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
		CHECK_ERRNO(load(fd, self_id()), EMFILE);
		CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
		CHECK_EQ(dup(0), lowest);
		close(lowest);
	}
	CHECK_EQ(load(fd, self_id()), 0);
	close(fd);
}

static volatile int caught;

static void
restart_it(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	caught++;
	if (pfm_restart(info->si_fd) < 0)
		caught += 1000;
}

/* A signal at each overflow; the handler restarts. */
static void
signals(void)
{
	struct sigaction action = { .sa_sigaction = restart_it, .sa_flags = SA_SIGINFO | SA_RESTART };
	pfarg_pmd_t pmd = notifying(100);
	const int fd = create(PFM_FL_OVFL_NO_MSG);

	sigaction(SIGIO, &action, NULL);
	CHECK_EQ(fcntl(fd, F_SETFL, O_ASYNC), 0);
	CHECK_EQ(fcntl(fd, F_SETSIG, SIGIO), 0);
	CHECK_EQ(fcntl(fd, F_SETOWN, getpid()), 0);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	for (int round = 1; round <= 5; round++) {
		faults(100);
		for (int ms = 0; caught < round && ms < 5000; ms++)
			usleep(1000);
		CHECK_EQ(caught, round);
	}
	close(fd);
	signal(SIGIO, SIG_DFL);
}

/* All samples are there, at each of so many events, until the buffer is full. */
static void
samples(void)
{
	enum { SAMPLES = 3000 };
	pfm_dfl_smpl_arg_t arg = { .buf_size = sizeof(pfm_dfl_smpl_hdr_t) +
					       SAMPLES * (sizeof(pfm_dfl_smpl_entry_t) + 8) + 184 };
	pfarg_pmd_t pmd = { .reg_num = 4,
			    .reg_value = (uint64_t)-10,
			    .reg_long_reset = (uint64_t)-10,
			    .reg_short_reset = (uint64_t)-10,
			    .reg_flags = PFM_REGFL_OVFL_NOTIFY,
			    .reg_smpl_pmds = { 1 << 5 } };
	pfarg_ctx_t ctx = { 0 };
	const int fd = pfm_create_context(&ctx, (char *)(uintptr_t)"default", &arg, sizeof(arg));
	const pfm_dfl_smpl_hdr_t *header;
	const char *at;
	uint64_t last = 0, time = 0;

	CHECK(fd >= 0);
	header = mmap(NULL, arg.buf_size, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(header != MAP_FAILED);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(write_pmc(fd, 5, TASK_CLOCK_PMC), 0);
	CHECK_EQ(write_pmd(fd, 5, 0, 0), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	faults(9995);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK(is_about(header->hdr_count, 999));
	CHECK(is_about(read_pmd(fd, 4) - (uint64_t)-10, 0));
	at = (const char *)(header + 1);
	for (uint64_t i = 0; i < header->hdr_count; i++) {
		const pfm_dfl_smpl_entry_t *entry = (const void *)at;
		uint64_t value;

		memcpy(&value, entry + 1, sizeof(value));
		CHECK_EQ(entry->ovfl_pmd, 4);
		CHECK_EQ(entry->last_reset_val, (uint64_t)-10);
		CHECK_EQ(entry->pid, self_id());
		CHECK(entry->ip != 0 && entry->tstamp >= time && value >= last);
		last = value;
		time = entry->tstamp;
		at += sizeof(*entry) + sizeof(value);
	}
	CHECK_EQ(pfm_start(fd, NULL), 0);
	faults(30000); /* it is full meanwhile */
	for (int ms = 0; ms < 5000 && header->hdr_overflows == 0; ms++)
		usleep(1000);
	CHECK_EQ(header->hdr_overflows, 1);
	CHECK(header->hdr_count >= SAMPLES);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(header->hdr_count, 0);
	faults(105);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK(is_about(header->hdr_count, 10));
	munmap((void *)(uintptr_t)header, arg.buf_size);
	close(fd);
}

/* Sets take turns by the time that the thread runs. */
static void
turns(void)
{
	const int fd = create(0);
	uint64_t sum = 0, runs = 0, duration = 0;

	for (uint16_t set = 0; set < 3; set++) {
		pfarg_pmc_t pmc = { .reg_num = 4, .reg_set = set, .reg_value = TASK_CLOCK_PMC };
		pfarg_pmd_t pmd = { .reg_num = 4, .reg_set = set };

		CHECK_EQ(make_set(fd, set, PFM_SETFL_TIME_SWITCH, 2000000), 0);
		CHECK_EQ(pfm_write_pmcs(fd, &pmc, 1), 0);
		CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	}
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	spin(100);
	usleep(50000); /* no turn */
	CHECK_EQ(pfm_stop(fd), 0);
	for (uint16_t set = 0; set < 3; set++) {
		const pfarg_setinfo_t info = info_of(fd, set);

		CHECK(info.set_runs >= 2);
		runs += info.set_runs;
		duration += info.set_act_duration;
		sum += read_all_of(fd, 4, set).reg_value;
	}
	CHECK(runs <= 53);
	CHECK(sum > 80000000 && sum < 400000000); /* ns that the thread ran, but for those between two turns */
	CHECK(duration >= 100000000);
	close(fd);
}

static void
system_wide(void)
{
	const int cpu = sched_getcpu(), fd = create(PFM_FL_SYSTEM_WIDE);
	cpu_set_t one, before;
	int ret;

	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, 0, 0), 0);
	ret = load(fd, cpu);
	if (ret < 0) {
		CHECK_EQ(errno, EPERM);
	} else {
		CHECK_EQ(pfm_start(fd, NULL), 0);
		faults(100);
		CHECK_EQ(pfm_stop(fd), 0);
		CHECK(read_pmd(fd, 4) >= 100);
	}
	close(fd);
	sched_setaffinity(0, sizeof(before), &before);
}

int
main(void)
{
	begin_with_events();
	counts();
	narrow();
	refusals();
	overflows();
	written();
	switches();
	without_descriptors();
	signals();
	samples();
	turns();
	counts_another();
	system_wide();
	return check_result();
}
