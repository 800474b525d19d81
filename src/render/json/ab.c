/* ab.c - `assay ab` as JSON: everything that the text says, and every pair. */
#include "render/compare_json.h"

#include "analyze/bench.h"
#include "parts.h"
#include "render/ab.h"

#define FEW "it needs at least 3 pairs"
#define UNTOLD "the time in the run queue was not recorded"

static void effect_json(struct jsonw *w, const struct comparison *one)
{
	jsonw_put_number(w, "effect", one->effect, FEW);
	jsonw_put_number(w, "lo", one->lo, FEW);
	jsonw_put_number(w, "hi", one->hi, FEW);
	jsonw_put_double(w, "confidence", one->confidence);
	jsonw_put_double(w, "p", one->adjusted_p);
}

static void medians_json(struct jsonw *w, const struct comparison *one)
{
	bool bytes = str_equal(one->name, "memory"), count = str_equal(one->name, "faults");

	jsonw_put_number(w,
		bytes	? "median_a_bytes"
		: count ? "median_a"
			: "median_a_ns",
		one->median_a, FEW);
	jsonw_put_number(w,
		bytes	? "median_b_bytes"
		: count ? "median_b"
			: "median_b_ns",
		one->median_b, FEW);
}

static void metric_json(struct jsonw *w, const struct comparison *one, bool decides)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "name", one->name);
	jsonw_put_text(w, "outcome", compare_outcome_name(one->outcome));
	jsonw_put_bool(w, "decides", decides);
	medians_json(w, one);
	effect_json(w, one);
	jsonw_put_double(w, "p_unadjusted", one->p);
	jsonw_put_double(w, "alpha", one->alpha);
	jsonw_put_double(w, "min_effect", one->min_effect);
	jsonw_put_u64(w, "pairs", one->a_count);
	jsonw_put_bool(w, "never_varies", one->constant);
	jsonw_put_bool(w, "plain", one->plain);
	jsonw_put_number(w, "detectable", one->detectable, FEW);
	jsonw_put_count(w, "pairs_needed", one->pairs_needed,
		one->outcome == COMPARE_INCONCLUSIVE ? "no number of pairs would be enough"
						     : "the verdict is clear");
	jsonw_end_object(w);
}

static void verdict_json(struct jsonw *w, const struct ab_page *page)
{
	const struct ab_view *ab = page->view;
	const struct compare_verdict *verdict = &ab->verdict;
	const char *settled = verdict->outcome == COMPARE_INCONCLUSIVE
				      ? "no number of pairs would be enough"
				      : "the verdict is clear";

	jsonw_open_object(w, "verdict");
	jsonw_put_text(w, "outcome", compare_outcome_name(verdict->outcome));
	jsonw_put_text(w, "metric", verdict->by->name);
	effect_json(w, verdict->by);
	jsonw_put_bool(w, "confirmed_by_wall", verdict->confirmed);
	jsonw_put_text(w, "note", compare_note_text(verdict->note));
	jsonw_put_text(w, "comparability", ab_comparability(page));
	jsonw_put_count(w, "more_pairs", ab->more_pairs, settled);
	jsonw_put_known(w, "more_ns", ab->more_pairs, ab->more_pairs * ab->pair_ns, settled);
	jsonw_end_object(w);
}

static void pairs_json(struct jsonw *w, const struct ab_view *ab)
{
	jsonw_open_array(w, "pairs");
	for (uint32_t i = 0; i < ab->pair_count; i++) {
		struct bench_run a = bench_run_at(ab->a, ab->pairs[i].a);
		struct bench_run b = bench_run_at(ab->b, ab->pairs[i].b);

		jsonw_begin_object(w);
		jsonw_put_text(w, "first", a.position < b.position ? "a" : "b");
		jsonw_put_u64(w, "a_wall_ns", a.wall_ns);
		jsonw_put_u64(w, "b_wall_ns", b.wall_ns);
		jsonw_put_u64(w, "a_cpu_ns", a.user_ns + a.system_ns);
		jsonw_put_u64(w, "b_cpu_ns", b.user_ns + b.system_ns);
		jsonw_put_known(w, "a_queue_ns", a.has_queue, a.queue_ns, UNTOLD);
		jsonw_put_known(w, "b_queue_ns", b.has_queue, b.queue_ns, UNTOLD);
		jsonw_put_text(w, "disturbed", ab_disturbance_text(ab->disturbed[i]));
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void claim_json(struct jsonw *w, const struct ab_page *page)
{
	const struct ab_view *ab = page->view;
	str_auto struct str supports = {0}, other = {0};

	ab_claim(page, &supports, &other);
	jsonw_open_object(w, "claim");
	jsonw_put_text(w, "supports", str_text(&supports));
	jsonw_put_text(w, "does_not_support", str_text(&other));
	jsonw_open_array(w, "weaknesses");
	for (unsigned i = 0; i < AB_WEAKNESSES; i++)
		if (ab->weaknesses & 1u << i)
			jsonw_text(w, ab_weakness_text(i));
	jsonw_end_array(w);
	jsonw_end_object(w);
	jsonw_open_object(w, "tail");
	jsonw_put_number(w, "p95_ratio", ab->tail_ratio, "no pair");
	jsonw_put_text(w, "tier", ab_tier_name(ab->tier));
	jsonw_end_object(w);
}

static void disturbed_json(struct jsonw *w, const struct ab_view *ab)
{
	jsonw_open_object(w, "disturbed");
	jsonw_put_u64(w, "pairs", ab->disturbed_count);
	if (ab->calm_verdict.by) {
		jsonw_put_text(
			w, "outcome_without", compare_outcome_name(ab->calm_verdict.outcome));
		jsonw_put_number(w, "effect_without", ab->calm_verdict.by->effect, FEW);
	} else {
		jsonw_put_missing(w, "outcome_without",
			ab->disturbed_count ? "too few pairs would be left"
					    : "no pair was disturbed");
	}
	jsonw_put_u64(w, "a_leftover_runs", ab->leftovers_a);
	jsonw_put_u64(w, "b_leftover_runs", ab->leftovers_b);
	jsonw_put_number(w, "contested_low_share", ab->contested_low, "no pressure was measured");
	jsonw_put_number(w, "contested_high_share", ab->contested_high, "no pressure was measured");
	jsonw_put_bool(w, "load_changed", ab->load_changed);
	jsonw_end_object(w);
}

static void events_json(struct jsonw *w, const struct ab_page *page)
{
	jsonw_open_array(w, "events");
	for (uint32_t i = 0; i < page->event_count; i++) {
		const struct ab_event *event = &page->events[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "name", event->name);
		jsonw_put_text(w, "unit", event->unit);
		jsonw_put_number(w, "a", event->a, event->reason);
		jsonw_put_number(w, "b", event->b, event->reason);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void explanation_json(struct jsonw *w, const struct ab_explanation *one)
{
	const char *reason = "no hardware counters were read";

	if (!one) {
		jsonw_put_missing(w, "explanation", "there is no change to explain");
		return;
	}
	jsonw_open_object(w, "explanation");
	jsonw_put_text(w, "cause", ab_cause_name(one->cause));
	jsonw_put_text(w, "text", one->text);
	jsonw_put_number(w, "cycles", one->cycles, reason);
	jsonw_put_number(w, "instructions", one->instructions, reason);
	jsonw_put_number(w, "ipc_a", one->ipc_a, reason);
	jsonw_put_number(w, "ipc_b", one->ipc_b, reason);
	jsonw_put_number(w, "instructions_share", one->instructions_share, reason);
	jsonw_put_text_or(w, "stall", one->stall, "none found");
	jsonw_end_object(w);
}

static void steps_json(struct jsonw *w, const struct ab_page *page)
{
	jsonw_open_array(w, "compound");
	for (uint32_t i = 0; i < page->step_count; i++) {
		const struct ab_step *step = &page->steps[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "run", step->path ? step->path : "");
		jsonw_put_text(w, "metric", page->step_metric);
		jsonw_put_number(w, "effect", step->effect, "this metric was not judged there");
		jsonw_put_number(
			w, "cumulative", step->cumulative, "an earlier change is not known");
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void side_json(struct jsonw *w, const struct ab_page *page, unsigned side)
{
	jsonw_open_object(w, side ? "b" : "a");
	if (page->names[side]) {
		jsonw_put_text(w, "revision", page->names[side]);
		jsonw_put_text(w, "commit", page->commits[side]);
	}
	bench_command_json(w, side ? page->view->b : page->view->a);
	jsonw_end_object(w);
}

static void builds_json(struct jsonw *w, const struct ab_page *page)
{
	jsonw_open_array(w, "build_differences");
	for (uint32_t i = 0; i < page->build_count; i++) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "what", page->builds[i].what);
		jsonw_put_text(w, "a", page->builds[i].a);
		jsonw_put_text(w, "b", page->builds[i].b);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

/* Whether wall time is judged without the time that other programs took. */
static void corrected_json(struct jsonw *w, const struct ab_view *ab)
{
	jsonw_open_object(w, "corrected_wall");
	jsonw_put_bool(w, "decides", ab->corrected);
	jsonw_put_number(w, "a_queue_share", ab->a->queue_share, ab->a->uncorrected);
	jsonw_put_number(w, "b_queue_share", ab->b->queue_share, ab->b->uncorrected);
	jsonw_end_object(w);
}

void ab_json(struct jsonw *w, const struct ab_page *page)
{
	const struct ab_view *ab = page->view;

	verdict_json(w, page);
	jsonw_open_array(w, "metrics");
	for (uint32_t i = 0; i < ab->metric_count; i++)
		metric_json(w, &ab->metrics[i], i < ab->deciding_count);
	jsonw_end_array(w);
	jsonw_put_bool(w, "cpu_measured", ab->cpu_is_known);
	corrected_json(w, ab);
	claim_json(w, page);
	disturbed_json(w, ab);
	explanation_json(w, page->explanation);
	events_json(w, page);
	builds_json(w, page);
	steps_json(w, page);
	if (page->same_output)
		jsonw_put_bool(w, "same_output", true);
	else
		jsonw_put_missing(w, "same_output", "not compared: --same-output");
	jsonw_put_text_or(w, "artifact", page->artifact, "the runs were not stored: -o RUN.assay");
	pairs_json(w, ab);
	side_json(w, page, 0);
	side_json(w, page, 1);
}
