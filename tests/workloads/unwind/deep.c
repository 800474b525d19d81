/* deep.c - recursion, by frames that differ in size. */
#include "witness.h"

static volatile int sum;

static OUT_OF_LINE void small(int n);

static OUT_OF_LINE void large(int n)
{
	volatile char capacity[300];

	capacity[n] = (char)n;
	small(n - 1);
	sum += capacity[n];
}

static OUT_OF_LINE void small(int n)
{
	if (n > 0 && n % 3 == 0)
		large(n);
	else if (n > 0)
		small(n - 1);
	sum += n;
	BARRIER();
}

int main(void)
{
	witness_begin();
	for (int i = 0; i < 40; i++)
		small(i % 2 ? 60 : 7);
	witness_end();
	return witness_report(60);
}
