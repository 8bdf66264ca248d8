/*
 * The core of perfmon2 with invented time, beside the plain model of tests/fuzz: each event of a rate is made there one by one.
 *
 *     perfmon2_core [SCENARIOS [SEED]]
 */
#include "check.h"
#include "perfmon2_shadow.h"

#include "core/context.h"

enum { SETS = 3, STEPS = 40, MOST_EVENTS = 3000, NS_PER_MS = 1000000, BUFFER = 2000 };

static uint64_t state;

static uint64_t
random_below(uint64_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % limit;
}

static bool
one_of(unsigned int n)
{
	return random_below(n) == 0;
}

/* ---- the plain model, with a rate -------------------------------------------------------------- */

struct plain {
	struct shadow c;
	uint64_t rate, phase[SHADOW_SETS]; /* units of its next event that have passed */
	uint64_t fraction;                 /* units of the next ns that have */
};

static bool
plain_counts(const struct plain *p)
{
	return p->c.state == SHADOW_LOADED && p->c.started;
}

/* To the next event or timeout, or so far: how many units. */
static uint64_t
plain_step(struct plain *p, uint64_t left)
{
	const unsigned int active = p->c.active;
	struct shadow_set *set = &p->c.sets[active];
	const bool has_timer = shadow_timer_runs(&p->c);
	uint64_t units = NS_PER_MS - p->phase[active],
		 timeout = has_timer ? set->remaining * p->rate - p->fraction : UINT64_MAX, ns;

	if (has_timer && set->remaining == 0)
		timeout = 0;
	units = timeout < units ? timeout : units;
	units = left < units ? left : units;
	ns = (p->fraction + units) / p->rate;
	p->fraction = (p->fraction + units) % p->rate;
	p->phase[active] += units;
	shadow_clock += ns;
	if (has_timer)
		set->remaining -= ns;
	if (p->phase[active] == NS_PER_MS) {
		p->phase[active] = 0;
		shadow_step(&p->c, 0, 0, PFM_PLM3, 1);
	}
	if (p->c.active == active && units == timeout)
		shadow_time(&p->c, 0);
	return units;
}

static void
plain_run(struct plain *p, uint64_t until)
{
	while (shadow_clock < until && plain_counts(p)) {
		uint64_t left = (until - shadow_clock) * p->rate - p->fraction;

		while (left && plain_counts(p))
			left -= plain_step(p, left);
	}
	shadow_clock = shadow_clock < until ? until : shadow_clock;
	p->fraction = 0;
}

/* ---- the same in both ------------------------------------------------------------------------- */

static struct context core;
static struct plain plain;
static const struct where where = { 0x1000, 77, 1, 2, 3 };
static uint64_t buffer[(BUFFER + 4096) / sizeof(uint64_t)];

/* What the shell does with a notice. */
static void
carry_out(void)
{
	if (!core.notice.is_there)
		return;
	core.notice.is_there = false;
	if (plain.c.waiting == (core.is_ctl ? SHADOW_CTL_QUEUE : SHADOW_QUEUE) &&
	    core.can_restart == plain.c.can_restart)
		return; /* the queue was full */
	core.can_restart++;
	CHECK_EQ(core.notice.pmds, plain.c.queue[plain.c.waiting - 1].pmds);
	if (!core.is_ctl)
		CHECK_EQ(core.notice.set, plain.c.queue[plain.c.waiting - 1].set);
}

static void
compare(void)
{
	CHECK_EQ(core.state, plain.c.state);
	CHECK_EQ(core.started, plain.c.started);
	CHECK_EQ(core.can_restart, plain.c.can_restart);
	CHECK_EQ(core.active->id, plain.c.active);
	CHECK_EQ(core.now, shadow_clock);
	for (unsigned int i = 0; i < core.num_sets; i++)
		shadow_check_set(core.sets[i], &plain.c.sets[core.sets[i]->id], core.machine->counters);
	shadow_check_buffer(&core, &plain.c);
}

static uint64_t
near_overflow(void)
{
	return one_of(4) ? random_below(100) : 0 - random_below(one_of(3) ? 10 : 2 * MOST_EVENTS);
}

static void
write_counter(unsigned int set, unsigned int number)
{
	const uint32_t notify = one_of(2) ? PFM_REGFL_OVFL_NOTIFY : 0;
	const uint64_t others = one_of(3) ? (UINT64_C(1) << (4 + random_below(4))) : 0;
	const pfarg_pmd_t pmd = {
		.reg_num = (uint16_t)number,
		.reg_set = (uint16_t)set,
		.reg_flags = notify,
		.reg_value = near_overflow(),
		.reg_long_reset = near_overflow(),
		.reg_short_reset = ~random_below(500),
		.reg_ovfl_switch_cnt = random_below(4),
		.reg_reset_pmds = { others },
		.reg_smpl_pmds = { one_of(3) ? others : 0 },
	};
	const pfarg_pmc_t pmc = { .reg_num = (uint16_t)number,
				  .reg_set = (uint16_t)set,
				  .reg_value = one_of(8) ? 0 : PFM_PLM3,
				  .reg_flags = one_of(8) && core.machine->type != 1 ? PFM_REGFL_NO_EMUL64 : 0 };
	struct request control = { .number = number, .set = set, .flags = pmc.reg_flags, .value = pmc.reg_value };
	struct request data = {
		.number = number,
		.set = set,
		.flags = notify,
		.value = pmd.reg_value,
		.long_reset = pmd.reg_long_reset,
		.short_reset = pmd.reg_short_reset,
		.swcnt = pmd.reg_ovfl_switch_cnt,
		.reset_pmds = { pmd.reg_reset_pmds[0] },
		.smpl_pmds = { pmd.reg_smpl_pmds[0] },
	};
	struct set *to = set_find(&core, set);
	uint64_t value;

	CHECK_EQ(check_pmc(&core, to, &control, &value), shadow_write_pmc(&plain.c, &pmc));
	set_pmc(to, number, value);
	CHECK_EQ(write_pmd(&core, &data), shadow_write_pmd(&plain.c, &pmd, false));
}

static void
make_sets(bool is_ctl)
{
	const unsigned int count = is_ctl ? 1 : 1 + (unsigned int)random_below(SETS);
	static const uint32_t flags[] = { 0, PFM_SETFL_TIME_SWITCH, PFM_SETFL_TIME_SWITCH, PFM_SETFL_OVFL_SWITCH };
	const uint64_t most_ns = (uint64_t)MOST_EVENTS * NS_PER_MS / plain.rate;

	for (unsigned int i = 0; i < count; i++) {
		const uint32_t how = is_ctl ? 0 : flags[random_below(4)];
		const uint64_t timeout = 1 + most_ns / MOST_EVENTS + random_below(one_of(3) ? 10 : most_ns);

		struct request wanted = { .set = i, .flags = how, .timeout = timeout };

		CHECK_EQ(set_change(&core, &wanted), shadow_change_set(&plain.c, i, how, timeout));
		for (unsigned int number = 4; number < 8; number++)
			if (!one_of(3))
				write_counter(i, number);
	}
}

static void
begin(void)
{
	static const uint64_t rates[] = { 1, 3, 1000, 2000, 999983, 1000000, 2000000 };
	const struct shadow_machine *machine = &shadow_machines[random_below(4)];
	const bool is_ctl = one_of(3), has_buffer = one_of(3);
	const uint32_t flags = one_of(4) ? PFM_FL_SYSTEM_WIDE : 0;

	core = (struct context){ .is_ctl = is_ctl };
	CHECK_EQ(context_begin(&core, machine_by_type(machine->type), flags), 0);
	plain = (struct plain){ .rate = rates[random_below(sizeof(rates) / sizeof(*rates))] };
	shadow_make(&plain.c, machine, flags, has_buffer ? BUFFER : 0);
	plain.c.is_ctl = is_ctl;
	if (has_buffer) {
		memset(buffer, 0, sizeof(buffer));
		core.buffer = buffer;
		sample_begin(&core, BUFFER, 0);
	}
	core.rate = plain.rate;
	core.now = shadow_clock;
	make_sets(is_ctl);
}

static void
load(void)
{
	const unsigned int set = (unsigned int)random_below(core.num_sets);

	context_loaded(&core, core.sets[set]);
	rate_begin(&core);
	shadow_load(&plain.c, 1, -1, set);
	memset(plain.phase, 0, sizeof(plain.phase));
	plain.fraction = 0;
}

/* Look when the core says that there may be something; a notice is found at its time. */
static void
look_until(uint64_t until)
{
	for (int looks = 0; core.now < until && !core.notice.is_there; looks++) {
		const uint64_t ns = rate_time_to_next(&core), now = ns < until - core.now ? core.now + ns : until;

		while (rate_run(&core, now, false, &where)) /* as much as a look makes */
			;
		CHECK(looks < 4 * MOST_EVENTS);
	}
}

static void
pass(void)
{
	const uint64_t until = shadow_clock + random_below((uint64_t)MOST_EVENTS * NS_PER_MS / plain.rate + 2);
	const bool looks = one_of(2);

	plain_run(&plain, until);
	if (looks) {
		look_until(until);
		CHECK(!core.notice.is_there || core.now - core.active->since <= 1); /* since: when it masked */
	}
	while (rate_run(&core, until, false, &where))
		;
	carry_out();
}

static void
one_operation(void)
{
	const uint64_t id = random_below(core.num_sets);
	const uint16_t set = (uint16_t)id;
	const bool is_here = core.is_system || one_of(2);

	switch (random_below(12)) {
	case 0:
		CHECK_EQ(context_stop(&core), shadow_stop(&plain.c));
		break;
	case 1:
		CHECK_EQ(context_start(&core, one_of(2) ? &id : NULL, is_here), 0);
		CHECK_EQ(shadow_start(&plain.c, core.active->id == plain.c.active ? NULL : &set, is_here ? 1 : 2), 0);
		break;
	case 2:
	case 3:
		if (core.is_ctl && core.state == MASKED) {
			context_resume(&core);
			shadow_resume(&plain.c);
		} else {
			CHECK_EQ(context_restart(&core), shadow_restart(&plain.c));
		}
		break;
	case 4:
		write_counter(set, 4 + (unsigned int)random_below(4));
		break;
	case 5:
		plain.c.waiting = 0;
		break;
	default:
		pass();
	}
}

/* Everything is the same after each of some operations. */
static void
run_scenario(void)
{
	const uint64_t first = 0;

	begin();
	load();
	CHECK_EQ(context_start(&core, &first, true), 0);
	CHECK_EQ(shadow_start(&plain.c, &(uint16_t){ 0 }, 1), 0);
	for (int i = 0; i < STEPS && check_failures == 0; i++) {
		one_operation();
		compare();
	}
	context_unloaded(&core);
	shadow_unload(&plain.c);
	compare();
	while (core.num_sets)
		set_free(&core, core.sets[0]);
}

/* ---- more than a look makes: proportions --------------------------------------------------------- */

static double
apart(uint64_t got, uint64_t wanted)
{
	return ((double)got - (double)wanted) / (double)wanted;
}

/* Two sets that switch at every few events: ten million switches are made in one look, in the proportions of what is counted. */
static void
run_shares(uint64_t first, uint64_t second)
{
	const uint64_t periods[] = { first, second }, ns = 10000000000;

	core = (struct context){ .rate = 1000000 };
	CHECK_EQ(context_begin(&core, machine_by_type(PFMLIB_ITANIUM2_PMU), 0), 0);
	for (unsigned int i = 0; i < 2; i++) {
		struct request wanted = { .set = i, .flags = PFM_SETFL_OVFL_SWITCH };
		struct request pmd = {
			.number = 4, .set = i, .value = 0 - periods[i], .short_reset = 0 - periods[i], .swcnt = 1
		};

		CHECK_EQ(set_change(&core, &wanted), 0);
		set_pmc(set_find(&core, i), 4, 0x20 | PFM_PLM3);
		CHECK_EQ(write_pmd(&core, &pmd), 0);
	}
	context_loaded(&core, core.sets[0]);
	rate_begin(&core);
	CHECK_EQ(context_start(&core, NULL, true), 0);
	CHECK(!rate_run(&core, ns, true, &where));
	CHECK_EQ(core.now, ns);
	context_unloaded(&core);
	for (unsigned int i = 0; i < 2; i++) {
		const uint64_t runs = ns / (first + second), duration = runs * periods[i];
		const double of_runs = apart(core.sets[i]->runs, runs),
			     of_time = apart(core.sets[i]->duration, duration);

		CHECK(of_runs < 0.001 && of_runs > -0.001);
		CHECK(of_time < 0.001 && of_time > -0.001);
	}
	while (core.num_sets)
		set_free(&core, core.sets[0]);
}

int
main(int argc, char **argv)
{
	const unsigned long scenarios = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000,
			    seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	for (unsigned long i = 0; i < scenarios && check_failures == 0; i++) {
		state = 0x9e3779b97f4a7c15 * (seed + i) + 1;
		run_scenario();
		if (check_failures)
			printf("in scenario %lu, of seed %lu\n", i, seed + i);
	}
	run_shares(7, 13);
	run_shares(997, 1013);
	return check_result();
}
