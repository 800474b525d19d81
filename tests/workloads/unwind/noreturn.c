/* noreturn.c - a call that is its function's last instruction: the return address is another one's.
 */
#include <setjmp.h>

#include "witness.h"

static jmp_buf way_out;
static volatile int sum;

static OUT_OF_LINE __attribute__((noreturn)) void leave(int n)
{
	sum += n;
	BARRIER();
	longjmp(way_out, 1);
}

static OUT_OF_LINE __attribute__((noreturn)) void last_call(int n)
{
	BARRIER();
	leave(n + 1);
}

static OUT_OF_LINE int outer(int n)
{
	if (n % 2 == 0)
		last_call(n);
	return n + 1;
}

int main(void)
{
	volatile int i = 0;

	witness_begin();
	for (; i < 20; i++)
		if (setjmp(way_out) == 0)
			sum += outer(i);
	witness_end();
	return witness_report(6);
}
