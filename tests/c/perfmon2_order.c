/*
 * The order of the checks of perfmon2's calls, as far as wrong arguments in pairs show it: of two that are wrong, the one
 * that the interface looks at first decides.
 */
#include "perfmon2_check.h"

#include <sys/mman.h>

#define NOWHERE ((void *)16)

/* The vector calls, by which their common checks are gone through. */
enum { CALLS = 6 };

static int
call(int which, int fd, void *vector, int count)
{
	switch (which) {
	case 0:
		return pfm_write_pmcs(fd, vector, count);
	case 1:
		return pfm_write_pmds(fd, vector, count);
	case 2:
		return pfm_read_pmds(fd, vector, count);
	case 3:
		return pfm_create_evtsets(fd, vector, count);
	case 4:
		return pfm_getinfo_evtsets(fd, vector, count);
	default:
		return pfm_delete_evtsets(fd, vector, count);
	}
}

static const size_t sizes[CALLS] = { sizeof(pfarg_pmc_t),     sizeof(pfarg_pmd_t),     sizeof(pfarg_pmd_t),
				     sizeof(pfarg_setdesc_t), sizeof(pfarg_setinfo_t), sizeof(pfarg_setdesc_t) };

/* Count, descriptor, size, address. */
static void
common_checks(int fd)
{
	for (int i = 0; i < CALLS; i++) {
		const int most = (int)(INT_MAX / sizes[i]), room = (int)(16384 / sizes[i]);

		CHECK_ERRNO(call(i, -1, NOWHERE, -1), EINVAL);
		CHECK_ERRNO(call(i, -1, NOWHERE, INT_MIN), EINVAL);
		CHECK_ERRNO(call(i, -1, NOWHERE, most), EINVAL);
		CHECK_ERRNO(call(i, -1, NOWHERE, most - 1), EBADF);
		CHECK_ERRNO(call(i, -1, NOWHERE, 0), EBADF);
		CHECK_ERRNO(call(i, STDIN_FILENO, NOWHERE, 1), EBADF);
		CHECK_ERRNO(call(i, fd, NOWHERE, most - 1), E2BIG);
		CHECK_ERRNO(call(i, fd, NOWHERE, room + 1), E2BIG);
		CHECK_ERRNO(call(i, fd, NOWHERE, room), EFAULT);
		CHECK_EQ(call(i, fd, NOWHERE, 0), 0);
	}
}

/* The address comes before the state, the state before the elements: also when there are none. */
static void
before_the_elements(int fd)
{
	pfarg_setdesc_t bad = { .set_id = 9, .set_flags = 4 };

	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_ERRNO(pfm_create_evtsets(fd, NOWHERE, 1), EFAULT);
	CHECK_ERRNO(pfm_create_evtsets(fd, &bad, 1), EBUSY);
	CHECK_ERRNO(pfm_create_evtsets(fd, NULL, 0), EBUSY);
	CHECK_ERRNO(pfm_delete_evtsets(fd, NOWHERE, 1), EFAULT);
	CHECK_ERRNO(pfm_delete_evtsets(fd, &bad, 1), EBUSY);
	CHECK_ERRNO(pfm_delete_evtsets(fd, NULL, 0), EBUSY);
	CHECK_ERRNO(pfm_create_sets(fd, 0, NOWHERE, sizeof(pfarg_set_desc_t)), EFAULT);
	CHECK_EQ(pfm_unload_context(fd), 0);
	CHECK_EQ(pfm_create_evtsets(fd, NULL, 0), 0);
}

static void *
read_only_page(const void *content, size_t size)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED);
	memcpy(page, content, size);
	CHECK_EQ(mprotect(page, 4096, PROT_READ), 0);
	return page;
}

/* What is written back is so after an error, too; the other calls write nothing back. */
static void
copying_back(int fd)
{
	pfarg_pmd_t pmds[3] = { { .reg_num = 4, .reg_value = 11 },
				{ .reg_num = 99, .reg_value = 12 },
				{ .reg_num = 4, .reg_value = 13 } };
	pfarg_setinfo_t infos[2] = { { .set_id = 0, .set_reserved1 = 3, .set_runs = 99 },
				     { .set_id = 5, .set_runs = 98 } };
	pfarg_pmr_t values[2] = { { .reg_num = 4 }, { .reg_num = 99, .reg_value = 7 } };
	pfarg_pmd_t *page;

	CHECK_EQ(write_pmd(fd, 4, 5, 0), 0);
	CHECK_ERRNO(pfm_read_pmds(fd, pmds, 3), EINVAL);
	CHECK_EQ(pmds[0].reg_value, 5);
	CHECK_EQ(pmds[1].reg_value, 12);
	CHECK_EQ(pmds[2].reg_value, 13);
	CHECK_ERRNO(pfm_getinfo_evtsets(fd, infos, 2), EINVAL);
	CHECK(infos[0].set_runs != 99);
	CHECK_EQ(infos[0].set_reserved1, 3);
	CHECK_EQ(infos[1].set_runs, 98);
	CHECK_ERRNO(pfm_read(fd, 0, PFM_RW_PMD, values, sizeof(values)), EINVAL);
	CHECK_EQ(values[0].reg_value, 5);
	CHECK_EQ(values[1].reg_value, 7);
	page = read_only_page(pmds, sizeof(pmds));
	CHECK_EQ(pfm_write_pmds(fd, page, 1), 0);
	CHECK_ERRNO(pfm_read_pmds(fd, page, 1), EFAULT);
	CHECK_ERRNO(pfm_read_pmds(fd, page + 1, 1), EFAULT); /* its register is wrong, too */
	CHECK_EQ(load(fd, self_id()), 0);
	IN_CHILD(CHECK_ERRNO(pfm_read_pmds(fd, page, 1), EFAULT);); /* and here the task */
	CHECK_EQ(pfm_unload_context(fd), 0);
	munmap(page, 4096);
}

static void
creating(void)
{
	struct rlimit few;
	pfarg_ctx_t ctx = { .ctx_flags = 0 }, both = { .ctx_flags = PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK };
	pfm_dfl_smpl_arg_t small = { .buf_size = 100 };
	char name[] = "default", other[] = "pebs";
	const int next = dup(STDIN_FILENO);

	close(next);
	CHECK_ERRNO(pfm_create_context(NULL, other, NULL, 0), EFAULT);
	CHECK_ERRNO(pfm_create_context(&both, NOWHERE, NULL, 0), EFAULT);
	CHECK_ERRNO(pfm_create_context(&both, name, NOWHERE, 64), EFAULT);
	CHECK_ERRNO(pfm_create_context(&ctx, name, NULL, 0), EINVAL); /* size, then address */
	CHECK_ERRNO(pfm_create_context(&ctx, name, NULL, 64), EFAULT);
	CHECK_ERRNO(pfm_create_context(&ctx, other, NULL, 64), EINVAL);
	CHECK_ERRNO(pfm_create(0x40, NOWHERE), EINVAL);
	CHECK_ERRNO(pfm_create(0x40 | PFM_FL_SMPL_FMT, NULL, (char *)NULL, NULL, (size_t)0), EINVAL);
	CHECK_ERRNO(pfm_create(PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK | PFM_FL_SMPL_FMT, NULL, (char *)NULL, NULL,
			       (size_t)0),
		    EINVAL);
	CHECK_ERRNO(pfm_create(PFM_FL_SMPL_FMT, NOWHERE, name, NULL, (size_t)63), EINVAL);
	CHECK_ERRNO(pfm_create(PFM_FL_SMPL_FMT, NOWHERE, name, NULL, (size_t)64), EFAULT);
	CHECK_ERRNO(pfm_create(PFM_FL_SMPL_FMT, NOWHERE, name, &small, sizeof(small)), EINVAL);
	small.buf_size = 4096;
	CHECK_ERRNO(pfm_create(PFM_FL_SMPL_FMT, NOWHERE, name, &small, sizeof(small)), EFAULT);
	CHECK_EQ(create(0), next); /* nothing is left of those */
	close(next);
	small.buf_size = 100;
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &few), 0);
	few.rlim_cur = 3; /* only this: valgrind refuses another hard limit */
	IN_CHILD(CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
		 CHECK_ERRNO(pfm_create_context(&both, NULL, NULL, 0), EINVAL);
		 CHECK_ERRNO(pfm_create_context(&ctx, name, &small, sizeof(small)), EMFILE);
		 CHECK_ERRNO(pfm_create(0x40, NULL), EINVAL); CHECK_ERRNO(pfm_create(0, NOWHERE), EMFILE););
}

/* A child that has ended and was not waited for. */
static pid_t
dead_child(void)
{
	const pid_t child = fork();
	siginfo_t info;

	if (child == 0)
		_exit(0);
	CHECK_EQ(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	return child;
}

static void
loading(int fd)
{
	const int blocking = create(PFM_FL_NOTIFY_BLOCK), second = create(0), wide = create(PFM_FL_SYSTEM_WIDE);
	const pid_t dead = dead_child();

	CHECK_ERRNO(pfm_load_context(-1, NOWHERE), EFAULT);
	CHECK_ERRNO(load(-1, 1 << 30), EBADF);
	CHECK_ERRNO(load(fd, -5), ESRCH);
	CHECK_ERRNO(load(fd, 0), ESRCH);
	CHECK_ERRNO(load_set(fd, dead, 9), EPERM); /* it has no memory */
	CHECK_EQ(load(fd, self_id()), 0);
	CHECK_ERRNO(load(fd, dead), EPERM);
	CHECK_ERRNO(load(blocking, self_id()), EINVAL); /* before EEXIST */
	CHECK_ERRNO(load(blocking, dead), EPERM);
	CHECK_ERRNO(load_set(second, self_id(), 9), EEXIST);
	CHECK_ERRNO(load_set(wide, sched_getcpu(), 9), EINVAL); /* the set before the sessions */
	CHECK_ERRNO(load_set(wide, 1 << 20, 0), EINVAL);
	CHECK_ERRNO(pfm_attach(-1, 1, 1 << 30), EINVAL);
	CHECK_ERRNO(pfm_attach(-1, 0, 1 << 30), EBADF);
	CHECK_ERRNO(pfm_attach(fd, 0, 1 << 30), ESRCH);
	CHECK_ERRNO(pfm_attach(fd, 0, self_id()), EBUSY);
	CHECK_ERRNO(pfm_attach(fd, 2, PFM_NO_TARGET), EINVAL);
	CHECK_EQ(pfm_attach(fd, 0, PFM_NO_TARGET), 0);
	CHECK_ERRNO(pfm_attach(fd, 0, PFM_NO_TARGET), EINVAL);
	CHECK_ERRNO(pfm_attach(-1, 0, PFM_NO_TARGET), EBADF);
	CHECK_EQ(wait_for(dead), 0);
	close(blocking);
	close(second);
	close(wide);
}

/* Flags, type and size in bytes come before the descriptor; that there are too many elements after it. */
static void
version_3(int fd)
{
	static const struct {
		int type;
		size_t size;
	} types[] = {
		{ PFM_RW_PMC, 16 },
		{ PFM_RW_PMD, 16 },
		{ PFM_RW_PMD_ATTR, 208 },
	};
	pfarg_pmr_t reg = { .reg_num = 999 };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		const int type = types[i].type;
		const size_t size = types[i].size, huge = ((size_t)1 << 40) * size;

		CHECK_ERRNO(pfm_write(-1, 0, type, NOWHERE, size + 1), EINVAL);
		CHECK_ERRNO(pfm_write(-1, 0, type, NOWHERE, 0), EINVAL);
		CHECK_ERRNO(pfm_write(-1, 0, type, NOWHERE, huge), EBADF);
		CHECK_ERRNO(pfm_write(fd, 0, type, NOWHERE, huge), E2BIG);
		CHECK_ERRNO(pfm_write(fd, 0, type, NOWHERE, (size_t)INT_MAX / size * size), E2BIG);
		CHECK_ERRNO(pfm_read(-1, 8, type, NOWHERE, size), EINVAL);
		CHECK_ERRNO(pfm_read(-1, 0, type, NOWHERE, huge), EBADF);
		CHECK_ERRNO(pfm_read(fd, 0, type, NOWHERE, huge), E2BIG);
		CHECK_ERRNO(pfm_read(fd, 0, type, NOWHERE, size), EFAULT);
	}
	CHECK_ERRNO(pfm_write(fd, 0, 0, &reg, sizeof(reg)), EINVAL);
	CHECK_ERRNO(pfm_read(-1, 0, 4, NOWHERE, 16), EINVAL);
	CHECK_ERRNO(pfm_create_sets(-1, 1, NOWHERE, 64), EINVAL);
	CHECK_ERRNO(pfm_create_sets(-1, 0, NOWHERE, 0), EINVAL);
	CHECK_ERRNO(pfm_create_sets(-1, 0, NOWHERE, 64), EBADF);
	CHECK_ERRNO(pfm_create_sets(fd, 0, NOWHERE, 64 * 257), E2BIG);
	CHECK_ERRNO(pfm_create_sets(fd, 0, NOWHERE, 64 * 256), EFAULT);
	CHECK_ERRNO(pfm_getinfo_sets(-1, 0, NOWHERE, 103), EINVAL);
	CHECK_ERRNO(pfm_getinfo_sets(-1, 0, NOWHERE, 104), EBADF);
	CHECK_ERRNO(pfm_getinfo_sets(fd, 0, NOWHERE, 104 * (size_t)1000000000), E2BIG);
	CHECK_ERRNO(pfm_getinfo_sets(fd, 0, NOWHERE, 104 * 157), EFAULT);
	CHECK_ERRNO(pfm_set_state(fd, 0, 0), EINVAL);
	CHECK_ERRNO(pfm_set_state(-1, 0, 5), EINVAL);
	CHECK_ERRNO(pfm_set_state(-1, 0, PFM_ST_START), EBADF);
	CHECK_ERRNO(pfm_set_state(fd, 1, PFM_ST_START), EINVAL);
	CHECK_ERRNO(pfm_set_state(fd, 0, PFM_ST_START), EINVAL); /* not loaded */
	CHECK_ERRNO(pfm_set_state(fd, 0, PFM_ST_RESTART), EBUSY);
}

/* Of the model's functions: the machine, then the arguments, before it matters that nothing is loaded. */
static void
model_functions(void)
{
	CHECK_EQ(pfm_model_advance_code(0xffff, 0xff, PFM_PLM3, 5), 0);
	CHECK_EQ(pfm_model_advance_code(CYCLES, 0, PFM_PLM3, 0), 0);
	CHECK_ERRNO(pfm_model_advance_code(CYCLES, 0, 0, 0), EINVAL);
	CHECK_ERRNO(pfm_model_advance_task(1 << 30, 0, 16, 1), EINVAL);
	CHECK_EQ(pfm_model_set_pmd(0, 1), 0);
	CHECK_ERRNO(pfm_model_set_pmd(64, 1), EINVAL);
	CHECK_EQ(pfm_model_time_task(1 << 30, 5), 0);
}

int
main(void)
{
	int fd;

	check_begin("model", PFMLIB_ITANIUM2_PMU);
	fd = create(0);
	common_checks(fd);
	before_the_elements(fd);
	copying_back(fd);
	close(fd);
	creating();
	fd = create(0);
	loading(fd);
	version_3(fd);
	close(fd);
	model_functions();
	return check_result();
}
