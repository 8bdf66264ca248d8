/* A sample every 100,000 cycles, into a buffer that the program maps; a signal says that it is full. */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <perfmon/perfmon_dfl_smpl.h>
#include <perfmon/pfmlib.h>

#define PERIOD	100000
#define BUFFERS	3

static int fd;
static const pfm_dfl_smpl_hdr_t *buffer;
static volatile sig_atomic_t full, samples;

static void
check(int result, const char *call)
{
	if (result < 0)
		err(1, "%s", call);
}

/* begin: handler */
/* The message has to be read; the restart empties the buffer. */
static void
on_full(int signal)
{
	const pfm_dfl_smpl_entry_t *entry = (const void *)(buffer + 1);
	pfarg_msg_t message;

	(void)signal;
	if (read(fd, &message, sizeof(message)) != sizeof(message))
		return;
	/* No values follow an entry: reg_smpl_pmds is empty. */
	for (uint64_t i = 0; i < buffer->hdr_count; i++)
		samples += entry[i].last_reset_val == (uint64_t)-PERIOD;
	if (++full < BUFFERS)
		pfm_restart(fd);
}
/* end: handler */

static void
prepare(void)
{
	static pfmlib_input_param_t in;
	static pfmlib_output_param_t out;
	pfarg_pmc_t pmc = { .reg_num = 0 };
	pfarg_pmd_t pmd = { .reg_flags = PFM_REGFL_OVFL_NOTIFY, .reg_value = (uint64_t)-PERIOD,
			    .reg_short_reset = (uint64_t)-PERIOD, .reg_long_reset = (uint64_t)-PERIOD };

	check(-(pfm_initialize() != PFMLIB_SUCCESS), "pfm_initialize");
	pfm_get_cycle_event(&in.pfp_events[0]);
	in.pfp_event_count = 1;
	in.pfp_dfl_plm = PFM_PLM3;
	check(-(pfm_dispatch_events(&in, NULL, &out, NULL) != PFMLIB_SUCCESS), "pfm_dispatch_events");
	pmc.reg_num = (uint16_t)out.pfp_pmcs[0].reg_num;
	pmc.reg_value = out.pfp_pmcs[0].reg_value;
	pmd.reg_num = (uint16_t)out.pfp_pmds[0].reg_num;
	check(pfm_write_pmcs(fd, &pmc, 1), "pfm_write_pmcs");
	check(pfm_write_pmds(fd, &pmd, 1), "pfm_write_pmds");
}

int
main(void)
{
	pfarg_ctx_t ctx = { .ctx_flags = 0 };
	pfm_dfl_smpl_arg_t format = { .buf_size = 4096 };
	pfarg_load_t load = { .load_pid = (uint32_t)syscall(SYS_gettid) };
	char name[] = PFM_DFL_SMPL_NAME;

	/* begin: buffer */
	check(fd = pfm_create_context(&ctx, name, &format, sizeof(format)), "pfm_create_context");
	buffer = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (buffer == MAP_FAILED)
		err(1, "mmap");
	/* end: buffer */
	prepare();
	/* begin: signal */
	signal(SIGIO, on_full);
	check(fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK), "fcntl");
	check(fcntl(fd, F_SETOWN, getpid()), "fcntl");
	/* end: signal */
	check(pfm_load_context(fd, &load), "pfm_load_context");
	check(pfm_start(fd, NULL), "pfm_start");
	while (full < BUFFERS)
		;
	check(pfm_stop(fd), "pfm_stop");
	printf("%d buffers, %d samples\n", (int)full, (int)samples);
	return 0;
}
