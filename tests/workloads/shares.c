/* shares.c - three parts of the work in heavy(), one in light(), on as many threads as asked for.
 * `shares MILLIONS [THREADS]`. */
#include <pthread.h>
#include <stdlib.h>

static unsigned long millions;

/* The same loop twice, so that a step costs the same in both. */
#define STEPS(parts)                                                                               \
	for (volatile unsigned long i = 0; i < (parts)*millions * 1000000; i++)                    \
		;

static __attribute__((noinline)) void heavy(void)
{
	STEPS(3)
	__asm__ volatile("");
}

static __attribute__((noinline)) void light(void)
{
	STEPS(1)
	__asm__ volatile("");
}

static void *work(void *unused)
{
	heavy();
	light();
	return unused;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	pthread_t threads[512];

	millions = argc > 1 ? strtoul(argv[1], NULL, 10) : 50;
	if (!count)
		work(NULL);
	for (unsigned i = 0; i < count && i < 512; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 2;
	for (unsigned i = 0; i < count && i < 512; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
