/* r10ksim: the caches and the TLB of an R10000, driven by the memory trace of valgrind's lackey.

     valgrind --tool=lackey --trace-mem=yes --log-fd=9 command 9>&1 >&3 | r10ksim

   Reads the trace from standard input and writes the counts as one line of JSON.  With --directory
   and --until it is a part of perfex(1): it reads the traces of further processes from files, and
   ends when the other end of a descriptor is closed.  A first line says that it is ready; then
   SIGUSR1 and SIGUSR2 start and stop counting, and SIGALRM asks for a line of the counts so far.

   With --records, it writes to a descriptor what each instruction has done (records.h): who knows the
   instructions can tell branches and other kinds. */

#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t counting = 1, asked;

static void
on_signal(int signal)
{
	if (signal == SIGALRM)
		asked = 1;
	else
		counting = signal == SIGUSR1;
}

/* Unblocks them too: the process that started us may have blocked them. */
static void
take_signals(void)
{
	static const int signals[] = { SIGUSR1, SIGUSR2, SIGALRM };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		sigaction(signals[i], &action, NULL);
		sigaddset(&set, signals[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void
print_total(struct reader *reader)
{
	struct total t = reader_total(reader);
	printf("{\"processes\": %" PRIu64 ", \"lines\": %" PRIu64 ", \"malformed\": %" PRIu64 ", \"silent\": %" PRIu64
	       ", \"cut\": %" PRIu64 ", \"cut_pipe\": %d, \"full\": %d, \"records\": %" PRIu64,
	       t.processes, t.lines, t.malformed, t.silent, t.cut, t.cut_pipe, t.full, t.records);
#define PRINT(name, what) printf(", \"" #name "\": %" PRIu64, t.counts.name);
	R10K_COUNTS(PRINT)
#undef PRINT
	printf("}\n");
	fflush(stdout);
}

static void
refuse_argument(const char *what, const char *allowed)
{
	fprintf(stderr, "r10ksim: %s: %s\n", what, allowed);
	exit(2);
}

/* A number, with k or m for KiB and MiB. */
static uint64_t
number_argument(const char *text)
{
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 0);
	unsigned shift = *end == 'k' ? 10 : *end == 'm' ? 20 : 0;
	end += shift != 0;
	if (*end || end == text || *text == '-' || errno || value > UINT64_MAX >> shift)
		refuse_argument(text, "not a number");
	return (uint64_t)value << shift;
}

struct arguments {
	struct r10k_config config;
	const char *directory;
	int until, records;
};

static const char usage[] = "usage: r10ksim [--l2 512k..16m] [--page 4k|8k|16k] [--tlb lru|random] [--seed N]\n"
			    "               [--off] [--message TEXT] [--directory DIR --until FD]\n"
			    "               [--records FD] < trace\n";

static struct arguments
parse_arguments(int argc, char **argv)
{
	static const struct option options[] = {
		{ "l2", required_argument, NULL, 'l' },
		{ "page", required_argument, NULL, 'p' },
		{ "tlb", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 's' },
		{ "off", no_argument, NULL, 'o' },
		{ "directory", required_argument, NULL, 'd' },
		{ "until", required_argument, NULL, 'u' },
		{ "message", required_argument, NULL, 'm' },
		{ "records", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct arguments a = { .config = { .l2 = 4 << 20, .page = 16 << 10 }, .until = -1, .records = -1 };
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (c) {
		case 'l':
			a.config.l2 = number_argument(optarg);
			break;
		case 'p':
			a.config.page = number_argument(optarg);
			break;
		case 's':
			a.config.seed = number_argument(optarg);
			break;
		case 'u':
			a.until = (int)number_argument(optarg);
			break;
		case 'r':
			a.records = (int)number_argument(optarg);
			break;
		case 'd':
			a.directory = optarg;
			break;
		case 'm':
			if (messages.count == sizeof messages.texts / sizeof *messages.texts)
				refuse_argument(optarg, "too many texts of messages");
			messages.texts[messages.count++] = optarg;
			break;
		case 'o':
			counting = 0;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		case 't':
			a.config.random = !strcmp(optarg, "random");
			if (!a.config.random && strcmp(optarg, "lru") != 0)
				refuse_argument(optarg, "the TLB's replacement is lru or random");
			break;
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (optind < argc)
		refuse_argument(argv[optind], "the trace comes from standard input");
	if (a.config.l2 < 512 << 10 || a.config.l2 > 16 << 20 || a.config.l2 & (a.config.l2 - 1))
		refuse_argument("--l2", "a power of two from 512k to 16m");
	if (a.config.page != 4 << 10 && a.config.page != 8 << 10 && a.config.page != 16 << 10)
		refuse_argument("--page", "4k, 8k or 16k");
	if (!a.directory != (a.until < 0))
		refuse_argument("--directory, --until", "one without the other");
	return a;
}

/* Until the other end of a descriptor is closed, or standard input is at its end. */
static void
follow_traces(struct reader *reader, int until)
{
	/* The writer of a full pipe is slowed down, and so is one whose reader wakes up at each line. */
	static const struct timespec pause = { .tv_nsec = 400000 };
	struct pollfd end = { .fd = until, .events = POLLIN };
	bool on = true;
	for (;;) {
		if (on != counting)
			reader_count(reader, on = counting);
		/* Asked first: what was written before the end is then read. */
		bool over = until >= 0 && poll(&end, 1, 0) > 0;
		size_t bytes = reader_step(reader);
		if (asked) {
			asked = 0;
			reader_write_records(reader);
			print_total(reader);
		}
		if (until >= 0 ? over : !bytes)
			return;
		if (bytes < 1 << 18)
			nanosleep(&pause, NULL);
	}
}

int
main(int argc, char **argv)
{
	struct arguments a = parse_arguments(argc, argv);
	take_signals();
	struct stream *stream = a.records >= 0 ? stream_new(a.records) : NULL;
	struct reader *reader = reader_new(&a.config, STDIN_FILENO, a.directory, stream);
	if (!reader || (a.records >= 0 && !stream)) {
		fprintf(stderr, "r10ksim: %s: %s\n", a.directory ? a.directory : "memory", strerror(errno));
		return 1;
	}
	fcntl(STDIN_FILENO, F_SETPIPE_SZ, 1 << 20); /* best effort */
	if (a.until >= 0)
		fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
	if (a.until >= 0)
		print_total(reader); /* ready: signals can be sent */
	follow_traces(reader, a.until);
	reader_finish(reader);
	print_total(reader);
	reader_free(reader);
	stream_free(stream);
	return 0;
}
