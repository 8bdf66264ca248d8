/* Particles that move, each with all that is known of it in one structure of 128 bytes. */
#include <stdio.h>
#include <stdlib.h>

enum { PARTICLES = 20000, STEPS = 50 };

struct particle {
	double x, y, z;
	double vx, vy, vz;
	char name[72];
	long born;
};

static void move(struct particle *p, double dt)
{
	for (int i = 0; i < PARTICLES; i++)
		p[i].x += p[i].vx * dt;
}

int main(void)
{
	struct particle *p = calloc(PARTICLES, sizeof *p);
	double sum = 0;

	for (int i = 0; i < PARTICLES; i++)
		p[i].vx = i % 7;
	for (int step = 0; step < STEPS; step++)
		move(p, 0.01);
	for (int i = 0; i < PARTICLES; i++)
		sum += p[i].x;
	printf("%.1f\n", sum);
	free(p);
	return 0;
}
