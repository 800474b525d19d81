/* scale.c - scaling_law.md: the verdict, the table behind it, how it was measured. */
#include "render/markdown.h"

#include <math.h>

#include "render/scale.h"
#include "render/scale_chart.h"

enum { P95 = 3, P99 = 4 };

static void millis(struct str *out, bool known, double ns)
{
	if (known && isfinite(ns))
		str_addf(out, " %.3f |", ns / 1e6);
	else
		str_add(out, " - |");
}

static void row(struct str *out, const struct scale_view *view, const struct scale_point *point)
{
	const struct summary *time = point->time;
	const struct summary_percentile *p = time->percentiles;
	char unit[SCALE_LABEL_SIZE];

	str_addf(out, "| %llu | %u |", (unsigned long long)point->size, point->command->used_count);
	millis(out, true, time->median);
	millis(out, !p[P95].worst_of_all, p[P95].value);
	millis(out, !p[P99].worst_of_all, p[P99].value);
	millis(out, true, time->max);
	if (!point->command->used_count)
		str_add(out, " - | - | - | - | - |\n");
	else if (view->options.threads)
		str_addf(out, " %.4g | %.2f | %.0f %% | %.2f | %s |\n", point->rate, point->speedup,
			point->efficiency * 100, point->parallelism,
			point->fitted ? "" : "more threads than CPUs");
	else
		str_addf(out, " %.4g | %.3g | %s | ", point->rate,
			view->p95_known ? point->times_p95 : point->times,
			scale_time_label(unit, point->per_unit_ns));
	if (!point->command->used_count || view->options.threads)
		return;
	if (isfinite(point->off_share))
		str_addf(out, "%.3f | %+.0f %% |\n", point->predicted_ns / 1e6,
			point->off_share * 100);
	else
		str_add(out, "- | - |\n");
}

static void heading(struct str *out, const struct scale_view *view)
{
	str_addf(out, "| %s | runs | p50 [ms] | p95 [ms] | p99 [ms] | worst [ms] | per s |",
		view->options.threads ? "threads" : "n");
	if (view->options.threads)
		str_add(out, " speed-up | efficiency | CPUs used | note |\n");
	else
		str_addf(out, " %s x first | per unit | law [ms] | off |\n",
			view->p95_known ? "p95" : "median");
	str_add(out, "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
}

void scale_markdown(struct str *out, const struct scale_view *view)
{
	str_auto struct str words = {0};

	str_add(out, "# Scaling law\n\nCommand: ");
	markdown_code(out, view->title, false);
	scale_verdict_words(view, &words);
	markdown_add(out, "\n\n**%s**\n\n", str_text(&words));
	str_clear(&words);
	scale_advice_words(view, &words);
	if (words.len)
		markdown_add(out, "%s\n\n", str_text(&words));
	str_clear(&words);
	scale_trust_words(view, &words);
	if (words.len)
		markdown_add(out, "%s\n\n", str_text(&words));
	heading(out, view);
	for (uint32_t i = 0; i < view->point_count; i++)
		row(out, view, &view->points[i]);
	str_addf(out,
		"\n%s of %u interleaved rounds. A percentile is shown only when there are enough "
		"runs (59 for p95, 299 for p99); otherwise `-`, and the worst run counts.\n",
		view->options.metric == SCALE_CPU && !view->options.threads ? "CPU time"
									    : "Wall time",
		view->rounds);
}
