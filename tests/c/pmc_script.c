/*
 * The C side of tests/pmc/workers.py: reads a call a line, answers a line each.
 *
 *	control CTR OP ARG	info CTR OP ARG		advance ID COUNT	signals		reset
 *
 * ARG: null, bad (an address that nobody has), cfg:ID:RESET, int, uint64.  An answer is
 * the result, the name of errno or "-", and what was stored, if anything was.
 */
#include "pmc_check.h"

#include <inttypes.h>

static volatile sig_atomic_t signals;
static union {
	struct pmc_counter_cfg cfg;
	int number;
	uint64_t value;
} arg;

static void
count(int signal)
{
	(void)signal;
	signals++;
}

static const char *
name_of(int code)
{
	static const struct {
		int code;
		const char *name;
	} names[] = {
		{ 0, "-" },           { EFAULT, "EFAULT" }, { ENXIO, "ENXIO" },   { EINPROGRESS, "EINPROGRESS" },
		{ EINVAL, "EINVAL" }, { EBUSY, "EBUSY" },   { ENODEV, "ENODEV" }, { ENOMEM, "ENOMEM" },
		{ ESRCH, "ESRCH" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].code == code)
			return names[i].name;
	return "another";
}

static void *
argument(const char *text)
{
	memset(&arg, 0, sizeof(arg));
	if (strcmp(text, "null") == 0)
		return NULL;
	if (strcmp(text, "bad") == 0)
		return (void *)8;
	sscanf(text, "cfg:%i:%" SCNi64, &arg.cfg.event_id, (int64_t *)&arg.cfg.reset_value);
	return &arg;
}

int
main(void)
{
	char line[200], op[20], text[100];
	long long first, second;

	signal(SIGPROF, count);
	while (fgets(line, sizeof(line), stdin)) {
		int ret = 0;

		first = second = 0;
		*text = '\0';
		errno = 0;
		sscanf(line, "%19s %lli %lli %99s", op, &first, &second, text);
		if (strcmp(op, "control") == 0)
			ret = pmc_control((int)first, (int)second, argument(text));
		else if (strcmp(op, "info") == 0)
			ret = pmc_get_info((int)first, (int)second, argument(text));
		else if (strcmp(op, "advance") == 0)
			ret = pmc_model_advance((int)first, (uint64_t)second);
		else if (strcmp(op, "signals") == 0) {
			ret = signals;
			signals = 0;
		} else
			return 2;
		printf("%d %s", ret, name_of(ret == -1 ? errno : 0));
		if (ret == 0 && strcmp(text, "int") == 0)
			printf(" %d", arg.number);
		if (ret == 0 && strcmp(text, "uint64") == 0)
			printf(" %" PRIu64, arg.value);
		printf("\n");
		fflush(stdout);
	}
	return 0;
}
