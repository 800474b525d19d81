/* job.h - the main job around its answer: plan, phases, check.  Computes nothing. */
#pragma once

#include "analyze/bench.h"
#include "analyze/job.h"
#include "analyze/plan.h"
#include "render/paper.h"

/* What is shown before the phases begin. */
struct plan_page {
	const struct plan_step *steps;
	uint32_t count;
	double run_s, budget_s, spent_s, expected_s; /* expected: with what is spent already */
	bool endless;
};

void plan_text(struct paper *paper, const struct plan_page *page);

/* What did not go as planned, and where everything lies; a line each. */
void job_text(struct paper *paper, const struct job_view *view);
void job_agent(struct paper *paper, const struct job_view *view);

void job_check_text(struct paper *paper, const struct job_check_view *view);
void job_check_agent(struct paper *paper, const struct job_check_view *view);

void plan_step_words(struct str *out, const struct plan_step *step);
