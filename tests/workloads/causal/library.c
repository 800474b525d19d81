/* library.c - one thread whose work is mostly done by a library: what would its own lines gain?
 *
 *     library SECONDS [A% B%]
 *
 * A 7 units in the library, called from one line; B 3 units of its own, called back by the library.
 * Work is counted in iterations, as in shapes.c.  Prints the rounds made and the seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "borrowed.h"

#ifdef WITH_COZ
#include <coz.h>
#define ROUND COZ_PROGRESS_NAMED("round")
#else
#include "assay.h"
#define ROUND ASSAY_PROGRESS_NAMED("round")
#endif

enum { UNIT = 60000 };

static unsigned long percent_a = 100, percent_b = 100, sum;

static void own_work(unsigned unit)
{
	unsigned long left = UNIT / 100 * percent_b, x = unit;

	/* On one line: with two, chance decides which one a sample is of. */
	while (x = x * 6364136223846793005UL + 1442695040888963407UL, left--) /* work b */
		;
	sum ^= x;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double start = seconds(), length = argc > 1 ? strtod(argv[1], NULL) : 5;
	unsigned long rounds = 0;

	if (argc > 3) {
		percent_a = strtoul(argv[2], NULL, 10);
		percent_b = strtoul(argv[3], NULL, 10);
	}
	while (seconds() < start + length) {
		sum ^= borrowed_work(7UL * UNIT / 100 * percent_a); /* work a */
		borrowed_each(3, own_work);
		ROUND;
		rounds++;
	}
	printf("%lu rounds %.3f s %lu\n", rounds, seconds() - start, sum & 1);
	return 0;
}
