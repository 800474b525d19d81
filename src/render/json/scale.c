/* scale.c - "data" of `assay scale --json`; docs/commands/scale.md describes each member. */
#include "render/compare_json.h"

#include <math.h>

#include "analyze/bench.h"
#include "parts.h"
#include "render/scale.h"

static const char few[] = "it needs more runs or sizes";
static const char not_fitted[] = "no law was fitted";

static void words_json(struct jsonw *w, const char *key, const struct scale_view *view,
	void (*words)(const struct scale_view *, struct str *))
{
	str_auto struct str text = {0};

	words(view, &text);
	jsonw_put_text(w, key, str_text(&text));
}

static void candidates_json(struct jsonw *w, const struct scale_law *law)
{
	jsonw_open_array(w, "candidates");
	for (enum law l = LAW_CONSTANT; l < LAW_COUNT; l++)
		if (law->candidate[l])
			jsonw_text(w, law_name(l));
	jsonw_end_array(w);
}

static void suggestion_json(struct jsonw *w, const struct scale_law *law)
{
	jsonw_open_array(w, "suggested_sizes");
	for (unsigned i = 0; i < 2; i++)
		if (law->suggested[i])
			jsonw_u64(w, law->suggested[i]);
	jsonw_end_array(w);
	jsonw_put_count(w, "suggested_runs", law->suggested_runs, "more runs would not help");
}

static void law_json(struct jsonw *w, const struct scale_view *view)
{
	const struct scale_law *law = &view->law;

	jsonw_put_text_or(w, "law", law->fitted ? scale_law_name(law) : NULL, few);
	candidates_json(w, law);
	jsonw_put_text_or(w, "runner_up", law->fitted ? law_name(law->runner_up) : NULL, few);
	jsonw_put_known_number(w, "support_share", law->fitted, law->support[law->best], few);
	jsonw_put_known_number(w, "evidence", law->fitted, law->evidence,
		"the growth may be chance, or there is no law");
	jsonw_put_known_number(w, "slope", law->fitted, law->fit.slope, few);
	jsonw_put_number(w, "slope_lo", law->slope.lo, few);
	jsonw_put_number(w, "slope_hi", law->slope.hi, few);
	jsonw_put_number(w, "tail_slope", law->tail_slope, few);
	jsonw_put_number(w, "tail_slope_lo", law->tail.lo, few);
	jsonw_put_number(w, "tail_slope_hi", law->tail.hi, few);
	jsonw_put_number(w, "growth_lo", law->growth.lo, few);
	jsonw_put_number(w, "growth_hi", law->growth.hi, few);
	jsonw_put_known_number(w, "start_ns", law->fitted, round(law->fit.lines[law->best].a), few);
	jsonw_put_known_number(w, "doubling_times", law->fitted, law->doubling, few);
	jsonw_put_known_number(w, "tenfold_times", law->fitted, law->tenfold, few);
	jsonw_put_known_number(w, "tenfold_ns", law->fitted, round(law->tenfold_ns), few);
	jsonw_put_bool(w, "tenfold_extrapolated", true);
	jsonw_put_bool(w, "misfit", law->misfit);
	jsonw_put_text_or(w, "cpu_law", view->cpu_is_clear ? scale_law_name(&view->cpu) : NULL,
		"not requested, or unclear too");
	suggestion_json(w, law);
}

static void expectation_json(struct jsonw *w, const struct scale_view *view)
{
	static const char *const names[] = {
		[SCALE_NOT_ASKED] = NULL,
		[SCALE_MET] = "met",
		[SCALE_WORSE] = "worse",
		[SCALE_UNDECIDED] = "undecided",
	};

	if (view->expectation == SCALE_NOT_ASKED) {
		jsonw_put_missing(w, "expected", "--expect was not given");
		return;
	}
	jsonw_put_text(w, "expected", law_name(view->options.expected));
	jsonw_put_text(w, "expectation", names[view->expectation]);
}

static void threads_json(struct jsonw *w, const struct scale_view *view)
{
	static const char three[] = "it needs three thread counts with a CPU for each thread";
	const struct scale_threads *t = &view->threads;
	bool compared = t->fit_count >= 2;

	jsonw_put_text(w, "law", scale_threads_name(t->kind));
	jsonw_put_known_number(w, "contention", t->fitted, t->fit.contention, few);
	jsonw_put_known_number(w, "contention_lo", t->fitted, t->contention.lo, few);
	jsonw_put_known_number(w, "contention_hi", t->fitted, t->contention.hi, few);
	jsonw_put_known_number(w, "coherency", t->fitted, t->fit.coherency, three);
	jsonw_put_known_number(w, "coherency_lo", t->fitted, t->coherency.lo, three);
	jsonw_put_known_number(w, "coherency_hi", t->fitted, t->coherency.hi, three);
	jsonw_put_known_number(w, "peak_threads", t->fitted, t->fit.peak,
		"the throughput keeps growing, or kappa is unknown");
	jsonw_put_known_number(w, "peak_threads_lo", t->fitted, t->peak.lo, "as peak_threads");
	jsonw_put_known_number(w, "peak_threads_hi", t->fitted, t->peak.hi, "as peak_threads");
	jsonw_put_number(w, "peak_rate", t->peak_rate, "as peak_threads");
	jsonw_put_known_number(w, "speedup", compared, view->points[t->last].speedup, few);
	jsonw_put_known_number(w, "speedup_lo", compared, t->speedup.lo, few);
	jsonw_put_known_number(w, "speedup_hi", compared, t->speedup.hi, few);
	jsonw_put_u64(w, "best_threads", view->points[t->best].size);
	jsonw_put_u64(w, "cpus", t->cpus);
	jsonw_put_u64(w, "thread_counts_fitted", t->fit_count);
	jsonw_put_known_number(w, "cpu_times", view->draws, t->cpu_times, few);
	jsonw_put_bool(w, "one_cpu", t->one_cpu);
}

static void verdict_json(struct jsonw *w, const struct scale_view *view)
{
	jsonw_open_object(w, "verdict");
	jsonw_put_bool(w, "clear", view->doubt == SCALE_SURE);
	jsonw_put_text(w, "doubt", scale_doubt_name(view->doubt));
	if (view->options.threads)
		threads_json(w, view);
	else
		law_json(w, view);
	expectation_json(w, view);
	words_json(w, "text", view, scale_verdict_words);
	words_json(w, "trust", view, scale_trust_words);
	words_json(w, "advice", view, scale_advice_words);
	jsonw_end_object(w);
}

static void fits_json(struct jsonw *w, const struct scale_view *view)
{
	const struct scale_law *law = &view->law;

	jsonw_open_array(w, "fits");
	for (enum law l = LAW_CONSTANT; law->fitted && l < LAW_COUNT; l++) {
		const struct law_line *line = &law->fit.lines[l];

		jsonw_begin_object(w);
		jsonw_put_text(w, "law", law_name(l));
		jsonw_put_double(w, "a_ns", line->a);
		jsonw_put_double(w, "b_ns", line->b);
		jsonw_put_double(w, "residual", line->residual);
		jsonw_put_double(w, "aicc", line->aicc);
		jsonw_put_double(w, "weight_share", line->weight);
		jsonw_put_double(w, "growth_p", line->growth_p);
		jsonw_put_number(w, "support_share", law->support[l], few);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void point_json(
	struct jsonw *w, const struct scale_view *view, const struct scale_point *point)
{
	jsonw_begin_object(w);
	jsonw_put_u64(w, view->options.threads ? "threads" : "n", point->size);
	jsonw_put_number(w, "median_ns", round(point->time->median), few);
	jsonw_put_number(w, "median_lo_ns", round(point->time->median_interval.lo), few);
	jsonw_put_number(w, "median_hi_ns", round(point->time->median_interval.hi), few);
	jsonw_put_number(w, "runs_per_second", point->rate, few);
	jsonw_put_number(w, "times_first", point->times, few);
	jsonw_put_number(w, "p95_times_first", point->times_p95, few);
	jsonw_put_number(w, "per_unit_ns", point->per_unit_ns, few);
	jsonw_put_number(w, "predicted_ns", round(point->predicted_ns), not_fitted);
	jsonw_put_number(w, "off_share", point->off_share, not_fitted);
	jsonw_put_number(
		w, "pressure_share", point->pressure_share, "the kernel does not report it");
	jsonw_put_number(w, "cpus_used", point->parallelism, few);
	if (view->options.threads) {
		jsonw_put_number(w, "speedup", point->speedup, few);
		jsonw_put_number(w, "efficiency_share", point->efficiency, few);
	}
	jsonw_put_bool(w, "fitted", point->fitted);
	bench_command_json(w, point->command);
	jsonw_end_object(w);
}

void scale_json(struct jsonw *w, const struct scale_view *view)
{
	jsonw_put_text(w, "command", view->title);
	jsonw_put_text(w, "axis", view->options.threads ? "threads" : "size");
	jsonw_put_text(w, "metric",
		view->options.metric == SCALE_CPU && !view->options.threads ? "cpu" : "wall");
	jsonw_put_u64(w, "rounds", view->rounds);
	jsonw_put_u64(w, "draws", view->draws);
	verdict_json(w, view);
	fits_json(w, view);
	jsonw_open_array(w, "points");
	for (uint32_t i = 0; i < view->point_count; i++)
		point_json(w, view, &view->points[i]);
	jsonw_end_array(w);
}
