/* signals.c - stacks that go through the trampoline of a signal handler, twice. */
#include <signal.h>

#include "witness.h"

static volatile int sum;

static OUT_OF_LINE void work(int n)
{
	for (int i = 0; i < n; i++)
		sum += i;
	BARRIER();
}

static void second(int number)
{
	witness_go_on(); /* NOLINT(bugprone-signal-handler,cert-sig30-c): only raise() */
	work(number % 5 + 2);
}

static void first(int number)
{
	witness_go_on(); /* NOLINT(bugprone-signal-handler,cert-sig30-c): only raise() */
	work(number % 5 + 2);
	raise(SIGUSR2);
	BARRIER();
}

int main(void)
{
	signal(SIGUSR1, first);
	signal(SIGUSR2, second);
	witness_begin();
	for (int i = 0; i < 3; i++) {
		raise(SIGUSR1);
		work(3);
	}
	witness_end();
	return witness_report(12);
}
