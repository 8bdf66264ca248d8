/* The tool r10k: its options, threads, processes, and what programs ask it for. */

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_transtab.h"

#include "tool.h"

/* Of libcoregrind, in no public header. */
extern struct {
	Int fd;
} VG_(log_output_sink); /* its first member; the others are not ours */

/* Of libvex, in no public header: what it was given at its start. */
extern VexControl vex_control __attribute__((weak));

enum { TURN = 300 }; /* blocks */

struct options options = { 0 };
struct r10k *machine;
uint64_t site[R10K_NUM_COUNTS];
Int turn = TURN;
struct layout layout = { 0 };

static const HChar *directory, *shape, *log;
static Bool threads;
static Int layout_number;
static struct r10k_config config;

/* ---- processors and threads ---- */

/* A thread that exists, and its processor. */
struct known {
	struct thread *counts;
	struct r10k *machine;
	struct stack *calls;
};

static struct known *known; /* by valgrind's number */
static UInt num_known;
static uint64_t ended[R10K_NUM_COUNTS]; /* what threads have counted that have ended */
static ThreadId running = VG_INVALID_THREADID;
static struct r10k **idle; /* processors whose threads have ended */
static UInt num_idle;
static UInt threads_made, processes_made;

static struct r10k *
new_machine(void)
{
	if (num_idle)
		return idle[--num_idle];
	struct r10k *made = r10k_make(VG_(malloc)("r10k.machine", r10k_size(&config)), &config, machine, header->now);
	r10k_count_for(made, options.lines ? site : NULL);
	return made;
}

static struct known *
know(ThreadId tid)
{
	if (tid >= num_known) {
		UInt more = tid + 16;
		known = VG_(realloc)("r10k.threads", known, more * sizeof *known);
		VG_(memset)(known + num_known, 0, (more - num_known) * sizeof *known);
		num_known = more;
	}
	struct known *t = &known[tid];
	if (!t->counts) {
		t->counts = output_item(ITEM_THREAD, sizeof *t->counts);
		if (!t->counts) /* no room: it counts for nobody, and the file says that it is full */
			t->counts = VG_(calloc)("r10k.lost", 1, sizeof *t->counts);
	}
	if (options.calls && !t->calls)
		t->calls = calls_new();
	if (options.fine && !t->machine)
		t->machine = running == VG_INVALID_THREADID ? machine : new_machine();
	return t;
}

/* Add to the running thread what has been counted since it began to run. */
static void
put_down(void)
{
	if (running == VG_INVALID_THREADID)
		return;
	struct known *t = know(running);
	__atomic_fetch_add(&header->changing, 1, __ATOMIC_SEQ_CST);
	for (UInt i = 0; i < R10K_NUM_COUNTS; i++) {
		t->counts->counts[i] += header->now[i];
		header->now[i] = 0;
	}
	__atomic_fetch_add(&header->changing, 1, __ATOMIC_SEQ_CST);
	if (t->machine)
		r10k_count_to(t->machine, t->counts->counts);
}

const uint64_t *
thread_counts(void)
{
	return know(running)->counts->counts;
}

static void
switch_thread(ThreadId tid)
{
	put_down();
	struct known *t = know(tid);
	running = tid;
	if (!t->counts->tid)
		t->counts->tid = VG_(gettid)();
	header->running = t->counts->tid;
	calls_run(t->calls);
	if (options.fine) {
		machine = t->machine;
		r10k_count_to(machine, header->now);
	}
}

static void
on_start(ThreadId tid, ULong blocks)
{
	turn = TURN;
	if (threads && tid != running)
		switch_thread(tid);
	else if (options.fine) /* another thread may be about to ask for its turn, and wait for a processor only */
		VG_(do_syscall)(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* So that they are in the order in which they were made. */
static void
on_create(ThreadId by, ThreadId tid)
{
	threads_made++;
	if (threads)
		know(tid);
}

static void
on_exit(ThreadId tid)
{
	if (!threads || tid >= num_known || !known[tid].counts)
		return;
	if (tid != running)
		switch_thread(tid);
	if (known[tid].calls)
		calls_end(known[tid].calls);
	put_down();
	running = VG_INVALID_THREADID;
	header->running = 0;
	for (UInt i = 0; i < R10K_NUM_COUNTS; i++)
		ended[i] += known[tid].counts->counts[i];
	if (known[tid].machine) {
		idle = VG_(realloc)("r10k.idle", idle, (num_idle + 1) * sizeof *idle);
		idle[num_idle++] = known[tid].machine;
	}
	known[tid] = (struct known){ 0 };
}

/* Signals of an instruction, which come in the middle of a part; others come between blocks. */
static void
on_signal(ThreadId tid, Int number, Bool alternate)
{
	if (header->on && (number == VKI_SIGSEGV || number == VKI_SIGBUS || number == VKI_SIGFPE))
		parts_failed(VG_(get_IP)(tid));
}

/* ---- processes ---- */

static void
before_fork(ThreadId tid)
{
	processes_made++;
	output_before_fork();
}

static void
on_fork(ThreadId tid)
{
	output_fork();
	VG_(memset)(ended, 0, sizeof ended);
	for (UInt i = 0; i < num_known; i++) /* the other threads are not in this process, nor their processors */
		if (i != tid)
			known[i] = (struct known){ 0 };
	num_idle = 0;
	r10k_alone(machine);
	if (!threads || tid >= num_known || !known[tid].counts)
		return;
	known[tid].counts->tid = header->running = VG_(gettid)();
	if (known[tid].calls)
		calls_fork(known[tid].calls);
}

static Bool
executes(UInt number)
{
	return number == __NR_execve
#ifdef __NR_execveat
	       || number == __NR_execveat
#endif
		;
}

/* Write the counts of calls that have not returned. */
static void
settle_calls(void)
{
	ThreadId before = running;
	for (UInt t = 0; t < num_known; t++)
		if (known[t].calls) {
			switch_thread(t);
			calls_settle(known[t].calls);
		}
	if (options.calls && before != VG_INVALID_THREADID)
		switch_thread(before);
}

static void
before_call(ThreadId tid, UInt number, UWord *arguments, UInt n)
{
	if (!executes(number))
		return;
	settle_calls();
	header->state = STATE_REPLACED;
}

/* An execve() that returns has failed. */
static void
after_call(ThreadId tid, UInt number, UWord *arguments, UInt n, SysRes result)
{
	if (executes(number))
		header->state = STATE_RUNS;
}

static void
finish(Int code)
{
	settle_calls();
	header->state = STATE_ENDED;
}

/* ---- how VEX translates ---- */

static VexControl plain; /* as for a program that nobody counts */
static VexRegisterUpdates plain_updates;

/*
 * VEX is not to leave out what the program does, or to show what it does not do: no blocks put together across
 * branches, no loops unrolled, no loads dropped whose value is not used, no two equal operations made one (which level 2
 * does).
 */
static void
translate_exactly(void)
{
	plain = VG_(clo_vex_control);
	plain_updates = VG_(clo_px_file_backed);
	VG_(clo_vex_control).guest_chase = False;
	VG_(clo_vex_control).iropt_level = 1;
	VG_(clo_vex_control).iropt_unroll_thresh = 0;
	VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
	VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
}

/* Translate code that is not counted as fast code, where VEX can be told so while it runs. */
static void
translate_for(Bool counting)
{
	static VexControl exact;
	if (!&vex_control)
		return;
	if (!exact.iropt_level)
		exact = VG_(clo_vex_control);
	vex_control = VG_(clo_vex_control) = counting ? exact : plain;
	VG_(clo_px_file_backed) = counting ? VexRegUpdAllregsAtEachInsn : plain_updates;
}

/* ---- requests of the program ---- */

static void
read_counts(ULong *to, UWord room)
{
	ULong counts[R10K_NUM_COUNTS];
	for (UInt i = 0; i < R10K_NUM_COUNTS; i++)
		counts[i] = header->now[i] + ended[i];
	for (UInt t = 0; t < num_known; t++)
		for (UInt i = 0; known[t].counts && i < R10K_NUM_COUNTS; i++)
			counts[i] += known[t].counts->counts[i];
	VG_(memcpy)(to, counts, (room < R10K_NUM_COUNTS ? room : R10K_NUM_COUNTS) * sizeof *to);
}

/* Counting begins or ends: blocks are translated again, as those that do not count are left as they are. */
static void
switch_counting(Bool on)
{
	if (header->wanted == on)
		return;
	settle_calls();
	for (UInt t = 0; on && t < num_known; t++) /* those that returned meanwhile were not seen */
		if (known[t].calls)
			calls_forget(known[t].calls);
	header->wanted = on;
	translate_for(on);
	VG_(discard_translations_safely)(0, ~(SizeT)0, "r10k.region");
}

static void
clear_places(void)
{
	settle_calls();
	output_clear();
}

/* Start or end a region when libperfex says so, with --regions=yes. */
static void
on_pair(UWord what)
{
	static UInt depth; /* of regions in regions: those of C and of Python do not know each other */

	if (what == REGION_START && !depth++)
		switch_counting(True);
	else if (what == REGION_READ && depth && !--depth)
		switch_counting(False);
	else if (what == REGION_NOT_BEGUN)
		header->not_begun++;
}

static Bool
on_region(UWord what, UWord *result)
{
	*result = 0;
	if (!options.asked)
		return True;
	if (options.regions)
		on_pair(what);
	else if (what == REGION_ON || what == REGION_OFF)
		switch_counting(what == REGION_ON);
	if (what == REGION_CLEAR)
		clear_places();
	*result = 1 | (UWord)(threads_made & 0xfff) << 8 | (UWord)(processes_made & 0xfff) << 20;
	return True;
}

static Bool
on_request(ThreadId tid, UWord *arguments, UWord *result)
{
	if (arguments[0] == REQUEST_REGION)
		return on_region(arguments[1], result);
	if (arguments[0] != REQUEST_READ)
		return False;
	UWord room = arguments[2] < R10K_NUM_COUNTS ? arguments[2] : R10K_NUM_COUNTS;
	*result = 0;
	if (!room || VG_(am_is_valid_for_client)(arguments[1], room * sizeof(ULong), VKI_PROT_WRITE)) {
		if (room)
			read_counts((ULong *)arguments[1], room);
		*result = R10K_NUM_COUNTS | (UWord)options.fine << 8;
	}
	return True;
}

/* ---- options ---- */

static Bool
on_option(const HChar *argument)
{
	if VG_STR_CLO (argument, "--counts", directory) {
	} else if VG_STR_CLO (argument, "--messages", log) {
	} else if VG_STR_CLO (argument, "--machine", shape) {
	} else if VG_BINT_CLO (argument, "--layout", layout_number, 0, 1 << 30) {
	} else if VG_BOOL_CLO (argument, "--lines", options.lines) {
	} else if VG_BOOL_CLO (argument, "--calls", options.calls) {
	} else if VG_BOOL_CLO (argument, "--threads", threads) {
	} else if VG_BOOL_CLO (argument, "--fine", options.fine) {
	} else if VG_BOOL_CLO (argument, "--off", options.switched) {
	} else if VG_BOOL_CLO (argument, "--asked", options.asked) {
	} else if VG_BOOL_CLO (argument, "--regions", options.regions) {
	} else {
		return False;
	}
	return True;
}

static void
usage(void)
{
	VG_(printf)(
		"    --counts=DIR        directory of the files with counts [the current one]\n"
		"    --messages=FILE     valgrind's, of all processes [standard error]\n"
		"    --machine=NUMBERS   size, ways and line of L1I, L1D and L2; bytes of a page, pages and\n"
		"                        entries of the TLB; counters of the predictor; seed [an R10000]\n"
		"    --layout=NUMBER     where stack, heap and mappings are seen: another place for each [0, as is]\n"
		"    --lines=no|yes      counts of each instruction, too [no]\n"
		"    --calls=no|yes      counts of calls, too: with --lines=yes [no]\n"
		"    --threads=no|yes    counts of each thread, too [no]\n"
		"    --fine=no|yes       each thread has a processor of its own [no]\n"
		"    --off=no|yes        count when perfex says so [no]\n"
		"    --asked=no|yes      count when the program says so [no]\n"
		"    --regions=no|yes    count from start_counters() of libperfex to read_counters() [no]\n");
}

static void
debug_usage(void)
{
	VG_(printf)("    (none)\n");
}

/* 14 numbers with commas between them. */
static void
read_shape(void)
{
	enum { NUMBERS = 14 };
	ULong n[NUMBERS];
	const HChar *at = shape;
	for (UInt i = 0; i < NUMBERS; i++) {
		HChar *end;
		n[i] = (ULong)VG_(strtoll10)(at, &end);
		if (end == at || *end != (i + 1 < NUMBERS ? ',' : '\0'))
			VG_(fmsg_bad_option)("--machine", "it has 14 numbers with commas between them\n");
		at = end + 1;
	}
	config = (struct r10k_config){
		.l1i = { n[0], (UInt)n[1], (UInt)n[2] },
		.l1d = { n[3], (UInt)n[4], (UInt)n[5] },
		.l2 = { n[6], (UInt)n[7], (UInt)n[8] },
		.page = n[9],
		.pages = (UInt)n[10],
		.tlb = (UInt)n[11],
		.predictor = (UInt)n[12],
		.seed = n[13],
	};
	const HChar *wrong = r10k_wrong(&config);
	if (wrong)
		VG_(fmsg_bad_option)("--machine", "%s\n", wrong);
}

/* Random bits: Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014 (SplitMix64). */
static ULong
random_bits(ULong *state)
{
	ULong z = *state += 0x9e3779b97f4a7c15ULL;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* As Linux does it: a stack in steps of 16 bytes, the others in pages. */
static void
move_memory(void)
{
	ULong state = (ULong)layout_number;
	layout.stack = 16 * (1 + random_bits(&state) % (1 << 18));
	layout.heap = 4096 * (random_bits(&state) % (1 << 13));
	layout.mappings = 4096 * (random_bits(&state) % (1 << 16));
}

/* ---- the tool ---- */

/* One file for all processes: a descriptor of their own would be one more in each generation. */
static void
open_log(void)
{
	if (!log)
		return;
	SysRes opened = VG_(open)(log, VKI_O_WRONLY | VKI_O_APPEND | VKI_O_CREAT, VKI_S_IRUSR | VKI_S_IWUSR);
	if (!sr_isError(opened))
		VG_(log_output_sink).fd = VG_(safe_fd)((Int)sr_Res(opened));
}

static void
begin(void)
{
	config = r10k_r10000(4 << 20);
	if (shape)
		read_shape();
	options.line = config.l1i.line < 64 ? config.l1i.line : 64;
	options.calls = options.calls && options.lines;
	options.asked = options.asked || options.regions;
	threads = threads || options.fine || options.calls; /* calls are of a thread */
	if (layout_number)
		move_memory();
	client_environment();
	open_log();
	output_open(directory ? directory : ".", VG_(args_the_exename));
	header->on = header->wanted = header->wanted && (!options.switched || output_was_wanted()) && !options.asked;
	machine = new_machine();
	if (options.asked)
		translate_for(False);
}

static void
set_up(void)
{
	translate_exactly();
	VG_(details_name)("r10k");
	VG_(details_version)(NULL);
	VG_(details_description)("the caches and counters of an R10000");
	VG_(details_copyright_author)("The pypfm developers.");
	VG_(details_bug_reports_to)("pypfm");
	VG_(details_avg_translation_sizeB)(500);
	VG_(basic_tool_funcs)(begin, instrument, finish);
	VG_(needs_command_line_options)(on_option, usage, debug_usage);
	VG_(needs_client_requests)(on_request);
	VG_(needs_syscall_wrapper)(before_call, after_call);
	VG_(track_start_client_code)(on_start);
	VG_(track_pre_deliver_signal)(on_signal);
	VG_(track_pre_thread_ll_create)(on_create);
	VG_(track_pre_thread_ll_exit)(on_exit);
	VG_(atfork)(before_fork, NULL, on_fork);
}

VG_DETERMINE_INTERFACE_VERSION(set_up)
