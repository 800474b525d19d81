/* bench_parts.h - the parts of bench_view_make() that have files of their own. */
#pragma once

#include "analyze/bench.h"
#include "base/arena.h"
#include "base/err.h"

struct run;

/* Fill in what stands beside the runs.  The commands are there already. */
void bench_facts_find(const struct run *run, struct arena *arena, struct bench_view *view);

/* What disturbed a run, a sum of enum bench_noise. */
unsigned bench_noise_of(const struct bench_run *run);

/* Count the disturbed runs, and sum up the others.  `values` has room for all runs. */
int bench_noise_find(struct bench_command *command, double *values, struct err *err);

/* Fill in the corrected wall time, or why there is none.  `values` has room for all runs. */
int bench_queue_find(struct bench_command *command, double *values, struct err *err);
