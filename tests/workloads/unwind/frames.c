/* frames.c - frames whose size is known only at run time, realigned stacks, many saved registers.
 */
#include <alloca.h>
#include <string.h>

#include "witness.h"

static volatile int sum;

static OUT_OF_LINE int leaf(int a, int b)
{
	BARRIER();
	return a * 3 + b;
}

static OUT_OF_LINE int grows(int n)
{
	char *room = alloca((size_t)n * 16 + 1);

	memset(room, n, (size_t)n);
	BARRIER();
	return leaf(room[n / 2], n) + (n ? grows(n - 1) : 0);
}

static OUT_OF_LINE int aligned(int n)
{
	volatile char room[128] __attribute__((aligned(64)));

	room[n] = (char)n;
	sum += leaf(room[n], n);
	return room[n] + leaf(n, n);
}

static OUT_OF_LINE int pressed(int a, int b, int c, int d, int e, int f, int g, int h)
{
	int x = leaf(a, b), y = leaf(c, d), z = leaf(e, f), w = leaf(g, h);

	return leaf(x + a, y + b) + leaf(z + c, w + d) + x * y + z * w + e + f + g + h;
}

int main(void)
{
	witness_begin();
	for (int i = 0; i < 6; i++) {
		sum += grows(i);
		sum += aligned(i);
		sum += pressed(i, i, 2, 3, 4, 5, 6, i);
	}
	witness_end();
	return witness_report(8);
}
