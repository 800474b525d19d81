/* tune.c - "data" of `assay tune --json`; docs/commands/tune.md describes each member. */
#include "render/machine_json.h"

#include "analyze/knob.h"

static void row_json(struct jsonw *w, const struct knob_row *row)
{
	const struct knob *knob = row->knob;
	const char *unread = row->reason ? row->reason : "it could not be read";

	jsonw_begin_object(w);
	jsonw_put_text_or(w, "knob", knob ? knob->name : NULL, "this version does not know it");
	jsonw_put_text_or(w, "group", knob ? knob->group : NULL, "this version does not know it");
	jsonw_put_text(w, "path", row->path);
	jsonw_put_text(w, "state", row->state);
	jsonw_put_text(w, "reason", row->reason);
	jsonw_put_text_or(w, "now", row->now, unread);
	jsonw_put_text_or(w, "wanted", row->want, unread);
	jsonw_put_text_or(w, "old", row->old, "nothing was written");
	jsonw_put_bool(w, "optional", row->optional);
	jsonw_put_text_or(w, "by", row->by,
		"nothing was written, or the journal does not say who approved it");
	jsonw_put_count(w, "time_ns", row->time_ns, "nothing was written");
	if (knob) {
		jsonw_put_text(w, "why", knob->why);
		jsonw_put_text(w, "risk", knob->risk);
	}
	jsonw_end_object(w);
}

static void rows_json(struct jsonw *w, const char *key, const struct knob_view *view)
{
	jsonw_open_array(w, key);
	vec_foreach (const struct knob_row, row, &view->rows)
		row_json(w, row);
	jsonw_end_array(w);
}

static void snapshot_json(struct jsonw *w, const struct knob_view *view)
{
	jsonw_open_array(w, "snapshot");
	vec_foreach (const struct knob_row, row, &view->rows) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "knob", row->knob->name);
		jsonw_put_text(w, "path", row->path);
		jsonw_put_text_or(w, "value", row->now, row->reason ? row->reason : "not readable");
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void noise_json(struct jsonw *w, const struct knob_view *view)
{
	static const char unwatched[] = "the processes were not observed";
	bool watched = view->busy_seconds > 0;

	jsonw_open_array(w, "noise");
	vec_foreach (const struct knob_noise, noise, &view->noise) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "name", noise->name);
		jsonw_put_text(w, "value", noise->value);
		jsonw_put_bool(w, "loud", noise->loud);
		jsonw_put_text(w, "why", noise->why);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_open_array(w, "busy");
	vec_foreach (const struct knob_busy, busy, &view->busy) {
		jsonw_begin_object(w);
		jsonw_put_u64(w, "pid", busy->pid);
		jsonw_put_text(w, "name", busy->name);
		jsonw_put_double(w, "cpus", busy->cpus);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_put_known(w, "busy_ns", watched, (uint64_t)(1e9 * view->busy_seconds), unwatched);
	jsonw_put_known_number(w, "busy_seconds", watched, view->busy_seconds, unwatched);
}

static void process_json(struct jsonw *w, const struct knob_process *process)
{
	jsonw_open_object(w, "process");
	jsonw_put_text_or(w, "cpus", process->cpus, "not requested");
	jsonw_put_bool(w, "no_aslr", process->no_aslr);
	jsonw_put_bool(w, "fifo", process->fifo);
	jsonw_put_bool(w, "awake", process->awake);
	jsonw_end_object(w);
}

void tune_json(struct jsonw *w, const struct knob_view *view)
{
	jsonw_put_text(w, "action", view->action);
	jsonw_put_text(w, "journal", view->journal);
	jsonw_put_u64(w, "void_changes", view->void_changes);
	jsonw_put_text_or(w, "journal_id", view->journal_id,
		str_equal(view->action, "status") ? "no setting is changed now"
						  : "see `assay tune status`");
	rows_json(w, "rows", view);
	if (view->snapshot)
		snapshot_json(w, view);
	if (str_equal(view->action, "plan"))
		noise_json(w, view);
	if (view->reverted)
		rows_json(w, "reverted", view->reverted);
	if (!str_equal(view->action, "run"))
		return;
	process_json(w, &view->process);
	jsonw_open_object(w, "target");
	if (view->ran) {
		jsonw_put_i64(w, "exit", view->exit_status);
		jsonw_put_i64(w, "signal", view->signal);
	} else {
		jsonw_put_missing(w, "exit", "it was not started");
	}
	jsonw_end_object(w);
}
