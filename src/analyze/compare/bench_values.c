/* bench_values.c - one number of the runs of a command. */
#include <math.h>

#include "analyze/bench.h"
#include "base/mem.h"
#include "base/stats.h"

double bench_run_measure(const struct bench_run *run, enum bench_measure measure)
{
	switch (measure) {
	case BENCH_WALL_NS:
		return (double)run->wall_ns;
	case BENCH_CPU_NS:
		return (double)run->user_ns + (double)run->system_ns;
	case BENCH_USER_NS:
		return (double)run->user_ns;
	case BENCH_SYSTEM_NS:
		return (double)run->system_ns;
	case BENCH_RSS_BYTES:
		return (double)run->max_rss_bytes;
	case BENCH_FAULTS:
		return (double)run->minor_faults + (double)run->major_faults;
	case BENCH_MAJOR_FAULTS:
		return run->major_faults;
	case BENCH_PUSHES:
		return run->involuntary_switches;
	case BENCH_WAITS:
		return run->voluntary_switches;
	case BENCH_STEAL_NS:
		return (double)run->steal_ns;
	case BENCH_PRESSURE_NS:
		return (double)run->pressure_ns;
	case BENCH_CORRECTED_NS:
		return (double)run->wall_ns - (double)run->queue_ns;
	}
	return 0;
}

double bench_measure_at(
	const struct bench_command *command, uint32_t index, enum bench_measure measure)
{
	const struct bench_run run = bench_run_at(command, index);

	return bench_run_measure(&run, measure);
}

uint32_t bench_values(
	const struct bench_command *command, enum bench_measure measure, double *ret_values)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < command->run_count; i++)
		if (command->marks[i].used)
			ret_values[count++] = bench_measure_at(command, i, measure);
	return count;
}

double bench_median(const struct bench_command *command, enum bench_measure measure)
{
	mem_auto double *values = mem_new(command->run_count, sizeof(*values));
	uint32_t count = bench_values(command, measure, values);

	stats_sort(values, count);
	return stats_median_sorted(values, count);
}

double bench_wall_share(const struct bench_command *command, enum bench_measure measure)
{
	double part = 0, wall = 0;

	for (uint32_t i = 0; i < command->run_count; i++) {
		struct bench_run run = bench_run_at(command, i);

		if (!run.used || !(measure == BENCH_STEAL_NS ? run.has_steal : run.has_pressure))
			continue;
		part += bench_run_measure(&run, measure);
		wall += (double)run.wall_ns;
	}
	return wall > 0 ? part / wall : (double)NAN;
}
