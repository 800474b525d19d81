/* tune.h - what the actions of `assay tune` do: the table of knobs (analyze) joined with the
 * machine (drive), and what is shown of it.
 *
 * Nothing is written before every chosen group has its yes.
 * Owns: all of it, until tune_job_done(). */
#pragma once

#include "analyze/fingerprint.h"
#include "analyze/knob.h"
#include "drive/tune.h"
#include "drive/tune_noise.h"
#include "drive/tune_process.h"
#include "drive/tune_snapshot.h"
#include "job/host.h"

struct tune_job;

/* Zero: the default. */
struct tune_job_options {
	const char *action; /* plan, apply, run, revert, status; a word of host.argv */
	const char *const *only, *const *yes; /* names with commas; NULL-terminated */
	bool has_yes;			      /* agreed to what is asked for, without questions */
	/* One question: may so many settings of the group change?  NULL: nobody can be asked. */
	bool (*ask)(void *context, struct tune_job *job, const char *group, uint32_t count);
	void *context;
	char *const *program;		     /* of run */
	struct tune_process_options process; /* what it has for itself */
	bool no_noise;			     /* plan: of the knobs alone */
	bool snapshot;			     /* status: every knob as it is */
	const char *expect;		     /* status: a snapshot to compare with */
	const char *root;		     /* another tree of /sys and /proc, for tests */
};

struct tune_job {
	struct tune_job_options options;
	const struct job_host *host;
	struct run *run; /* carries the warnings */
	struct knob_book book;
	vec_of(struct tune_knob) knobs;
	struct tune tune;
	struct knob_view view, reverted;
	vec_of(const char *) names; /* of knobs and groups, by `only` and `yes`; none: all */
	struct run *machine;	    /* plan: the fingerprint, for its noise */
	struct fingerprint_view fingerprint;
	struct tune_noise noise;
	struct tune_snapshot expected;
	struct arena arena;
	bool has_view; /* there is something to show, even if it failed in the end */
};

enum tune_result {
	TUNE_JOB_DONE,
	TUNE_JOB_DIFFERS, /* from the snapshot */
	TUNE_JOB_PROGRAM, /* it failed */
	TUNE_JOB_PARTLY,  /* a setting could not be changed or brought back */
	TUNE_JOB_STOPPED, /* by the user, while the program ran */
};

void tune_job_open(
	struct tune_job *job, const struct tune_job_options *options, const struct job_host *host);
void tune_job_done(struct tune_job *job);

/* Do what the action says.  An enum tune_result or a negative errno. */
int tune_job_act(struct tune_job *job, struct err *err);

/* The items of drive as rows.  Without names a plan shows all, marked; others show what was asked,
 * and what is changed or comes back is told whoever asked for it. */
void tune_job_take_rows(struct tune_job *job, struct knob_view *view, bool asked_only);
