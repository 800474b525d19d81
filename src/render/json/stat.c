/* stat.c - "data" of `assay stat --json`; docs/commands/stat.md describes each member. */
#include "render/cpu_json.h"

#include "analyze/stat.h"
#include "parts.h"

static void events_json(struct jsonw *w, const struct stat_view *view)
{
	jsonw_open_array(w, "events");
	for (uint32_t i = 0; i < view->event_count; i++) {
		const struct stat_event *event = &view->events[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "name", event->name);
		jsonw_put_known_number(w, "value", event->known, event->value, event->reason);
		jsonw_put_text(w, "unit", *event->unit ? event->unit : "count");
		jsonw_put_u64(w, "enabled_ns", event->enabled_ns);
		jsonw_put_u64(w, "running_ns", event->running_ns);
		jsonw_put_bool(w, "scaled", event->scaled);
		jsonw_put_bool(w, "simulated", event->simulated);
		jsonw_put_number(w, "running_share", event->running_share,
			event->simulated ? "it was simulated"
			: event->known	 ? "the task never ran"
					 : event->reason);
		jsonw_put_number(w, "spread_share", event->spread,
			"it needs at least 3 runs and a median above 0");
		jsonw_put_text(w, "status", event->status);
		jsonw_put_text(w, "reason", event->known ? NULL : event->reason);
		if (event->group)
			jsonw_put_u64(w, "group", event->group);
		if (*event->core)
			jsonw_put_text(w, "core", event->core);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void usage_json(struct jsonw *w, const struct stat_execution *e)
{
	static const char *const keys[] = {"cpu_ns", "user_ns", "system_ns", "max_rss_bytes",
		"max_rss_floor_bytes", "minor_faults", "major_faults", "voluntary_switches",
		"involuntary_switches"};
	const uint64_t values[] = {e->user_ns + e->system_ns, e->user_ns, e->system_ns,
		e->max_rss_bytes, e->rss_floor_bytes, e->minor_faults, e->major_faults,
		e->voluntary_switches, e->involuntary_switches};

	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (e->has_usage)
			jsonw_put_u64(w, keys[i], values[i]);
		else
			jsonw_put_missing(w, keys[i], "known only for programs that assay starts");
}

static void runs_json(struct jsonw *w, const struct stat_view *view)
{
	jsonw_open_array(w, "runs");
	for (uint32_t i = 0; i < view->execution_count; i++) {
		const struct stat_execution *e = &view->executions[i];

		jsonw_begin_object(w);
		jsonw_put_u64(w, "run", e->number);
		if (view->simulated) {
			jsonw_put_missing(w, "wall_ns", "it was simulated, not timed");
			jsonw_put_u64(w, "simulation_ns", e->wall_ns);
		} else {
			jsonw_put_u64(w, "wall_ns", e->wall_ns);
		}
		usage_json(w, e);
		jsonw_put_i64(w, "exit", e->exit_status);
		jsonw_put_i64(w, "signal", e->signal);
		jsonw_put_bool(w, "interrupted", e->interrupted);
		jsonw_put_bool(w, "timed_out", e->timed_out);
		jsonw_put_bool(w, "leftovers", e->leftovers);
		jsonw_open_array(
			w, "events"); /* in the order of data.events, null: see its reason */
		for (uint32_t k = 0; k < view->event_count; k++)
			jsonw_double(w, view->events[k].each[i]);
		jsonw_end_array(w);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void intervals_json(struct jsonw *w, const struct stat_view *view)
{
	jsonw_open_array(w, "intervals");
	for (uint32_t i = 0; i < view->interval_count; i++) {
		const struct stat_interval *interval = &view->intervals[i];

		jsonw_begin_object(w);
		jsonw_put_u64(w, "run", interval->execution);
		jsonw_put_u64(w, "at_ns", interval->at_ns);
		jsonw_open_array(w, "events");
		for (uint32_t k = 0; k < view->event_count; k++)
			jsonw_double(w, interval->values[k]);
		jsonw_end_array(w);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void summary_json(struct jsonw *w, const struct stat_view *view)
{
	const char *none = view->execution_count ? "known only for programs that assay starts"
						 : "there was no execution";
	bool known = view->has_usage;

	jsonw_open_object(w, "summary");
	jsonw_put_u64(w, "runs_used", view->used_count);
	if (view->simulated)
		jsonw_put_missing(w, "wall_ns", "it was simulated, not timed");
	else
		jsonw_put_number(w, "wall_ns", view->wall_ns, none);
	jsonw_put_known_number(w, "cpu_ns", known, view->cpu_ns, none);
	jsonw_put_known_number(w, "max_rss_bytes", known, view->max_rss_bytes, none);
	jsonw_put_known_number(w, "minor_faults", known, view->minor_faults, none);
	jsonw_put_known_number(w, "major_faults", known, view->major_faults, none);
	jsonw_put_known_number(w, "voluntary_switches", known, view->voluntary_switches, none);
	jsonw_put_known_number(w, "involuntary_switches", known, view->involuntary_switches, none);
	jsonw_end_object(w);
}

void stat_json_counts(struct jsonw *w, const struct stat_view *view)
{
	events_json(w, view);
	metric_results_json(w, view->metrics, view->metric_count, view->simulated);
	intervals_json(w, view);
}

static void facts_json(struct jsonw *w, const struct stat_view *view)
{
	jsonw_open_array(w, "facts");
	for (uint32_t i = 0; i < view->fact_count; i++) {
		const struct stat_fact *fact = &view->facts[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "name", fact->name);
		jsonw_put_known_number(w, "value", !*fact->reason, fact->value, fact->reason);
		jsonw_put_text(w, "unit", fact->unit);
		jsonw_put_text(w, "witness", fact->witness);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void stat_json(struct jsonw *w, const struct stat_view *view)
{
	jsonw_put_text(w, "target", view->target);
	jsonw_put_text(w, "engine", view->simulated ? "sim" : "pmu");
	stat_json_counts(w, view);
	summary_json(w, view);
	runs_json(w, view);
	facts_json(w, view);
	jsonw_put_text(w, "next", view->next);
}
