/* pingpong.c - N round trips of one byte between two processes on one CPU: each half of a round
 * trip is one context switch, so the count is known.  `pingpong N`; `pingpong N wait` first waits
 * for a line on stdin, so that two tools can attach to the same process. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void pass(int from, int to, long times, int first)
{
	char byte = 'x';

	for (long i = 0; i < times; i++) {
		if (first && write(to, &byte, 1) != 1)
			_exit(2);
		if (read(from, &byte, 1) != 1)
			_exit(2);
		if (!first && write(to, &byte, 1) != 1)
			_exit(2);
	}
}

int main(int argc, char **argv)
{
	long times = argc > 1 ? atol(argv[1]) : 1000;
	int there[2], back[2];
	cpu_set_t one;
	pid_t child;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0 || pipe(there) < 0 || pipe(back) < 0)
		return 2;
	if (argc > 2 && getchar() == EOF)
		return 2;
	child = fork();
	if (child == 0) {
		pass(there[0], back[1], times, 0);
		_exit(0);
	}
	pass(back[0], there[1], times, 1);
	waitpid(child, NULL, 0);
	printf("%ld round trips\n", times);
	return 0;
}
