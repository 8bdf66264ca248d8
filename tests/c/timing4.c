/*
 * How long a libpfm 4 takes to encode and to initialise.  The library to
 * measure is loaded by its path, so that the same program measures another one
 * too.  Prints JSON, nanoseconds; nothing is judged here.
 */
#include <dlfcn.h>
#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"

static struct {
	pfm_err_t (*initialize)(void);
	void (*terminate)(void);
	pfm_err_t (*encode)(const char *str, int dfl_plm, pfm_os_t os, void *args);
} pfm;

static const char *text;
static int with_string;

static void
encode(void)
{
	uint64_t codes[2];
	char *string = NULL;
	pfm_pmu_encode_arg_t arg = {
		.codes = codes, .count = 2, .size = sizeof(arg), .fstr = with_string ? &string : NULL,
	};

	if (pfm.encode(text, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &arg) != PFM_SUCCESS) {
		fprintf(stderr, "cannot encode %s\n", text);
		exit(1);
	}
	free(string);
}

static void
start_and_end(void)
{
	pfm.initialize();
	pfm.terminate();
}

static void *
symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return found;
}

static void
load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *function;

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	function = symbol(library, "pfm_initialize");
	memcpy(&pfm.initialize, &function, sizeof(function));
	function = symbol(library, "pfm_terminate");
	memcpy(&pfm.terminate, &function, sizeof(function));
	function = symbol(library, "pfm_get_os_event_encoding");
	memcpy(&pfm.encode, &function, sizeof(function));
}

int
main(int argc, char **argv)
{
	double plain, string;

	if (argc < 2) {
		fprintf(stderr, "usage: timing4 LIBRARY [STRING...]\n");
		return 2;
	}
	load(argv[1]);
	printf("{\"initialize_terminate_ns\": %.1f", shortest(start_and_end, 20));
	pfm.initialize();
	for (int i = 2; i < argc; i++) {
		text = argv[i];
		with_string = 0;
		plain = shortest(encode, 100);
		with_string = 1;
		string = shortest(encode, 100);
		printf(",\n \"%s\": {\"encode_ns\": %.1f, \"encode_fstr_ns\": %.1f}", text, plain, string);
	}
	printf("}\n");
	return 0;
}
