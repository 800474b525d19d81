/* causal.c - "data" of `assay causal --json`; docs/commands/causal.md describes each member. */
#include "render/answer_json.h"

#include <math.h>

#include "render/causal.h"

static const char no_samples[] = "the file does not record the number of samples";

static const char pace_is_others[] = "the program does not set its own pace";

static void gain_json(
	struct jsonw *json, const struct causal_view *view, const struct causal_gain *gain)
{
	const char *why = view->pace != CAUSAL_PACE_OWN ? pace_is_others
			  : gain->trials		? "too few pairs or visits for a bound"
					 : "not tried: the time went to other levels";

	jsonw_begin_object(json);
	jsonw_put_double(json, "speedup", gain->speedup);
	jsonw_put_known_number(json, "gain", gain->is_known, gain->gain, why);
	jsonw_put_known_number(json, "lo", gain->is_known, gain->lo, why);
	jsonw_put_known_number(json, "hi", gain->is_known, gain->hi, why);
	jsonw_put_u64(json, "n", gain->trials);
	jsonw_put_double(json, "visits", gain->visits);
	jsonw_put_double(json, "hits", gain->hits);
	jsonw_end_object(json);
}

static void slope_json(
	struct jsonw *json, const struct causal_view *view, const struct causal_curve *curve)
{
	const struct causal_gain *best = causal_curve_best(curve);
	const char *why =
		view->pace != CAUSAL_PACE_OWN ? pace_is_others : "too few pairs for a bound";

	jsonw_put_known_number(json, "slope", curve->slope_is_known, curve->slope, why);
	jsonw_put_known_number(json, "slope_lo", curve->slope_is_known, curve->slope_lo, why);
	jsonw_put_known_number(json, "slope_hi", curve->slope_is_known, curve->slope_hi, why);
	jsonw_put_number(json, "max_gain", best ? best->gain : (double)NAN, why);
}

static void known_text(struct jsonw *json, const char *key, const char *text)
{
	jsonw_put_text_or(json, key, str_or_null(text), "the experiments do not show it");
}

static void target_json(
	struct jsonw *json, const struct causal_view *view, const struct causal_target_view *target)
{
	str_auto struct str sentence = {0};

	causal_sentence(&sentence, view, target);
	jsonw_begin_object(json);
	jsonw_put_text(json, "location", target->name);
	known_text(json, "file", target->file);
	jsonw_put_count(json, "line", target->line, "the target is a function");
	known_text(json, "function", target->function);
	jsonw_put_text(json, "kind", target->waits ? "waits" : "cpu");
	slope_json(json, view, &target->curve);
	jsonw_put_text(json, "class", causal_class_name(target->curve.class));
	jsonw_put_known_number(
		json, "sample_share", target->samples > 0, target->sample_share, no_samples);
	jsonw_put_u64(json, "pairs", target->curve.trials);
	jsonw_put_text(json, "sentence", str_text(&sentence));
	jsonw_open_array(json, "points");
	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++)
		gain_json(json, view, &target->curve.gains[i]);
	jsonw_end_array(json);
	jsonw_end_object(json);
}

static void targets_json(struct jsonw *json, const struct causal_view *view, const char *key,
	uint32_t from, uint32_t to)
{
	jsonw_open_array(json, key);
	for (uint32_t i = from; i < to; i++)
		target_json(json, view, &view->targets[i]);
	jsonw_end_array(json);
}

static void points_json(struct jsonw *json, const struct causal_view *view)
{
	jsonw_open_array(json, "progress");
	for (uint32_t i = 0; i < view->point_count; i++) {
		const struct causal_point_view *point = &view->points[i];

		jsonw_begin_object(json);
		jsonw_put_text(json, "name", point->name);
		jsonw_put_text(json, "kind",
			point->is_latency ? "latency"
			: point->is_end	  ? "end"
					  : "throughput");
		jsonw_put_double(json, "visits", point->visits);
		jsonw_put_double(json, "per_second", point->per_second);
		jsonw_put_bool(json, "chosen", point->is_chosen);
		jsonw_end_object(json);
	}
	jsonw_end_array(json);
}

static void guards_json(struct jsonw *json, const struct causal_view *view)
{
	jsonw_open_array(json, "guards");
	for (unsigned i = 0; i < CAUSAL_DOUBTS; i++) {
		const struct causal_guard *guard = &view->guards[i];
		str_auto struct str text = {0};

		if (guard->is_bad)
			causal_doubt_sentence(&text, guard);
		jsonw_begin_object(json);
		jsonw_put_text(json, "name", causal_doubt_name(guard->doubt));
		jsonw_put_known_number(json, "value", guard->is_known, guard->value, no_samples);
		jsonw_put_bool(json, "bad", guard->is_bad);
		jsonw_put_text(json, "text", text.len ? text.at : NULL);
		jsonw_end_object(json);
	}
	jsonw_end_array(json);
}

static void engine_json(struct jsonw *json, const struct causal_view *view)
{
	jsonw_put_text(json, "engine", view->is_inside ? "preload" : "bpf");
	jsonw_open_array(json, "not_seen");
	for (unsigned i = 0; view->is_inside && causal_not_seen[i]; i++)
		jsonw_text(json, causal_not_seen[i]);
	jsonw_end_array(json);
}

void causal_json(struct jsonw *json, const struct causal_view *view, const char *coz_file)
{
	str_auto struct str nothing = {0};

	causal_nothing(&nothing, view);
	/* All targets; the flat ones once more, so that nobody has to know the classes. */
	targets_json(json, view, "targets", 0, view->target_count);
	targets_json(json, view, "flat", view->flat_from, view->target_count);
	points_json(json, view);
	engine_json(json, view);
	jsonw_put_u64(json, "experiments", view->experiments);
	jsonw_put_u64(json, "pairs", view->pairs);
	jsonw_put_u64(json, "cut", view->cut);
	jsonw_put_u64(json, "disturbed", view->disturbed);
	jsonw_put_u64(json, "alone", view->alone);
	jsonw_put_u64(json, "measured_ns", view->measured_ns);
	jsonw_put_bool(json, "paced_by_clock", view->pace == CAUSAL_PACE_CLOCK);
	jsonw_put_text(json, "pace", causal_pace_name(view->pace));
	jsonw_put_number(json, "visit_ns", round(view->visit_ns), "no visit was counted");
	jsonw_put_number(json, "work_ns", round(view->work_ns),
		"the CPU time of the visits was not measured");
	guards_json(json, view);
	jsonw_put_text(json, "no_answer", nothing.len ? nothing.at : NULL);
	jsonw_put_text_or(json, "coz_file", coz_file, "not requested: --coz FILE writes it");
}
