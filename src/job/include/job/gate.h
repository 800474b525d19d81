/* gate.h - a candidate against baselines and budgets, or baselines among themselves.
 *
 * First the machines, then the commands again, then the judgement; what is not comparable is
 * refused before anything runs.
 * Owns: everything it loaded or measured, until gate_job_done(). */
#pragma once

#include "analyze/gate.h"
#include "job/bench.h"
#include "model/history.h"
#include "render/gate.h"

/* Zero: the default. */
struct gate_job_options {
	struct bench_job_options bench; /* commands; none: those of the first baseline */
	const char *const *baselines;	/* names or paths; NULL-terminated */
	const char *candidate;		/* a stored run; NULL: measured now */
	const char *budgets, *preset, *fail_on, *metrics, *only;
	double min_effect;
	uint32_t confirm; /* measure a failure up to so many times again */
	uint32_t blocks;  /* of an envelope of one run */
	bool allow_mismatch, missing_ok;
	bool envelope; /* the texts are baselines to be held against each other */
};

struct gate_job {
	struct gate_job_options options;
	const struct job_host *host;
	struct arena arena;
	struct run *page_run;			 /* notes and fingerprint key of what is shown */
	vec_of(struct run *) runs;		 /* the baselines */
	vec_of(const struct bench_view *) views; /* of each */
	vec_of(const char *) names;		 /* as the user calls them */
	struct budget_book budgets;
	struct history history;
	struct gate_preset preset;
	bool judges[GATE_METRICS];
	struct bench_job bench; /* when it is measured now; without a run: it was not */
	struct run *loaded;	/* when it comes from a file */
	struct run *here;	/* the machine before anything ran: `machines` borrows from it */
	struct bench_view candidate;
	struct gate_comparability machines;
	struct gate_view view;
	struct envelope_view envelope;
	struct gate_page page; /* but for the command line */
};

void gate_job_open(
	struct gate_job *job, const struct gate_job_options *options, const struct job_host *host);
void gate_job_done(struct gate_job *job);

/* Take what is needed and judge it.  An enum bench_end or a negative errno; the verdict is
 * view.verdict. */
int gate_job_judge(struct gate_job *job, struct err *err);
