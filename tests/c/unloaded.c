/*
 * Libraries that a program unloads while they count, and loads again: their handlers of fork() are code that must
 * be there, and what is counted, locked and open is the same as before.  unloaded LIBPMC LIBPERFEX
 */
#include "descriptors.h"
#include "function_of.h"
#include "pmc_check.h"

#define PAGE_FAULTS 0x82

/* A function of a library that is loaded, and unloaded at once. */
static void *
function(const char *path, const char *name)
{
	void *library, *found = function_of(path, name, &library);

	CHECK(found && dlclose(library) == 0);
	return found;
}

/* What is still loaded can be asked for without loading it. */
static void
stays(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

	CHECK(library != NULL);
	if (library)
		dlclose(library);
}

int
main(int argc, char **argv)
{
	struct pmc_counter_cfg cfg = { .event_id = PAGE_FAULTS, .reset_value = 1000000 };
	int (*control)(int, int, void *), (*start_pair)(int, int), open = 0;

	if (argc != 3)
		return 2;
	check_begin("linux");
	for (int i = 0; i < 10 && !check_failures; i++) {
		*(void **)&control = function(argv[1], "pmc_control");
		*(void **)&start_pair = function(argv[2], "start_counters");
		if (check_failures)
			break;
		stays(argv[1]);
		stays(argv[2]);
		if (check_failures)
			break;
		control(1, PMC_OP_STOP, NULL);
		control(2, PMC_OP_PROFSTOP, NULL);
		if (control(1, PMC_OP_CONFIGURE, &cfg) < 0) {
			printf("skipped: this host counts no page faults: %s\n", strerror(errno));
			return CHECK_SKIPPED;
		}
		CHECK_EQ(control(1, PMC_OP_START, NULL), 0);
		CHECK_EQ(control(2, PMC_OP_PROFSTART, &cfg), 0);
		start_pair(0, 26); /* registers its handlers of fork(), whether it can count or not */
		IN_CHILD();
		open = open ? open : open_descriptors("");
		CHECK_EQ(open_descriptors(""), open);
	}
	return check_result();
}
