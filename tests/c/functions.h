/*
 * What csrc/functions.csv says of a library's functions, tried on each of them.  A program has a table of calls, one for
 * each row, and begins with functions_main():
 *
 *	functions_NAME TABLE.csv all		before and after initialisation; memory; from 8 threads at once
 *	functions_NAME TABLE.csv keep		the caller frees nothing: valgrind and LeakSanitizer have to say so
 *	functions_NAME TABLE.csv beside		under ThreadSanitizer: functions that read the state, beside those that change it,
 *						are noticed, each; those that read none are not
 */
#ifndef TESTS_FUNCTIONS_H
#define TESTS_FUNCTIONS_H

#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FUNCTIONS_THREADS = 8, FUNCTIONS_MAX = 160, FUNCTIONS_TSAN_STATUS = 66 };

/* The memory that a call has given its caller. */
struct received {
	void *frees[2];       /* to be freed */
	const void *stays[3]; /* the library's */
};

/* A function of the table: call() returns 0 if it does not fail; before() is called first where it is tried beside others. */
struct function {
	const char *name;
	int (*call)(struct received *r);
	void (*before)(void);
};

/* Its row. */
struct facts {
	const struct function *function;
	char threads[16];
	bool needs_init;
	unsigned int frees, stays; /* pointers */
};

struct library {
	const char *name, *soname;
	const struct function *functions;
	unsigned int count;
	void (*prepare)(void); /* initialises the library */
	bool has_kinds;        /* functions that need it, and others */
	unsigned int rounds;   /* of each thread */
};

static struct {
	const struct library *library;
	struct facts rows[FUNCTIONS_MAX];
	unsigned int count;
	bool keep;
	unsigned int failed; /* calls of threads */
	pthread_barrier_t barrier, end;
} functions;

/* ---- the table ---------------------------------------------------------------------- */

static inline unsigned int
functions_words(const char *text)
{
	unsigned int words = *text != '\0';

	for (; *text; text++)
		words += *text == ' ';
	return words;
}

/* A line; what is after the column "stays" may have commas in it, and is not read. */
static inline void
functions_row(char *line)
{
	enum { LIBRARY, NAME, THREADS, NEEDS_INIT, ENVIRONMENT, SIGNALS, FREES, STAYS, COLUMNS };
	char *column[COLUMNS];
	struct facts *row = &functions.rows[functions.count];

	for (int i = 0; i < COLUMNS; i++)
		column[i] = strsep(&line, ",");
	if (!line || strcmp(column[LIBRARY], functions.library->name) != 0)
		return;
	for (unsigned int i = 0; i < functions.library->count; i++)
		if (strcmp(functions.library->functions[i].name, column[NAME]) == 0)
			row->function = &functions.library->functions[i];
	if (!row->function) {
		printf("%s: in the table, and not tried here\n", column[NAME]);
		check_failures++;
		return;
	}
	snprintf(row->threads, sizeof(row->threads), "%s", column[THREADS]);
	row->needs_init = strcmp(column[NEEDS_INIT], "yes") == 0;
	row->frees = functions_words(column[FREES]);
	row->stays = functions_words(column[STAYS]);
	CHECK(++functions.count < FUNCTIONS_MAX);
}

static inline void
functions_read(const char *path)
{
	char line[512];
	FILE *file = fopen(path, "re");

	if (!file) {
		perror(path);
		exit(2);
	}
	while (fgets(line, sizeof(line), file))
		functions_row(line);
	fclose(file);
	CHECK_EQ(functions.count, functions.library->count); /* nothing is tried that is not in the table */
}

/* ---- one call ------------------------------------------------------------------------- */

static inline int
functions_call(const struct facts *row)
{
	struct received r = { .frees = { NULL } };
	int ret = row->function->call(&r);

	for (int i = 0; i < 2 && !functions.keep; i++)
		free(r.frees[i]);
	return ret;
}

/* Memory that stays is in the library's file; other memory is not. */
static inline bool
functions_in_library(const void *at)
{
	Dl_info info;

	return dladdr(at, &info) && strstr(info.dli_fname, functions.library->soname);
}

static inline void
functions_check_memory(const struct facts *row)
{
	struct received r = { .frees = { NULL } };
	unsigned int frees = 0, stays = 0;

	CHECK_EQ(row->function->call(&r), 0);
	for (int i = 0; i < 2; i++)
		if (r.frees[i]) {
			CHECK(!functions_in_library(r.frees[i]));
			frees++;
		}
	for (int i = 0; i < 3; i++)
		if (r.stays[i]) {
			CHECK(functions_in_library(r.stays[i]));
			stays++;
		}
	if (frees != row->frees || stays != row->stays) {
		printf("%s: %u to free and %u that stay; the table has %u and %u\n", row->function->name, frees, stays,
		       row->frees, row->stays);
		check_failures++;
	}
	for (int i = 0; i < 2 && !functions.keep; i++)
		free(r.frees[i]);
}

static inline bool
functions_is(const struct facts *row, const char *threads)
{
	return strcmp(row->threads, threads) == 0;
}

static inline void
functions_check_needs(void)
{
	for (unsigned int i = 0; i < functions.count; i++) {
		const struct facts *row = &functions.rows[i];

		if (functions_is(row, "alone") || (functions_call(row) != 0) == row->needs_init)
			continue;
		printf("%s: needs initialisation or not: the table is wrong\n", row->function->name);
		check_failures++;
	}
}

/* ---- many threads ----------------------------------------------------------------------- */

static inline void *
functions_thread(void *number)
{
	const size_t start = (size_t)number * 7;

	pthread_barrier_wait(&functions.barrier);
	for (unsigned int round = 0; round < functions.library->rounds; round++)
		for (unsigned int i = 0; i < functions.count; i++) {
			const struct facts *row = &functions.rows[(start + i) % functions.count];

			if (!functions_is(row, "alone") && functions_call(row) != 0)
				__atomic_fetch_add(&functions.failed, 1, __ATOMIC_RELAXED);
		}
	return NULL;
}

static inline void
functions_at_once(void)
{
	pthread_t threads[FUNCTIONS_THREADS];

	pthread_barrier_init(&functions.barrier, NULL, FUNCTIONS_THREADS);
	for (size_t i = 0; i < FUNCTIONS_THREADS; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, functions_thread, (void *)i), 0);
	for (int i = 0; i < FUNCTIONS_THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&functions.barrier);
	CHECK_EQ(functions.failed, 0);
}

/* ---- two threads, under ThreadSanitizer ---------------------------------------------------- */

/*
 * ThreadSanitizer reports a race only if it can still tell where the first access came from.  A function that makes
 * many accesses after it has read the state, as pfm_pmu_validate() does, needs the longest history.
 */
extern const char *__tsan_default_options(void);

const char *
__tsan_default_options(void)
{
	return "history_size=7";
}

/* Functions of one kind, or one function. */
struct some {
	const char *threads;
	const struct facts *row;
};

static inline void *
functions_some(void *argument)
{
	const struct some *some = argument;

	pthread_barrier_wait(&functions.barrier);
	for (int round = 0; round < 4; round++)
		for (unsigned int i = 0; i < functions.count; i++)
			if (some->row ? some->row == &functions.rows[i]
				      : functions_is(&functions.rows[i], some->threads))
				functions_call(&functions.rows[i]);
	/* Of a thread that has ended, ThreadSanitizer may have forgotten what it did.  This is another barrier: one that is
	 * first in the second wait would put all that it has done before what the other does after the first. */
	pthread_barrier_wait(&functions.end);
	return NULL;
}

/* In a process of their own, whose status says whether ThreadSanitizer has something to report. */
static inline int
functions_race(struct some one, struct some other, void (*before)(void), bool quiet)
{
	pthread_t threads[2];
	pid_t child;
	int status = -1;

	fflush(NULL);
	child = fork();
	if (child > 0)
		return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (quiet && !freopen("/dev/null", "w", stderr))
		exit(2);
	if (before)
		before();
	pthread_barrier_init(&functions.barrier, NULL, 2);
	pthread_barrier_init(&functions.end, NULL, 2);
	if (pthread_create(&threads[0], NULL, functions_some, &one) ||
	    pthread_create(&threads[1], NULL, functions_some, &other))
		exit(2);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	exit(0);
}

static inline void
functions_check_beside(void)
{
	for (unsigned int i = 0; i < functions.count; i++) {
		const struct facts *row = &functions.rows[i];
		const bool alone = functions_is(row, "alone"), races = alone || functions_is(row, "reading");
		int status = 0;

		/* ThreadSanitizer may miss a race, and invents none. */
		for (int tries = races ? 10 : 1; status == 0 && tries > 0; tries--)
			status = functions_race((struct some){ .row = row },
						(struct some){ .threads = alone ? "reading" : "alone" },
						row->function->before, races);
		if (status == (races ? FUNCTIONS_TSAN_STATUS : 0))
			continue;
		printf("%s: %s in the table; beside %s: status %d\n", row->function->name, row->threads,
		       alone ? "those that read" : "those that change", status);
		check_failures++;
	}
}

/* ---- all of it ------------------------------------------------------------------------------ */

static inline int
functions_main(int argc, char **argv, const struct library *library)
{
	const char *mode = argc > 2 ? argv[2] : "";

	functions.library = library;
	functions.keep = strcmp(mode, "keep") == 0;
	if (argc < 2)
		return 2;
	functions_read(argv[1]);
	if (library->has_kinds)
		functions_check_needs();
	library->prepare();
	if (strcmp(mode, "beside") == 0) {
		functions_check_beside();
		return check_result();
	}
	for (unsigned int i = 0; i < functions.count; i++) {
		functions_check_memory(&functions.rows[i]);
		library->prepare(); /* again, after what ends the library's use */
	}
	functions_at_once();
	printf("%u functions in %d threads\n", functions.count, FUNCTIONS_THREADS);
	return check_result();
}

#endif /* TESTS_FUNCTIONS_H */
