/* gate_job.h - what `assay gate` works on: baselines, candidate, budgets, history.
 *
 * Owns: everything it loaded or measured, until gate_job_done(). */
#pragma once

#include "analyze/gate.h"
#include "base/arena.h"
#include "bench_options.h"
#include "model/history.h"

struct gate_job {
	struct cli *cli;
	struct arena arena;
	struct run *page_run;			 /* notes and fingerprint key of what is shown */
	vec_of(struct run *) runs;		 /* the baselines */
	vec_of(const struct bench_view *) views; /* of each */
	vec_of(const char *) names;		 /* as the user calls them */
	struct budget_book budgets;
	struct history history;
	struct gate_preset preset;
	double min_effect;
	bool judges[GATE_METRICS];
	struct bench_job_options options;
	struct bench_job bench; /* when it is measured now */
	struct run *loaded;	/* when it comes from a file */
	struct run *here;	/* the machine before anything ran: `machines` borrows from it */
	struct bench_view candidate;
	struct gate_comparability machines;
	int end; /* enum bench_end */
};

void gate_job_open(struct gate_job *job, struct cli *cli);
void gate_job_done(struct gate_job *job);

/* Read preset, metrics, budgets and history. */
int gate_job_read_rules(struct gate_job *job, struct err *err);

/* Load one run, by the name of --save or by its path, and add it to the baselines.  1: it is
 * missing, which --missing-ok allows. */
int gate_job_add_baseline(struct gate_job *job, const char *name, struct err *err);

/* Whether anything is to be run, rather than loaded. */
bool gate_job_measures(const struct gate_job *job);

/* Load or measure the candidate. */
int gate_job_take_candidate(struct gate_job *job, struct err *err);

/* Compare the machines: of the candidate that was taken, or, before, of this one now. */
int gate_job_compare_machines(struct gate_job *job, struct err *err);

/* Judge what was taken; `view` NULL: the candidate. */
int gate_job_judge(struct gate_job *job, const struct bench_view *view, struct gate_view *ret_view,
	struct err *err);

/* Measure the candidate once more and judge that.  An enum bench_end or a negative errno. */
int gate_job_measure_again(struct gate_job *job, struct gate_view *ret_view, struct err *err);
