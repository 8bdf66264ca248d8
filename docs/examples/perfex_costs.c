/*
 * libperfex: what two counts have cost.  usage: perfex_costs EVENT COUNT EVENT COUNT
 */
#include <perfex.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	int e0, e1;
	long long c0, c1;

	if (argc != 5) {
		fprintf(stderr, "usage: perfex_costs EVENT COUNT EVENT COUNT\n");
		return 1;
	}
	e0 = atoi(argv[1]);
	c0 = atoll(argv[2]);
	e1 = atoi(argv[3]);
	c1 = atoll(argv[4]);
	if (print_counters(e0, c0, e1, c1) < 0 || print_costs(e0, c0, e1, c1) < 0) {
		perror("perfex_costs");
		return 1;
	}
	return 0;
}
