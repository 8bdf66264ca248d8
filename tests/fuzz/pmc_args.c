/*
 * The argument checks of pmc_control() and pmc_get_info(), on the models.
 *
 * Input: a byte for the machine, then calls: function and kind of argument, counter, operation and,
 * where they are used, the bytes of the structure.
 */
#include "fuzz.h"

#include "machine.h"
#include "pmc_model.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CONTROL, GET_INFO, ADVANCE, FUNCTIONS };
enum { GOOD, NOTHING, NOWHERE, AT_THE_EDGE, KINDS };
enum { MAX_CALLS = 64 };

static const char *const machines[] = { "xscale", "i586", "i686", "k7" };
static char directory[] = "/tmp/pypfm-fuzz-XXXXXX";
static char *edge; /* the byte after the last that can be read and written */

static void
clean_up(void)
{
	char command[sizeof(directory) + 16];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	if (system(command) != 0)
		perror(command);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)argc;
	(void)argv;
	HOLDS(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
	edge = pages + page;
	HOLDS(mkdtemp(directory));
	setenv("XDG_RUNTIME_DIR", directory, 1);
	atexit(clean_up);
	signal(SIGPROF, SIG_IGN);
	return 0;
}

/* What an answer may be. */
static void
check_answer(int ret, int code)
{
	static const int documented[] = { EFAULT, EINVAL, ENXIO, EINPROGRESS, EBUSY, ENODEV };
	int known = 0;

	HOLDS(ret == 0 || ret == -1);
	for (size_t i = 0; i < sizeof(documented) / sizeof(documented[0]); i++)
		known |= code == documented[i];
	HOLDS(ret == 0 || known);
}

/* 1 if the operation looks at its argument. */
static int
needs_argument(unsigned int function, int op)
{
	if (function == CONTROL)
		return op == PMC_OP_CONFIGURE || op == PMC_OP_PROFSTART;
	return op >= PMC_INFO_NCOUNTERS && op <= PMC_INFO_ACCUMULATED_COUNTER_VALUE;
}

static void
call(struct pmc_state *state, struct bytes *b)
{
	unsigned int head = take_byte(b), function = head % FUNCTIONS, kind = head / FUNCTIONS % KINDS;
	/* Mostly small numbers; the last two bits ask for any. */
	int ctr = (int8_t)take_byte(b), op = (int8_t)take_byte(b), ret;
	struct pmc_counter_cfg cfg = { 0 };
	uint64_t count;
	void *good, *arg;

	if (head & 0x40)
		take(b, &ctr, sizeof(ctr));
	if (head & 0x80)
		take(b, &op, sizeof(op));
	take(b, &cfg.event_id, 2);
	if (head & 0x80)
		take(b, &cfg, sizeof(cfg));
	else
		cfg.reset_value = take_byte(b);
	good = allocate(sizeof(cfg));
	memcpy(good, &cfg, sizeof(cfg));
	arg = kind == GOOD ? good : kind == NOTHING ? NULL : kind == NOWHERE ? (void *)8 : edge - 1;
	errno = 0;
	switch (function) {
	case CONTROL:
		ret = pmc_state_control(state, ctr, op, arg);
		break;
	case GET_INFO:
		ret = pmc_state_get_info(state, ctr, op, arg);
		break;
	default:
		count = cfg.reset_value;
		ret = pmc_state_advance(state, cfg.event_id, count);
		break;
	}
	check_answer(ret, errno);
	if (function != ADVANCE && needs_argument(function, op))
		HOLDS(kind == GOOD ? ret == 0 || errno != EFAULT : ret == -1);
	free(good);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	struct pmc_state *state = pmc_state_new(machines[take_byte(&b) % 4]);

	HOLDS(state);
	for (int i = 0; i < MAX_CALLS && b.left; i++)
		call(state, &b);
	pmc_state_free(state);
	return 0;
}
