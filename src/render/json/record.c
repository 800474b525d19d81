/* record.c - "data" of `assay record --json`; docs/commands/record.md describes each member. */
#include "render/profile_json.h"

#include "analyze/record.h"

static void json_count(struct jsonw *w, const char *key, const struct record_count *count)
{
	jsonw_put_known(w, key, count->known, count->value, count->reason);
}

static void json_overhead(struct jsonw *w, const struct record_view *view)
{
	jsonw_open_object(w, "overhead");
	json_count(w, "recorder_cpu_ns", &view->recorder_cpu_ns);
	json_count(w, "target_cpu_ns", &view->target_cpu_ns);
	jsonw_put_number(w, "recorder_share", view->recorder_share, view->target_cpu_ns.reason);
	jsonw_put_missing(w, "target_slowdown_share",
		"the cost of the sampling interrupts is part of the program's CPU time; compare "
		"with `assay stat` of a run without recording");
	jsonw_end_object(w);
}

static void json_execution(struct jsonw *w, const struct record_view *view)
{
	jsonw_open_object(w, "execution");
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
	jsonw_put_texts(w, "events", view->events, view->event_count);
	jsonw_open_array(w, "each");
	for (uint32_t i = 0; i < view->event_count; i++)
		if (view->each[i])
			jsonw_text(w, view->events[i]);
	jsonw_end_array(w);
	json_count(w, "samples", &view->samples);
	json_count(w, "lost", &view->lost);
	jsonw_put_number(w, "lost_share", view->lost_share, "no samples were taken");
	json_count(w, "lost_records", &view->lost_records);
	json_count(w, "throttled", &view->throttled);
	json_count(w, "truncated", &view->truncated);
	jsonw_put_number(w, "truncated_share", view->truncated_share, "no samples were taken");
	json_count(w, "broken", &view->broken);
	json_count(w, "rate_hz", &view->rate_hz);
	json_count(w, "period", &view->period);
	jsonw_put_number(w, "reached_hz", view->reached_hz, view->reached_reason);
	jsonw_put_number(w, "sampled_share", view->sampled_share,
		"only cpu-clock and task-clock over a whole program measure it");
	json_count(w, "stack_dump_bytes", &view->dump_bytes);
	json_count(w, "ring_bytes", &view->ring_bytes);
	json_overhead(w, view);
	if (view->executed)
		json_execution(w, view);
	jsonw_put_text(w, "next", view->next);
}
