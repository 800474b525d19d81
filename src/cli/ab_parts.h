/* ab_parts.h - the steps of `assay ab`: its two sides, the look before the first run, the counters
 * after the last one.
 *
 * Owns: the job, the two checkouts and the counted runs, until ab_job_done(). */
#pragma once

#include "bench_options.h"
#include "drive/revisions.h"
#include "render/ab.h"

struct ab_job {
	struct cli *cli;
	struct bench_job job;
	struct revisions *revisions; /* NULL: two programs */
	struct compare_rule rule;
	struct compare_plan plan; /* of the looks; known after the first ten pairs */
	bool has_plan;
	struct bench_job_options options;
	struct ab_view view;	 /* of all pairs */
	struct run *counted[2];	 /* NULL: no events were counted */
	struct ab_view *earlier; /* one per --after */
	uint32_t earlier_count;
	vec_of(struct run *) earlier_runs;
	struct ab_page page;
};

/* A and B: the words of two programs, or two revisions with --run. */
int ab_sides_add(struct ab_job *ab, struct err *err);

/* The changes before this one (--after): read before anything is measured, multiplied at the end.
 */
int ab_steps_load(struct ab_job *ab, struct err *err);
void ab_steps_multiply(struct ab_job *ab, const struct ab_view *view);

/* Before the first run: are the builds alike, do A and B print the same? */
int ab_check(struct ab_job *ab, struct err *err);

/* After the last one: the explanation of a change, with counted events where asked for or where
 * there is a PMU. */
int ab_explain_change(struct ab_job *ab, const struct ab_view *view, struct err *err);
