/*
 * Where perfmon2 differs from the kernels that had it, and what was decided where they give no rule: one function for each row of
 * docs/deviations/perfmon2.rst that no other program holds.
 */
#include "perfmon2_check.h"

#include <perfmon/perfmon_default_smpl.h>

#include <pthread.h>
#include <sys/ioctl.h>

#if defined(PFM_FL_MAP_SETS) || defined(PFM_SETFL_EXPL_NEXT)
#error "sets that a program maps are not declared: older programs find out when they are compiled"
#endif

/* ---- registers -------------------------------------------------------------------------------- */

/* Registers that a vector names become used in the set of its element. */
static void
vectors_of_a_set(void)
{
	pfarg_pmd_t pmd = { .reg_num = 4, .reg_set = 1, .reg_smpl_pmds = { 1 << 6 }, .reg_reset_pmds = { 1 << 7 } };
	pfarg_pmd_t unused = { .reg_num = 6 };
	const int fd = create(0);

	CHECK_EQ(make_set(fd, 1, 0, 0), 0);
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(read_all_of(fd, 6, 1).reg_value + read_all_of(fd, 7, 1).reg_value, 0);
	CHECK_ERRNO(pfm_read_pmds(fd, &unused, 1), EINVAL);
	unused.reg_num = 7;
	CHECK_ERRNO(pfm_read_pmds(fd, &unused, 1), EINVAL);
	close(fd);
}

/* A value that is written by version 3 is no overflow any more. */
static void
written_after_an_overflow(void)
{
	pfarg_pmr_t value = { .reg_num = 4, .reg_value = 5 };
	const int fd = counting((uint64_t)-1, 0, 0);

	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(info_of(fd, 0).set_ovfl_pmds[0], 1 << 4);
	CHECK_EQ(pfm_write(fd, 0, PFM_RW_PMD, &value, sizeof(value)), 0);
	CHECK_EQ(info_of(fd, 0).set_ovfl_pmds[0], 0);
	close(fd);
}

/* Montecito's second thread is off: PMC10 to 15 have 64 bits, and bits 10 to 8 of PMC39 and 42 may be 4. */
static void
one_thread_of_a_core(void)
{
	int fd;

	CHECK_EQ(pfm_force_pmu(PFMLIB_MONTECITO_PMU), 0);
	fd = create(0);
	CHECK_EQ(write_pmc(fd, 10, CYCLES_PMC), 0);
	CHECK_EQ(write_pmc(fd, 39, 4 << 8), 0);
	CHECK_EQ(write_pmc(fd, 42, 4 << 8), 0);
	close(fd);
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), 0);
}

/* ---- start, stop, generations ------------------------------------------------------------------ */

/* pfm_self_start() and pfm_self_stop() are calls, on every processor. */
static void
self_start(void)
{
	const int fd = counting(0, 0, 0);

	CHECK_EQ(cycles(4), 0);
	CHECK_EQ(pfm_self_start(fd), 0);
	CHECK_EQ(cycles(5), 0);
	CHECK_EQ(pfm_self_stop(fd), 0);
	CHECK_EQ(cycles(6), 0);
	CHECK_EQ(read_pmd(fd, 4), 5);
	close(fd);
}

/* Each call has the rules of its own version, whatever was called before and whoever made the context. */
static void
no_translation(void)
{
	pfarg_setdesc_t set = { .set_id = 1 };
	pfarg_start_t start = { .start_set = 2 };
	const int fd = pfm_create(0, NULL);

	CHECK_ERRNO(pfm_create_context(NULL, NULL, NULL, 0), EFAULT);
	CHECK_ERRNO(pfm_load_context(fd, NULL), EFAULT);
	CHECK_EQ(make_set(fd, 1, 0, 0), 0);
	CHECK_EQ(make_set(fd, 2, PFM_SETFL_OVFL_SWITCH, 0), 0);
	CHECK_EQ(pfm_delete_evtsets(fd, &set, 1), 0);
	CHECK_EQ(info_of(fd, 2).set_flags, PFM_SETFL_OVFL_SWITCH);
	CHECK_EQ(load_set(fd, self_id(), 2), 0);
	CHECK_EQ(info_of(fd, 2).set_runs, 1);
	CHECK_EQ(pfm_start(fd, &start), 0);
	close(fd);
}

/* Durations: from the last start; nothing while the context is masked. */
static void
durations(void)
{
	const int fd = counting((uint64_t)-1, PFM_REGFL_OVFL_NOTIFY, 0);

	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(pfm_model_time(30), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0); /* the 30 do not count */
	CHECK_EQ(pfm_model_time(5), 0);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(info_of(fd, 0).set_act_duration, 5);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(1), 0); /* masks */
	CHECK_EQ(pfm_model_time(1000), 0);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ(pfm_model_time(2), 0);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(info_of(fd, 0).set_act_duration, 7);
	close(fd);
}

/* ---- the descriptor ---------------------------------------------------------------------------- */

static void
short_reads(void)
{
	const int fd = counting((uint64_t)-1, PFM_REGFL_OVFL_NOTIFY, 0);
	char message[64];

	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	CHECK_ERRNO((int)read(fd, message, 10), EAGAIN);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(read(fd, message, 10), 10);
	CHECK_ERRNO((int)read(fd, message, sizeof(message)), EAGAIN); /* the rest is lost */
	CHECK_ERRNO(ioctl(fd, TCGETS, message), ENOTTY);
	close(fd);
}

static void *
overflows(void *unused)
{
	const int fd = counting((uint64_t)-1, PFM_REGFL_OVFL_NOTIFY, 0);
	pfarg_msg_t message;

	CHECK(self_id() != getpid());
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(read(fd, &message, sizeof(message)), 64);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_pid, self_id());
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_tid, getpid());
	close(fd);
	return unused;
}

/* The names of the members are exchanged: pid is the thread's number, tid the process's. */
static void
exchanged_ids(void)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, overflows, NULL), 0);
	pthread_join(thread, NULL);
}

/* Without the redirection of the headers, nothing can be mapped; pfm_mmap() maps buffers of perfmonctl() too. */
static void
mapped(void)
{
	pfm_default_smpl_ctx_arg_t wanted = {
		.ctx_arg = { .ctx_smpl_buf_id = PFM_DEFAULT_SMPL_UUID },
		.buf_arg = { .buf_size = 4096 },
	};
	const pfm_default_smpl_hdr_t *header;

	CHECK_EQ(perfmonctl(-1, PFM_CREATE_CONTEXT, &wanted, 1), 0);
	CHECK_ERRNO((int)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_SHARED, wanted.ctx_arg.ctx_fd, 0), ENODEV);
	header = pfm_mmap(NULL, 4096, PROT_READ, MAP_SHARED, wanted.ctx_arg.ctx_fd, 0);
	CHECK(header != MAP_FAILED && header->hdr_version == PFM_DEFAULT_SMPL_VERSION);
	munmap((void *)(uintptr_t)header, 4096);
	close(wanted.ctx_arg.ctx_fd);
}

/* In the new program: the descriptor is open, and nothing is there. */
static void
after_exec(int fd)
{
	char message[64];

	CHECK_EQ(fcntl(fd, F_GETFD), 0);
	CHECK_EQ(read(fd, message, sizeof(message)), 0);
	CHECK_ERRNO(pfm_stop(fd), EBADF);
	CHECK_EQ(cycles(10), 0);
	CHECK_EQ(counting(0, 0, 0), fd + 1); /* the thread has no context */
}

static void
exec_ends_it(const char *program)
{
	IN_CHILD(char number[16]; int fd = counting((uint64_t)-5, PFM_REGFL_OVFL_NOTIFY, 0);

		 CHECK_EQ(pfm_start(fd, NULL), 0); snprintf(number, sizeof(number), "%d", fd);
		 CHECK_EQ(execl(program, program, number, (char *)NULL), 0); /* it does not return */
	);
}

/* ---- other tasks ------------------------------------------------------------------------------- */

/* A context of a stopped child that notifies at the next cycle. */
static int
watching(pid_t child, uint32_t flags)
{
	pfarg_pmd_t pmd = { .reg_num = 4,
			    .reg_value = (uint64_t)-1,
			    .reg_long_reset = (uint64_t)-50,
			    .reg_flags = PFM_REGFL_OVFL_NOTIFY };
	const int fd = create(flags);

	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(load(fd, child), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	return fd;
}

static int
cycles_of(pid_t child, uint64_t count)
{
	return pfm_model_advance_task(child, 179, PFM_PLM3, count); /* CPU_CYCLES */
}

static void
released(pid_t child)
{
	CHECK_EQ(ptrace(PTRACE_DETACH, child, 0, 0), 0);
	CHECK_EQ(wait_for(child), 0);
}

/* Restart does not wait for the other thread to run; its time counts up to stop. */
static void
restarted_at_once(void)
{
	const pid_t child = stopped_child(false);
	const int fd = watching(child, 0);

	CHECK_EQ(cycles_of(child, 3), 0);
	CHECK_EQ(read_pmd(fd, 4), 0);
	CHECK_EQ(pfm_restart(fd), 0);
	CHECK_EQ((int64_t)read_pmd(fd, 4), -50);
	CHECK_EQ(cycles_of(child, 3), 0);
	CHECK_EQ((int64_t)read_pmd(fd, 4), -47);
	CHECK_EQ(pfm_model_time_task(child, 40), 0);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(info_of(fd, 0).set_act_duration, 40);
	close(fd);
	released(child);
}

/* A notification that should block the thread masks: the thread runs to its end, uncounted. */
static void
does_not_block(void)
{
	const pid_t child = stopped_child(false);
	const int fd = watching(child, PFM_FL_NOTIFY_BLOCK);
	pfarg_msg_t message;

	CHECK_EQ(cycles_of(child, 7), 0);
	CHECK_EQ(read_pmd(fd, 4), 0);
	CHECK_EQ(read(fd, &message, sizeof(message)), 64);
	CHECK_EQ(message.type, PFM_MSG_OVFL);
	released(child); /* without a restart */
	CHECK_EQ(read(fd, &message, sizeof(message)), 64);
	CHECK_EQ(message.type, PFM_MSG_END);
	close(fd);
}

/* The last close ends the monitoring of another thread: it may have the next context at once. */
static void
closed_elsewhere(void)
{
	const pid_t child = stopped_child(false);

	close(watching(child, 0));
	close(watching(child, 0));
	released(child);
}

/* With the option np a thread need not be stopped, nor traced. */
static void
not_stopped(void)
{
	const pid_t child = fork();
	int fd;

	if (child == 0) {
		pause();
		_exit(0);
	}
	fd = watching(child, 0);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(pfm_unload_context(fd), 0);
	close(fd);
	kill(child, SIGKILL);
	CHECK_EQ(wait_for(child), -SIGKILL);
}

/* ---- sets and perfmonctl ----------------------------------------------------------------------- */

/* A new set that is refused is there all the same, with control registers that count nothing. */
static void
refused_set(void)
{
	pfarg_pmd_t pmd = { .reg_num = 4, .reg_set = 3 };
	const int fd = create(0);

	CHECK_ERRNO(make_set(fd, 3, PFM_SETFL_TIME_SWITCH, 0), EINVAL);
	CHECK_EQ(info_of(fd, 3).set_flags, 0);
	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(load_set(fd, self_id(), 3), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(5), 0);
	CHECK_EQ(read_all_of(fd, 4, 3).reg_value, 0);
	close(fd);
}

static int
made_by_perfmonctl(pfarg_reg_t *pmcs, pfarg_reg_t *pmds, int count)
{
	pfarg_context_t context = { .ctx_flags = 0 };
	pfarg_load_t wanted = { .load_pid = (uint32_t)self_id() };

	CHECK_EQ(perfmonctl(-1, PFM_CREATE_CONTEXT, &context, 1), 0);
	CHECK_EQ(perfmonctl(context.ctx_fd, PFM_WRITE_PMCS, pmcs, count), 0);
	CHECK_EQ(perfmonctl(context.ctx_fd, PFM_WRITE_PMDS, pmds, count), 0);
	CHECK_EQ(perfmonctl(context.ctx_fd, PFM_LOAD_CONTEXT, &wanted, 1), 0);
	CHECK_EQ(perfmonctl(context.ctx_fd, PFM_START, NULL, 0), 0);
	return context.ctx_fd;
}

/* A data register that is no counter keeps its value when the context is unloaded. */
static void
buffers_of_perfmonctl(void)
{
	pfarg_reg_t pmc = { .reg_num = 11 }, pmd = { .reg_num = 2, .reg_set = 7 }; /* the set is not looked at */
	const int fd = made_by_perfmonctl(&pmc, &pmd, 1);

	CHECK_EQ(pfm_model_set_pmd(2, 99), 0);
	CHECK_EQ(perfmonctl(fd, PFM_UNLOAD_CONTEXT, NULL, 0), 0);
	CHECK_EQ(perfmonctl(fd, PFM_READ_PMDS, &pmd, 1), 0);
	CHECK_EQ(pmd.reg_value, 99);
	close(fd);
}

/* An argument that cannot be written leaves no descriptor. */
static void
unwritable_argument(void)
{
	void *argument = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const int before = dup(0);

	close(before);
	CHECK(argument != MAP_FAILED);
	CHECK_ERRNO(perfmonctl(-1, PFM_CREATE_CONTEXT, argument, 1), EFAULT);
	CHECK_EQ(dup(0), before);
	close(before);
	munmap(argument, 4096);
}

int
main(int argc, char **argv)
{
	if (argc > 1) {
		check_begin("model", PFMLIB_ITANIUM2_PMU);
		after_exec(atoi(argv[1]));
		return check_result();
	}
	IN_CHILD(check_begin("model,np", PFMLIB_ITANIUM2_PMU); not_stopped(););
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	vectors_of_a_set();
	written_after_an_overflow();
	one_thread_of_a_core();
	self_start();
	no_translation();
	durations();
	short_reads();
	exchanged_ids();
	mapped();
	exec_ends_it(argv[0]);
	restarted_at_once();
	does_not_block();
	closed_elsewhere();
	refused_set();
	buffers_of_perfmonctl();
	unwritable_argument();
	return check_result();
}
