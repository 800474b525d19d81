/* diff.c - "data" of `assay diff --json`; docs/commands/diff.md describes each member. */
#include "render/profile_json.h"

#include <math.h>

#include "parts.h"
#include "render/diff.h"
#include "render/report.h"

static void side_json(struct jsonw *w, const char *key, const char *path,
	const struct diff_side *side, const struct diff_view *view)
{
	jsonw_open_object(w, key);
	jsonw_put_text(w, "path", path);
	if (!view->refusals.count) {
		jsonw_put_text(w, "target", side->quality.target);
		jsonw_put_u64(w, "executions", side->executions);
		jsonw_put_double(w, "trials", side->trials);
		jsonw_put_number(w, "cost", side->cost, view->cost_reason);
		quality_json(w, &side->quality);
	}
	jsonw_end_object(w);
}

static void row_json(struct jsonw *w, const struct diff_row *row, const struct diff_view *view)
{
	const char *none = view->cost_reason, *nowhere = "it is unknown, or there is none";

	jsonw_begin_object(w);
	jsonw_put_text(w, "name", row->name);
	jsonw_put_text_or(w, "module", str_or_null(row->module), nowhere);
	jsonw_put_text_or(w, "file", str_or_null(row->file), nowhere);
	jsonw_put_count(w, "line", row->line, nowhere);
	jsonw_put_text(w, "verdict", diff_verdict_name(row->verdict));
	jsonw_put_u64(w, "a_samples", row->a_samples);
	jsonw_put_u64(w, "b_samples", row->b_samples);
	jsonw_put_double(w, "a_share", row->a_share);
	jsonw_put_double(w, "b_share", row->b_share);
	jsonw_put_double(w, "change_share", row->change);
	jsonw_put_double(w, "change_low_share", row->change_low);
	jsonw_put_double(w, "change_high_share", row->change_high);
	jsonw_put_double(w, "p", row->p);
	jsonw_put_number(w, "a_cost", row->a_cost, none);
	jsonw_put_number(w, "b_cost", row->b_cost, none);
	jsonw_put_number(w, "cost_change", row->cost_change, none);
	jsonw_put_number(w, "cost_change_low", row->cost_low, none);
	jsonw_put_number(w, "cost_change_high", row->cost_high, none);
	if (none)
		jsonw_put_missing(w, "cost_changed", none);
	else
		jsonw_put_bool(w, "cost_changed", row->cost_changed);
	jsonw_end_object(w);
}

static void class_json(struct jsonw *w, const struct diff_view *view)
{
	jsonw_put_bool(w, "comparable", !view->refusals.count);
	jsonw_put_text_or(w, "class",
		view->machines_known ? fingerprint_class_name(view->machines.class) : NULL,
		"a run without a fingerprint does not describe its machine");
	jsonw_put_texts(w, "refusals", view->refusals.at, view->refusals.count);
}

static void counts_row_json(struct jsonw *w, const struct diff_count_row *row)
{
	const char *none = *row->reason ? row->reason : "one side has no value";
	const char *no_interval = row->exact		   ? "the counts are exact"
				  : isnan(row->difference) ? none
							   : "it needs more runs of each side";

	jsonw_begin_object(w);
	jsonw_put_text(w, "name", row->name);
	jsonw_put_text(w, "unit", *row->unit ? row->unit : "count");
	if (*row->core)
		jsonw_put_text(w, "core", row->core);
	jsonw_put_number(w, "a", row->a, none);
	jsonw_put_number(w, "b", row->b, none);
	jsonw_put_bool(w, "simulated", row->simulated);
	jsonw_put_bool(w, "exact", row->exact);
	jsonw_put_number(w, "difference", row->difference, none);
	jsonw_put_number(w, "change_share", row->change, none);
	jsonw_put_number(w, "change_low_share", row->lo, no_interval);
	jsonw_put_number(w, "change_high_share", row->hi, no_interval);
	if (isnan(row->lo) && !row->exact)
		jsonw_put_missing(w, "moved", no_interval);
	else
		jsonw_put_bool(w, "moved", row->moved);
	jsonw_put_number(w, "explains_share", row->explains_share,
		row->simulated ? "it was simulated, not timed"
			       : "cycles and instructions were not counted, the time is the same, "
				 "or the cost is unknown");
	jsonw_put_bool(w, "estimate", row->priced);
	jsonw_end_object(w);
}

static void diff_counts_json(struct jsonw *w, const struct diff_counts_view *view)
{
	const char *none =
		view->simulated_a || view->simulated_b
			? "it was simulated, not timed"
			: "cycles and instructions were not counted, or the time is the same";

	jsonw_open_object(w, "counts");
	jsonw_put_u64(w, "a_runs", view->executions_a);
	jsonw_put_u64(w, "b_runs", view->executions_b);
	jsonw_put_bool(w, "a_simulated", view->simulated_a);
	jsonw_put_bool(w, "b_simulated", view->simulated_b);
	jsonw_put_text(w, "cause", ab_cause_name(view->explanation.cause));
	jsonw_put_text(w, "why", view->explanation.text);
	jsonw_put_number(w, "instructions_share", view->work_share, none);
	jsonw_put_number(w, "cpi_share", view->stall_share, none);
	jsonw_put_number(w, "clock_share", view->clock_share, none);
	jsonw_key(w, "time");
	counts_row_json(w, &view->time);
	jsonw_open_array(w, "events");
	for (uint32_t i = 0; i < view->row_count; i++)
		counts_row_json(w, &view->rows[i]);
	jsonw_end_array(w);
	jsonw_end_object(w);
}

void diff_json(struct jsonw *w, const struct diff_page *page)
{
	const struct diff_view *view = page->view;
	uint32_t shown = 0;

	class_json(w, view);
	if (page->counts)
		diff_counts_json(w, page->counts);
	else
		jsonw_put_missing(w, "counts", "one of the runs has no execution counts");
	if (!view->has_samples && !view->refusals.count) {
		jsonw_put_missing(w, "rows", "neither run has samples");
		return;
	}
	jsonw_put_text(w, "by", report_by_word(view->by));
	jsonw_put_text(w, "measure", view->by_total ? "total" : "self");
	side_json(w, "a", page->a, &view->a, view);
	side_json(w, "b", page->b, &view->b, view);
	jsonw_put_text(w, "cost_unit", view->unit);
	jsonw_put_u64(w, "tested", view->tested);
	jsonw_put_u64(w, "changed", view->counts[DIFF_CHANGED]);
	jsonw_put_u64(w, "possible", view->counts[DIFF_POSSIBLE]);
	jsonw_put_u64(w, "same", view->counts[DIFF_SAME]);
	jsonw_open_array(w, "rows");
	vec_foreach (const struct diff_row, row, &view->rows) {
		if (page->limit && shown++ == page->limit)
			break;
		row_json(w, row, view);
	}
	jsonw_end_array(w);
}
