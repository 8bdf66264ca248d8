/*
 * Reading lines of recorded calls, each part in a process of its own; comparing the answers.
 */
#include "replay.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { LONGEST = 1 << 16, MOST_ARGUMENTS = 8, SHOWN = 20 };

/* What the processes count together. */
static struct tally {
	unsigned long good, bad;
} *tally;

static char answer[LONGEST];
static size_t answer_size;

void
replay_answer(const char *format, ...)
{
	va_list values;
	int size;

	va_start(values, format);
	size = vsnprintf(answer + answer_size, sizeof(answer) - answer_size, format, values);
	va_end(values);
	answer_size += size > 0 ? (size_t)size : 0;
	if (answer_size >= sizeof(answer))
		answer_size = sizeof(answer) - 1; /* then it differs */
}

char *
replay_part(char **text, char separator)
{
	char *part = *text, *end;

	if (!part || !*part)
		return NULL;
	end = strchr(part, separator);
	if (end)
		*end++ = '\0';
	*text = end;
	return part;
}

char *
replay_string(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (*from != '\\') {
			*to = *from++;
			continue;
		}
		*to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
		from += 4;
	}
	*to = '\0';
	return text;
}

/* Make the call of a line, and compare. */
static void
replay(char *line, const struct replay_call *calls)
{
	char *shown = strdup(line), *arguments[MOST_ARGUMENTS] = { NULL }, *name = line, *want = NULL;
	int count = 0;

	for (char *at = line; (at = strchr(at, '\t')) && count < MOST_ARGUMENTS;) {
		*at++ = '\0';
		arguments[count++] = at;
	}
	if (count)
		want = arguments[--count];
	for (; calls->name && (strcmp(calls->name, name) != 0 || calls->count != count); calls++)
		;
	answer_size = 0;
	*answer = '\0';
	if (calls->name)
		calls->make(arguments);
	if (calls->name && strcmp(answer, want) == 0) {
		tally->good++;
	} else {
		if (tally->bad++ < SHOWN)
			printf("DIFFERS %s\n    got %s\n", shown ? shown : name,
			       calls->name ? answer : "nothing: not known");
	}
	free(shown);
}

/* The environment that a line beginning with @ gives. */
static void
set_environment(char *line)
{
	for (char **variable = environ; *variable;) {
		char name[64];

		if (strncmp(*variable, "LIBPFM_", 7) != 0 || strcspn(*variable, "=") >= sizeof(name)) {
			variable++;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(*variable, "="), *variable);
		unsetenv(name);
	}
	strtok(line, "\t");
	for (char *variable; (variable = strtok(NULL, "\t"));) {
		char *equals = strchr(variable, '=');

		*equals = '\0';
		setenv(variable, equals + 1, 1);
	}
}

/* Lines from at on, in a process of their own, up to the next that begins with @: where that is. */
static char **
replay_process(char **lines, const struct replay_call *calls)
{
	char **end = lines + 1;
	int status;
	pid_t child;

	while (*end && **end != '@')
		end++;
	fflush(stdout);
	child = fork();
	if (child == 0) {
		set_environment(*lines);
		for (lines++; lines < end; lines++)
			replay(*lines, calls);
		exit(0); /* not _exit(): leaks are looked for, coverage is written */
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child < 0 || status != 0) {
		printf("the process of %s ended with status %#x\n", *lines, (unsigned int)status);
		tally->bad++;
	}
	return end;
}

/* The lines of a file, with NULL after the last; *text is what they are in. */
static char **
read_lines(const char *path, char **text)
{
	FILE *file = fopen(path, "r");
	size_t size = 0, count = 0, used = 0;
	char **lines;

	*text = NULL;
	if (!file || getdelim(text, &size, '\0', file) < 0) {
		perror(path);
		exit(2);
	}
	fclose(file);
	for (const char *at = *text; *at; at++)
		count += *at == '\n';
	lines = calloc(count + 1, sizeof(*lines));
	if (!lines)
		exit(2);
	for (char *at = *text, *end; (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		lines[used++] = at;
	}
	return lines;
}

int
replay_files(int argc, char **argv, const struct replay_call *calls)
{
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tally == MAP_FAILED)
		return 2;
	for (int i = 1; i < argc; i++) {
		char *text, **lines = read_lines(argv[i], &text);

		for (char **at = lines; *at;)
			at = replay_process(at, calls);
		free(lines);
		free(text);
	}
	printf("%lu of %lu calls answered as recorded\n", tally->good, tally->good + tally->bad);
	return tally->bad || !tally->good;
}
