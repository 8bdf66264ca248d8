/*
 * The functions as Fortran calls them: arguments by reference, strings padded with blanks.
 */
#include "library.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static int
fail(int code)
{
	errno = code;
	return -1;
}

int
start_counters_(const int *e0, const int *e1)
{
	return e0 && e1 ? start_counters(*e0, *e1) : fail(EFAULT);
}

int
read_counters_(const int *e0, long long *c0, const int *e1, long long *c1)
{
	return e0 && e1 ? read_counters(*e0, c0, *e1, c1) : fail(EFAULT);
}

int
print_counters_(const int *e0, const long long *c0, const int *e1, const long long *c1)
{
	return e0 && c0 && e1 && c1 ? print_counters(*e0, *c0, *e1, *c1) : fail(EFAULT);
}

int
print_costs_(const int *e0, const long long *c0, const int *e1, const long long *c1)
{
	return e0 && c0 && e1 && c1 ? print_costs(*e0, *c0, *e1, *c1) : fail(EFAULT);
}

int
load_costs_(const char *CostFileName, size_t length)
{
	char name[PATH_MAX];

	if (!CostFileName)
		return fail(EFAULT);
	length = strnlen(CostFileName, length);
	while (length && CostFileName[length - 1] == ' ')
		length--;
	if (length >= sizeof(name))
		return fail(ENAMETOOLONG);
	memcpy(name, CostFileName, length);
	name[length] = '\0';
	return load_costs(name);
}
