/*
 * The back end "raw": the attributes and the order of the events that it would open under Linux for IA-64; anywhere else
 * it refuses.  And the attributes of the back end "host".
 */
#include "check.h"

#include "engine.h"
#include "host_events.h"

#include <perfmon/perf_event.h>
#include <perfmon/pfmlib_itanium2.h>
#include <string.h>
#include <unistd.h>

static struct context context;

static void
use(int type)
{
	context.machine = machine_by_type(type);
}

static int
event(uint64_t pmc, struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	return raw_event(&context, pmc, attr);
}

static void
attributes(void)
{
	struct perf_event_attr attr;

	use(PFMLIB_ITANIUM2_PMU);
	CHECK_EQ(event(0x1228, &attr), 0);
	CHECK_EQ(attr.type, PERF_TYPE_RAW);
	CHECK_EQ(attr.config, 0x1200);
	CHECK_EQ(attr.exclude_user, 0);
	CHECK_EQ(attr.exclude_kernel, 1);
	CHECK_EQ(attr.exclude_hv, 1);
	CHECK_EQ(event(0x23b0861, &attr), 0); /* kernel, umask 0xb, threshold 3, IA-64 only; the enable bit */
	CHECK_EQ(attr.config, 0x3b0800);
	CHECK_EQ(attr.exclude_user, 1);
	CHECK_EQ(attr.exclude_kernel, 0);
	CHECK_EQ(event(0x1229, &attr), 0);
	CHECK_EQ(attr.exclude_user, 0);
	CHECK_EQ(attr.exclude_kernel, 0);
	CHECK_EQ(event(0x122a, &attr), -ENOTSUP); /* level 1 */
	CHECK_EQ(event(0x122c, &attr), -ENOTSUP);
	CHECK_EQ(event(0x1238, &attr), -ENOTSUP);    /* the external pin */
	CHECK_EQ(event(0x1001228, &attr), -ENOTSUP); /* IA-32 only */
	CHECK_EQ(event(0xc828, &attr), -ENOTSUP);    /* DATA_EAR_EVENTS */
	CHECK_EQ(event(0x1128, &attr), -ENOTSUP);    /* BRANCH_EVENT, of the trace buffer */
	use(PFMLIB_ITANIUM_PMU);
	CHECK_EQ(event(0x71228, &attr), 0);
	CHECK_EQ(attr.config, 0x71200);
	CHECK_EQ(event(0x81228, &attr), -ENOTSUP); /* the bit of the unit mask that the driver cuts */
	use(PFMLIB_MONTECITO_PMU);
	CHECK_EQ(event(0x7e001228, &attr), 0); /* all, mesi */
	CHECK_EQ(attr.config, 0x7c001200);
}

/* The PMCs of counters from 4 on: which event is opened first. */
static int
place(const uint64_t *pmcs, unsigned int count, uint8_t *counters)
{
	static struct set set;

	for (unsigned int i = 0; i < count; i++) {
		set.pmcs[4 + i] = pmcs[i];
		counters[i] = (uint8_t)(4 + i);
	}
	return raw_place(&context, &set, counters, count);
}

static void
order(void)
{
	const uint64_t cycles = 0x1228;
	uint64_t able, cycles_able;
	uint8_t counters[4];
	bool is_normal;

	use(PFMLIB_ITANIUM2_PMU);
	CHECK(pfm3_event_of_code(PFMLIB_ITANIUM2_PMU, 0x12, 0, &cycles_able, &is_normal) && is_normal);
	CHECK_EQ(cycles_able, 0xf0);
	for (unsigned int es = 0; es < 256;
	     es++) { /* an event that only PMC5 has cannot be alone: the driver takes PMC4 */
		if (!pfm3_event_of_code(PFMLIB_ITANIUM2_PMU, es, 0, &able, &is_normal) || able == 0xf0)
			continue;
		CHECK_EQ(place(&(uint64_t){ es << 8 | 8 }, 1, counters), able & 0x10 ? 0 : -EBUSY);
		if (able & 0x10) { /* wherever it stands it is opened first if it must */
			CHECK_EQ(place((uint64_t[]){ cycles, cycles, es << 8 | 8 }, 3, counters), 0);
			CHECK(able != 0x10 || counters[0] == 6);
		}
		if (able == 0x10)
			CHECK_EQ(place((uint64_t[]){ es << 8 | 8, es << 8 | 8 }, 2, counters), -EBUSY);
	}
	CHECK_EQ(place((uint64_t[]){ cycles, cycles, cycles, cycles }, 4, counters), 0);
	CHECK_EQ(place(NULL, 0, counters), 0);
	CHECK(!pfm3_event_of_code(PFMLIB_ITANIUM2_PMU, 0xfe, 0xf, &able, &is_normal));
	CHECK_EQ(place((uint64_t[]){ 0xf << 16 | 0xfe << 8 | 8 }, 1, counters),
		 0); /* what no table has may be anywhere */
}

/* The table of the back end "host". */
static void
host_events(void)
{
	const struct host_event *event = host_event_of(PFMLIB_ITANIUM2_PMU, 0x12, 0);

	CHECK(event && event->type == PERF_TYPE_HARDWARE && event->config == PERF_COUNT_HW_CPU_CYCLES);
	event = host_event_of(PFMLIB_ITANIUM_PMU, 0x12, 0);
	CHECK(event && event->pmu == PFMLIB_ITANIUM_PMU && event->config == PERF_COUNT_HW_CPU_CYCLES);
	CHECK(!host_event_of(PFMLIB_ITANIUM2_PMU, 0x12, 0xf));
	CHECK(!host_event_of(PFMLIB_ITANIUM2_PMU, 0xff, 0));
}

static int
host_event(uint64_t pmc)
{
	struct perf_event_attr attr = { 0 };
	const int ret = host_backend.event(&context, pmc, &attr);

	CHECK(ret < 0 || (attr.type == PERF_TYPE_HARDWARE && attr.config == PERF_COUNT_HW_CPU_CYCLES));
	return ret < 0 ? ret : (attr.exclude_user ? 0 : 8) | (attr.exclude_kernel ? 0 : 1);
}

/* What fields have a meaning on a host: levels; the one instruction set that it has. */
static void
host_attributes(void)
{
	use(PFMLIB_ITANIUM2_PMU);
	CHECK_EQ(host_event(0x1228), 8);
	CHECK_EQ(host_event(0x1221), 1);
	CHECK_EQ(host_event(0x2001229), 9); /* IA-64 only */
	CHECK_EQ(host_event(0x1001228), -ENOTSUP);
	CHECK_EQ(host_event(0x3001228), -ENOTSUP);
	CHECK_EQ(host_event(0x1238), -ENOTSUP);   /* the external pin */
	CHECK_EQ(host_event(0x101228), -ENOTSUP); /* a threshold */
	CHECK_EQ(host_event(0x11228), -ENOTSUP);  /* a unit mask */
	CHECK_EQ(host_event(0x4001228), 8);       /* a bit that only Montecito has */
	use(PFMLIB_MONTECITO_PMU);
	CHECK_EQ(host_event(0x1228), 8);
	CHECK_EQ(host_event(0x4001228), -ENOTSUP); /* both hardware threads */
}

/* Codes of IA-64 are other events here. */
static void
elsewhere(void)
{
	pfarg_ctx_t ctx = { 0 };
	pfarg_pmc_t pmc = { .reg_num = 4, .reg_value = 0x1228 };
	pfarg_load_t load = { .load_pid = (uint32_t)own_thread() };
	int fd;

	setenv("LIBPFM_PERFMON", "raw", 1);
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), 0);
	fd = pfm_create_context(&ctx, NULL, NULL, 0);
	CHECK(fd >= 0);
	CHECK_EQ(pfm_write_pmcs(fd, &pmc, 1), 0);
#ifndef __ia64__
	CHECK_ERRNO(pfm_load_context(fd, &load), ENODEV);
#endif
	close(fd);
}

int
main(void)
{
	attributes();
	order();
	host_events();
	host_attributes();
	elsewhere();
	return check_result();
}
