/* job.c - see job.h. */
#include "render/job.h"

#include <math.h>

#include "render/markdown.h"
#include "render/round.h"

static void step_words(struct str *out, const struct plan_step *step)
{
	if (step->runs > 1)
		str_addf(out, "%u whole runs", step->runs);
	else if (step->share_ns && !step->runs)
		str_add(out, "experiments");
	else if (step->runs)
		str_add(out, step->watches ? "a part of a run" : "one run");
}

void plan_text(struct paper *paper, const struct plan_page *page)
{
	table_auto struct table table = {0};
	char run[32];

	paper_time(run, sizeof(run), 1e9 * page->run_s);
	if (page->endless)
		paper_add(paper, "The program runs longer than %s: it is watched and stopped.\n",
			run);
	else
		paper_add(paper, "One run takes %s.\n", run);
	paper_add(paper, "Plan: about %.0f s of %.0f s\n", page->expected_s, page->budget_s);
	table_column(&table, "", false);
	table_column(&table, "", true);
	table_column(&table, "", false);
	for (uint32_t i = 0; i < page->count; i++) {
		const struct plan_step *step = &page->steps[i];
		str_auto struct str words = {0};

		step_words(&words, step);
		table_cell(&table, INK_PLAIN, "%s", step->phase);
		if (step->skipped) {
			table_cell(&table, INK_DIM, "-");
			table_cell(&table, INK_DIM, "not done: %s", step->reason);
		} else {
			table_cell(&table, INK_PLAIN, "%.1f s", (double)step->expected_ns / 1e9);
			table_cell(&table, INK_DIM, "%s", str_text(&words));
		}
	}
	table_print(&table, paper, 2);
}

/* As every time of ours in whole nanoseconds, and in the seconds of MANIFEST.json. */
static void put_seconds(
	struct jsonw *w, const char *key_ns, const char *key_s, double seconds, const char *reason)
{
	if (isfinite(seconds)) {
		jsonw_put_u64(w, key_ns, (uint64_t)llround(1e9 * seconds));
		jsonw_put_double(w, key_s, seconds);
	} else {
		jsonw_put_missing(w, key_ns, reason);
		jsonw_put_missing(w, key_s, reason);
	}
}

void plan_json(struct jsonw *w, const struct plan_page *page)
{
	jsonw_key(w, "plan");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < page->count; i++) {
		const struct plan_step *step = &page->steps[i];
		str_auto struct str words = {0};

		step_words(&words, step);
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
	jsonw_key(w, "phases");
	jsonw_begin_array(w);
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
	put_seconds(
		w, "planned_ns", "planned_seconds", view->planned_s, "it ended before the plan");
	put_seconds(w, "wall_ns", "seconds", view->seconds, "it did not end");
	phases_json(w, view->phases, view->phase_count);
	jsonw_key(w, "artifacts");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < view->file_count; i++) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "path", view->files[i].path);
		jsonw_put_u64(w, "bytes", view->files[i].bytes);
		jsonw_put_text(w, "sha256", view->files[i].sha256);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	if (view->round) {
		jsonw_key(w, "round");
		jsonw_begin_object(w);
		round_json(w, view->round);
		jsonw_end_object(w);
	} else {
		jsonw_put_missing(w, "round", "not compared with a run before: --against latest");
	}
}

void job_text(struct paper *paper, const struct job_view *view)
{
	paper_add(paper, "\n");
	paper_ink(paper, INK_DIM, "evidence: ");
	paper_add(paper,
		"%s (%s; report.md, report.json, flame.svg; output of the program in "
		"golden/stdout)\n",
		view->directory, view->state);
}

void job_agent(struct paper *paper, const struct job_view *view)
{
	paper_add(paper, "evidence: %s (%s)\n", view->directory, view->state);
}

static void check_sentence(struct str *out, const struct job_check_view *view)
{
	switch (view->result) {
	case JOB_CHECK_WHOLE:
		str_addf(out, "%s is complete and unchanged: %u files", view->directory,
			view->files);
		break;
	case JOB_CHECK_CHANGED:
		str_addf(out, "%s is not as it was made: %u of %u files", view->directory,
			view->faults, view->files);
		break;
	case JOB_CHECK_PARTIAL:
		if (view->is_running)
			str_addf(out,
				"%s is partial: process %lld, which made it, still runs or was "
				"killed",
				view->directory, (long long)view->pid);
		else
			str_addf(out, "%s is partial: what is there is unchanged (%u files)",
				view->directory, view->files);
		break;
	}
}

static void check_findings(struct paper *paper, const struct job_check_view *view, uint32_t most)
{
	for (uint32_t i = 0; i < view->finding_count && i < most; i++) {
		const struct job_finding *finding = &view->findings[i];

		paper_add(paper, "  %-10s  %s%s%s\n", finding->fault, finding->path,
			*finding->detail ? ": " : "", finding->detail);
	}
	if (view->finding_count > most)
		paper_add(paper, "  and %u more\n", view->finding_count - most);
}

void job_check_text(struct paper *paper, const struct job_check_view *view)
{
	static const enum ink inks[] = {INK_GOOD, INK_BAD, INK_WARN};
	str_auto struct str sentence = {0};

	check_sentence(&sentence, view);
	paper_ink(paper, inks[view->result], "%s\n", sentence.at);
	check_findings(paper, view, UINT32_MAX);
	if (view->result != JOB_CHECK_PARTIAL)
		return;
	for (uint32_t i = 0; i < view->phase_count; i++)
		paper_add(paper, "  %-10s  %s%s%s\n", view->phases[i].phase,
			view->phases[i].outcome, *view->phases[i].reason ? ": " : "",
			view->phases[i].reason);
}

void job_check_agent(struct paper *paper, const struct job_check_view *view)
{
	str_auto struct str sentence = {0};

	check_sentence(&sentence, view);
	paper_add(paper, "%s\n", sentence.at);
	check_findings(paper, view, 30);
	paper_add(paper, "next: assay run --against %s -- %s\n", view->directory, view->target);
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
	jsonw_key(w, "findings");
	jsonw_begin_array(w);
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
