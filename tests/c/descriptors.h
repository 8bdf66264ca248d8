/*
 * The descriptors that a program has open.
 */
#ifndef TESTS_DESCRIPTORS_H
#define TESTS_DESCRIPTORS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many there are of what has this in its name ("perf_event"); "": all. */
static inline int
open_descriptors(const char *what)
{
	DIR *files = opendir("/proc/self/fd");
	const struct dirent *file;
	int count = 0;

	if (!files)
		abort();
	while ((file = readdir(files))) {
		char path[300], name[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%s", file->d_name);
		if (readlink(path, name, sizeof(name) - 1) > 0)
			count += strstr(name, what) != NULL;
	}
	closedir(files);
	return count;
}

#endif /* TESTS_DESCRIPTORS_H */
