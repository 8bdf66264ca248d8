/*
 * The events of counters: described, opened and closed.
 */
#include "perf.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Pages of the ring: an overflow that masks stops its event, so that few are recorded; samples are taken many at a
 * time.
 */
enum { OVERFLOWS = 2, SAMPLES = 64 };

/* Translate errors to those of the calls; for a group's later events some mean that there are too many. */
static int
open_error(int ret, bool is_later)
{
	switch (ret) {
	case -EACCES:
	case -EPERM:
		return -EPERM;
	case -EINVAL:
	case -ENOSPC:
	case -EBUSY:
		return is_later ? -EBUSY : -ENODEV;
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
	case -ESRCH:
		return ret;
	default:
		return ret < 0 ? -ENODEV : ret;
	}
}

/* The kernel repeats the first period: if the next one differs, the kernel must be told. */
static bool
perf_is_regular(const struct pmd *pmd)
{
	return !(pmd->flags & PFM_REGFL_RANDOM) && pmd->value == pmd->short_reset;
}

/*
 * Describe the event of a counter; it announces its overflows at once or, for many uniform samples, several at a time.
 */
static int
make_attr(const struct context *c, const struct set *set, unsigned int counter, struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->sample_period = NO_PERIOD;
	attr->sample_type = COUNTING_SAMPLE_TYPE;
	attr->watermark = c->buffer && perf_is_regular(&set->pmds[counter]);
	if (attr->watermark)
		attr->wakeup_watermark = (uint32_t)(c->perf->anchor.ring.size / 2);
	else
		attr->wakeup_events = 1;
	return choice()->backend->event(c, set->pmcs[counter], attr);
}

/*
 * List the counters of a set that count at some level, in the order in which their events are opened; return how many,
 * or an error.
 */
static int
choose_counters(const struct context *c, const struct set *set, uint8_t *counters)
{
	int count = 0, ret;

	for (unsigned int i = 0; i < PERFMON2_PMDS; i++)
		if (c->machine->counters & set->used_pmcs[0] & UINT64_C(1) << i && set->pmcs[i] & 0xf)
			counters[count++] = (uint8_t)i;
	ret = choice()->backend->place ? choice()->backend->place(c, set, counters, (unsigned int)count) : 0;
	return ret < 0 ? ret : count;
}

/* Control registers for unavailable features must keep their defaults. */
static int
check_others(const struct context *c, const struct set *set)
{
	for (unsigned int i = 0; i < PERFMON2_PMCS; i++) {
		const struct pmc_rule *rule = machine_pmc(c->machine, i);
		const uint64_t privileged = rule && rule->flags & PMC_PM4 ? 1 << 4 : 1 << 6;
		uint64_t init;

		if (!rule || !(set->used_pmcs[i / 64] >> i % 64 & 1) || (i < 64 && c->machine->counters >> i & 1))
			continue;
		if (!c->is_ctl || machine_old_default(c->machine, i, &init) < 0)
			init = rule->init;
		if ((set->pmcs[i] ^ init) & ~privileged)
			return -ENOTSUP;
	}
	return 0;
}

/* Read the counts of the events; a group that the PMU has no room for shows that only when it is read. */
static int
read_first(const struct context *c, struct set_events *events)
{
	struct counting_reading reading;
	int ret = c->is_self ? counting_group_enable(&events->group) : 0;

	if (ret == 0)
		ret = counting_group_read(&events->group, &reading);
	if (c->is_self)
		counting_group_disable(&events->group);
	if (ret == 0)
		ret = counting_group_read(&events->group, &reading);
	for (unsigned int i = 0; ret == 0 && i < events->group.count; i++)
		events->counters[i].seen = reading.values[1 + i].value;
	return ret;
}

/* Open the events of a set's counters: return how many, or an error. */
static int
describe_set(const struct context *c, const struct set *set, uint8_t *numbers, struct perf_event_attr *attrs)
{
	const int ret = check_others(c, set);
	const int count = ret < 0 ? ret : choose_counters(c, set, numbers);

	for (int i = 0; i < count; i++) {
		const int refused = make_attr(c, set, numbers[i], &attrs[i]);

		if (refused < 0)
			return refused;
	}
	return count;
}

int
perf_open_set(struct context *c, const struct set *set, struct set_events *events)
{
	struct perf_event_attr attrs[COUNTING_GROUP_MOST];
	uint8_t numbers[COUNTING_GROUP_MOST];
	struct perf *p = c->perf;
	int count = describe_set(c, set, numbers, attrs), ret;

	*events = (struct set_events){ .group.leader.fd = -1 };
	if (count <= 0)
		return count;
	for (int i = 0; i < count; i++)
		events->counters[i] = (struct counter){ .number = numbers[i], .period = NO_PERIOD };
	ret = counting_group_open(&events->group, &p->target, attrs, (unsigned int)count, &p->anchor);
	return ret < 0 ? open_error(ret, count > 1) : read_first(c, events);
}

void
perf_close_set(struct set_events *events)
{
	if (events->group.count)
		counting_group_close(&events->group);
}

static size_t
size_for(unsigned int sets)
{
	return sizeof(struct perf) + sets * sizeof(struct set_events);
}

void
perf_forget(struct context *c)
{
	struct perf *p = c->perf;

	if (!p)
		return;
	c->perf = NULL;
	if (c->is_copy)
		p->anchor.ring.head = NULL; /* in a child it is gone: the number may be another file by now */
	helper_forget_fd(p->anchor.event.fd);
	for (unsigned int i = 0; i < p->num_sets; i++)
		perf_close_set(&p->sets[i]);
	counting_anchor_close(&p->anchor);
	munmap(p, size_for(p->num_sets));
}

static struct perf *
make_perf(const struct context *c)
{
	struct perf *p = private_memory(size_for(c->num_sets));

	if (!p)
		return NULL;
	p->num_sets = c->num_sets;
	p->timer_seen = NEVER;
	p->anchor.event.fd = -1;
	p->target = (struct counting_target){ c->is_system ? -1 : c->is_self ? 0 : c->tid, c->is_system ? c->cpu : -1 };
	return p;
}

int
perf_load(struct context *c)
{
	int ret;

	c->perf = make_perf(c);
	if (!c->perf)
		return -ENOMEM;
	ret = open_error(counting_anchor_open(&c->perf->anchor, &c->perf->target, c->buffer ? SAMPLES : OVERFLOWS),
			 false);
	for (unsigned int i = 0; ret == 0 && i < c->num_sets; i++) {
		c->sets[i]->is_refused = false;
		ret = perf_open_set(c, c->sets[i], &c->perf->sets[i]);
	}
	if (ret == 0)
		ret = helper_start();
	if (ret < 0) {
		perf_forget(c);
		return ret;
	}
	task_begin(c, true);
	if (c->perf->anchor.ring.head)
		helper_watch(c->perf->anchor.event.fd);
	return 0;
}
