/* job.c - see job.h. */
#include "render/job.h"

void plan_step_words(struct str *out, const struct plan_step *step)
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
		paper_add(paper, "The program runs longer than %s: it is observed and stopped.\n",
			run);
	else
		paper_add(paper, "One run takes %s.\n", run);
	paper_add(paper, "Plan: about %.0f s of %.0f s\n", page->expected_s, page->budget_s);
	table_columns(&table, "", ">", "");
	for (uint32_t i = 0; i < page->count; i++) {
		const struct plan_step *step = &page->steps[i];
		str_auto struct str words = {0};

		plan_step_words(&words, step);
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

void job_text(struct paper *paper, const struct job_view *view)
{
	paper_add(paper, "\n");
	paper_ink(paper, INK_DIM, "evidence: ");
	paper_add(paper,
		"%s (%s; report.md, report.json, queries.sql, flame.svg; output of the program in "
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
		str_addf(out, "%s has changed since it was written: %u of %u files",
			view->directory, view->faults, view->files);
		break;
	case JOB_CHECK_PARTIAL:
		if (view->is_running)
			str_addf(out,
				"%s is partial: process %lld is still writing it, or was killed",
				view->directory, (long long)view->pid);
		else
			str_addf(out, "%s is partial: its %u files are unchanged", view->directory,
				view->files);
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
