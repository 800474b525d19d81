/* once.c - a program that does each thing once: no event comes again, its end is its progress.
 *
 * Two threads, `branch` and `other` with 60 and 40 units of work, then `tail` with 40 in the first
 * one.  What a speed-up gains follows from the longest path, 60 and 40 of 100:
 *   branch 50 %: other is then the longer one, 40 + 40    20 %, and no more at 100 %
 *   other: off the path                                    0 %
 *   tail 50 %: 20 %, 100 %: 40 % */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t unit = 2500000; /* iterations of one */

static __attribute__((noinline)) uint64_t spin(uint64_t units, uint64_t seed)
{
	for (uint64_t i = units * unit; i; i--)
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed;
}

static __attribute__((noinline)) uint64_t branch(uint64_t seed)
{
	return spin(60, seed) | 1;
}

static __attribute__((noinline)) void *other(void *seed)
{
	*(uint64_t *)seed = spin(40, *(uint64_t *)seed) | 1;
	return NULL;
}

static __attribute__((noinline)) uint64_t tail(uint64_t seed)
{
	return spin(40, seed) | 1;
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, sum;
	pthread_t thread;

	if (argc > 1)
		unit = strtoull(argv[1], NULL, 10);
	if (pthread_create(&thread, NULL, other, &seed))
		return 1;
	sum = branch(2);
	if (pthread_join(thread, NULL))
		return 1;
	printf("%llx\n", (unsigned long long)tail(sum + seed));
	return 0;
}
