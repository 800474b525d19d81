/* scale.h - one command over many sizes, or thread counts, and the law that its time follows.
 *
 * Owns: all that it measured and made of it, until scale_job_done(). */
#pragma once

#include "analyze/scale.h"
#include "job/bench.h"

/* Zero: the default. */
struct scale_job_options {
	struct bench_job_options bench; /* one command; {n} and {t} in it are the size */
	const char *sizes, *threads;	/* one of the two: a list, "auto" for threads too */
	const char *const *variables;	/* that hold the size too; NULL-terminated */
	const char *expect;		/* a law */
	const char *metric;		/* "wall" or "cpu" */
};

struct scale_job {
	struct scale_job_options options;
	struct bench_job bench;
	struct scale_sizes sizes;
	struct scale_options how; /* as analyze wants it */
	const char *title;	  /* the command as typed */
	struct scale_view view;
	bool has_view; /* something was measured, even if it failed in the end */
};

void scale_job_open(struct scale_job *job, const struct scale_job_options *options,
	const struct job_host *host);
void scale_job_done(struct scale_job *job);

/* Choose sizes, commands and counts; runs nothing. */
int scale_job_plan(struct scale_job *job, struct err *err);

/* Plan, run, and make the view.  An enum bench_end or a negative errno. */
int scale_job_measure(struct scale_job *job, struct err *err);
