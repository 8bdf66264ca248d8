/*
 * What is measured of perfmon2, with the model, next to perf's own calls on software events, which every kernel counts.
 */
#include "bench.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <perfmon/perfmon.h>
#define PFM_NO_MMAP_REDIRECT	/* the libraries are loaded, not linked */
#include <perfmon/perfmon_dfl_smpl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../counting/control.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

/* CPU_CYCLES of Itanium 2 at level 3, and as many samples as fill the buffer. */
enum { COUNTERS = 4, FIRST = 4, CYCLES = 0x12, PMC = CYCLES << 8 | 8, USER = 8, BUFFER = 61440, SAMPLES = 1529 };

struct library {
	int (*create)(pfarg_ctx_t *, char *, void *, size_t);
	int (*write_pmcs)(int, pfarg_pmc_t *, int);
	int (*write_pmds)(int, pfarg_pmd_t *, int);
	int (*read_pmds)(int, pfarg_pmd_t *, int);
	int (*load)(int, pfarg_load_t *);
	int (*start)(int, pfarg_start_t *);
	int (*stop)(int);
	int (*restart)(int);
	int (*unload)(int);
	int (*advance)(unsigned int, unsigned int, unsigned int, uint64_t);
	const char *absent;	/* a function that it lacks */
	const char *refused;	/* one that failed, */
	int code;		/* with this errno */
	int fd;
};

static struct library libraries[MAX_LIBRARIES];
static pfarg_pmd_t pmds[COUNTERS];

static void
load_perfmon2(struct library *l, void *handle)
{
	const struct bench_function wanted[] = {
		{ "pfm_create_context", &l->create },
		{ "pfm_write_pmcs", &l->write_pmcs },
		{ "pfm_write_pmds", &l->write_pmds },
		{ "pfm_read_pmds", &l->read_pmds },
		{ "pfm_load_context", &l->load },
		{ "pfm_start", &l->start },
		{ "pfm_stop", &l->stop },
		{ "pfm_restart", &l->restart },
		{ "pfm_unload_context", &l->unload },
		{ "pfm_model_advance_code", &l->advance },
	};

	l->absent = bench_symbols(handle, wanted, COUNT(wanted));
}

static void
check(struct library *l, const char *function, int ret)
{
	if (ret >= 0 || l->refused)
		return;
	l->refused = function;
	l->code = errno;
}

/* A context of the calling thread that runs: four counters, and a buffer for samples of each event if that is asked for. */
static void
prepare(struct library *l, int with_buffer)
{
	pfm_dfl_smpl_arg_t format = { .buf_size = BUFFER };
	pfarg_ctx_t context = { .ctx_flags = 0 };
	pfarg_load_t target = { .load_pid = (uint32_t)syscall(SYS_gettid) };
	char name[] = PFM_DFL_SMPL_NAME;
	pfarg_pmc_t pmc = { .reg_value = PMC };

	l->fd = l->create(&context, with_buffer ? name : NULL, &format, sizeof(format));
	check(l, "pfm_create_context", l->fd);
	for (unsigned int i = 0; i < (with_buffer ? 1U : COUNTERS); i++) {
		const uint16_t number = (uint16_t)(FIRST + i);
		const uint64_t first = with_buffer ? UINT64_MAX : 0;

		pmds[i] = (pfarg_pmd_t){ .reg_num = number, .reg_flags = with_buffer ? PFM_REGFL_OVFL_NOTIFY : 0,
					 .reg_value = first, .reg_long_reset = first, .reg_short_reset = first };
		pmc.reg_num = number;
		check(l, "pfm_write_pmcs", l->write_pmcs(l->fd, &pmc, 1));
		check(l, "pfm_write_pmds", l->write_pmds(l->fd, &pmds[i], 1));
	}
	check(l, "pfm_load_context", l->load(l->fd, &target));
	check(l, "pfm_start", l->start(l->fd, NULL));
}

static int
run_read(void *library)
{
	struct library *l = library;

	return l->read_pmds(l->fd, pmds, COUNTERS);
}

static int
run_start_stop(void *library)
{
	struct library *l = library;
	const int ret = l->start(l->fd, NULL);

	return ret ? ret : l->stop(l->fd);
}

/* Fill the buffer, take the message, empty the buffer. */
static int
run_samples(void *library)
{
	struct library *l = library;
	pfarg_msg_t message;
	int ret = l->advance(CYCLES, 0, USER, SAMPLES);

	if (ret == 0 && read(l->fd, &message, sizeof(message)) != sizeof(message))
		ret = -1;
	return ret ? ret : l->restart(l->fd);
}

/* ---- the floors ----------------------------------------------------------------------------- */

/* A group of as many software events; -1: perf cannot be used here. */
static int
open_group(int events[COUNTERS])
{
	static const unsigned int kinds[COUNTERS] = { PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
						      PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS };

	for (int i = 0; i < COUNTERS; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = kinds[i], .disabled = i == 0,
			.read_format = PERF_FORMAT_GROUP, .exclude_kernel = 1, .exclude_hv = 1,
		};

		events[i] = (int)syscall(SYS_perf_event_open, &attr, 0, -1, i ? events[0] : -1, PERF_FLAG_FD_CLOEXEC);
		if (events[i] < 0)
			return -1;
	}
	return counting_control(events[0], PERF_EVENT_IOC_ENABLE, NULL);
}

static int
run_group_read(void *events)
{
	uint64_t values[1 + COUNTERS];

	return read(*(int *)events, values, sizeof(values)) == sizeof(values) ? 0 : -1;
}

static int
run_ioctls(void *events)
{
	const int *leader = events;
	void *group = (void *)(uintptr_t)PERF_IOC_FLAG_GROUP;

	return counting_control(*leader, PERF_EVENT_IOC_ENABLE, group) < 0 ? -1 :
	       counting_control(*leader, PERF_EVENT_IOC_DISABLE, group);
}

/* ---- measures ------------------------------------------------------------------------------- */

/* The same library as the first one. */
static int
is_second(const struct bench *b, unsigned int i)
{
	return i > 0 && b->libraries[i] == b->libraries[0];
}

static void
measure(struct bench *b, const struct measure *usable, const char *name, unsigned int calls, bench_run run, bench_run floor)
{
	int events[COUNTERS] = { -1, -1, -1, -1 };
	struct measure m;

	measure_init(&m, b, name, "itanium2", calls);
	for (unsigned int i = 0; i < b->count; i++) {
		struct library *l = &libraries[i];

		l->fd = -1;
		l->refused = NULL;
		m.subjects[i].run = run;
		m.subjects[i].argument = l;
		if (usable->subjects[i].reason[0])
			subject_fails(&m.subjects[i], "%s", usable->subjects[i].reason);
		else if (l->absent)
			subject_fails(&m.subjects[i], "the library has no %s()", l->absent);
		else if (is_second(b, i))	/* a thread has one context */
			*l = libraries[0];
		else
			prepare(l, run == run_samples);
		if (l->refused)
			subject_fails(&m.subjects[i], "%s(): %s", l->refused, strerror(l->code));
	}
	if (floor && open_group(events) == 0)
		measure_floor(&m, "perf", floor, events);
	measure_print(b, &m);
	for (unsigned int i = 0; i < COUNTERS; i++)
		if (events[i] >= 0)
			close(events[i]);
	for (unsigned int i = 0; i < b->count; i++)
		if (libraries[i].fd >= 0 && !is_second(b, i)) {
			libraries[i].unload(libraries[i].fd);
			close(libraries[i].fd);
		}
}

void
bench_perfmon2(struct bench *b, const struct measure *usable)
{
	setenv("LIBPFM_PERFMON", "model", 1);	/* read at the first call */
	for (unsigned int i = 0; i < b->count; i++)
		load_perfmon2(&libraries[i], b->libraries[i]);
	measure(b, usable, "read_pmds", 1, run_read, run_group_read);
	measure(b, usable, "start_stop", 1, run_start_stop, run_ioctls);
	measure(b, usable, "sample", SAMPLES, run_samples, NULL);
}
