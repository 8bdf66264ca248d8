/*
 * The back end that LIBPFM_PERFMON asks for, and the machine.
 */
#include "engine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../base/environment.h"

static struct choice chosen;
static bool is_read;

static bool
is_word(const char *word, size_t length, const char *wanted)
{
	return length == strlen(wanted) && strncmp(word, wanted, length) == 0;
}

/* rate=N */
static bool
read_rate(const char *word, size_t length, uint64_t *rate)
{
	char *end;

	if (length < 6 || strncmp(word, "rate=", 5) != 0 || word[5] < '0' || word[5] > '9')
		return false;
	errno = 0;
	*rate = strtoull(word + 5, &end, 10);
	return errno == 0 && end == word + length && *rate > 0 && *rate <= UINT32_MAX;
}

static bool
read_option(const char *word, size_t length, struct choice *c)
{
	if (is_word(word, length, "np"))
		c->np = true;
	else if (c->backend != &model_backend || !read_rate(word, length, &c->rate))
		return false;
	return true;
}

/* Linux on IA-64 with the driver of perf events: its codes are those of the processor. */
static const struct backend *
best_backend(void)
{
	struct utsname system;

	return uname(&system) == 0 && strcmp(system.machine, "ia64") == 0 &&
			       access("/sys/bus/event_source/devices/cpu", F_OK) == 0
		       ? &raw_backend
		       : &host_backend;
}

static bool
read_backend(const char *word, size_t length, struct choice *c)
{
	static const struct backend *const backends[] = { &model_backend, &host_backend, &raw_backend };

	for (size_t i = 0; i < sizeof(backends) / sizeof(*backends); i++)
		if (is_word(word, length, backends[i]->name)) {
			c->backend = backends[i];
			return true;
		}
	if (is_word(word, length, "off"))
		return true;
	c->backend = best_backend();
	return length == 0 || is_word(word, length, "auto");
}

/*
 * Print a line of verbose mode.  A signal handler may make the call: no stream is used, which it may have interrupted.
 */
static void __attribute__((format(printf, 1, 2)))
say(const char *format, ...)
{
	const int fd = pfm3_verbose_fd();
	char line[256];
	va_list args;
	int length;

	if (fd < 0)
		return;
	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (length > 0 && write(fd, line, (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1) < 0)
		return; /* there is nowhere to report it */
}

/* Describe why a back end cannot count the events of a context; NULL: it is not the back end. */
static const char *
reason(int loaded)
{
	switch (loaded) {
	case -ENODEV:
		return chosen.backend == &raw_backend ? "this is no IA-64 processor with counters"
						      : "this machine has no such counters";
	case -EPERM:
		return "perf_event_open(2) is not permitted, see /proc/sys/kernel/perf_event_paranoid";
	case -ENOTSUP:
		return "nothing here counts what a register asks for";
	default:
		return NULL;
	}
}

void
choice_tell(int loaded)
{
	static bool is_told;
	char rate[32] = "";

	if (loaded == 0 ? is_told : !reason(loaded))
		return;
	if (chosen.rate)
		snprintf(rate, sizeof(rate), ",rate=%llu", (unsigned long long)chosen.rate);
	if (loaded < 0)
		say("perfmon: nothing is counted with LIBPFM_PERFMON=%s%s: %s; LIBPFM_PERFMON=model,rate=1000000 needs "
		    "no counters\n",
		    chosen.backend->name, chosen.np ? ",np" : "", reason(loaded));
	else
		say("perfmon: counts come from %s (LIBPFM_PERFMON=%s%s%s)\n",
		    chosen.backend == &model_backend ? "a model" : "this machine's counters", chosen.backend->name,
		    rate, chosen.np ? ",np" : "");
	is_told = is_told || loaded == 0;
}

static void
read_choice(const char *text)
{
	size_t length = strcspn(text, ",");
	bool is_good = read_backend(text, length, &chosen);

	for (const char *at = text + length; is_good && *at; at += length) {
		length = strcspn(++at, ",");
		is_good = read_option(at, length, &chosen);
	}
	if (!is_good)
		chosen = (struct choice){ .is_unreadable = true };
}

const struct choice *
choice(void)
{
	const char *text;

	if (!is_read) {
		text = environment("LIBPFM_PERFMON");
		read_choice(text ? text : "");
		is_read = true;
		if (!chosen.backend)
			say("perfmon: LIBPFM_PERFMON=%.64s %s\n", text,
			    chosen.is_unreadable
				    ? "is not auto, host, raw, model or off, with options ,np and (of a model) ,rate=N"
				    : "counts nothing");
	}
	return &chosen;
}

const struct machine *
choice_machine(void)
{
	return choice()->backend ? machine_by_type(pfm3_pmu_type()) : NULL;
}
