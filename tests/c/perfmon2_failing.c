/*
 * Memory, descriptors and threads that are not to be had: each call by which the engine asks for one fails in turn.  The
 * operation returns a documented error or does without, keeps nothing, holds no lock, and works the next time.
 */
#include "failing.h"
#include "perfmon2_check.h"

#include <perfmon/perfmon_default_smpl.h>
#include <pthread.h>
#include <sys/mman.h>

FAILING(int, pipe, (int ends[2]), (ends))
FAILING(int, mkostemp, (char *name, int flags), (name, flags))
FAILING(int, ftruncate, (int fd, off_t size), (fd, size))

void *__real_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *addr, size_t length);
int __wrap_munmap(void *addr, size_t length);
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument);
int __real_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

static long mapped; /* memory that is not unmapped */
static int no_thread;

void *
__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *memory = failing_now() ? MAP_FAILED : __real_mmap(addr, length, prot, flags, fd, offset);

	mapped += memory != MAP_FAILED;
	return memory;
}

int
__wrap_munmap(void *addr, size_t length)
{
	mapped--;
	return __real_munmap(addr, length);
}

void *
__wrap_realloc(void *memory, size_t size)
{
	return failing_now() ? NULL : __real_realloc(memory, size);
}

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument)
{
	no_thread = failing_now();
	return no_thread ? EAGAIN : __real_pthread_create(thread, attr, run, argument);
}

int
__wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	return failing_now() ? ENOMEM : __real_pthread_atfork(prepare, parent, child);
}

/* ---- operations ----------------------------------------------------------------------------- */

static int descriptors;
static long memory;
static bool is_first;

/* The next load frees what has been closed. */
static void
reap(void)
{
	CHECK_EQ(load(-1, 0), -1);
}

static void
check_answer(int ret)
{
	const int code = errno;

	failing_end();
	if (ret < 0 && code != ENOMEM && code != EMFILE && code != ENFILE && code != EAGAIN) {
		printf("%d, errno %d where %d is injected\n", ret, code, failing_code);
		check_failures++;
	}
	if (ret < 0)
		CHECK(failing_failed);
}

static void
check_nothing_is_left(void)
{
	failing_end();
	reap();
	CHECK_EQ(failing_descriptors(),
		 descriptors + (is_first && failing_descriptors() > descriptors)); /* one for all contexts */
	CHECK_EQ(mapped, memory);
}

static void
make(void)
{
	const int fd = create(0);

	check_answer(fd);
	if (fd >= 0)
		close(fd);
	check_nothing_is_left();
}

static void
make_with_buffer(void)
{
	pfm_dfl_smpl_arg_t format = { .buf_size = 5000 };
	char name[] = PFM_DFL_SMPL_NAME;
	const int fd = pfm_create(PFM_FL_SMPL_FMT, NULL, name, &format, sizeof(format));

	check_answer(fd);
	if (fd >= 0)
		close(fd);
	check_nothing_is_left();
}

static void
make_by_perfmonctl(void)
{
	pfm_default_smpl_ctx_arg_t wanted = { .ctx_arg = { .ctx_smpl_buf_id = PFM_DEFAULT_SMPL_UUID },
					      .buf_arg = { .buf_size = 5000 } };
	const int ret = perfmonctl(0, PFM_CREATE_CONTEXT, &wanted, 1);

	check_answer(ret);
	if (ret == 0) {
		CHECK_EQ(munmap(wanted.ctx_arg.ctx_smpl_vaddr, 8192), 0);
		close(wanted.ctx_arg.ctx_fd);
	}
	check_nothing_is_left();
}

/* A context with a message that the load takes away. */
static void
load_again(void)
{
	const long left = failing_left;
	int fd, ret;

	failing_end();
	fd = counting((uint64_t)-1, PFM_REGFL_OVFL_NOTIFY, 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(1), 0);
	CHECK_EQ(pfm_unload_context(fd), 0);
	failing_left = left;
	ret = load(fd, self_id());
	check_answer(ret);
	if (ret < 0)
		CHECK_EQ(load(fd, self_id()), 0);
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	CHECK_ERRNO((int)read(fd, &(pfarg_msg_t){ .type = 0 }, sizeof(pfarg_msg_t)), EAGAIN);
	close(fd);
	check_nothing_is_left();
}

/* Calls that need nothing do not fail, and count. */
static void
count(void)
{
	const long left = failing_left;
	pfarg_pmd_t pmd = { .reg_num = 4 };
	int fd, ret;

	failing_end();
	fd = counting((uint64_t)-3, PFM_REGFL_OVFL_NOTIFY, 0);
	failing_left = left;
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(cycles(5), 0);
	ret = pfm_read_pmds(fd, &pmd, 1);
	check_answer(ret);
	if (ret == 0)
		CHECK_EQ(pmd.reg_value, 0);
	CHECK_EQ(read_pmd(fd, 4), 0);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(pfm_unload_context(fd), 0);
	close(fd);
	check_nothing_is_left();
}

/* ---- another thread, and the engine's own --------------------------------------------------- */

static pid_t child;

static void
begin_child(void)
{
	child = fork();
	if (child == 0) {
		for (;;)
			pause();
	}
}

/* What is loaded on another thread stays so, whatever fails. */
static void
look_at_other(void)
{
	const long left = failing_left;
	pfarg_setinfo_t info = { .set_id = 0 };
	int fd, ret;

	failing_end();
	fd = create(0);
	CHECK_EQ(load(fd, child), 0);
	failing_left = left;
	ret = pfm_getinfo_evtsets(fd, &info, 1);
	check_answer(ret);
	CHECK_ERRNO(pfm_create_evtsets(fd, NULL, 0), EBUSY); /* it is loaded */
	CHECK_EQ(pfm_unload_context(fd), 0);
	close(fd);
	failing_end();
	reap();
	failing_wait_alone();
	check_nothing_is_left();
}

static void
load_other(void)
{
	const long left = failing_left;
	int fd, ret;

	failing_end();
	failing_wait_alone();
	fd = create(0);
	failing_left = left;
	ret = load(fd, child);
	check_answer(ret);
	CHECK_EQ(pfm_create_evtsets(fd, NULL, 0), ret == 0 ? -1 : 0);
	if (ret < 0)
		CHECK_EQ(load(fd, child), 0);
	close(fd);
	failing_end();
	reap();
	failing_wait_alone();
	check_nothing_is_left();
}

/* A context that only a thread of the engine's would let count. */
static void
load_with_rate(void)
{
	const long left = failing_left;
	int fd, ret;

	failing_end();
	failing_wait_alone();
	fd = create(0);
	no_thread = 0;
	failing_left = left;
	ret = load(fd, self_id());
	check_answer(ret);
	CHECK(ret < 0 || !no_thread);
	CHECK_EQ(ret < 0 ? load(fd, self_id()) : 0, 0);
	close(fd);
	failing_end();
	reap();
	failing_wait_alone();
	check_nothing_is_left();
}

static void
each(const char *name, void (*operation)(void), int at_least)
{
	static const int codes[] = { EMFILE, ENOMEM };

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		int made;

		failing_code = codes[i];
		made = failing_each(operation);
		if (made < at_least) {
			printf("%s: only %d calls can fail\n", name, made);
			check_failures++;
		}
	}
}

static int
without_memfd(long number, const long *arguments)
{
	(void)arguments;
	return number == SYS_memfd_create ? ENOSYS : 0;
}

static void
remember(void)
{
	alarm(60); /* a lock that is held */
	close(create(0));
	reap();
	descriptors = failing_descriptors();
	memory = mapped;
}

int
main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	IN_CHILD(check_begin("model", PFMLIB_ITANIUM2_PMU); failing_code = ENOMEM; descriptors = failing_descriptors();
		 memory = mapped; is_first = true; CHECK(failing_each(make) >= 4); is_first = false; remember();
		 each("create", make, 4); each("create with a buffer", make_with_buffer, 7);
		 failing_refused = without_memfd; make_with_buffer();
		 each("create with a buffer, Linux 3.10", make_with_buffer, 7); failing_refused = NULL;
		 each("perfmonctl", make_by_perfmonctl, 8); each("load", load_again, 1); each("count", count, 0););
	begin_child();
	IN_CHILD(check_begin("model,np", PFMLIB_ITANIUM2_PMU); remember(); each("look at another", look_at_other, 0);
		 each("load on another", load_other, 3););
	IN_CHILD(check_begin("model,rate=1", PFMLIB_ITANIUM2_PMU); remember();
		 each("load with a rate", load_with_rate, 1););
	kill(child, SIGKILL);
	CHECK_EQ(wait_for(child), -SIGKILL);
	return check_result();
}
