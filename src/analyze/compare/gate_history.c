/* gate_history.c - see gate_history.h.
 *
 * The idea is rustc-perf's: a benchmark that moves by 4 % on every other day cannot show a change
 * of 3 %, whatever one day's test says.  Changes are logarithms of ratios, as everywhere. */
#include "analyze/gate_history.h"

#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/str.h"
#include "model/history.h"
#include "model/run.h"

static double row_value(const struct history_row *row, enum gate_metric metric)
{
	return metric == GATE_WALL  ? row->wall_ns
	       : metric == GATE_CPU ? row->cpu_ns
				    : row->max_rss_bytes;
}

struct gate_noise gate_history_noise(const struct history *history, const char *command,
	const char *fingerprint, enum gate_metric metric)
{
	mem_auto double *logs = mem_new(GATE_HISTORY_MOST, sizeof(*logs));
	struct gate_noise noise = {0};

	if (!*fingerprint)
		return noise;
	for (uint32_t i = history->rows.count; i-- && noise.entries < GATE_HISTORY_MOST;) {
		const struct history_row *row = &history->rows.at[i];
		double value = row_value(row, metric);

		if (value > 0 && str_equal(row->command, command) &&
			str_equal(row->fingerprint, fingerprint))
			logs[noise.entries++] = log(value);
	}
	if (noise.entries < GATE_HISTORY_LEAST)
		return noise;
	for (uint32_t i = 0; i + 1 < noise.entries; i++)
		logs[i] -= logs[i + 1];
	stats_sort(logs, noise.entries - 1);
	noise.iqr = stats_iqr_sorted(logs, noise.entries - 1);
	return noise;
}

/* What reads 0 was not measured. */
static double above_zero(double value)
{
	return value > 0 ? value : (double)NAN;
}

struct history_row gate_history_row(const struct run *run, const struct bench_command *command)
{
	struct interval ignored;

	return (struct history_row){
		.time_ns = run->started_ns,
		.by = run_text(run, run->command),
		.command = command->name,
		.fingerprint = run_text(run, run->fingerprint),
		.git = run_get_field(run, "identity", "git_commit", ""),
		.runs = command->used_count,
		.wall_ns = above_zero(command->wall.median),
		.wall_p95_ns = above_zero(budget_value(&command->wall, BUDGET_P95, &ignored)),
		.cpu_ns = above_zero(command->cpu.median),
		.cpu_p95_ns = above_zero(budget_value(&command->cpu, BUDGET_P95, &ignored)),
		.max_rss_bytes = above_zero(command->rss.median),
	};
}
