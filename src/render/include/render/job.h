/* job.h - the main job around its answer: plan, phases, check, and the small files of the
 * directory. Computes nothing. */
#pragma once

#include "analyze/bench.h"
#include "analyze/job.h"
#include "analyze/plan.h"
#include "base/jsonw.h"
#include "render/paper.h"

/* What is shown before the phases begin. */
struct plan_page {
	const struct plan_step *steps;
	uint32_t count;
	double run_s, budget_s, spent_s, expected_s; /* expected: with what is spent already */
	bool endless;
};

void plan_text(struct paper *paper, const struct plan_page *page);
void plan_json(struct jsonw *w, const struct plan_page *page); /* the member "plan" */

/* The members "run", "directory", "state", "phases", "artifacts" and "round" of "data". */
void job_json(struct jsonw *w, const struct job_view *view);

/* What did not go as planned, and where everything lies; a line each. */
void job_text(struct paper *paper, const struct job_view *view);
void job_agent(struct paper *paper, const struct job_view *view);

void job_check_text(struct paper *paper, const struct job_check_view *view);
void job_check_agent(struct paper *paper, const struct job_check_view *view);
void job_check_json(struct jsonw *w, const struct job_check_view *view);

/* DEFINE.md: what was asked. */
struct define_page {
	const char *target, *folder, *run_id, *input, *golden, *against;
	double budget_s;
};
void define_markdown(struct str *out, const struct define_page *page);

/* BASELINE.md; `reason`: why there is none, with `view` NULL. */
struct baseline_page {
	const struct bench_view *view;
	const char *command, *reason, *fix, *fingerprint, *output_sha256;
};
void baseline_markdown(struct str *out, const struct baseline_page *page);
