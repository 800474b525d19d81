/* calls.c - main() calls outer(), that middle(), that hot(), where nearly all instructions are. */
#include <stdlib.h>

static __attribute__((noinline)) unsigned long hot(unsigned long steps)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < steps; i++)
		__asm__ volatile("add %0, %0, %1" : "+r"(sum) : "r"(i));
	return sum;
}

static __attribute__((noinline)) unsigned long middle(unsigned long steps)
{
	return hot(steps) + 1; /* no tail call */
}

static __attribute__((noinline)) unsigned long outer(unsigned long steps)
{
	return middle(steps) + 1;
}

int main(int argc, char **argv)
{
	unsigned long millions = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;

	return outer(millions * 1000000) == 0;
}
