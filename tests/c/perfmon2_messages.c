/*
 * The descriptor of a context of perfmon2: messages, their layout, the queue, signals, what descriptors cannot do; tasks
 * and threads: who may call, the end of a thread, children.
 */
#include "perfmon2_check.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/ptrace.h>

static int context;
static volatile int signals, restarts, last_fd, last_code;
static volatile uint64_t counted_in_handler;

static bool
is_readable(int fd)
{
	struct pollfd wanted = { .fd = fd, .events = POLLIN };

	return poll(&wanted, 1, 0) == 1 && wanted.revents == POLLIN;
}

static void
overflow_message(void)
{
	const int fd = counting((uint64_t)-10, PFM_REGFL_OVFL_NOTIFY, 0);
	pfarg_msg_t message;

	CHECK(!is_readable(fd));
	CHECK_EQ(pfm_model_set_ip(0x4000000000000471), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(9), 0);
	CHECK(!is_readable(fd));
	CHECK_EQ(cycles(100), 0);
	CHECK(is_readable(fd));
	CHECK_EQ(read_pmd(fd, 4), 0); /* the rest was not counted */
	memset(&message, 0xff, sizeof(message));
	CHECK_EQ(read(fd, &message, sizeof(message)), 64);
	CHECK_EQ(message.type, PFM_MSG_OVFL);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_pid, self_id());
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_tid, getpid());
	CHECK_EQ(message.pfm_ovfl_msg.msg_active_set, 0);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_ip, 0x4000000000000471);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_pmds[0], 1 << 4);
	CHECK_EQ(message.pfm_ovfl_msg.msg_ovfl_pmds[4], 0);
	CHECK(!is_readable(fd));
	CHECK_ERRNO((int)write(fd, "x", 1), EBADF);
	CHECK_ERRNO((int)lseek(fd, 0, SEEK_SET), ESPIPE);
	CHECK_EQ(pfm_model_set_ip(0), 0);
	close(fd);
}

static void
old_layout(void)
{
	pfarg_ctx_t ctx = { .ctx_flags = 0 };
	const int fd = pfm_create_context_v2old(&ctx, NULL, NULL, 0);
	uint64_t message[8] = { 0 };
	struct {
		uint16_t id, next;
		uint32_t flags;
		uint64_t rest[23];
	} info = { .id = 0, .next = 7 };

	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, (uint64_t)-1, PFM_REGFL_OVFL_NOTIFY), 0);
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(read(fd, message, sizeof(message)), 56);
	CHECK_EQ(message[0] & 0xffffffff, PFM_MSG_OVFL);
	CHECK_EQ(message[1], 1 << 4);
	CHECK_EQ(pfm_getinfo_evtsets_v2old(fd, &info, 1), 0);
	CHECK_EQ(info.next, 0);
	CHECK_EQ(info.rest[5], 1);        /* runs */
	CHECK_EQ(info.rest[9], 0xfff0);   /* PMCs */
	CHECK_EQ(info.rest[14], 0x3ffff); /* PMDs */
	close(fd);
}

/* Messages wait through unload; load drops them. */
static void
waiting(void)
{
	const int fd = counting((uint64_t)-1, PFM_REGFL_OVFL_NOTIFY, 0);

	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(pfm_unload_context(fd), 0);
	CHECK(is_readable(fd));
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK(!is_readable(fd));
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	close(fd);
}

/* The ninth message finds no place: the context is masked, and there is nothing to restart it. */
static void
full_queue(void)
{
	pfarg_pmd_t pmd = { .reg_num = 4,
			    .reg_value = (uint64_t)-1,
			    .reg_long_reset = (uint64_t)-1,
			    .reg_flags = PFM_REGFL_OVFL_NOTIFY };
	const int fd = counting(0, 0, 0);
	char message[64];

	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	for (int i = 0; i < 8; i++) {
		CHECK_EQ(cycles(1), 0);
		CHECK_EQ(pfm_restart(fd), 0);
	}
	CHECK_EQ(cycles(1), 0);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(read(fd, message, sizeof(message)), 64);
	CHECK_ERRNO((int)read(fd, message, sizeof(message)), EAGAIN);
	close(fd);
}

/* As programs have it: read, restart, and read a counter in the handler. */
static void
on_overflow(int number, siginfo_t *info, void *unused)
{
	const int before = errno;
	char message[64];

	(void)number;
	(void)unused;
	signals++;
	last_fd = info->si_fd;
	last_code = info->si_code;
	if (read(context, message, sizeof(message)) == 64 || errno == EAGAIN)
		restarts += pfm_restart(context) == 0;
	counted_in_handler = read_pmd(context, 4);
	errno = before;
}

static void
notify_by(int signal, int fd)
{
	struct sigaction action = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO };

	CHECK_EQ(sigaction(signal, &action, NULL), 0);
	CHECK_EQ(fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK), 0);
	CHECK_EQ(fcntl(fd, F_SETOWN, getpid()), 0);
	CHECK_EQ(fcntl(fd, F_SETSIG, signal), 0);
	signals = restarts = 0;
	context = fd;
}

/* Each overflow has been handled before what comes after it is counted. */
static void
handled(int signal, uint32_t flags)
{
	pfarg_pmd_t pmd = { .reg_num = 4,
			    .reg_value = (uint64_t)-10,
			    .reg_long_reset = (uint64_t)-10,
			    .reg_flags = PFM_REGFL_OVFL_NOTIFY };
	const int fd = counting(0, 0, flags);

	CHECK_EQ(pfm_write_pmds(fd, &pmd, 1), 0);
	notify_by(signal, fd);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(1005), 0);
	CHECK_EQ(signals, 100);
	CHECK_EQ(restarts, 100);
	CHECK_EQ(last_fd, fd);
	CHECK_EQ(last_code, POLL_IN);
	CHECK_EQ((int64_t)counted_in_handler, -10);
	CHECK_EQ((int64_t)read_pmd(fd, 4), -5);
	CHECK(!is_readable(fd));
	close(fd);
}

/* ---- other tasks ---------------------------------------------------------------------------- */

static pid_t other_id;
static int go[2], gone[2];

static void *
other_thread(void *unused)
{
	char byte;

	other_id = self_id();
	CHECK_EQ(write(gone[1], "", 1), 1);
	CHECK_EQ(read(go[0], &byte, 1), 1);
	return unused;
}

/* Another thread of the process cannot be stopped by it. */
static void
own_threads(void)
{
	const int fd = create(0);
	pthread_t thread;
	char byte;

	CHECK_EQ(pipe(go) | pipe(gone), 0);
	CHECK_EQ(pthread_create(&thread, NULL, other_thread, NULL), 0);
	CHECK_EQ(read(gone[0], &byte, 1), 1);
	CHECK_ERRNO(load(fd, other_id), ESRCH);
	CHECK_EQ(write(go[1], "", 1), 1);
	pthread_join(thread, NULL);
	close(fd);
}

static void *
loads_on_itself(void *unused)
{
	context = counting(0, 0, 0);
	CHECK_EQ(pfm_start(context, NULL), 0);
	CHECK_EQ(cycles(5), 0);
	return unused;
}

/* A thread that ends unloads what it had loaded on itself, without a message. */
static void
end_of_a_thread(void)
{
	pthread_attr_t little; /* a stack: contexts are large, and are not on it */
	pthread_t thread;

	CHECK_EQ(pthread_attr_init(&little), 0);
	CHECK_EQ(pthread_attr_setstacksize(&little, 128 * 1024), 0);
	CHECK_EQ(pthread_create(&thread, &little, loads_on_itself, NULL), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&little);
	CHECK_EQ(read_pmd(context, 4), 5);
	CHECK_EQ(make_set(context, 1, 0, 0), 0); /* unloaded */
	CHECK(!is_readable(context));
	close(context);
}

/* A child that is stopped by its tracer, as debuggers have it. */
static pid_t
stopped_child(void)
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	return child;
}

static void
another_task(void)
{
	const pid_t child = stopped_child();
	const int fd = create(0);
	pfarg_msg_t message = { .type = 0 };

	CHECK_EQ(write_pmc(fd, 4, CYCLES_PMC), 0);
	CHECK_EQ(write_pmd(fd, 4, 0, 0), 0);
	CHECK_EQ(load(fd, child), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(pfm_model_advance_task(child, 179, PFM_PLM3, 33), 0); /* CPU_CYCLES */
	CHECK_EQ(cycles(5), 0);                                        /* of the caller, whom nothing monitors */
	CHECK_EQ(read_pmd(fd, 4), 33);
	CHECK_EQ(ptrace(PTRACE_DETACH, child, 0, 0), 0);
	CHECK_EQ(read(fd, &message, sizeof(message)), 64); /* waits for its end */
	CHECK_EQ(message.type, PFM_MSG_END);
	CHECK_EQ(read_pmd(fd, 4), 33);
	CHECK_ERRNO(pfm_stop(fd), EINVAL);
	CHECK_EQ(wait_for(child), 0);
	close(fd);
}

/* What runs must be stopped by the caller; a masked context need not be. */
static void
running_task(void)
{
	const pid_t child = fork();
	const int fd = create(0);

	if (child == 0) {
		pause();
		_exit(0);
	}
	CHECK_ERRNO(load(fd, child), ESRCH);
	kill(child, SIGKILL);
	CHECK_EQ(wait_for(child), -SIGKILL);
	CHECK_ERRNO(load(fd, child), ESRCH);
	close(fd);
}

/* A child sees the parent's context, which stays the parent's. */
static void
children(void)
{
	const int fd = counting(0, 0, 0);

	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(3), 0);
	IN_CHILD(CHECK_ERRNO(pfm_stop(fd), ESRCH); CHECK_EQ(info_of(fd, 0).set_runs, 1); CHECK_EQ(cycles(100), 0);
		 int own = counting(0, 0, 0); CHECK_EQ(pfm_start(own, NULL), 0); CHECK_EQ(cycles(7), 0);
		 CHECK_EQ(read_pmd(own, 4), 7););
	CHECK_EQ(read_pmd(fd, 4), 3);
	CHECK_EQ(cycles(3), 0);
	CHECK_EQ(read_pmd(fd, 4), 6);
	close(fd);
}

/* After the last close nothing counts, whoever may use the number again. */
static void
closed(void)
{
	const int fd = counting((uint64_t)-5, PFM_REGFL_OVFL_NOTIFY, 0);
	int ends[2];

	CHECK_EQ(pfm_start(fd, NULL), 0);
	close(fd);
	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(ends[0], fd);
	CHECK_ERRNO(pfm_stop(fd), EBADF);
	CHECK_EQ(cycles(10), 0);
	CHECK(!is_readable(fd));
	close(ends[0]);
	close(ends[1]);
	CHECK_EQ(counting(0, 0, 0), fd);
	close(fd);
}

/* A program that closes all descriptors it may have closes ours. */
static void
all_closed(void)
{
	const int fd = create(0);

	CHECK(fd >= 0);
	for (int i = 3; i < 1024; i++)
		close(i);
	CHECK_ERRNO(pfm_unload_context(fd), EBADF);
	CHECK(counting(0, 0, 0) >= 0);
}

int
main(void)
{
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	overflow_message();
	old_layout();
	waiting();
	full_queue();
	handled(SIGIO, 0);
	handled(SIGRTMIN + 1, 0);
	handled(SIGIO, PFM_FL_OVFL_NO_MSG);
	own_threads();
	end_of_a_thread();
	another_task();
	running_task();
	children();
	closed();
	IN_CHILD(all_closed(););
	return check_result();
}
