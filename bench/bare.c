/* bare.c - the least that running a program can cost: vfork, exec, wait4.  `bare N PROGRAM ARGS...`
 * prints the median wall time of one run in ns; `bare -m N PROGRAM ARGS...` the peak RSS of each
 * run in KiB, a line for each, and throws away what the program writes to stdout.  Its own memory
 * is small, so that a small peak can be seen: a child starts with the peak of the process that it
 * was made by. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct once {
	long wall_ns, peak_kib;
};

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	long x = ((const struct once *)a)->wall_ns, y = ((const struct once *)b)->wall_ns;

	return (x > y) - (x < y);
}

static struct once run(char **argv)
{
	long start = now_ns();
	struct rusage usage;
	pid_t child = vfork();

	if (child == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	wait4(child, NULL, 0, &usage);
	return (struct once){now_ns() - start, usage.ru_maxrss};
}

int main(int argc, char **argv)
{
	int memory = argc > 1 && strcmp(argv[1], "-m") == 0;
	long runs = argc > 2 + memory ? atol(argv[1 + memory]) : 0;
	FILE *out = memory ? fdopen(fcntl(1, F_DUPFD_CLOEXEC, 3), "w") : stdout;
	struct once *each;

	if (runs < 1 || !out || (memory && !freopen("/dev/null", "w", stdout)))
		return 2;
	each = calloc((size_t)runs, sizeof(*each));
	if (!each)
		return 2;
	for (long i = 0; i < runs; i++)
		each[i] = run(argv + 2 + memory);
	for (long i = 0; memory && i < runs; i++)
		fprintf(out, "%ld\n", each[i].peak_kib);
	qsort(each, (size_t)runs, sizeof(*each), compare);
	if (!memory)
		printf("%ld\n", each[runs / 2].wall_ns);
	free(each);
	return fflush(out) == 0 ? 0 : 2;
}
