/* bench_noise.c - which runs the machine disturbed, and what the others say.
 *
 * The rule looks at one run alone, never at its time: runs are not picked by their result.  A
 * kernel that shares a CPU fairly pushes a busy task off it every few milliseconds, so one
 * involuntary switch per 10 ms is its share and more is somebody else.  Two are free: an empty
 * program has one or two of them from being started (95 % of 100,000 runs on 2 CPUs). */
#include "bench_parts.h"

enum { SWITCH_NS = 10000000, SWITCHES_FREE = 2, STEAL_SHARE = 100, PRESSURE_SHARE = 10 };

const char *bench_noise_text(enum bench_noise noise)
{
	switch (noise) {
	case BENCH_NOISE_PUSHED:
		return "preempted";
	case BENCH_NOISE_STEAL:
		return "steal: the host took the CPU";
	case BENCH_NOISE_PRESSURE:
		return "tasks waited for a CPU";
	case BENCH_NOISE_THROTTLED:
		return "throttled by the CPU quota";
	case BENCH_NOISE_KINDS:
		break;
	}
	return "";
}

unsigned bench_noise_of(const struct bench_run *run)
{
	unsigned noise = 0;

	if (run->involuntary_switches > SWITCHES_FREE + run->wall_ns / SWITCH_NS)
		noise |= BENCH_NOISE_PUSHED;
	if (run->has_steal && run->steal_ns && run->steal_ns >= run->wall_ns / STEAL_SHARE)
		noise |= BENCH_NOISE_STEAL;
	if (run->has_pressure && run->pressure_ns &&
		run->pressure_ns >= run->wall_ns / PRESSURE_SHARE)
		noise |= BENCH_NOISE_PRESSURE;
	if (run->throttled)
		noise |= BENCH_NOISE_THROTTLED;
	return noise;
}

int bench_noise_find(struct bench_command *command, double *values, struct err *err)
{
	size_t clean = 0;

	for (uint32_t i = 0; i < command->run_count; i++) {
		const struct bench_mark *mark = &command->marks[i];

		if (!mark->used)
			continue;
		if (!mark->noise)
			values[clean++] = bench_measure_at(command, i, BENCH_WALL_NS);
		command->dirty_count += mark->noise != 0;
		for (unsigned k = 0; 1U << k < BENCH_NOISE_KINDS; k++)
			command->noise[k] += mark->noise >> k & 1;
	}
	return summary_make(values, clean, &command->clean_wall, err);
}
