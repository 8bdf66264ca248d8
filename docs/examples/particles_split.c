/* The same particles; what a step needs of all of them lies together. */
#include <stdio.h>
#include <stdlib.h>

enum { PARTICLES = 20000, STEPS = 50 };

struct particles {
	double x[PARTICLES], y[PARTICLES], z[PARTICLES];
	double vx[PARTICLES], vy[PARTICLES], vz[PARTICLES];
	char name[PARTICLES][72];
	long born[PARTICLES];
};

static void move(struct particles *p, double dt)
{
	for (int i = 0; i < PARTICLES; i++)
		p->x[i] += p->vx[i] * dt;
}

int main(void)
{
	struct particles *p = calloc(1, sizeof *p);
	double sum = 0;

	for (int i = 0; i < PARTICLES; i++)
		p->vx[i] = i % 7;
	for (int step = 0; step < STEPS; step++)
		move(p, 0.01);
	for (int i = 0; i < PARTICLES; i++)
		sum += p->x[i];
	printf("%.1f\n", sum);
	free(p);
	return 0;
}
