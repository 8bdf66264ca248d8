/*
 * The functions as Fortran calls them: arguments by reference, strings padded with blanks.
 */
#include "library.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static int
fortran_fails(int code)
{
	errno = code;
	return -1;
}

int
start_counters_(const int *e0, const int *e1)
{
	return e0 && e1 ? start_counters(*e0, *e1) : fortran_fails(EFAULT);
}

int
read_counters_(const int *e0, long long *c0, const int *e1, long long *c1)
{
	return e0 && e1 ? read_counters(*e0, c0, *e1, c1) : fortran_fails(EFAULT);
}

int
print_counters_(const int *e0, const long long *c0, const int *e1, const long long *c1)
{
	return e0 && c0 && e1 && c1 ? print_counters(*e0, *c0, *e1, *c1) : fortran_fails(EFAULT);
}

int
print_costs_(const int *e0, const long long *c0, const int *e1, const long long *c1)
{
	return e0 && c0 && e1 && c1 ? print_costs(*e0, *c0, *e1, *c1) : fortran_fails(EFAULT);
}

int
load_costs_(const char *CostFileName, size_t length)
{
	char name[PATH_MAX];

	if (!CostFileName)
		return fortran_fails(EFAULT);
	length = strnlen(CostFileName, length);
	while (length && CostFileName[length - 1] == ' ')
		length--;
	if (length >= sizeof(name))
		return fortran_fails(ENAMETOOLONG);
	memcpy(name, CostFileName, length);
	name[length] = '\0';
	return load_costs(name);
}
