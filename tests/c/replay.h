/*
 * Recorded calls, read from the lines that replay_lines.py writes: what the drivers share.
 *
 * The driver of a library has one function for each kind of line; it makes the call and writes down
 * the answer, which is compared with the recorded one.
 */
#ifndef TESTS_REPLAY_H
#define TESTS_REPLAY_H

struct replay_call {
	const char *name;
	int count;                      /* of arguments */
	void (*make)(char **arguments); /* strings; they may be written to */
};

/* Add to the answer of the call under way, as printf() does. */
void __attribute__((format(printf, 1, 2))) replay_answer(const char *format, ...);

/* Comma-separated parts of a text, which is cut: the next, or NULL. */
char *replay_part(char **text, char separator);

/* Undo escaped() of replay_lines.py, in place. */
char *replay_string(char *text);

/* Replay the files that are named; the exit status.  The list of calls ends with a NULL name. */
int replay_files(int argc, char **argv, const struct replay_call *calls);

#endif /* TESTS_REPLAY_H */
