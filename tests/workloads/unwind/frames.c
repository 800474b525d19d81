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
	char *capacity = alloca((size_t)n * 16 + 1);

	memset(capacity, n, (size_t)n * 16 + 1);
	BARRIER();
	return leaf(capacity[n / 2], n) + (n ? grows(n - 1) : 0);
}

static OUT_OF_LINE int aligned(int n)
{
	volatile char capacity[128] __attribute__((aligned(64)));

	capacity[n] = (char)n;
	sum += leaf(capacity[n], n);
	return capacity[n] + leaf(n, n);
}

struct many { /* handed over on the stack */
	int a, b, c, d, e, f, g, h;
};

static OUT_OF_LINE int pressed(struct many m)
{
	int x = leaf(m.a, m.b), y = leaf(m.c, m.d), z = leaf(m.e, m.f), w = leaf(m.g, m.h);

	return leaf(x + m.a, y + m.b) + leaf(z + m.c, w + m.d) + x * y + z * w + m.e + m.f + m.g;
}

int main(void)
{
	witness_begin();
	for (int i = 0; i < 6; i++) {
		sum += grows(i);
		sum += aligned(i);
		sum += pressed((struct many){i, i, 2, 3, 4, 5, 6, i});
	}
	witness_end();
	return witness_report(8);
}
