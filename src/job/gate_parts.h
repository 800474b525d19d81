/* gate_parts.h - what a gate holds against each other, and how it is measured. */
#pragma once

#include "job/gate.h"

/* Read preset, metrics, budgets and history. */
int gate_read_rules(struct gate_job *job, struct err *err);

/* Load one run, by the name of --save or by its path, and add it to the baselines.  1: it is
 * missing, which missing_ok allows. */
int gate_add_baseline(struct gate_job *job, const char *name, struct err *err);

/* Load or measure the candidate.  An enum bench_end or a negative errno. */
int gate_take_candidate(struct gate_job *job, struct err *err);

/* Measure the candidate once more and judge that.  The same. */
int gate_measure_again(struct gate_job *job, struct gate_view *ret_view, struct err *err);

/* Judge what was measured. */
int gate_judge(struct gate_job *job, const struct bench_view *view, struct gate_view *ret_view,
	struct err *err);

/* Compare the machines: of the candidate that was taken, or, before, of this one now. */
int gate_look_at_machines(struct gate_job *job, struct err *err);
