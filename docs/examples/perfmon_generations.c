/* Count cycles and instructions of a piece of work with each of the three generations of perfmon calls. */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

static pfmlib_output_param_t out;	/* what libpfm has computed: the registers */

static void
check(int result, const char *call)
{
	if (result < 0)
		err(1, "%s", call);
}

static void
work(void)
{
	for (volatile int i = 0; i < 30000000; i++)
		;
}

static void
print(const char *generation, uint64_t cycles, uint64_t instructions)
{
	if (cycles == 0 || instructions == 0)
		errx(1, "%s: nothing was counted", generation);
	printf("%-10s %14" PRIu64 " cycles %14" PRIu64 " instructions\n", generation, cycles, instructions);
}

/* begin: version 2 */
static void
version2(pid_t self)
{
	pfarg_ctx_t ctx = { .ctx_flags = 0 };
	pfarg_load_t load = { .load_pid = (uint32_t)self };
	pfarg_pmc_t pmcs[2] = { { .reg_num = 0 } };
	pfarg_pmd_t pmds[2] = { { .reg_num = 0 } };
	int fd;

	for (int i = 0; i < 2; i++) {
		pmcs[i].reg_num = (uint16_t)out.pfp_pmcs[i].reg_num;
		pmcs[i].reg_value = out.pfp_pmcs[i].reg_value;
		pmds[i].reg_num = (uint16_t)out.pfp_pmds[i].reg_num;
	}
	check(fd = pfm_create_context(&ctx, NULL, NULL, 0), "pfm_create_context");
	check(pfm_write_pmcs(fd, pmcs, 2), "pfm_write_pmcs");
	check(pfm_write_pmds(fd, pmds, 2), "pfm_write_pmds");
	check(pfm_load_context(fd, &load), "pfm_load_context");
	check(pfm_start(fd, NULL), "pfm_start");
	work();
	check(pfm_stop(fd), "pfm_stop");
	check(pfm_read_pmds(fd, pmds, 2), "pfm_read_pmds");
	print("version 2", pmds[0].reg_value, pmds[1].reg_value);
	close(fd);
}
/* end: version 2 */

/* begin: version 3 */
static void
version3(pid_t self)
{
	pfarg_pmr_t pmcs[2] = { { .reg_num = 0 } }, pmds[2] = { { .reg_num = 0 } };
	int fd;

	for (int i = 0; i < 2; i++) {
		pmcs[i].reg_num = (uint16_t)out.pfp_pmcs[i].reg_num;
		pmcs[i].reg_value = out.pfp_pmcs[i].reg_value;
		pmds[i].reg_num = (uint16_t)out.pfp_pmds[i].reg_num;
	}
	check(fd = pfm_create(0, NULL), "pfm_create");
	check(pfm_write(fd, 0, PFM_RW_PMC, pmcs, sizeof(pmcs)), "pfm_write");
	check(pfm_write(fd, 0, PFM_RW_PMD, pmds, sizeof(pmds)), "pfm_write");
	check(pfm_attach(fd, 0, self), "pfm_attach");
	check(pfm_set_state(fd, 0, PFM_ST_START), "pfm_set_state");
	work();
	check(pfm_set_state(fd, 0, PFM_ST_STOP), "pfm_set_state");
	check(pfm_read(fd, 0, PFM_RW_PMD, pmds, sizeof(pmds)), "pfm_read");
	print("version 3", pmds[0].reg_value, pmds[1].reg_value);
	close(fd);
}
/* end: version 3 */

/* begin: perfmonctl */
static void
version1(pid_t self)
{
	pfarg_context_t ctx = { .ctx_flags = 0 };
	pfarg_load_t load = { .load_pid = (uint32_t)self };
	pfarg_reg_t pmcs[2] = { { .reg_num = 0 } }, pmds[2] = { { .reg_num = 0 } };
	int fd;

	for (int i = 0; i < 2; i++) {
		pmcs[i].reg_num = out.pfp_pmcs[i].reg_num;
		pmcs[i].reg_value = out.pfp_pmcs[i].reg_value;
		pmds[i].reg_num = out.pfp_pmds[i].reg_num;
	}
	check(perfmonctl(0, PFM_CREATE_CONTEXT, &ctx, 1), "PFM_CREATE_CONTEXT");
	fd = ctx.ctx_fd;
	check(perfmonctl(fd, PFM_WRITE_PMCS, pmcs, 2), "PFM_WRITE_PMCS");
	check(perfmonctl(fd, PFM_WRITE_PMDS, pmds, 2), "PFM_WRITE_PMDS");
	check(perfmonctl(fd, PFM_LOAD_CONTEXT, &load, 1), "PFM_LOAD_CONTEXT");
	check(perfmonctl(fd, PFM_START, NULL, 0), "PFM_START");
	work();
	check(perfmonctl(fd, PFM_STOP, NULL, 0), "PFM_STOP");
	check(perfmonctl(fd, PFM_READ_PMDS, pmds, 2), "PFM_READ_PMDS");
	print("perfmonctl", pmds[0].reg_value, pmds[1].reg_value);
	close(fd);
}
/* end: perfmonctl */

int
main(void)
{
	static pfmlib_input_param_t in;
	pid_t self = (pid_t)syscall(SYS_gettid);
	int ret;

	if ((ret = pfm_initialize()) != PFMLIB_SUCCESS)
		errx(1, "pfm_initialize: %s", pfm_strerror(ret));
	pfm_get_cycle_event(&in.pfp_events[0]);
	pfm_get_inst_retired_event(&in.pfp_events[1]);
	in.pfp_event_count = 2;
	in.pfp_dfl_plm = PFM_PLM3;	/* user mode */
	if ((ret = pfm_dispatch_events(&in, NULL, &out, NULL)) != PFMLIB_SUCCESS)
		errx(1, "pfm_dispatch_events: %s", pfm_strerror(ret));
	version2(self);
	version3(self);
	version1(self);
	return 0;
}
