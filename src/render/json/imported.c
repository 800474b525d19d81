/* imported.c - "data" of `assay import --json`; docs/commands/import.md describes each member. */
#include "render/profile_json.h"

#include "analyze/bench.h"
#include "analyze/imported.h"
#include "render/compare_json.h"

static void event_json(struct jsonw *w, const struct imported_event *event)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "name", event->name);
	jsonw_put_text(w, "core", event->core);
	jsonw_put_text(w, "unit", event->unit);
	jsonw_put_u64(w, "samples", event->samples);
	jsonw_put_u64(w, "weight", event->weight);
	jsonw_put_known(w, "value", event->counted, event->count, "it was sampled, not counted");
	jsonw_end_object(w);
}

void imported_json(struct jsonw *w, const struct imported_view *view)
{
	jsonw_put_u64(w, "samples", view->samples);
	jsonw_open_array(w, "events");
	for (uint32_t i = 0; i < view->event_count; i++)
		event_json(w, &view->events[i]);
	jsonw_end_array(w);
	jsonw_open_object(w, "holds");
	jsonw_put_u64(w, "threads", view->threads);
	jsonw_put_u64(w, "modules", view->modules);
	jsonw_put_u64(w, "functions", view->functions);
	jsonw_put_u64(w, "stacks", view->stacks);
	jsonw_put_u64(w, "branches", view->branches);
	jsonw_put_u64(w, "accesses", view->accesses);
	jsonw_put_u64(w, "lost", view->lost);
	jsonw_put_u64(w, "truncated_stacks", view->truncated);
	jsonw_put_u64(w, "broken_stacks", view->broken);
	jsonw_put_u64(w, "span_ns", view->span_ns);
	jsonw_end_object(w);
}

void imported_runs_json(
	struct jsonw *w, const struct bench_view *view, const struct imported_view *all)
{
	jsonw_key(w, "events"); /* counters of Google Benchmark */
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < all->event_count; i++) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "name", all->events[i].name);
		jsonw_put_text(w, "unit", all->events[i].unit);
		jsonw_put_missing(w, "value", "each run has its own: see `counts` in the run file");
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_put_bool(w, "blocked_order", view->blocked);
	bench_json(w, view);
}
