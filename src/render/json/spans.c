/* spans.c - a program's own events, for programs; docs/commands/import.md describes each member. */
#include "render/profile_json.h"

#include <math.h>

#include "analyze/spans.h"

#define UNSAID "the program did not say"

static void span_json(struct jsonw *w, const struct span_view *span)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "name", span->name);
	jsonw_put_text(w, "category", span->category);
	jsonw_put_u64(w, "count", span->count);
	jsonw_put_number(w, "cumulative_ns", round(span->total_ns), UNSAID);
	jsonw_put_number(w, "cumulative_share", span->share, UNSAID);
	jsonw_put_number(w, "p50_ns", round(span->p50_ns), UNSAID);
	jsonw_put_number(w, "p95_ns", round(span->p95_ns), UNSAID);
	jsonw_put_number(w, "p99_ns", round(span->p99_ns), UNSAID);
	jsonw_put_number(w, "p999_ns", round(span->p999_ns), UNSAID);
	jsonw_put_number(w, "max_ns", round(span->max_ns), UNSAID);
	jsonw_put_text(w, "evidence", span->evidence);
	jsonw_end_object(w);
}

static void claims_json(struct jsonw *w, const struct spans_view *view)
{
	jsonw_open_array(w, "claims");
	for (uint32_t i = 0; i < view->claim_count; i++) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "name", view->claims[i].name);
		jsonw_put_text(w, "verdict", view->claims[i].verdict);
		jsonw_put_text(w, "evidence", view->claims[i].evidence);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void spans_json(struct jsonw *w, const struct spans_view *view)
{
	jsonw_put_missing(w, "samples", "the program logged sums, so there are no samples");
	jsonw_open_array(w, "events");
	jsonw_end_array(w);
	jsonw_put_text(w, "scenario", view->scenario);
	jsonw_put_text(w, "by", spans_by_word(view->by));
	jsonw_open_array(w, "spans");
	for (uint32_t i = 0; i < view->span_count; i++)
		span_json(w, &view->spans[i]);
	jsonw_end_array(w);
	claims_json(w, view);
	jsonw_open_array(w, "facts");
	for (uint32_t i = 0; i < view->fact_count; i++) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "name", view->facts[i].name);
		jsonw_put_text(w, "unit", view->facts[i].unit);
		jsonw_put_double(w, "value", view->facts[i].value);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}
