/*
 * A fuzz target without libFuzzer: runs the files and directories of files that are named.
 */
#define _FILE_OFFSET_BITS 64 /* readdir(), where words have 32 bits and a file system more */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>

static unsigned int inputs;

static void
run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = allocate(1 << 20), *exact;
	size_t size;

	if (!file) {
		perror(path);
		exit(2);
	}
	size = fread(data, 1, 1 << 20, file);
	fclose(file);
	exact = allocate(size);
	memcpy(exact, data, size);
	free(data);
	fprintf(stderr, "%s\n", path); /* the last line names the culprit */
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	inputs++;
}

static void
run_directory(DIR *directory, const char *path)
{
	const struct dirent *entry;

	while ((entry = readdir(directory))) {
		char name[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		run_file(name);
	}
}

int
main(int argc, char **argv)
{
	LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++) {
		DIR *directory = opendir(argv[i]);

		if (directory) {
			run_directory(directory, argv[i]);
			closedir(directory);
		} else if (errno == ENOTDIR) {
			run_file(argv[i]);
		} else {
			perror(argv[i]);
			return 2;
		}
	}
	printf("%u inputs\n", inputs);
	return inputs == 0;
}
