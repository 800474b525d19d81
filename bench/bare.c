/* bare.c - the least that running a program can cost: vfork, exec, wait4.  `bare N PROGRAM ARGS...`
 * prints the median wall time of one run in ns. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static long run_ns(char **argv)
{
	long start = now_ns();
	struct rusage usage;
	pid_t child = vfork();

	if (child == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	wait4(child, NULL, 0, &usage);
	return now_ns() - start;
}

int main(int argc, char **argv)
{
	long runs = argc > 2 ? atol(argv[1]) : 0, *each;

	if (runs < 1)
		return 2;
	each = calloc((size_t)runs, sizeof(*each));
	if (!each)
		return 2;
	for (long i = 0; i < runs; i++)
		each[i] = run_ns(argv + 2);
	qsort(each, (size_t)runs, sizeof(*each), compare);
	printf("%ld\n", each[runs / 2]);
	free(each);
	return 0;
}
