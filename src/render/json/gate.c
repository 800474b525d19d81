/* gate.c - the gate's answer for programs. */
#include "render/compare_json.h"

#include <math.h>

#include "render/gate.h"

#define SHOWN "corrected wall decides"

static void effect_json(struct jsonw *w, const struct comparison *one)
{
	static const char few[] = "it needs at least 2 runs on each side and 6 in all";

	jsonw_put_number(w, "effect", one->effect, few);
	jsonw_put_number(w, "lo", one->lo, few);
	jsonw_put_number(w, "hi", one->hi, few);
	jsonw_put_double(w, "confidence", one->confidence);
	jsonw_put_double(w, "p", one->adjusted_p);
}

static void verdict_json(struct jsonw *w, const struct gate_page *page)
{
	const struct gate_verdict *verdict = &page->view->verdict;
	str_auto struct str sentence = {0};

	gate_sentence(&sentence, page);
	jsonw_open_object(w, "verdict");
	jsonw_put_text(w, "outcome", verdict->outcome);
	jsonw_put_text(w, "decision", gate_decision_name(verdict->decision));
	jsonw_put_text(w, "severity", gate_severity_name(verdict->severity));
	jsonw_put_bool(w, "advisory", page->view->advisory);
	if (verdict->item) {
		jsonw_put_text(w, "command", verdict->command->candidate->name);
		jsonw_put_text(w, "metric", verdict->item->comparison.name);
		effect_json(w, &verdict->item->comparison);
	} else {
		jsonw_put_missing(w, "metric", "nothing was compared with a baseline");
	}
	jsonw_put_text(w, "note", compare_note_text(verdict->note));
	jsonw_put_text(w, "text", str_text(&sentence));
	jsonw_end_object(w);
}

/* What was concluded from it: nothing, where it is shown only. */
static void judgement_json(struct jsonw *w, const struct gate_item *item, bool decides)
{
	if (decides) {
		jsonw_put_text(w, "severity", gate_severity_name(item->severity));
		jsonw_put_text(w, "decision", gate_decision_name(item->decision));
		jsonw_put_bool(w, "clear", item->clear);
		return;
	}
	jsonw_put_missing(w, "severity", SHOWN);
	jsonw_put_missing(w, "decision", SHOWN);
	jsonw_put_missing(w, "clear", SHOWN);
}

static const char *no_noise_reason(
	const struct gate_command *command, const struct gate_item *item, bool decides)
{
	if (!decides)
		return SHOWN;
	return item->metric == GATE_WALL && command->corrected
		       ? "the history has wall time only"
		       : "the history has fewer than 8 measurements of it here, or they never vary";
}

/* Of wall time: how much of it was waiting, and why it is judged with that. */
static void queue_json(struct jsonw *w, const struct gate_command *command)
{
	const struct bench_command *now = command->candidate;

	jsonw_put_number(w, "queue_share", now->queue_share, now->uncorrected);
	if (!command->corrected)
		jsonw_put_text(w, "corrected_reason",
			command->uncorrected ? command->uncorrected
					     : "no side waited for a CPU for more than 1 %");
}

static void item_json(struct jsonw *w, const struct gate_command *command,
	const struct gate_item *item, bool decides)
{
	const struct comparison *one = &item->comparison;
	bool bytes = item->metric == GATE_RSS;

	jsonw_begin_object(w);
	jsonw_put_text(w, "command", command->candidate->name);
	jsonw_put_text(w, "name", one->name);
	jsonw_put_text(w, "outcome", compare_outcome_name(one->outcome));
	judgement_json(w, item, decides);
	jsonw_put_double(w, bytes ? "baseline_bytes" : "baseline_ns", round(one->median_a));
	jsonw_put_double(w, bytes ? "candidate_bytes" : "candidate_ns", round(one->median_b));
	effect_json(w, one);
	jsonw_put_double(w, "p_unadjusted", one->p);
	jsonw_put_double(w, "alpha", one->alpha);
	jsonw_put_double(w, "min_effect", one->min_effect);
	jsonw_put_known_number(w, "noise_iqr", item->noise.iqr > 0, item->noise.iqr,
		no_noise_reason(command, item, decides));
	jsonw_put_u64(w, "history_entries", item->noise.entries);
	jsonw_put_u64(w, "baseline_runs", one->a_count);
	jsonw_put_u64(w, "candidate_runs", one->b_count);
	jsonw_put_bool(w, "paired", !one->advisory);
	jsonw_put_bool(w, "decides", decides);
	if (item->metric == GATE_WALL)
		queue_json(w, command);
	jsonw_end_object(w);
}

static void metrics_json(struct jsonw *w, const struct gate_view *view)
{
	jsonw_open_array(w, "metrics");
	for (uint32_t i = 0; i < view->command_count; i++) {
		const struct gate_command *command = &view->commands[i];

		for (uint32_t k = 0; k < command->item_count; k++)
			item_json(w, command, &command->items[k], true);
		if (command->corrected)
			item_json(w, command, &command->plain_wall, false);
	}
	jsonw_end_array(w);
	jsonw_open_array(w, "not_judged");
	for (uint32_t i = 0; i < view->command_count; i++)
		for (enum gate_metric metric = 0; metric < GATE_METRICS; metric++) {
			if (!view->commands[i].unjudged[metric])
				continue;
			jsonw_begin_object(w);
			jsonw_put_text(w, "command", view->commands[i].candidate->name);
			jsonw_put_text(w, "name", gate_metric_name(metric));
			jsonw_put_text(w, "reason", view->commands[i].unjudged[metric]);
			jsonw_end_object(w);
		}
	jsonw_end_array(w);
}

static void budget_json(struct jsonw *w, const struct gate_budget *one)
{
	bool bytes = one->budget->metric == GATE_RSS;
	const char *value = one->relative ? "effect" : bytes ? "value_bytes" : "value_ns";
	const char *limit = one->relative ? "limit" : bytes ? "limit_bytes" : "limit_ns";

	jsonw_begin_object(w);
	jsonw_put_text(w, "pattern", one->budget->pattern);
	jsonw_put_text_or(w, "command", one->command, "no command matches it");
	jsonw_put_text(w, "metric", gate_metric_name(one->budget->metric));
	jsonw_put_text(w, "statistic", budget_statistic_name(one->budget->statistic));
	jsonw_put_text(w, "status", gate_budget_status_name(one->status));
	jsonw_put_bool(w, "relative", one->relative);
	jsonw_put_number(w, value, one->value, *one->reason ? one->reason : "it was not measured");
	jsonw_put_double(w, limit, one->limit);
	jsonw_put_text(w, "note", one->budget->note);
	jsonw_put_u64(w, "line", one->budget->line);
	jsonw_end_object(w);
}

static void machines_json(struct jsonw *w, const struct gate_page *page)
{
	const struct gate_comparability *machines = page->machines;

	jsonw_open_object(w, "comparability");
	jsonw_put_text_or(w, "class",
		page->baseline_count ? fingerprint_class_name(machines->class) : NULL,
		"there is no baseline");
	jsonw_put_bool(w, "known", machines->known);
	if (machines->noise == GATE_NOISE_UNKNOWN)
		jsonw_put_missing(w, "quiet", "a side has no fingerprint");
	else
		jsonw_put_bool(w, "quiet", machines->noise == GATE_QUIET);
	jsonw_put_bool(w, "mismatch_allowed", page->mismatch_allowed);
	jsonw_open_array(w, "differs");
	for (uint32_t i = 0; i < machines->count; i++)
		vec_foreach (
			const struct fingerprint_difference, d, &machines->each[i].differences) {
			if (d->severity == FINGERPRINT_INFO)
				continue;
			jsonw_begin_object(w);
			jsonw_put_text(w, "field", d->field);
			jsonw_put_text(w, "severity", fingerprint_severity_name(d->severity));
			jsonw_put_text_or(w, "baseline", d->a, d->a_missing);
			jsonw_put_text_or(w, "candidate", d->b, d->b_missing);
			jsonw_put_text(w, "reason", d->reason);
			jsonw_end_object(w);
		}
	jsonw_end_array(w);
	jsonw_end_object(w);
}

static void rules_json(struct jsonw *w, const struct gate_view *view)
{
	jsonw_open_object(w, "rules");
	jsonw_put_text(w, "preset", view->preset.name);
	jsonw_put_text(w, "fail_on", gate_severity_name(view->preset.fail_on));
	jsonw_put_number(w, "fail_above", view->fail_above, "nothing fails");
	jsonw_put_double(w, "min_effect", view->min_effect);
	jsonw_end_object(w);
	if (!view->confirm.most) {
		jsonw_put_missing(w, "confirm", "nothing was measured again");
		return;
	}
	jsonw_open_object(w, "confirm");
	jsonw_put_u64(w, "measurements", view->confirm.rounds);
	jsonw_put_u64(w, "failed", view->confirm.failed);
	jsonw_put_u64(w, "passed", view->confirm.passed);
	jsonw_put_u64(w, "needed", view->confirm.needed);
	jsonw_end_object(w);
}

static void series_json(struct jsonw *w, const struct envelope_series *one)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "command", one->command);
	jsonw_put_text(w, "metric", one->metric);
	jsonw_put_text(w, "statistic", one->statistic);
	jsonw_put_text(w, "class", envelope_class_name(one->class));
	jsonw_put_double(w, "reference_ns", round(one->reference));
	jsonw_put_double(w, "drift_share", one->drift);
	jsonw_put_u64(w, "worst_repeat", one->worst + 1);
	jsonw_put_u64(w, "in_a_row", one->in_a_row);
	jsonw_open_array(w, "values_ns");
	for (uint32_t i = 0; i < one->count; i++)
		jsonw_double(w, round(one->values[i]));
	jsonw_end_array(w);
	jsonw_open_array(w, "drift_shares");
	for (uint32_t i = 0; i < one->count; i++)
		jsonw_double(w, one->drifts[i]);
	jsonw_end_array(w);
	jsonw_end_object(w);
}

static void envelope_json(struct jsonw *w, const struct envelope_view *view)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "class", envelope_class_name(view->class));
	jsonw_put_u64(w, "repeats", view->repeats);
	jsonw_put_text(w, "of", view->blocks ? "blocks" : "runs");
	if (view->by) {
		jsonw_put_text(w, "metric", view->by->metric);
		jsonw_put_text(w, "statistic", view->by->statistic);
		jsonw_put_double(w, "drift_share", view->by->drift);
	} else {
		jsonw_put_missing(w, "metric", "no command is in every repeat");
	}
	jsonw_open_array(w, "series");
	for (uint32_t i = 0; i < view->series_count; i++)
		series_json(w, &view->series[i]);
	jsonw_end_array(w);
	jsonw_end_object(w);
}

void gate_json(struct jsonw *w, const struct gate_page *page)
{
	const struct gate_view *view = page->view;

	verdict_json(w, page);
	metrics_json(w, view);
	jsonw_open_array(w, "budgets");
	for (uint32_t i = 0; i < view->budget_count; i++)
		budget_json(w, &view->budgets[i]);
	jsonw_end_array(w);
	if (page->envelope) {
		jsonw_key(w, "envelope");
		envelope_json(w, page->envelope);
	} else {
		jsonw_put_missing(w, "envelope", "it needs at least two baselines");
	}
	machines_json(w, page);
	rules_json(w, view);
	jsonw_put_texts(w, "baselines", page->baselines, page->baseline_count);
	jsonw_put_text_or(w, "candidate", page->candidate, "measured now");
	jsonw_put_texts(w, "without_baseline", view->unmatched, view->unmatched_count);
}
