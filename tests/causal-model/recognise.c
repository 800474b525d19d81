/* recognise.c - programs that the clock paces, and threads without a CPU: can they be told?
 *
 * Two shares from a baseline experiment.  Clock: progress visits set off, through any number of
 * wakes, by a timer that ticks at equal distances (2 %).  Queue: time in the run queue of all time
 * on a CPU or waiting for one. */
#include "model.h"

#include <stdio.h>
#include <string.h>

static const double clock_limit = 0.5, queue_limit = 0.05;

void recognise_table(int programs)
{
	static struct program program;
	static struct sim sim;

	printf("| shape | visits by the clock | called paced | time in the queue | called crowded |\n");
	printf("|---|---|---|---|---|\n");
	for (int family = 0; family < FAMILIES; family++) {
		double clock_sum = 0, queue_sum = 0;
		int paced = 0, crowded = 0;

		for (int seed = 1; seed <= programs; seed++) {
			double by_clock, queued;

			program_make(&program, family, (uint64_t)seed);
			sim_init(&sim, &program, &decided);
			sim_run(&sim, 60 * MS);
			sim_measure(&sim);
			sim_run(&sim, 260 * MS);
			by_clock = (double)sim.counts.clock_items / (double)(sim.counts.items + 1);
			queued = (double)sim.counts.queued_ns /
				 (double)(sim.counts.queued_ns + sim.counts.busy_ns + 1);
			clock_sum += by_clock;
			queue_sum += queued;
			paced += by_clock > clock_limit;
			crowded += queued > queue_limit;
		}
		printf("| %s | %.2f | %d of %d | %.3f | %d of %d |\n", program_family(family),
			clock_sum / programs, paced, programs, queue_sum / programs, crowded,
			programs);
	}
}
