/* bench_queue.c - wall time less the time that other programs took: corrected wall time.
 *
 * A program with one busy thread that hardly ever sleeps takes as long as it runs and as it waits
 * for a CPU; without the second it takes as long as on an idle machine.  Where another thread or
 * process works too, it is not known which of them made the run long.  Where it sleeps, a wait for
 * a CPU may have been hidden by a sleep that would have ended no earlier (a clock, another
 * program): taking it out would be a gain that nobody has.  A wait makes such a sleep shorter, up
 * to nothing, so how often it slept counts beside how long: a spin, gzip, sha256sum and `git log`
 * have 1 voluntary switch a run, xz at most 6 in 2.7 s, a frame every 16 ms has 60 a second (12
 * runs each by `assay bench`, 2 CPUs at load 12).  It is known of all runs of a command or of none,
 * and never of some that were picked. */
#include <math.h>

#include "bench_parts.h"

#define QUEUE_MUCH 0.01	  /* share of the time that others took, from which on it is taken out */
#define PRESSURE_MUCH 0.1 /* share in which tasks waited for a CPU: maybe this one did, too */
#define SLEEP_MUCH 0.05	  /* share of the rest that may be neither running nor waiting for a CPU */
enum { WAITS_FREE = 8, WAIT_EVERY_NS = 100000000 }; /* voluntary switches of a run */

const char *bench_run_uncorrected(const struct bench_run *run)
{
	if (!run->has_usage)
		return "the imported file does not have it";
	if (!run->has_queue || run->queue_ns >= run->wall_ns) /* a file can say anything */
		return "the time in the run queue was not recorded: the kernel does not tell "
		       "it, or an older version measured";
	if (run->parallel)
		return "more than one thread or process used CPU time";
	if (run->leftovers)
		return "it left processes running";
	return run->throttled ? "the CPU quota of its control group was used up" : NULL;
}

/* Of the runs used, together. */
struct totals {
	double wall, queue, cpu, waits;
	size_t count;
};

static void totals_add(struct totals *totals, const struct bench_run *run)
{
	totals->wall += (double)run->wall_ns;
	totals->queue += (double)run->queue_ns;
	totals->cpu += bench_run_measure(run, BENCH_CPU_NS);
	totals->waits += run->voluntary_switches;
	totals->count++;
}

static const char *totals_uncorrected(const struct totals *totals)
{
	double corrected = totals->wall - totals->queue;

	if (corrected - totals->cpu > SLEEP_MUCH * corrected)
		return "more than 5 % of its time it neither ran nor waited for a CPU (it slept, "
		       "or the host had the CPU)";
	if (totals->waits > (double)totals->count * WAITS_FREE + totals->cpu / WAIT_EVERY_NS)
		return "it sleeps often, and a sleep can hide a wait for a CPU";
	return NULL;
}

int bench_queue_find(struct bench_command *command, double *values, struct err *err)
{
	struct totals totals = {0};

	command->uncorrected = command->used_count ? NULL : "no run is usable";
	for (uint32_t i = 0; i < command->run_count && !command->uncorrected; i++) {
		struct bench_run run = bench_run_at(command, i);

		if (!run.used)
			continue;
		command->uncorrected = bench_run_uncorrected(&run);
		values[totals.count] = bench_run_measure(&run, BENCH_CORRECTED_NS);
		totals_add(&totals, &run);
	}
	if (!command->uncorrected)
		command->uncorrected = totals_uncorrected(&totals);
	command->queue_share = command->uncorrected ? (double)NAN : totals.queue / totals.wall;
	return summary_make(
		values, command->uncorrected ? 0 : totals.count, &command->corrected, err);
}

enum bench_measure bench_time_measure(const struct bench_command *const *commands, uint32_t count)
{
	double most = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (commands[i]->uncorrected)
			return BENCH_WALL_NS;
		most = fmax(most, commands[i]->queue_share);
	}
	return most > QUEUE_MUCH ? BENCH_CORRECTED_NS : BENCH_WALL_NS;
}

const char *bench_first_uncorrected(const struct bench_command *const *commands, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (commands[i]->uncorrected)
			return commands[i]->uncorrected;
	return NULL;
}

bool bench_may_have_waited(const struct bench_command *const *commands, uint32_t count)
{
	bool any = false;

	for (uint32_t i = 0; i < count; i++) {
		double pressure = bench_wall_share(commands[i], BENCH_PRESSURE_NS);

		any |= commands[i]->uncorrected ? isnan(pressure) || pressure > PRESSURE_MUCH
						: commands[i]->queue_share > QUEUE_MUCH;
	}
	return any;
}

enum bench_measure bench_time_of_two(const struct bench_command *a, const struct bench_command *b)
{
	const struct bench_command *const both[] = {a, b};

	return bench_time_measure(both, 2);
}

const char *bench_time_name(enum bench_measure measure)
{
	return measure == BENCH_CORRECTED_NS ? "corrected wall" : "wall";
}
