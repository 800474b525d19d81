/* bench.c - `assay bench --export-markdown`: one row per command. */
#include "render/markdown.h"

#include <math.h>

#include "analyze/bench.h"

static const struct bench_ratio *ratio_of(const struct bench_view *view, uint32_t command)
{
	for (uint32_t i = 0; i < view->ratio_count; i++)
		if (view->ratios[i].command == command)
			return &view->ratios[i];
	return NULL;
}

static void command_row(struct str *out, const struct bench_view *view, uint32_t index)
{
	const struct bench_command *command = &view->commands[index];
	const struct summary *wall = &command->wall;
	const struct bench_ratio *ratio = ratio_of(view, index);

	str_add(out, "| ");
	markdown_code(out, command->name, true);
	str_addf(out, " | %u | %.3f | ", command->used_count, wall->median / 1e6);
	if (isfinite(wall->median_interval.lo) && isfinite(wall->median_interval.hi))
		str_addf(out, "%.3f .. %.3f", wall->median_interval.lo / 1e6,
			wall->median_interval.hi / 1e6);
	else
		str_add(out, "too few runs");
	str_addf(out, " | %.3f | %.3f | ", wall->min / 1e6, wall->max / 1e6);
	if (view->time == BENCH_CORRECTED_NS)
		str_addf(out, "%.3f | ", command->corrected.median / 1e6);
	if (ratio)
		str_addf(out, "%.2f (%.2f .. %.2f) |\n", 1 + ratio->wall.effect, 1 + ratio->wall.lo,
			1 + ratio->wall.hi);
	else
		str_add(out, index == view->fastest ? "1.00 |\n" : "not measured |\n");
}

/* What is relative is shown: with corrected wall time it has a column. */
void bench_export_markdown(struct str *out, const struct bench_view *view)
{
	bool corrected = view->time == BENCH_CORRECTED_NS;

	str_addf(out,
		"| Command | Runs | Median [ms] | 95 %% interval [ms] | Min [ms] | Max [ms] | %s "
		"|\n|:---|---:|---:|---:|---:|---:|%s---:|\n",
		corrected ? "Corrected [ms] | Relative (corrected wall)" : "Relative",
		corrected ? "---:|" : "");
	for (uint32_t i = 0; i < view->command_count; i++)
		if (view->commands[i].used_count)
			command_row(out, view, i);
}
