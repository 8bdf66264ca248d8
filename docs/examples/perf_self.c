/*
 * Count a software event of this program: libpfm encodes it, the kernel counts it.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <perfmon/pfmlib_perf_event.h>

#define PAGES 64

/* One page fault a page. */
static void
work(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	volatile char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(1, "mmap");
	madvise((void *)p, PAGES * page, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES; i++)
		p[i * page] = 1;
}

int
main(void)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	char *fstr = NULL;
	uint64_t count;
	int fd, ret;

	ret = pfm_initialize();
	if (ret != PFM_SUCCESS)
		errx(1, "cannot initialize the library: %s", pfm_strerror(ret));

	memset(&attr, 0, sizeof(attr));
	memset(&arg, 0, sizeof(arg));
	attr.size = sizeof(attr);
	arg.size = sizeof(arg);
	arg.attr = &attr;
	arg.fstr = &fstr;
	ret = pfm_get_os_event_encoding("perf::PAGE-FAULTS:u", PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
	if (ret != PFM_SUCCESS)
		errx(1, "cannot encode: %s", pfm_strerror(ret));
	printf("%s: type %u, config 0x%" PRIx64 "\n", fstr, attr.type, (uint64_t)attr.config);

	attr.disabled = 1;
	fd = perf_event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		err(1, "perf_event_open");
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	work();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		err(1, "read");
	printf("%d pages, at least %d page faults: %s\n", PAGES, PAGES, count >= PAGES ? "yes" : "no");
	close(fd);
	free(fstr);
	return 0;
}
