/*
 * The descriptor of a context of perfmon2: messages, their layout; tasks and threads: who may call, the end of a thread.
 */
#include "perfmon2_check.h"

#include <pthread.h>

static int context;

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

int
main(void)
{
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	overflow_message();
	old_layout();
	own_threads();
	end_of_a_thread();
	running_task();
	closed();
	return check_result();
}
