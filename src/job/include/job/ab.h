/* ab.h - A and B in turns until the pairs tell: two programs, or two revisions of a repository.
 *
 * Looks for a change up to six times while the pairs grow, first after ten pairs, or after ten
 * seconds where these are fewer, and asks after each ten whether more of them would tell anything
 * new.
 * Owns: the runs, the two checkouts and all that was made of them, until ab_job_done(). */
#pragma once

#include "job/bench.h"
#include "render/ab.h"

#define AB_TOLD "few-pairs" /* the note that the host was told before the runs */

enum ab_wish { AB_WHERE_USEFUL, AB_YES, AB_NO };

/* Zero: the default. */
struct ab_job_options {
	/* Texts are the words of A, the program those of B; counts.exact are pairs. */
	struct bench_job_options bench;
	double min_effect;	  /* 0: 1 % */
	const char *run, *build;  /* A and B are revisions, and this is run there */
	enum ab_wish same_output; /* where useful: of revisions */
	enum ab_wish events;	  /* where useful: with a PMU, of a change */
	const char *const *after; /* runs of earlier changes; NULL-terminated */
};

struct ab_job {
	struct ab_job_options options;
	struct bench_job job;
	struct revisions *revisions; /* NULL: two programs */
	struct compare_rule rule;
	unsigned looks;		  /* planned: 1 when the number of pairs was given */
	struct compare_plan plan; /* of the looks; known at the first of them */
	bool has_plan;
	struct ab_view view;	 /* of all pairs */
	struct run *counted[2];	 /* NULL: no events were counted */
	struct ab_view *earlier; /* one per step before */
	uint32_t earlier_count;
	vec_of(struct run *) earlier_runs;
	struct ab_page page;  /* .view is NULL until something was measured */
	struct str build_log; /* the end of what a build that failed printed */
};

void ab_job_open(
	struct ab_job *ab, const struct ab_job_options *options, const struct job_host *host);
void ab_job_done(struct ab_job *ab);

/* Add both sides, run them, judge and explain.  An enum bench_end or a negative errno. */
int ab_job_measure(struct ab_job *ab, struct err *err);
