/* job.c - the main job around its answer, for programs: plan, phases, check. */
#include "render/answer_json.h"

#include <math.h>

#include "analyze/round.h"
#include "render/job.h"

/* As every time of ours in whole nanoseconds, and in the seconds of MANIFEST.json. */
static void put_seconds(
	struct jsonw *w, const char *key_ns, const char *key_s, double seconds, const char *reason)
{
	jsonw_put_number(w, key_ns, round(1e9 * seconds), reason);
	jsonw_put_number(w, key_s, seconds, reason);
}

void plan_json(struct jsonw *w, const struct plan_page *page)
{
	jsonw_open_array(w, "plan");
	for (uint32_t i = 0; i < page->count; i++) {
		const struct plan_step *step = &page->steps[i];
		str_auto struct str words = {0};

		plan_step_words(&words, step);
		jsonw_begin_object(w);
		jsonw_put_text(w, "phase", step->phase);
		put_seconds(w, "expected_ns", "seconds",
			step->skipped ? (double)NAN : (double)step->expected_ns / 1e9,
			step->reason);
		jsonw_put_text(w, "reason", step->skipped ? step->reason : str_text(&words));
		jsonw_put_text(w, "fix", step->fix);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void phases_json(struct jsonw *w, const struct job_phase *phases, uint32_t count)
{
	jsonw_open_array(w, "phases");
	for (uint32_t i = 0; i < count; i++) {
		const struct job_phase *phase = &phases[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "phase", phase->phase);
		jsonw_put_text(w, "outcome", phase->outcome);
		jsonw_put_text(w, "command", phase->command);
		jsonw_put_text(w, "file", phase->file);
		if (phase->status >= 0)
			jsonw_put_i64(w, "status", phase->status);
		else
			jsonw_put_missing(w, "status", "it was not started");
		put_seconds(
			w, "planned_ns", "planned_seconds", phase->planned_s, "it was not planned");
		put_seconds(w, "wall_ns", "seconds", phase->seconds, "it was not started");
		jsonw_put_text(w, "reason", phase->reason);
		jsonw_put_text(w, "fix", phase->fix);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void job_json(struct jsonw *w, const struct job_view *view)
{
	jsonw_put_text(w, "run", view->run_id);
	jsonw_put_text(w, "directory", view->directory);
	jsonw_put_text(w, "state", view->state);
	jsonw_put_text(w, "target", view->target);
	put_seconds(w, "budget_ns", "budget_seconds", view->budget_s, "");
	put_seconds(w, "planned_ns", "planned_seconds", view->planned_s,
		"it ended before the plan was made");
	put_seconds(w, "wall_ns", "seconds", view->seconds, "it did not end");
	phases_json(w, view->phases, view->phase_count);
	jsonw_open_array(w, "artifacts");
	for (uint32_t i = 0; i < view->file_count; i++) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "path", view->files[i].path);
		jsonw_put_u64(w, "bytes", view->files[i].bytes);
		jsonw_put_text(w, "sha256", view->files[i].sha256);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	if (view->round) {
		jsonw_open_object(w, "round");
		round_json(w, view->round);
		jsonw_end_object(w);
	} else {
		jsonw_put_missing(w, "round", "not compared with an earlier run: --against latest");
	}
}

void job_check_json(struct jsonw *w, const struct job_check_view *view)
{
	static const char *const words[] = {"whole", "changed", "partial"};

	jsonw_put_text(w, "check", words[view->result]);
	jsonw_put_text(w, "run", view->run_id);
	jsonw_put_text(w, "directory", view->directory);
	jsonw_put_text(w, "state", view->state);
	jsonw_put_text(w, "target", view->target);
	jsonw_put_u64(w, "files", view->files);
	jsonw_put_u64(w, "faults", view->faults);
	jsonw_open_array(w, "findings");
	for (uint32_t i = 0; i < view->finding_count; i++) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "fault", view->findings[i].fault);
		jsonw_put_text(w, "path", view->findings[i].path);
		jsonw_put_text(w, "detail", view->findings[i].detail);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	phases_json(w, view->phases, view->phase_count);
}
