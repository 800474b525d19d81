/* record.c - "data" of `assay record --json`; docs/commands/record.md describes each member. */
#include "render/profile_json.h"

#include <math.h>

#include "analyze/record.h"

static void json_count(struct jsonw *w, const char *key, const struct record_count *count)
{
	if (count->known)
		jsonw_put_u64(w, key, count->value);
	else
		jsonw_put_missing(w, key, count->reason);
}

static void json_double(struct jsonw *w, const char *key, double value, const char *reason)
{
	if (isnan(value))
		jsonw_put_missing(w, key, reason);
	else
		jsonw_put_double(w, key, value);
}

static void json_overhead(struct jsonw *w, const struct record_view *view)
{
	jsonw_key(w, "overhead");
	jsonw_begin_object(w);
	json_count(w, "recorder_cpu_ns", &view->recorder_cpu_ns);
	json_count(w, "target_cpu_ns", &view->target_cpu_ns);
	json_double(w, "recorder_share", view->recorder_share, view->target_cpu_ns.reason);
	jsonw_put_missing(w, "target_slowdown_share",
		"what the sampling interrupts cost the program is part of its own CPU time; compare "
		"with `assay stat` of a run without recording");
	jsonw_end_object(w);
}

static void json_execution(struct jsonw *w, const struct record_view *view)
{
	jsonw_key(w, "execution");
	jsonw_begin_object(w);
	jsonw_put_u64(w, "wall_ns", view->wall_ns);
	jsonw_put_i64(w, "exit", view->exit_status);
	jsonw_put_i64(w, "signal", view->signal);
	jsonw_put_bool(w, "interrupted", view->interrupted);
	jsonw_put_bool(w, "leftovers", view->leftovers);
	jsonw_end_object(w);
}

void record_json(struct jsonw *w, const struct record_view *view)
{
	jsonw_put_text(w, "target", view->target);
	jsonw_put_text(w, "file", view->path);
	jsonw_put_u64(w, "bytes", view->bytes);
	jsonw_key(w, "events");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < view->event_count; i++)
		jsonw_text(w, view->events[i]);
	jsonw_end_array(w);
	json_count(w, "samples", &view->samples);
	json_count(w, "lost", &view->lost);
	json_double(w, "lost_share", view->lost_share, "no samples were taken");
	json_count(w, "lost_records", &view->lost_records);
	json_count(w, "throttled", &view->throttled);
	json_count(w, "truncated", &view->truncated);
	json_double(w, "truncated_share", view->truncated_share, "no samples were taken");
	json_count(w, "broken", &view->broken);
	json_count(w, "rate_hz", &view->rate_hz);
	json_count(w, "period", &view->period);
	json_double(w, "reached_hz", view->reached_hz, view->reached_reason);
	json_double(w, "sampled_share", view->sampled_share,
		"only cpu-clock and task-clock over a whole program tell");
	json_count(w, "stack_dump_bytes", &view->dump_bytes);
	json_count(w, "ring_bytes", &view->ring_bytes);
	json_overhead(w, view);
	if (view->executed)
		json_execution(w, view);
	jsonw_put_text(w, "next", view->next);
}
