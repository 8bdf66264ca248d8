/*
 * The plugin r10k of qemu: from blocks of code to calls of the processor.
 *
 * A block is cut into parts, which are executed as a whole: at the end of a line of the instruction cache, and where what
 * follows a branch may be left out.  A part is counted when it begins, and accesses when they happen.  Whether a branch is
 * taken is known by the part that comes next.
 *
 * Of code that is not MIPS, instructions are counted, and the accesses that qemu tells of; nothing says what they are.
 */
#define _GNU_SOURCE
#include "plugin.h"

#include <byteswap.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qemu.h"

enum { MOST_CPUS = 1 << 15, WEIGHTS = R10K_I1mr + R10K_I1mr % 2, SEVERAL = 1 };

int qemu_plugin_version = QEMU_VERSION;

static struct {
	bool lines;   /* records are written */
	bool threads; /* each thread is counted apart */
	bool fine;    /* each thread has a processor */
	bool off;     /* perfex says when it counts */
	bool waits;   /* until perfex says so for the first time */
} options;

static struct r10k_config config;

/* An instruction, as the callbacks know it. */
struct insn {
	uint64_t address;
	struct record *record; /* NULL without records */
	uint32_t word;         /* of MIPS */
	uint8_t size;          /* bytes */
	struct code code;
	bool asks; /* a store that ends a request of libperfex's */
};

struct part {
	uint64_t weights[WEIGHTS]; /* the counts before I1mr, and perhaps a 0, so that they are pairs */
	uint64_t address, line;    /* of the instruction cache; SEVERAL: its first instruction lies in more than one */
	uint64_t size;             /* of its first instruction in bytes */
	struct record *record;     /* of its first instruction */
	const struct insn *branch; /* that it ends with, but for what follows that */
	const struct insn *conditional; /* a store that it ends with */
};

/* The simulated processor that executes a thread. */
struct cpu {
	struct r10k *machine;
	uint64_t *counts;
	struct thread *thread;
	const struct insn *branch;      /* not yet resolved */
	const struct part *slot;        /* what follows a likely branch, and is executed if that is taken */
	const struct insn *conditional; /* a store that may not have stored: what follows tells */
	struct cpu *next;               /* of all that there were */
	bool stored;                    /* it has accessed memory */
	struct calls *calls;            /* NULL without records */
};

static struct cpu *cpus[MOST_CPUS], *all;
static struct cpu *alone; /* that of the one thread; NULL: there are several */
static struct r10k *first_machine;
static uint64_t site[R10K_NUM_COUNTS]; /* what is counted for a record */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool several; /* threads there are, or have been */

/* ---- counting ---- */

/* Add what an access has caused to the counts of the record's instruction. */
static void
settle(struct record *record)
{
	uint64_t *counts = file_at(record->site);
	if (!counts) {
		counts = file_item(ITEM_SITE, sizeof site);
		record->site = file_reference(counts);
	}
	for (unsigned int i = 0; counts && i < R10K_NUM_COUNTS; i++)
		counts[i] += site[i];
	memset(site, 0, sizeof site);
}

static void
settled(bool counted, const struct insn *insn)
{
	if (counted && insn->record)
		settle(insn->record);
}

/* Something that the instruction does not do each time. */
static void
count(struct cpu *cpu, enum r10k_count what, const struct insn *insn)
{
	cpu->counts[what]++;
	site[what] += options.lines;
	settled(true, insn);
}

static struct cpu *
begin(unsigned int index)
{
	if (several)
		pthread_mutex_lock(&lock);
	struct cpu *cpu = cpus[index];
	if (cpu->thread) {
		r10k_count_to(cpu->machine, cpu->counts);
		if (!cpu->thread->tid)
			cpu->thread->tid = gettid();
	}
	return cpu;
}

static void
end(void)
{
	if (several)
		pthread_mutex_unlock(&lock);
}

/* ---- what blocks call ---- */

/* The next part is known: where a call or a return has gone to. */
static void
follow(struct cpu *cpu, const struct insn *branch, uint64_t address)
{
	const enum jump jump = branch->code.jump;
	if (jump == JUMP_RETURN)
		calls_return(cpu->calls, address, cpu->counts);
	else if (jump == JUMP_CALL || (branch->code.links && address != branch->address + 8))
		calls_begin(cpu->calls, address, branch->address + 8, cpu->counts);
}

/* The next part is known: the branch before it was taken or not.  Whether it was, having found 0 in a register. */
static inline bool
resolve(struct cpu *cpu, uint64_t address, uint8_t result)
{
	const struct insn *branch = cpu->branch;
	const bool taken = address != branch->address + 8;
	cpu->branch = NULL;
	if (cpu->calls)
		follow(cpu, branch, address);
	if (branch->code.jump != JUMP_BRANCH)
		return false;
	settled(r10k_branch(cpu->machine, branch->address, taken), branch);
	return result && branch->code.result == result && taken == branch->code.if_zero;
}

static inline void
perform(struct cpu *cpu, const struct part *part)
{
	uint64_t *counts = cpu->counts;
	if (*r10k_fetched(cpu->machine) != part->line && r10k_fetch(cpu->machine, part->address, part->size) &&
	    part->record)
		settle(part->record);
	for (unsigned int i = 0; i < WEIGHTS; i++)
		counts[i] += part->weights[i];
	if (part->record)
		part->record->executed++;
	if (part->branch)
		cpu->branch = part->branch;
	if (part->conditional)
		cpu->conditional = part->conditional;
}

static inline bool
in_slot(const struct cpu *cpu, uint64_t address)
{
	return cpu->branch && address == cpu->branch->address + 4;
}

/*
 * Finish what the parts before have left open.  A store conditional that has not accessed memory has failed; of one that has, a
 * branch tells whether another thread was faster.
 */
static inline void
conclude(struct cpu *cpu, uint64_t address)
{
	const struct part *slot = cpu->slot;
	cpu->slot = NULL;
	if (slot && address != slot->address + 4)
		perform(cpu, slot);
	const struct insn *conditional = cpu->conditional;
	const bool failed = conditional && !cpu->stored;
	const bool open = !cpu->branch || in_slot(cpu, address);
	const bool zero = !open && resolve(cpu, address, conditional ? conditional->code.result : 0);
	if (failed || (conditional && zero))
		count(cpu, R10K_Sf, conditional);
	if (failed || !open)
		cpu->conditional = NULL;
}

/* Whether perfex wants it to count. */
static inline bool
is_on(void)
{
	const uint32_t wanted = header->wanted;
	if (header->on != wanted)
		header->on = wanted;
	return wanted;
}

static inline void
execute(struct cpu *cpu, const struct part *part)
{
	if (cpu->branch || cpu->conditional)
		conclude(cpu, part->address);
	if (!is_on())
		return;
	if (cpu->calls)
		calls_root(cpu->calls, part->address);
	if (part->conditional)
		cpu->stored = false;
	if (in_slot(cpu, part->address) && cpu->branch->code.likely) /* qemu calls before it knows */
		cpu->slot = part;
	else
		perform(cpu, part);
}

/* Apart, so that what one thread needs is compiled as a whole. */
static __attribute__((noinline)) void
on_part_of_several(unsigned int index, const struct part *part)
{
	execute(begin(index), part);
	end();
}

static void
on_part(unsigned int index, void *of)
{
	if (alone)
		execute(alone, of);
	else
		on_part_of_several(index, of);
}

/* Write to an address of the program what all threads have counted. */
static void
answer(uint64_t address)
{
	uint64_t counts[R10K_NUM_COUNTS];
	memcpy(counts, header->now, sizeof counts);
	for (const struct cpu *cpu = all; cpu; cpu = cpu->next)
		for (unsigned int i = 0; cpu->thread && i < R10K_NUM_COUNTS; i++)
			counts[i] += cpu->thread->counts[i];
	guest_answer(address, counts, options.fine);
}

static void
on_access(unsigned int index, qemu_plugin_meminfo_t info, uint64_t address, void *of)
{
	const struct insn *insn = of;
	const uint64_t size = insn->code.size;
	if (insn->code.conditional && !qemu_plugin_mem_is_store(info)) /* a store conditional is made of both */
		return;
	struct cpu *cpu = begin(index);
	cpu->stored = cpu->stored || insn->code.conditional;
	if (header->on)
		settled(insn->code.stores ? r10k_store(cpu->machine, address, size)
					  : r10k_load(cpu->machine, address, size),
			insn);
	if (insn->asks)
		answer(address);
	end();
}

/* Most accesses are no more than this. */
static void
on_load(unsigned int index, qemu_plugin_meminfo_t info, uint64_t address, void *of)
{
	const struct insn *insn = of;
	if (!alone)
		on_access(index, info, address, of);
	else if (header->on)
		settled(r10k_load(alone->machine, address, insn->code.size), insn);
}

static void
on_store(unsigned int index, qemu_plugin_meminfo_t info, uint64_t address, void *of)
{
	const struct insn *insn = of;
	if (!alone)
		on_access(index, info, address, of);
	else if (header->on)
		settled(r10k_store(alone->machine, address, insn->code.size), insn);
}

/* An access of an instruction of which nothing is known. */
static void
on_any_access(unsigned int index, qemu_plugin_meminfo_t info, uint64_t address, void *of)
{
	const struct insn *insn = of;
	const bool stores = qemu_plugin_mem_is_store(info);
	const uint64_t size = (uint64_t)1 << qemu_plugin_mem_size_shift(info);
	struct cpu *cpu = begin(index);
	if (header->on) {
		settled(stores ? r10k_store(cpu->machine, address, size) : r10k_load(cpu->machine, address, size),
			insn);
		count(cpu, stores ? R10K_Dw : R10K_Dr, insn);
	}
	end();
}

/* ---- blocks ---- */

static uint64_t
line_of(uint64_t address)
{
	return address & ~(uint64_t)(config.l1i.line - 1);
}

static uint64_t
last_line_of(const struct insn *insn)
{
	return line_of(insn->address + insn->size - 1);
}

/* A new part begins with an instruction. */
static struct part *
new_part(const struct insn *first)
{
	struct part *part = calloc(1, sizeof *part);
	if (!part)
		abort();
	part->address = first->address;
	part->size = first->size;
	part->line = line_of(first->address) == last_line_of(first) ? line_of(first->address) : SEVERAL;
	part->record = first->record;
	return part;
}

static void
read_insn(struct insn *insn, struct qemu_plugin_insn *from)
{
	insn->address = qemu_plugin_insn_vaddr(from);
	insn->size = (uint8_t)qemu_plugin_insn_size(from);
	if (!guest_is_mips()) {
		insn->code.weights[R10K_Ir] = 1;
		return;
	}
	memcpy(&insn->word, qemu_plugin_insn_data(from), sizeof insn->word);
	if (guest_is_big_endian())
		insn->word = bswap_32(insn->word);
	insn->code = mips_code(insn->word);
}

static void
write_record(struct insn *insn, struct record *record, uint32_t first)
{
	insn->record = record;
	record->address = insn->address;
	record->size = insn->size;
	record->first = first;
	memcpy(record->weights, insn->code.weights, sizeof record->weights);
}

/* Choose the callback for the accesses of an instruction. */
static qemu_plugin_vcpu_mem_cb *
accesses_of(const struct insn *insn)
{
	if (!guest_is_mips())
		return on_any_access;
	if (insn->code.conditional || insn->asks)
		return on_access;
	return insn->code.stores ? on_store : on_load;
}

/* An instruction is added to a part, which it may begin. */
static void
add(struct part *part, const struct insn *insn, struct qemu_plugin_insn *q)
{
	for (unsigned int w = 0; w < R10K_I1mr; w++)
		part->weights[w] += (uint64_t)insn->code.weights[w];
	if (insn->code.jump)
		part->branch = insn;
	if (insn->code.conditional)
		part->conditional = insn;
	if (!guest_is_mips() || insn->code.loads || insn->code.stores) /* qemu 7.2 takes the one kind for the other */
		qemu_plugin_register_vcpu_mem_cb(q, accesses_of(insn), QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
						 (void *)insn);
}

/* Whether an instruction ends a request of libperfex's: four that do nothing come before it. */
static bool
ends_request(const struct insn *insn, size_t before)
{
	static const uint32_t marks[] = { 0x342, 0x742, 0xc2, 0x4c2 }; /* srl $0, $0, 13, 29, 3, 19 */
	const ptrdiff_t n = sizeof marks / sizeof *marks;
	if (before < (size_t)n || !insn->code.stores)
		return false;
	for (ptrdiff_t i = 0; i < n; i++)
		if (insn[i - n].word != marks[i])
			return false;
	return true;
}

/* Cut a block into parts. */
static void
cut(struct qemu_plugin_tb *tb, struct insn *insns, struct record *records, size_t n)
{
	struct part *part = NULL;
	size_t first = 0;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *q = qemu_plugin_tb_get_insn(tb, i);
		struct insn *insn = &insns[i];
		read_insn(insn, q);
		insn->asks = ends_request(insn, i);
		const bool begins = i == 0 || last_line_of(insn) != last_line_of(insn - 1) ||
				    insns[i - 1].code.likely || insns[i - 1].code.conditional;
		if (begins)
			first = i;
		if (records)
			write_record(insn, &records[i], (uint32_t)(i - first));
		if (begins)
			part = new_part(insn);
		if (i == 0)
			qemu_plugin_register_vcpu_tb_exec_cb(tb, on_part, QEMU_PLUGIN_CB_NO_REGS, part);
		else if (begins)
			qemu_plugin_register_vcpu_insn_exec_cb(q, on_part, QEMU_PLUGIN_CB_NO_REGS, part);
		add(part, insn, q);
	}
}

static void
on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	const size_t n = qemu_plugin_tb_n_insns(tb);
	struct insn *insns = calloc(n, sizeof *insns);
	const bool locked = several;
	if (!insns)
		abort();
	if (locked)
		pthread_mutex_lock(&lock);
	const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
	const uint64_t address = qemu_plugin_insn_vaddr(first);
	const void *here = qemu_plugin_insn_haddr(first);
	guest_at((uint64_t)(uintptr_t)here - address);
	if (options.lines)
		file_object(address, here);
	cut(tb, insns, options.lines ? file_item(ITEM_BLOCK, n * sizeof(struct record)) : NULL, n);
	if (locked)
		pthread_mutex_unlock(&lock);
}

/* ---- threads and processes ---- */

static void
on_cpu(qemu_plugin_id_t id, unsigned int index)
{
	struct cpu *cpu = calloc(1, sizeof *cpu);
	if (index >= MOST_CPUS || !cpu)
		abort();
	pthread_mutex_lock(&lock);
	several = several || first_machine;
	header->several = several;
	cpus[index] = cpu;
	cpu->next = all;
	all = cpu;
	if (options.threads)
		cpu->thread = file_item(ITEM_THREAD, sizeof *cpu->thread);
	cpu->counts = cpu->thread ? cpu->thread->counts : header->now;
	cpu->machine = first_machine;
	if (!first_machine || options.fine) {
		void *memory = malloc(r10k_size(&config));
		if (!memory)
			abort();
		cpu->machine = r10k_make(memory, &config, first_machine, cpu->counts);
		r10k_count_for(cpu->machine, options.lines ? site : NULL);
	}
	if (!first_machine)
		first_machine = cpu->machine;
	if (options.lines && guest_is_mips())
		cpu->calls = calls_new();
	alone = several ? NULL : cpu;
	if (alone && cpu->thread)
		cpu->thread->tid = gettid();
	pthread_mutex_unlock(&lock);
}

/* Any system call may end the process. */
static void
settle_calls(void)
{
	pthread_mutex_lock(&lock);
	for (struct cpu *cpu = all; cpu; cpu = cpu->next)
		if (cpu->calls)
			calls_settle(cpu->calls, cpu->counts);
	pthread_mutex_unlock(&lock);
}

static void
on_call(qemu_plugin_id_t id, unsigned int index, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
	uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	if (options.lines)
		settle_calls();
	if (!guest_executes(number))
		return;
	header->state = STATE_REPLACED;
	guest_execute(a1, a2, a3);
}

/* An execve() that returns has failed. */
static void
on_return(qemu_plugin_id_t id, unsigned int index, int64_t number, int64_t result)
{
	if (guest_executes(number))
		header->state = STATE_RUNS;
}

static void
on_exit_of_process(qemu_plugin_id_t id, void *of)
{
	if (options.lines)
		settle_calls();
	header->state = STATE_ENDED;
}

static void
before_fork(void)
{
	pthread_mutex_lock(&lock);
	file_before_fork();
}

static void
after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static void
in_child(void)
{
	file_fork();
	for (struct cpu *cpu = all; cpu; cpu = cpu->next)
		if (cpu->calls)
			calls_fork(cpu->calls);
	if (alone && alone->thread)
		alone->thread->tid = gettid();
	if (options.off) /* the immediate child of perfex only */
		header->on = header->wanted = 0;
	pthread_mutex_unlock(&lock);
}

/* ---- options ---- */

static bool
read_shape(const char *text)
{
	unsigned long long n[14];
	for (unsigned int i = 0; i < 14; i++) {
		char *end;
		n[i] = strtoull(text, &end, 10);
		if (end == text || *end != (i < 13 ? ':' : '\0'))
			return false;
		text = end + 1;
	}
	config = (struct r10k_config){
		.l1i = { n[0], (uint32_t)n[1], (uint32_t)n[2] },
		.l1d = { n[3], (uint32_t)n[4], (uint32_t)n[5] },
		.l2 = { n[6], (uint32_t)n[7], (uint32_t)n[8] },
		.page = n[9],
		.pages = (uint32_t)n[10],
		.tlb = (uint32_t)n[11],
		.predictor = (uint32_t)n[12],
		.seed = n[13],
	};
	return !r10k_wrong(&config);
}

/* An option that is yes or no; false: there is none of that name. */
static bool
switched(const char *name, const char *value)
{
	const struct {
		const char *name;
		bool *option;
	} known[] = { { "lines", &options.lines },
		      { "threads", &options.threads },
		      { "fine", &options.fine },
		      { "off", &options.off } };
	for (unsigned int i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(name, known[i].name) == 0) {
			*known[i].option = strcmp(value, "no") != 0;
			if (known[i].option == &options.off)
				options.waits = strcmp(value, "yes") == 0;
			return true;
		}
	return false;
}

int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	const char *directory = ".", *program = "";
	config = r10k_r10000(4 << 20);
	for (int i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		if (!value)
			return -1;
		*value++ = '\0';
		if (strcmp(argv[i], "counts") == 0)
			directory = strdup(value);
		else if (strcmp(argv[i], "program") == 0)
			program = strdup(value);
		else if (!switched(argv[i], value) && (strcmp(argv[i], "machine") != 0 || !read_shape(value)))
			return -1;
	}
	if (info->version.min > QEMU_VERSION || info->version.cur < QEMU_VERSION || info->system_emulation)
		return -1;
	guest_is(info->target_name);
	options.threads =
		options.threads || (options.lines && !options.off); /* what is counted in calls is a thread's */
	file_open(directory, program);
	header->on = header->wanted = header->wanted && !options.waits;
	pthread_atfork(before_fork, after_fork, in_child);
	qemu_plugin_register_vcpu_init_cb(id, on_cpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_call);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
	qemu_plugin_register_atexit_cb(id, on_exit_of_process, NULL);
	return 0;
}
