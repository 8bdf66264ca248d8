/* Programs with known counts, one for each first argument; numbers in arguments keep their width so
   that the same program with other numbers starts in the same way. */

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Two instructions and one branch for each turn. */
static void
turns(long count)
{
#if defined(__x86_64__)
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(count) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(count) : : "cc");
#else
#error "no loop for this processor"
#endif
}

static char *
memory(size_t size)
{
	char *m = mmap(NULL, size + (8 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		       0);
	return (char *)(((uintptr_t)m + (8 << 20) - 1) & ~(uintptr_t)((8 << 20) - 1));
}

/* read|write SIZE STRIDE PASSES */
static int
sweep(char **v)
{
	size_t size = strtoul(v[1], NULL, 10), stride = strtoul(v[2], NULL, 10);
	volatile char *m = memory(size);
	int store = v[0][0] == 'w';
	for (int pass = atoi(v[3]); pass; pass--)
		for (size_t i = 0; i < size; i += stride)
			if (store)
				m[i] = 1;
			else
				(void)m[i];
	return 0;
}

/* fork TURNS LEVELS [wait]: turns, then a child that does the same */
static int
forks(char **v)
{
	long count = atol(v[1]);
	for (int level = atoi(v[2]); level; level--) {
		turns(count);
		pid_t child = v[0][0] == 'r' ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
		if (child) {
			if (v[3])
				waitpid(child, NULL, 0);
			return 0;
		}
	}
	turns(count);
	return 0;
}

static void *
thread(void *count)
{
	turns((long)count);
	return NULL;
}

/* threads TURNS NUMBER [together]: thread i does i * TURNS */
static int
threads(char **v)
{
	pthread_t t[64];
	int number = atoi(v[2]);
	for (long i = 0; i < number; i++) {
		pthread_create(&t[i], NULL, thread, (void *)((i + 1) * atol(v[1])));
		if (!v[3])
			pthread_join(t[i], NULL);
	}
	for (int i = 0; i < number && v[3]; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static void *
forking(void *count)
{
	turns((long)count);
	if (!fork()) {
		turns((long)count);
		_exit(0);
	}
	wait(NULL);
	return NULL;
}

/* mixed TURNS: a thread and, in another one, fork() */
static int
mixed(char **v)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, thread, (void *)atol(v[1]));
	pthread_join(t[0], NULL);
	pthread_create(&t[1], NULL, forking, (void *)atol(v[1]));
	return pthread_join(t[1], NULL);
}

/* kill SIGNAL: a child dies of a signal of its parent's */
static int
kills(char **v)
{
	int p[2];
	if (pipe(p))
		return 1;
	pid_t child = fork();
	if (!child) {
		turns(100000);
		if (write(p[1], "x", 1) == 1)
			pause();
	}
	char c;
	if (read(p[0], &c, 1) == 1)
		kill(child, atoi(v[1]));
	waitpid(child, NULL, 0);
	return 0;
}

/* orphan TURNS: a child that closes all files and outlives its parent */
static int
orphan(char **v)
{
	if (fork())
		return 0;
	setsid();
	for (int fd = 0; fd < 65536; fd++)
		close(fd);
	usleep(300000);
	turns(atol(v[1]));
	return 0;
}

/* phases TURNS: turns, once before the first line that it reads and once after each */
static int
phases(char **v)
{
	char line[16];
	do {
		turns(atol(v[1]));
		puts("done");
		fflush(stdout);
	} while (fgets(line, sizeof line, stdin));
	return 0;
}

int
main(int argc, char **v)
{
	if (argc < 2)
		return 1;
	v++;
	if (!strcmp(v[0], "turns"))
		return turns(atol(v[1])), 0;
	if (!strcmp(v[0], "read") || !strcmp(v[0], "write"))
		return sweep(v);
	if (!strcmp(v[0], "fork") || !strcmp(v[0], "rawfork"))
		return forks(v);
	if (!strcmp(v[0], "threads"))
		return threads(v);
	if (!strcmp(v[0], "mixed"))
		return mixed(v);
	if (!strcmp(v[0], "kill"))
		return kills(v);
	if (!strcmp(v[0], "orphan"))
		return orphan(v);
	if (!strcmp(v[0], "phases"))
		return phases(v);
	if (!strcmp(v[0], "segv"))
		return *(volatile int *)8;
	if (!strcmp(v[0], "exec"))
		return execv(v[1], v + 1);
	if (!strcmp(v[0], "exit"))
		return atoi(v[1]);
	return 1;
}
