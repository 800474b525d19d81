/* borrowed.c - a library that nobody here could change: no debug information, no frame pointers,
 * and the frame pointer's register used for something else.  Work as in shapes.c. */
#include "borrowed.h"

__attribute__((noinline)) static unsigned long spin(unsigned long left, unsigned long x)
{
	while (left--)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	return x;
}

/* A frame of its own, and a value that lives across the call. */
__attribute__((noinline)) static unsigned long middle(unsigned long left, unsigned long *keep)
{
	volatile unsigned char capacity[200];
	unsigned long half = left / 2, x;

	capacity[left % sizeof(capacity)] = 1;
	x = spin(half, *keep);
	x ^= spin(left - half, x);
	*keep = x;
	return x + capacity[left % sizeof(capacity)];
}

unsigned long borrowed_work(unsigned long iterations)
{
	unsigned long keep = iterations;

	return middle(iterations, &keep) ^ keep;
}

void borrowed_each(unsigned count, void (*call)(unsigned))
{
	for (unsigned i = 0; i < count; i++)
		call(i);
}
