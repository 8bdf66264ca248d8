/*
 * Something to measure: the sum of a matrix, along its rows or (with an argument) along its
 * columns.
 */
#include <stdio.h>

#define N 1024

static double a[N][N];

int
main(int argc, char **argv)
{
	double sum = 0;
	int i, j;

	(void)argv;
	for (i = 0; i < N; i++)
		for (j = 0; j < N; j++)
			a[i][j] = i + j;
	for (i = 0; i < N; i++)
		for (j = 0; j < N; j++)
			sum += argc > 1 ? a[j][i] : a[i][j];
	printf("%.0f\n", sum);
	return 0;
}
