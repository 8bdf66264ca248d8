/*
 * fork(): a child has copies of its parent's contexts, which count nothing and change nothing of the parent's; and neither
 * waits for the other when it ends.
 */
#include "perfmon2_check.h"
#include "surroundings.h"

#include <string.h>
#include <sys/socket.h>

/* Registers and sets of a copy can be read and written, like all memory; it cannot be loaded: pipe and buffer are the parent's. */
static void
unloaded(void)
{
	const int fd = create(0);
	pfarg_load_t target = { .load_pid = 0 };

	CHECK_EQ(write_pmd(fd, 4, 5, 0), 0);
	IN_CHILD(CHECK_EQ(read_pmd(fd, 4), 5); CHECK_EQ(write_pmd(fd, 4, 6, 0), 0); CHECK_EQ(read_pmd(fd, 4), 6);
		 CHECK_EQ(make_set(fd, 1, 0, 0), 0); CHECK_ERRNO(load(fd, self_id()), EBUSY);
		 CHECK_ERRNO(pfm_attach(fd, 0, self_id()), EBUSY); target.load_pid = (uint32_t)self_id();
		 CHECK_ERRNO(perfmonctl(fd, PFM_LOAD_CONTEXT, &target, 1), EBUSY); CHECK_EQ(pfm_unload_context(fd), 0);
		 CHECK_ERRNO(pfm_start(fd, NULL), EINVAL); CHECK_ERRNO(pfm_restart(fd), EBUSY); close(fd););
	CHECK_EQ(read_pmd(fd, 4), 5);
	CHECK_ERRNO(pfm_getinfo_evtsets(fd, &(pfarg_setinfo_t){ .set_id = 1 }, 1), EINVAL);
	CHECK_EQ(load(fd, self_id()), 0);
	close(fd);
}

/* What would need the thread says that there is none. */
static void
check_loaded_copy(int fd)
{
	pfarg_pmd_t pmd = { .reg_num = 4 };

	CHECK_ERRNO(pfm_read_pmds(fd, &pmd, 1), ESRCH);
	CHECK_ERRNO(write_pmd(fd, 4, 0, 0), ESRCH);
	CHECK_ERRNO(write_pmc(fd, 4, CYCLES_PMC), ESRCH);
	CHECK_ERRNO(pfm_start(fd, NULL), ESRCH);
	CHECK_ERRNO(pfm_stop(fd), ESRCH);
	CHECK_ERRNO(pfm_unload_context(fd), ESRCH);
	CHECK_ERRNO(pfm_attach(fd, 0, PFM_NO_TARGET), ESRCH);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	CHECK_ERRNO(pfm_set_state(fd, 0, PFM_ST_RESTART), EBUSY);
	CHECK_ERRNO(make_set(fd, 1, 0, 0), EBUSY);
	CHECK_ERRNO(load(fd, self_id()), EBUSY);
	CHECK_ERRNO(perfmonctl(fd, PFM_STOP, NULL, 0), EBUSY);
	CHECK_ERRNO(perfmonctl(fd, PFM_RESTART, NULL, 0), EBUSY);
	CHECK_EQ(info_of(fd, 0).set_runs, 1);
}

/* With np, too, where other threads need not be stopped. */
static void
loaded(void)
{
	const int fd = counting(0, 0, 0);

	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(3), 0);
	IN_CHILD(const int own = counting(0, 0, 0); check_loaded_copy(fd); CHECK_EQ(pfm_start(own, NULL), 0);
		 CHECK_EQ(cycles(2), 0); CHECK_EQ(read_pmd(own, 4), 2););
	CHECK_EQ(cycles(4), 0);
	CHECK_EQ(read_pmd(fd, 4), 7);
	close(fd);
}

static void
masked(void)
{
	const int fd = counting((uint64_t)-1, PFM_REGFL_OVFL_NOTIFY, 0);
	pfarg_msg_t message;

	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(1), 0);
	IN_CHILD(check_loaded_copy(fd);
		 CHECK_EQ(read(fd, &message, sizeof(message)), sizeof(message)); /* as from any pipe */
	);
	CHECK_EQ(pfm_restart(fd), 0);
	close(fd);
}

/* A child that keeps the descriptor keeps the context; a parent that ends does not leave its child waiting for a message. */
static void
ends(void)
{
	int ready[2], end[2];
	char byte;
	pid_t parent;

	CHECK_EQ(pipe(ready), 0);
	CHECK_EQ(pipe(end), 0);
	parent = fork();
	if (parent == 0) {
		const int fd = counting(0, 0, 0);

		if (fork() == 0) {
			pfarg_msg_t message;

			CHECK_EQ(write(ready[1], "r", 1), 1);
			CHECK_EQ(read(fd, &message, sizeof(message)), 0);
			CHECK_EQ(write(end[1], check_failures ? "f" : "e", 1), 1);
			_exit(0);
		}
		CHECK_EQ(read(ready[0], &byte, 1), 1);
		raise(SIGKILL);
	}
	CHECK_EQ(wait_for(parent), -SIGKILL);
	CHECK_EQ(read(end[0], &byte, 1), 1);
	CHECK_EQ(byte, 'e');
}

/* A descriptor that comes by a socket from a process whose copy this one does not have is a pipe. */
static void
passed(void)
{
	char byte = 'x', room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)
	};
	struct cmsghdr *head = (struct cmsghdr *)(void *)room;
	pfarg_pmd_t pmd = { .reg_num = 4 };
	int ends[2], fd;
	pid_t child;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
	child = fork();
	if (child == 0) {
		CHECK_EQ(recvmsg(ends[1], &message, 0), 1);
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
		CHECK_ERRNO(pfm_read_pmds(fd, &pmd, 1), EBADF);
		CHECK_ERRNO(load(fd, self_id()), EBADF);
		check_exit(check_failures);
	}
	fd = create(0);
	*head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	CHECK_EQ(sendmsg(ends[0], &message, 0), 1);
	CHECK_EQ(wait_for(child), 0);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

/* Sessions are those of one process. */
static void
sessions(void)
{
	const int own = create(0);
	int held[2];
	pid_t child;
	char byte;

	CHECK_EQ(pipe(held), 0);
	child = fork();
	if (child == 0) {
		cpu_set_t here;

		CPU_ZERO(&here);
		CPU_SET((size_t)sched_getcpu(), &here);
		CHECK_EQ(sched_setaffinity(0, sizeof(here), &here), 0);
		CHECK_EQ(load(create(PFM_FL_SYSTEM_WIDE), sched_getcpu()), 0);
		CHECK_EQ(write(held[1], "h", 1), 1);
		pause();
	}
	CHECK_EQ(read(held[0], &byte, 1), 1);
	CHECK_EQ(load(own, self_id()), 0);
	kill(child, SIGKILL);
	CHECK_EQ(wait_for(child), -SIGKILL);
	close(own);
}

/* What is closed before a fork takes no memory of the child's; a sampling buffer is the parent's. */
static void
buffers(void)
{
	pfm_dfl_smpl_arg_t format = { .buf_size = 4096 };
	const struct rlimit little = { 8192, 8192 };
	pfarg_ctx_t ctx = { .ctx_flags = 0 };
	char name[] = "default";
	const int first = pfm_create_context(&ctx, name, &format, sizeof(format));

	CHECK(first >= 0);
	IN_CHILD(CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &little), 0);
		 for (int i = 0; i < 2; i++) CHECK(pfm_create_context(&ctx, name, &format, sizeof(format)) >= 0);
		 CHECK_ERRNO(pfm_create_context(&ctx, name, &format, sizeof(format)), ENOMEM););
	close(first);
}

/* A program that closes the engine's end, or takes its number, gives up the context: its thread is free for another. */
static void
own_end_closed(void)
{
	const int fd = counting(0, 0, 0);
	int other;

	CHECK_EQ(pfm_start(fd, NULL), 0);
	for (int i = 3; i < 1024; i++)
		if (i != fd)
			close(i);
	CHECK_ERRNO(pfm_stop(fd), EBADF);
	other = counting(0, 0, 0);
	CHECK(other >= 0);
	for (int i = 512; i < 600; i++)
		CHECK_EQ(dup2(0, i), i);
	CHECK_ERRNO(pfm_stop(other), EBADF);
	CHECK_EQ(fcntl(512, F_GETFD), 0); /* the program's own now */
	close(other);
	CHECK(counting(0, 0, 0) >= 0);
}

/* A kernel that gives a child no empty pages: it knows itself by its number. */
static void
linux_4_13(const char *name)
{
	CHECK_EQ(refuse(SYS_madvise, EINVAL), 0);
	execl(name, name, "Linux 4.13", (char *)NULL);
	CHECK(0);
}

int
main(int argc, char **argv)
{
	alarm(120); /* somebody waits for ever */
	if (argc == 1)
		IN_CHILD(linux_4_13(argv[0]););
	IN_CHILD(check_begin("model,np", PFMLIB_ITANIUM2_PMU); loaded(); masked(););
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	unloaded();
	loaded();
	masked();
	ends();
	passed();
	sessions();
	buffers();
	IN_CHILD(own_end_closed(););
	return check_result();
}
