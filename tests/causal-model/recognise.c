/* recognise.c - programs that the clock paces, and threads without a CPU: can they be told?
 *
 * Two shares from a baseline experiment.  Clock: progress visits set off, through any number of
 * wakes, by a timer that ticks at equal distances (2 %).  Queue: time in the run queue of all time
 * on a CPU or waiting for one. */
#include "model.h"

#include <stdio.h>
#include <string.h>

#define CLOCK_LIMIT 0.5
#define QUEUE_LIMIT 0.05

struct shares {
	double by_clock, queued;
};

static struct shares shares_of(int family, int seed)
{
	static struct program program;
	static struct sim sim;
	const struct counts *counts = &sim.counts;

	program_make(&program, family, (uint64_t)seed);
	sim_init(&sim, &program, &decided);
	sim_run(&sim, 60 * MS);
	sim_measure(&sim);
	sim_run(&sim, 260 * MS);
	return (struct shares){
		.by_clock = (double)counts->clock_items / (double)(counts->items + 1),
		.queued = (double)counts->queued_ns /
			  (double)(counts->queued_ns + counts->busy_ns + 1),
	};
}

int recognise_wrong(int programs)
{
	int wrong = 0;

	for (int family = 0; family < FAMILIES; family++) {
		bool paced = !strcmp(program_family(family), "paced");

		for (int seed = 1; seed <= programs; seed++)
			wrong += (shares_of(family, seed).by_clock > CLOCK_LIMIT) != paced;
	}
	return wrong;
}

void recognise_table(int programs)
{
	printf("| shape | visits by the clock | called paced | time in the queue | called crowded |\n");
	printf("|---|---|---|---|---|\n");
	for (int family = 0; family < FAMILIES; family++) {
		struct shares sum = {0, 0};
		int paced = 0, crowded = 0;

		for (int seed = 1; seed <= programs; seed++) {
			struct shares shares = shares_of(family, seed);

			sum.by_clock += shares.by_clock;
			sum.queued += shares.queued;
			paced += shares.by_clock > CLOCK_LIMIT;
			crowded += shares.queued > QUEUE_LIMIT;
		}
		printf("| %s | %.2f | %d of %d | %.3f | %d of %d |\n", program_family(family),
			sum.by_clock / programs, paced, programs, sum.queued / programs, crowded,
			programs);
	}
}
