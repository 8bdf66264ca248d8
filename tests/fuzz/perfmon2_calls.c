/*
 * Sequences of perfmon2 calls of all three generations, on the model.
 *
 * Input: a byte for the machine and the option np, then calls: what, on which descriptor, with which elements.  Beside the
 * engine runs perfmon2_shadow.h: results, states, counters, sets, messages and buffers have to be the same.
 */
#include "perfmon2_arguments.h"
#include "perfmon2_slots.h"

#include "call.h"

#include <fcntl.h>
#include <perfmon/perfmon_model.h>
#include <perfmon/pfmlib.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_CALLS = 100, MOST_ELEMENTS = 4 };
enum { GOOD, NOTHING, NOWHERE, AT_THE_EDGE };

/* A thread for others to look at. */
static void *
park(void *unused)
{
	__atomic_store_n(&other, own_thread(), __ATOMIC_RELEASE);
	for (;;)
		pause();
	return unused;
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cpu_set_t here;
	pthread_t thread;

	(void)argc;
	(void)argv;
	HOLDS(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
	edge = pages + page;
	cpu = sched_getcpu();
	CPU_ZERO(&here);
	CPU_SET((unsigned int)cpu, &here);
	HOLDS(sched_setaffinity(0, sizeof(here), &here) == 0);
	HOLDS(setenv("LIBPFM_PERFMON", "model", 1) == 0 && signal(SIGIO, SIG_IGN) != SIG_ERR);
	HOLDS(pthread_create(&thread, NULL, park, NULL) == 0);
	while (!__atomic_load_n(&other, __ATOMIC_ACQUIRE))
		sched_yield();
	self = own_thread();
	return 0;
}

static struct slot *
take_slot(struct bytes *b)
{
	return &slots[take_byte(b) % SLOTS];
}

static struct slot *
free_slot(void)
{
	for (unsigned int i = 0; i < SLOTS; i++)
		if (slots[i].fd < 0)
			return &slots[i];
	return NULL;
}

static struct shadow *
free_context(void)
{
	for (unsigned int i = 0; i < CONTEXTS; i++)
		if (contexts[i].references == 0)
			return &contexts[i];
	return NULL;
}

/* ---- calls without a vector ----------------------------------------------------------------- */

static void
create(struct bytes *b)
{
	const uint8_t kind = take_byte(b), flags = take_byte(b);
	pfarg_ctx_t ctx = { .ctx_flags = flags & (PFM_FL_NOTIFY_BLOCK | PFM_FL_SYSTEM_WIDE | PFM_FL_OVFL_NO_MSG) };
	pfm_dfl_smpl_arg_t format = { .buf_size = kind & 0x40 ? 168U + 8U * take_byte(b) : 0 };
	char name[] = "default";
	struct slot *slot = free_slot();
	pfarg_sinfo_t sif;
	struct shadow *c = free_context();
	int fd;

	if (!slot || !c)
		return;
	if (kind & 1)
		fd = kind & 0x40 ? pfm_create((int)ctx.ctx_flags | PFM_FL_SMPL_FMT, &sif, name, &format, sizeof(format))
				 : pfm_create((int)ctx.ctx_flags, kind & 2 ? &sif : NULL);
	else
		fd = pfm_create_context(&ctx, kind & 0x40 ? name : NULL, &format, sizeof(format));
	if ((flags & 3) == 3 || (kind & 0x40 && format.buf_size < 168 + 8 * machine->num_pmds)) {
		HOLDS(fd == -1 && errno == EINVAL);
		return;
	}
	HOLDS(fd >= 0);
	HOLDS(fcntl(fd, F_SETFL, O_NONBLOCK | (kind & 0x80 ? O_ASYNC : 0)) == 0 && fcntl(fd, F_SETOWN, getpid()) == 0);
	shadow_make(c, machine, ctx.ctx_flags, format.buf_size);
	*slot = (struct slot){ fd, c };
}

static void
create_old(struct bytes *b)
{
	static const pfm_uuid_t format = PFM_DEFAULT_SMPL_UUID;
	const uint8_t kind = take_byte(b), flags = take_byte(b);
	pfm_default_smpl_ctx_arg_t wanted = { .buf_arg.buf_size = kind & 0x40 ? 676U + 4U * take_byte(b) : 0 };
	struct slot *slot = free_slot();
	struct shadow *c = free_context();
	int ret;

	if (!slot || !c)
		return;
	wanted.ctx_arg.ctx_flags = flags & (PFM_FL_NOTIFY_BLOCK | PFM_FL_SYSTEM_WIDE | PFM_FL_OVFL_NO_MSG);
	if (kind & 0x40)
		memcpy(wanted.ctx_arg.ctx_smpl_buf_id, format, sizeof(format));
	ret = perfmonctl(0, PFM_CREATE_CONTEXT, &wanted, 1);
	if ((flags & 3) == 3 || (kind & 0x40 && wanted.buf_arg.buf_size < 680)) {
		HOLDS(ret == -1 && errno == EINVAL);
		return;
	}
	HOLDS(ret == 0 && (!(kind & 0x40) || munmap(wanted.ctx_arg.ctx_smpl_vaddr, wanted.buf_arg.buf_size) == 0));
	HOLDS(fcntl(wanted.ctx_arg.ctx_fd, F_SETFL, O_NONBLOCK) == 0);
	shadow_make(c, machine, (uint32_t)wanted.ctx_arg.ctx_flags, wanted.buf_arg.buf_size);
	c->is_ctl = true;
	for (EACH_PMD(i, machine->counters))
		c->sets[0].pmcs[i] = shadow_ctl_default(c, i);
	*slot = (struct slot){ wanted.ctx_arg.ctx_fd, c };
}

static void
close_one(struct slot *s)
{
	if (s->fd < 0)
		return;
	HOLDS(close(s->fd) == 0);
	s->fd = -1;
	if (--s->c->references == 0)
		shadow_unload(s->c);
}

static void
duplicate(struct slot *from, struct slot *to)
{
	int fd;

	if (from->fd < 0 || from == to)
		return;
	fd = to->fd < 0 ? dup(from->fd) : dup2(from->fd, to->fd);
	HOLDS(fd >= 0);
	from->c->references++;
	if (to->fd >= 0 && --to->c->references == 0)
		shadow_unload(to->c);
	*to = (struct slot){ fd, from->c };
}

/* Who else is monitored; ANY if one of them cannot be foretold. */
static int
session_conflict(const struct shadow *c, pid_t tid, int on)
{
	int found = 0;

	for (unsigned int i = 0; i < CONTEXTS; i++) {
		const struct shadow *o = &contexts[i];

		if (o->references == 0 || o == c)
			continue;
		if (!o->known)
			return SHADOW_ANY_ERRNO;
		if (o->state == SHADOW_UNLOADED)
			continue;
		if (!shadow_is_system(c) && o->tid == tid)
			return -EEXIST;
		if (shadow_is_system(c) ? !shadow_is_system(o) || o->cpu == on : shadow_is_system(o))
			found = -EBUSY;
	}
	return found;
}

static int
foretell_load(struct shadow *c, int target, uint16_t set)
{
	const bool is_system = shadow_is_system(c);
	int conflict;

	if (!is_system && target != self && (target != other || !choice()->np))
		return -ESRCH;
	if (c->state != SHADOW_UNLOADED)
		return -EBUSY;
	if (c->flags & PFM_FL_NOTIFY_BLOCK && target == self)
		return -EINVAL;
	if (is_system && (choice()->np ? target < 0 || target >= sysconf(_SC_NPROCESSORS_CONF) : target != cpu))
		return -EINVAL;
	conflict = session_conflict(c, is_system ? 0 : target, is_system ? target : -1);
	if (conflict != SHADOW_ANY_ERRNO && (conflict == -EEXIST || !shadow_set(c, set)))
		return conflict == -EEXIST ? conflict : -EINVAL;
	if (conflict < 0)
		return conflict;
	if (shadow_set(c, set))
		shadow_load(c, is_system ? 0 : target, is_system ? target : -1, set);
	return conflict;
}

static void
load(struct slot *s, struct bytes *b)
{
	const uint8_t kind = take_byte(b);
	int target = shadow_is_system(s->c) == !(kind & 0x40) ? cpu + (kind >> 4 & 1) : kind & 0x20 ? other : self;
	const bool is_v3 = kind & 8;
	pfarg_load_t load = { .load_set = is_v3 ? 0 : kind & 7 };
	struct shadow after = *s->c;
	int predicted, ret;

	if (kind & 0x80)
		target = take_byte(b) - 1;
	load.load_pid = (uint32_t)target;
	if (is_v3 && target == PFM_NO_TARGET) {
		predicted = after.state == SHADOW_UNLOADED ? -EINVAL : 0;
		shadow_unload(&after);
	} else if (target == self || target == other || target == -1 || shadow_is_system(s->c)) {
		predicted = foretell_load(&after, target, load.load_set);
	} else { /* some process of this machine */
		predicted = SHADOW_ANY_ERRNO;
	}
	ret = is_v3 ? pfm_attach(s->fd, 0, target) : pfm_load_context(s->fd, &load);
	settle(s->c, &after, predicted, ret);
}

enum { UNLOAD, START, START_SET, STOP, RESTART };

static void
control(struct slot *s, int what, struct bytes *b)
{
	const uint8_t kind = take_byte(b);
	const uint16_t set = kind >> 1 & 7;
	pfarg_start_t start = { .start_set = set };
	struct shadow after = *s->c;
	int predicted = 0, ret;

	/* clang-format off */
	switch (what) {
	case UNLOAD:
		shadow_unload(&after);
		ret = pfm_unload_context(s->fd);
		break;
	case START:
		predicted = shadow_start(&after, NULL, self);
		ret = kind & 1 ? pfm_start(s->fd, NULL) : pfm_set_state(s->fd, 0, PFM_ST_START);
		break;
	case START_SET:
		predicted = shadow_start(&after, &set, self);
		ret = pfm_start(s->fd, &start);
		break;
	case STOP:
		predicted = shadow_stop(&after);
		ret = kind & 1 ? pfm_stop(s->fd) : pfm_set_state(s->fd, 0, PFM_ST_STOP);
		break;
	default:
		predicted = shadow_restart(&after);
		ret = kind & 1 ? pfm_restart(s->fd) : pfm_set_state(s->fd, 0, PFM_ST_RESTART);
	}
	/* clang-format on */
	if (shadow_is_system(&after) && after.state != SHADOW_UNLOADED && after.cpu != cpu && !choice()->np)
		predicted = SHADOW_ANY_ERRNO;
	settle(s->c, &after, predicted, ret);
}

static void
read_message(struct slot *s, struct bytes *b)
{
	const uint8_t kind = take_byte(b);
	pfarg_msg_t message;
	const pfm_msg_t *old = (const pfm_msg_t *)(const void *)&message;
	const size_t whole = s->c->is_ctl ? sizeof(*old) : sizeof(message), size = kind < 0xf0 ? whole : kind & 0xfU;
	const ssize_t got = read(s->fd, &message, size);

	if (!s->c->known)
		return;
	if (s->c->waiting == 0 && size) {
		HOLDS(got == -1 && errno == EAGAIN);
		return;
	}
	HOLDS(got == (ssize_t)size);
	if (size == 0)
		return;
	if (size == whole && s->c->is_ctl)
		HOLDS(old->type == PFM_MSG_OVFL && old->pfm_ovfl_msg.msg_ovfl_pmds[0] == s->c->queue[0].pmds);
	else if (size == whole)
		HOLDS(message.type == PFM_MSG_OVFL && message.pfm_ovfl_msg.msg_active_set == s->c->queue[0].set &&
		      message.pfm_ovfl_msg.msg_ovfl_pmds[0] == s->c->queue[0].pmds);
	memmove(&s->c->queue[0], &s->c->queue[1], sizeof(s->c->queue) - sizeof(s->c->queue[0]));
	s->c->waiting--;
}

static void
map(struct slot *s, struct bytes *b)
{
	const uint8_t kind = take_byte(b);
	const size_t length = (kind & 0xf) * 512U + 1;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), room = (s->c->buffer_size + page - 1) / page * page;
	const int prot = kind & 0x10 ? PROT_READ | PROT_WRITE : PROT_READ;
	void *memory = pfm_mmap(NULL, length, prot, kind & 0x20 ? MAP_SHARED : MAP_PRIVATE, s->fd, 0);

	if (memory != MAP_FAILED) {
		const pfm_dfl_smpl_hdr_t *header = memory;

		HOLDS(length <= room && !(kind & 0x10) && header->hdr_cur_offs == s->c->offset);
		HOLDS(munmap(memory, length) == 0);
		return;
	}
	HOLDS(length > room || kind & 0x10);
	HOLDS(errno == ((kind & 0x30) == 0x30 ? EACCES : EINVAL));
}

/* ---- calls with a vector -------------------------------------------------------------------- */

/* Where the elements are, and whether they can be read. */
static void *
place(void *elements, uint8_t kind)
{
	static void *const places[] = { NULL, NULL, (void *)8 };

	return kind < 0xf8                 ? elements
	       : (kind & 3) == AT_THE_EDGE ? edge - 1
	       : (kind & 3) == GOOD        ? elements
					   : places[kind & 3];
}

static void
write_registers(struct slot *s, struct bytes *b, bool control_registers)
{
	const uint8_t kind = take_byte(b);
	const unsigned int count = kind % (MOST_ELEMENTS + 1);
	pfarg_pmc_t *pmcs = allocate(count * sizeof(*pmcs));
	pfarg_pmd_t *pmds = allocate(count * sizeof(*pmds));
	void *at = place(control_registers ? (void *)pmcs : (void *)pmds, kind);
	struct shadow after = *s->c;
	int predicted = at != pmcs && at != pmds && count ? -EFAULT : 0, one, ret;
	bool is_any = false;

	for (unsigned int i = 0; i < count; i++) {
		pmcs[i] = (pfarg_pmc_t){ 0 };
		if (control_registers) {
			pmcs[i].reg_num = take_pmd(b);
			pmcs[i].reg_set = take_set(b);
			pmcs[i].reg_value = take_pmc_value(b);
			pmcs[i].reg_flags = kind & 0x80 ? take_byte(b) & 0x7U : 0;
		} else {
			pmds[i] = take_pmd_element(b);
		}
		if (predicted < 0)
			continue;
		one = control_registers ? shadow_write_pmc(&after, &pmcs[i])
					: shadow_write_pmd(&after, &pmds[i], false);
		is_any |= one == SHADOW_ANY_ERRNO;
		predicted = one < 0 ? one : 0;
	}
	ret = control_registers ? pfm_write_pmcs(s->fd, at, (int)count) : pfm_write_pmds(s->fd, at, (int)count);
	settle(s->c, &after, is_any ? SHADOW_ANY_ERRNO : predicted, ret);
	free(pmcs);
	free(pmds);
}

/* Version 3: one element, each type. */
static void
write_one(struct slot *s, struct bytes *b)
{
	const uint8_t kind = take_byte(b);
	const pfarg_pmd_t pmd = take_pmd_element(b);
	pfarg_pmr_t pmr = { pmd.reg_num, pmd.reg_set, pmd.reg_flags, pmd.reg_value };
	pfarg_pmd_attr_t attributes = {
		.reg_num = pmd.reg_num,
		.reg_set = pmd.reg_set,
		.reg_flags = pmd.reg_flags,
		.reg_value = pmd.reg_value,
		.reg_long_reset = pmd.reg_long_reset,
		.reg_short_reset = pmd.reg_short_reset,
		.reg_random_mask = pmd.reg_random_mask,
		.reg_ovfl_swcnt = pmd.reg_ovfl_switch_cnt,
	};
	struct shadow after = *s->c;
	int predicted, ret;

	memcpy(attributes.reg_smpl_pmds, pmd.reg_smpl_pmds, sizeof(pmd.reg_smpl_pmds));
	memcpy(attributes.reg_reset_pmds, pmd.reg_reset_pmds, sizeof(pmd.reg_reset_pmds));
	switch (kind % 3) {
	case 0:
		pmr.reg_value = take_pmc_value(b);
		predicted = shadow_write_pmc(&after, &(pfarg_pmc_t){ .reg_num = pmr.reg_num,
								     .reg_set = pmr.reg_set,
								     .reg_flags = pmr.reg_flags,
								     .reg_value = pmr.reg_value });
		ret = pfm_write(s->fd, 0, PFM_RW_PMC, &pmr, sizeof(pmr));
		break;
	case 1:
		predicted = shadow_write_pmd(&after, &pmd, true);
		ret = pfm_write(s->fd, 0, PFM_RW_PMD, &pmr, sizeof(pmr));
		break;
	default:
		predicted = shadow_write_pmd(&after, &pmd, false);
		ret = pfm_write(s->fd, 0, PFM_RW_PMD_ATTR, &attributes, sizeof(attributes));
	}
	settle(s->c, &after, predicted, ret);
}

static void
read_registers(struct slot *s, struct bytes *b)
{
	const uint8_t kind = take_byte(b);
	const unsigned int count = kind % (MOST_ELEMENTS + 1);
	pfarg_pmd_t *pmds = allocate(count * sizeof(*pmds));
	void *at = place(pmds, kind);
	int predicted = at != pmds && count ? -EFAULT : 0, ret;

	memset(pmds, 0, count * sizeof(*pmds));
	for (unsigned int i = 0; i < count; i++) {
		pmds[i].reg_num = take_pmd(b);
		pmds[i].reg_set = take_set(b);
	}
	ret = pfm_read_pmds(s->fd, at, (int)count);
	for (unsigned int i = 0; i < count && predicted == 0; i++) {
		const struct shadow_set *set = shadow_set(s->c, pmds[i].reg_set);

		if (!set || pmds[i].reg_num >= SHADOW_PMDS || !(set->used >> pmds[i].reg_num & 1))
			predicted = -EINVAL;
		else if (s->c->known)
			HOLDS(pmds[i].reg_value == set->pmds[pmds[i].reg_num].value &&
			      pmds[i].reg_last_reset_val == set->pmds[pmds[i].reg_num].lval &&
			      pmds[i].reg_ovfl_switch_cnt == set->pmds[pmds[i].reg_num].swcnt);
	}
	settle(s->c, s->c, predicted, ret);
	free(pmds);
}

static void
change_sets(struct slot *s, struct bytes *b, bool deletes)
{
	const uint8_t kind = take_byte(b);
	const unsigned int count = kind % 3;
	pfarg_setdesc_t sets[3] = { { 0 } };
	struct shadow after = *s->c;
	int predicted = after.state == SHADOW_UNLOADED ? 0 : -EBUSY, one, ret;
	bool is_any = false;

	for (unsigned int i = 0; i < count; i++) {
		const uint8_t flags = take_byte(b);

		sets[i].set_id = take_set(b);
		sets[i].set_flags = flags < 0xf0 ? flags & 3U : (uint32_t)flags << 12;
		sets[i].set_timeout = flags & PFM_SETFL_TIME_SWITCH ? 64U * take_byte(b) : flags;
		if (predicted < 0)
			continue;
		one = deletes ? shadow_delete_set(&after, sets[i].set_id)
			      : shadow_change_set(&after, sets[i].set_id, sets[i].set_flags, sets[i].set_timeout);
		is_any |= one == SHADOW_ANY_ERRNO;
		predicted = one < 0 ? one : 0;
	}
	if (deletes)
		ret = pfm_delete_evtsets(s->fd, sets, (int)count);
	else if (kind & 0x80 && count) /* both versions' elements are alike */
		ret = pfm_create_sets(s->fd, 0, (pfarg_set_desc_t *)(void *)sets, count * sizeof(*sets));
	else
		ret = pfm_create_evtsets(s->fd, sets, (int)count);
	settle(s->c, &after, is_any ? SHADOW_ANY_ERRNO : predicted, ret);
}

static void
ask_set(struct slot *s, struct bytes *b)
{
	const uint16_t id = take_set(b);
	const struct shadow_set *set = shadow_set(s->c, id);
	pfarg_setinfo_t info = { .set_id = id };
	pfarg_set_info_t info3 = { .set_id = id };
	const int ret = pfm_getinfo_evtsets(s->fd, &info, 1), ret3 = pfm_getinfo_sets(s->fd, 0, &info3, sizeof(info3));
	uint64_t duration;

	HOLDS(ret == ret3);
	settle(s->c, s->c, set ? 0 : -EINVAL, ret);
	if (!s->c->known || !set)
		return;
	duration = set->duration;
	if (shadow_is_system(s->c) && s->c->state == SHADOW_LOADED && s->c->started && s->c->active == id)
		duration += shadow_clock - set->since;
	HOLDS(info.set_flags == set->flags && info.set_runs == set->runs && info.set_timeout == set->remaining);
	HOLDS(info.set_act_duration == duration && info.set_ovfl_pmds[0] == set->ovfl);
	HOLDS(info.set_avail_pmds[0] == machine->pmds && info3.set_runs == set->runs && info3.set_duration == duration);
}

/* ---- the model ------------------------------------------------------------------------------ */

static bool
has_time_of(const struct shadow *c, pid_t tid)
{
	return c->references && c->known && c->state != SHADOW_UNLOADED && (shadow_is_system(c) || c->tid == tid);
}

static void
advance(struct bytes *b)
{
	const uint8_t kind = take_byte(b), count = take_byte(b);
	const pid_t tid = kind & 0x80 ? other : self;
	unsigned int es = kind & 3, umask = 0, plm = kind & 0x40 ? kind & 0xf : PFM_PLM3, event = 0;
	uint64_t left = count;
	int ret;

	if (tid == other) { /* by the index of an event */
		HOLDS(pfm_get_num_events(&event) == PFMLIB_SUCCESS);
		event = take_byte(b) % event;
		HOLDS(pfm3_event_code(machine->type, event, &es, &umask));
		ret = pfm_model_advance_task(tid, event, plm, count);
	} else {
		ret = pfm_model_advance_code(es, umask, plm, count);
	}
	HOLDS(plm ? ret == 0 : ret == -1 && errno == EINVAL);
	for (unsigned int i = 0; i < CONTEXTS && ret == 0; i++) {
		struct shadow *c = &contexts[i];

		if (has_time_of(c, tid) && (!shadow_is_system(c) || (tid == self && c->cpu == cpu)))
			for (left = count; left && c->known;)
				left -= shadow_step(c, es, umask, plm, left);
	}
}

static void
pass_time(struct bytes *b)
{
	const uint8_t kind = take_byte(b);
	const pid_t tid = kind & 0x80 ? other : self;
	uint64_t ns = (kind & 0x7f) * 32U;

	HOLDS((tid == self ? pfm_model_time(ns) : pfm_model_time_task(tid, ns)) == 0);
	while (ns) {
		uint64_t some = ns;

		for (unsigned int i = 0; i < CONTEXTS; i++)
			if (has_time_of(&contexts[i], tid) && shadow_timer_runs(&contexts[i]) &&
			    contexts[i].sets[contexts[i].active].remaining < some)
				some = contexts[i].sets[contexts[i].active].remaining;
		shadow_clock += some;
		ns -= some;
		for (unsigned int i = 0; i < CONTEXTS; i++)
			if (has_time_of(&contexts[i], tid))
				shadow_time(&contexts[i], some);
	}
}

static void
set_hardware(struct bytes *b)
{
	const uint8_t pmd = take_byte(b);
	const uint64_t value = take_value(b);
	const int ret = pfm_model_set_pmd(pmd, value);

	HOLDS(pfm_model_set_ip(value) == 0);
	HOLDS(ret == (pmd < SHADOW_PMDS && (machine->pmds & ~machine->counters) >> pmd & 1 ? 0 : -1));
	for (unsigned int i = 0; i < CONTEXTS && ret == 0; i++) {
		struct shadow *c = &contexts[i];

		if (has_time_of(c, self) && (!shadow_is_system(c) || c->cpu == cpu))
			c->sets[c->active].pmds[pmd].value = value;
	}
}

/* ---- anything ------------------------------------------------------------------------------- */

/* Any number, any pointer: the answer is a documented one, and what is refused does nothing. */
static void
call_wildly(struct slot *s, struct bytes *b)
{
	static char memory[ARGUMENT_LIMIT];
	const uint8_t kind = take_byte(b), what = take_byte(b);
	int fd = kind & 1 ? s->fd : kind & 2 ? -1 : 0, count, numbers[2], ret;
	void *at = place(memory, take_byte(b));
	const size_t size = take_byte(b) * 16U;

	take(b, &count, sizeof(count));
	take(b, numbers, sizeof(numbers));
	memset(memory, 0, sizeof(memory));
	take(b, memory, 400);
	errno = 0;
	/* clang-format off */
	switch (what % 14) {
	case 0: ret = pfm_write_pmcs(fd, at, count); break;
	case 1: ret = pfm_write_pmds(fd, at, count); break;
	case 2: ret = pfm_read_pmds(fd, at, count); break;
	case 3: ret = pfm_create_evtsets(fd, at, count); break;
	case 4: ret = pfm_delete_evtsets(fd, at, count); break;
	case 5: ret = pfm_getinfo_evtsets(fd, at, count); break;
	case 6: ret = pfm_getinfo_evtsets_v2old(fd, at, count); break;
	case 7: ret = pfm_write(fd, numbers[0], numbers[1], at, size); break;
	case 8: ret = pfm_read(fd, numbers[0], numbers[1], at, size); break;
	case 9: ret = pfm_create_sets(fd, numbers[0], at, size); break;
	case 10: ret = pfm_getinfo_sets(fd, numbers[0], at, size); break;
	case 11: ret = pfm_start(fd, at); break;
	case 12: ret = pfm_set_state(fd, numbers[0], numbers[1]); break;
	default: ret = pfm_load_context(fd, at);
	}
	/* clang-format on */
	HOLDS(ret == 0 || ret == -1);
	if (ret < 0)
		check_documented(errno);
	if (fd == s->fd)
		s->c->known = false;
	else
		HOLDS(ret == -1);
}

/* Of a command on registers that is marked so: -EBUSY if the context's thread or CPU is not as it has to be. */
static int
foretell_old_state(const struct shadow *c, int command)
{
	const bool is_marked = command != PFM_RESTART;

	if (c->state == SHADOW_UNLOADED || choice()->np || (!shadow_is_system(c) && c->tid == self))
		return 0;
	if (shadow_is_system(c))
		return c->cpu == cpu ? 0 : -EBUSY;
	if (c->state == SHADOW_MASKED && command != PFM_UNLOAD_CONTEXT)
		return 0;
	return is_marked ? -EBUSY : 0;
}

static pfarg_reg_t
take_old_register(struct bytes *b, bool is_control)
{
	const uint8_t kind = take_byte(b);
	pfarg_reg_t reg = { .reg_num = take_pmd(b), .reg_value = is_control ? take_pmc_value(b) : take_value(b) };

	reg.reg_flags =
		(kind & 1) | (kind >= 0xf0 ? kind & PFM_REGFL_RANDOM : 0) | (kind & 2 ? PFM_REG_RETFL_EINVAL : 0);
	reg.reg_value |= is_control && kind & 0x40 ? 1U << 6 : 0;
	if (kind & 0x80) {
		reg.reg_long_reset = take_value(b);
		reg.reg_short_reset = take_value(b);
		reg.reg_smpl_pmds[0] = take_vector(b);
		reg.reg_reset_pmds[0] = take_vector(b);
		reg.reg_random_mask = kind >= 0xf8 ? take_value(b) : 0;
	}
	return reg;
}

/* What one element does: the shadow's answer, and that a register that is read has its value. */
static int
foretell_old_register(struct shadow *c, int command, const pfarg_reg_t *before, const pfarg_reg_t *after)
{
	const struct shadow_set *set = shadow_first(c);
	int ret = command == PFM_WRITE_PMCS   ? shadow_ctl_write_pmc(c, before)
		  : command == PFM_WRITE_PMDS ? shadow_ctl_write_pmd(c, before)
					      : 0;

	if (command == PFM_READ_PMDS) {
		const unsigned int number = before->reg_num;

		ret = !set || number >= SHADOW_PMDS || !(set->used >> number & 1) ? -EINVAL : 0;
		HOLDS(ret < 0 || !c->known ||
		      (after->reg_value == set->pmds[number].value &&
		       after->reg_last_reset_val == set->pmds[number].lval));
	}
	return ret;
}

static void
registers_old(struct slot *s, int command, struct bytes *b)
{
	const uint8_t kind = take_byte(b);
	const unsigned int count = kind % 4;
	pfarg_reg_t before[3] = { { 0 } }, regs[3];
	void *at = place(regs, kind);
	struct shadow after = *s->c;
	int predicted = count == 0 ? -EINVAL : at != regs ? -EFAULT : foretell_old_state(&after, command), ret;

	for (unsigned int i = 0; i < count; i++)
		before[i] = take_old_register(b, command == PFM_WRITE_PMCS);
	memcpy(regs, before, sizeof(regs));
	ret = perfmonctl(s->fd, command, at, (int)count);
	for (unsigned int i = 0; i < count && predicted == 0; i++) {
		predicted = foretell_old_register(&after, command, &before[i], &regs[i]);
		HOLDS(predicted == SHADOW_ANY_ERRNO || !s->c->known ||
		      (regs[i].reg_flags & (unsigned long)PFM_REG_RETFL_MASK) ==
			      (predicted < 0 ? (unsigned long)PFM_REG_RETFL_EINVAL : 0));
	}
	if (predicted == SHADOW_ANY_ERRNO)
		after.known = false;
	settle(s->c, &after, predicted, ret);
}

static int
foretell_old_load(struct shadow *c, int target)
{
	const struct shadow_set *set = shadow_first(c);
	int conflict;

	if (c->state != SHADOW_UNLOADED)
		return -EBUSY;
	if (target < 2)
		return -EPERM;
	if (target == self && c->flags & PFM_FL_NOTIFY_BLOCK)
		return -EINVAL;
	if (target != self && !choice()->np)
		return -EBUSY;
	if ((shadow_is_system(c) && target != self) || !set)
		return -EINVAL;
	conflict = session_conflict(c, shadow_is_system(c) ? 0 : target, shadow_is_system(c) ? cpu : -1);
	if (conflict >= 0)
		shadow_load(c, shadow_is_system(c) ? 0 : target, cpu, (unsigned int)(set - c->sets));
	return conflict == -EEXIST ? -EBUSY : conflict;
}

static int
foretell_old(struct shadow *c, int command, int target)
{
	const int refused = foretell_old_state(c, command);

	if (refused < 0)
		return refused;
	switch (command) {
	case PFM_LOAD_CONTEXT:
		return foretell_old_load(c, target);
	case PFM_UNLOAD_CONTEXT:
		shadow_unload(c);
		return 0;
	case PFM_START:
		return c->state == SHADOW_LOADED ? shadow_start(c, NULL, self) : -EINVAL;
	case PFM_STOP:
		return shadow_stop(c);
	default:
		return shadow_ctl_restart(c, self);
	}
}

static void
control_old(struct slot *s, struct bytes *b)
{
	static const uint8_t commands[] = { 1, 2, 3, 4, 5, 10, 16, 17, 1, 2, 4, 5, 10, 12, 13, 15, 32, 33, 34 };
	static char memory[4096];
	const uint8_t what = take_byte(b), kind = take_byte(b);
	const int command = commands[what % sizeof(commands)], target = kind & 0x80   ? kind & 1
									: kind & 0x40 ? other
										      : self;
	pfarg_load_t load = { .load_pid = (uint32_t)target };
	struct shadow after = *s->c;
	int predicted, ret;

	if (command <= PFM_READ_PMDS) {
		registers_old(s, command, b);
	} else if (command <= PFM_RESTART || command == PFM_LOAD_CONTEXT || command == PFM_UNLOAD_CONTEXT) {
		ret = perfmonctl(s->fd, command, &load, 1);
		predicted = foretell_old(&after, command, target);
		settle(s->c, &after, predicted, ret);
	} else { /* registers that do not count, or nothing at all */
		memset(memory, 0, sizeof(memory));
		take(b, memory, kind & 0x80 ? 160 : 0);
		ret = perfmonctl(s->fd, command, place(memory, take_byte(b)), kind & 0x20 ? take_byte(b) : 1);
		HOLDS(ret == 0 || ret == -1);
		if (ret < 0)
			check_documented(errno);
	}
}

/* ---- one input ------------------------------------------------------------------------------ */

static void
call_with(uint8_t what, struct slot *s, struct bytes *b)
{
	switch (what) {
	case 0:
		close_one(s);
		break;
	case 1:
	case 2:
		load(s, b);
		break;
	case 3:
		control(s, UNLOAD, b);
		break;
	case 4:
	case 5:
		control(s, START, b);
		break;
	case 6:
		control(s, START_SET, b);
		break;
	case 7:
		control(s, STOP, b);
		break;
	case 8:
		control(s, RESTART, b);
		break;
	case 9:
		read_message(s, b);
		break;
	case 10:
		map(s, b);
		break;
	case 11:
		write_registers(s, b, true);
		break;
	case 12:
		write_registers(s, b, false);
		break;
	case 13:
		write_one(s, b);
		break;
	case 14:
		read_registers(s, b);
		break;
	case 15:
		change_sets(s, b, false);
		break;
	case 16:
		change_sets(s, b, true);
		break;
	case 17:
		ask_set(s, b);
		break;
	case 18:
		duplicate(s, take_slot(b));
		break;
	case 19:
		call_wildly(s, b);
		break;
	default:
		control_old(s, b);
	}
}

static void
call(struct bytes *b)
{
	enum { CREATE = 21, ADVANCE = 22, TIME = 25, HARDWARE = 26, CREATE_OLD = 27, KINDS = 28 };
	const uint8_t what = take_byte(b) % KINDS;
	struct slot *s;

	if (what == CREATE)
		create(b);
	else if (what == CREATE_OLD)
		create_old(b);
	else if (what >= ADVANCE && what < TIME)
		advance(b);
	else if (what == TIME)
		pass_time(b);
	else if (what == HARDWARE)
		set_hardware(b);
	else if ((s = take_slot(b))->fd >= 0)
		call_with(what, s, b);
}

/* With nothing open, what the last input left is freed by the next creation. */
static void
clean_up(void)
{
	int fd;

	for (unsigned int i = 0; i < SLOTS; i++)
		close_one(&slots[i]);
	fd = pfm_create(0, NULL);
	HOLDS(fd >= 0 && close(fd) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	const uint8_t kind = take_byte(&b);

	machine = &shadow_machines[kind % 4];
	HOLDS(pfm_force_pmu(machine->type) == PFMLIB_SUCCESS);
	((struct choice *)(uintptr_t)choice())->np = kind >> 2 & 1;
	shadow_clock = choice()->backend->clock(NULL);
	for (unsigned int i = 0; i < SLOTS; i++) {
		slots[i].fd = -1;
		contexts[i] = (struct shadow){ 0 };
	}
	for (int i = 0; i < MAX_CALLS && b.left; i++) {
		call(&b);
		check_all();
	}
	clean_up();
	return 0;
}
