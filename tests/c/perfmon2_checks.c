/*
 * What the calls of perfmon2 refuse, and in which order: arguments that are wrong in two ways say which check is first.
 *
 * Sections of the interface: creation, elements of vectors, states, loading, start and stop, restart.
 */
#include "perfmon2_check.h"

#define NOWHERE ((void *)16)

static pfarg_pmc_t pmcs[512];
static pfarg_pmd_t pmds[512];

/* Without a machine a number that is no context's is not looked at. */
static void
nothing_here(void)
{
	CHECK_ERRNO(pfm_create_context(NULL, NULL, NULL, 0), ENOSYS);
	CHECK_ERRNO(pfm_create(-1, NULL), ENOSYS);
	CHECK_ERRNO(pfm_write_pmcs(-1, NULL, -1), ENOSYS);
	CHECK_ERRNO(pfm_read_pmds(-1, NULL, -1), ENOSYS);
	CHECK_ERRNO(pfm_load_context(-1, NULL), ENOSYS);
	CHECK_ERRNO(pfm_start(-1, NOWHERE), ENOSYS);
	CHECK_ERRNO(pfm_stop(-1), ENOSYS);
	CHECK_ERRNO(pfm_restart(-1), ENOSYS);
	CHECK_ERRNO(pfm_unload_context(-1), ENOSYS);
	CHECK_ERRNO(pfm_getinfo_evtsets(-1, NULL, -1), ENOSYS);
	CHECK_ERRNO(pfm_write(-1, -1, -1, NULL, 1), ENOSYS);
	CHECK_ERRNO(pfm_set_state(-1, -1, -1), ENOSYS);
	CHECK_ERRNO(pfm_attach(-1, -1, -1), ENOSYS);
	CHECK_ERRNO(pfm_model_advance(0, 0, 0), ENXIO);
	CHECK_ERRNO(pfm_model_set_pmd(99, 0), ENXIO);
}

static void
unreadable(void)
{
	setenv("LIBPFM_PERFMON", "modell", 1);
	CHECK_ERRNO(pfm_stop(-1), ENOSYS);
	setenv("LIBPFM_PERFMON", "model", 1); /* it has been read */
	CHECK_ERRNO(pfm_create_context(NULL, NULL, NULL, 0), EINVAL);
	CHECK_ERRNO(pfm_create(-1, NULL), EINVAL);
	CHECK_ERRNO(pfm_stop(-1), ENOSYS);
}

static void
creation(void)
{
	pfarg_ctx_t ctx = { .ctx_flags = PFM_FL_SYSTEM_WIDE | PFM_FL_NOTIFY_BLOCK };
	pfm_dfl_smpl_arg_t format = { .buf_size = 4096 };
	char name[] = "default", other[] = "defaultx";
	pfarg_sinfo_t sif;
	int fd;

	CHECK_ERRNO(pfm_create_context(NULL, NOWHERE, NULL, 0), EFAULT);
	CHECK_ERRNO(pfm_create_context(&ctx, NOWHERE, NULL, 0), EFAULT);
	CHECK_ERRNO(pfm_create_context(&ctx, other, NOWHERE, 64), EINVAL);
	CHECK_ERRNO(pfm_create_context(&ctx, name, NOWHERE, 63), EINVAL);
	CHECK_ERRNO(pfm_create_context(&ctx, name, NOWHERE, 64), EFAULT);
	CHECK_ERRNO(pfm_create_context(&ctx, name, &format, 64), EINVAL);
	CHECK_ERRNO(pfm_create_context(&ctx, NULL, NOWHERE, 7), EINVAL); /* the flags */
	ctx.ctx_flags = 0xffffff00;                                      /* others are not looked at */
	ctx.ctx_reserved1 = 5;
	fd = pfm_create_context(&ctx, NULL, NOWHERE, 7);
	CHECK(fd >= 0);
	CHECK_EQ(fcntl(fd, F_GETFL), O_RDONLY);
	CHECK_EQ(fcntl(fd, F_GETFD), 0);
	close(fd);
	memset(&sif, 0xff, sizeof(sif));
	close(pfm_create(PFM_ITA_FL_INSECURE, &sif));
	CHECK_EQ(sif.sif_avail_pmcs[0], 0xfff0);
	CHECK_EQ(sif.sif_avail_pmcs[4], 0xffff);
	CHECK_EQ(sif.sif_avail_pmds[0], 0x3ffff);
	CHECK_EQ(sif.sif_reserved[3], 0);
	ctx.ctx_flags = 0;
	format.buf_size = 128 + 184 - 1;
	CHECK_ERRNO(pfm_create_context(&ctx, name, &format, 64), EINVAL);
}

/* The first bad element ends the call; those before it count. */
static void
elements(int fd)
{
	memset(pmds, 0, sizeof(pmds));
	pmds[0] = (pfarg_pmd_t){ .reg_num = 4, .reg_value = 7 };
	pmds[1] = (pfarg_pmd_t){ .reg_num = 99, .reg_value = 8 };
	pmds[2] = (pfarg_pmd_t){ .reg_num = 5, .reg_value = 9 };
	CHECK_ERRNO(pfm_write_pmds(fd, pmds, 3), EINVAL);
	pmds[1].reg_num = 5;
	pmds[0].reg_value = pmds[1].reg_value = 0;
	CHECK_ERRNO(pfm_read_pmds(fd, pmds, 3), EINVAL); /* PMD5 is not used */
	CHECK_EQ(pmds[0].reg_value, 7);
	CHECK_EQ(pmds[1].reg_value, 0);

	memset(pmcs, 0, sizeof(pmcs));
	pmcs[0] = (pfarg_pmc_t){ .reg_num = 4, .reg_flags = PFM_REGFL_OVFL_NOTIFY };
	CHECK_ERRNO(pfm_write_pmcs(fd, pmcs, 1), EINVAL);
	pmcs[0] = (pfarg_pmc_t){ .reg_num = 8, .reg_flags = PFM_REGFL_NO_EMUL64 };
	CHECK_ERRNO(pfm_write_pmcs(fd, pmcs, 1), EINVAL);
	pmcs[0] = (pfarg_pmc_t){ .reg_num = 4, .reg_set = 1 };
	CHECK_ERRNO(pfm_write_pmcs(fd, pmcs, 1), EINVAL);
	pmcs[0] = (pfarg_pmc_t){ .reg_num = 3 };
	CHECK_ERRNO(pfm_write_pmcs(fd, pmcs, 1), EINVAL);
	CHECK_ERRNO(write_pmd(fd, 4, 0, PFM_REGFL_NO_EMUL64), EINVAL);
	CHECK_EQ(write_pmd(fd, 0, 0, PFM_REGFL_OVFL_NOTIFY | PFM_REGFL_RANDOM), 0); /* any PMD */
	pmds[0] = (pfarg_pmd_t){ .reg_num = 4, .reg_smpl_pmds = { 0, 0, 0, 0, 1 } };
	CHECK_ERRNO(pfm_write_pmds(fd, pmds, 1), EINVAL);
	pmds[0] = (pfarg_pmd_t){ .reg_num = 4, .reg_reset_pmds = { 1 << 18 } };
	CHECK_ERRNO(pfm_write_pmds(fd, pmds, 1), EINVAL);
	pmds[0] = (pfarg_pmd_t){ .reg_num = 4, .reg_smpl_pmds = { 1 << 6 }, .reg_reset_pmds = { 1 << 7 } };
	CHECK_EQ(pfm_write_pmds(fd, pmds, 1), 0);
	CHECK_EQ(read_pmd(fd, 6) + read_pmd(fd, 7), 0); /* used by that */
}

static void
states(int fd)
{
	pfarg_start_t start = { .start_set = 3 };

	CHECK_ERRNO(pfm_start(-1, NOWHERE), EBADF);
	CHECK_ERRNO(pfm_start(fd, NOWHERE), EFAULT);
	CHECK_ERRNO(pfm_start(fd, &start), EINVAL);
	CHECK_ERRNO(pfm_stop(fd), EINVAL);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	CHECK_EQ(pfm_unload_context(fd), 0);
	CHECK_ERRNO(pfm_attach(fd, 0, PFM_NO_TARGET), EINVAL);
	CHECK_ERRNO(pfm_attach(fd, 1, self_id()), EINVAL);
	CHECK_ERRNO(pfm_load_context(-1, NULL), EFAULT);
	CHECK_ERRNO(load(-1, self_id()), EBADF);
	CHECK_ERRNO(load(fd, 1 << 30), ESRCH);
	CHECK_ERRNO(load_set(fd, self_id(), 1), EINVAL);
	CHECK_EQ(load(fd, self_id()), 0); /* a failed load leaves no trace */
	CHECK_ERRNO(load_set(fd, self_id(), 1), EBUSY);
	CHECK_ERRNO(load(fd, 1 << 30), ESRCH); /* the target is looked at first */
	CHECK_ERRNO(make_set(fd, 1, 0, 0), EBUSY);
	CHECK_ERRNO(pfm_start(fd, &start), EINVAL);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_EQ(pfm_start(fd, NULL), 0);
	CHECK_ERRNO(pfm_restart(fd), EBUSY);
	CHECK_EQ(pfm_stop(fd), 0);
	CHECK_EQ(pfm_stop(fd), 0);
}

/* A thread has one context; system-wide ones and those of threads exclude each other. */
static void
sessions(int loaded)
{
	const int second = create(0), wide = create(PFM_FL_SYSTEM_WIDE);

	CHECK_ERRNO(load_set(second, self_id(), 9), EEXIST);
	CHECK_ERRNO(load(wide, sched_getcpu()), EBUSY);
	CHECK_ERRNO(load(wide, -1), EINVAL);
	CHECK_EQ(pfm_unload_context(loaded), 0);
	CHECK_EQ(load(wide, sched_getcpu()), 0);
	CHECK_ERRNO(load(second, self_id()), EBUSY);
	close(wide);
	CHECK_EQ(load(second, self_id()), 0); /* the other one is freed */
	CHECK_EQ(pfm_unload_context(second), 0);
	close(second);
	IN_CHILD(CHECK_ERRNO(load(loaded, self_id()), EBUSY);); /* its parent's */
	CHECK_EQ(load(loaded, self_id()), 0);
	CHECK_EQ(pfm_unload_context(loaded), 0);
}

static void
blocking(void)
{
	const int fd = create(PFM_FL_NOTIFY_BLOCK);

	CHECK_ERRNO(load(fd, self_id()), EINVAL);
	close(fd);
}

/* No descriptor is left over, and none is made when there is no number for it. */
static void
descriptors(void)
{
	const int fd = create(0), copy = dup(fd);
	struct rlimit few;

	close(fd);
	CHECK_EQ(pfm_unload_context(copy), 0); /* the same context */
	CHECK_ERRNO(pfm_unload_context(fd), EBADF);
	close(copy);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &few), 0);
	few.rlim_cur = 3; /* only this: valgrind refuses another hard limit */
	IN_CHILD(CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0); CHECK_ERRNO(create(0), EMFILE););
}

int
main(void)
{
	int fd;

	IN_CHILD(check_begin("off", PFMLIB_ITANIUM2_PMU); nothing_here(););
	IN_CHILD(setenv("LIBPFM_PERFMON", "model", 1); nothing_here();); /* no PMU */
	IN_CHILD(CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), 0); unreadable(););
	check_begin("model", PFMLIB_ITANIUM2_PMU);
	creation();
	fd = create(0);
	elements(fd);
	states(fd);
	sessions(fd);
	close(fd);
	blocking();
	descriptors();
	return check_result();
}
