/* tune_job.h - what the actions of `assay tune` share: private to cli.
 *
 * A job joins the table of knobs (analyze) with the machine (drive) and carries what is shown.
 * Owns all of it, until tune_job_done(). */
#pragma once

#include "analyze/fingerprint.h"
#include "analyze/knob.h"
#include "cli.h"
#include "drive/tune.h"
#include "drive/tune_noise.h"
#include "drive/tune_snapshot.h"

struct tune_job {
	struct cli *cli;
	struct run *run; /* carries the warnings */
	struct knob_book book;
	vec_of(struct tune_knob) knobs;
	struct tune tune;
	struct knob_view view, reverted;
	vec_of(const char *) names; /* of knobs and groups, by --only and --yes=; none: all */
	bool private;		    /* only settings of the program itself were asked for */
	struct run *machine;	    /* plan: the fingerprint, for its noise */
	struct fingerprint_view fingerprint;
	struct tune_noise noise;
	struct tune_snapshot expected;
	struct arena arena;
};

/* Read the options that all actions have, and look where the journal is. */
int tune_job_open(struct tune_job *job, struct err *err);
void tune_job_done(struct tune_job *job);

/* Whether the words of the command ask for this knob. */
bool tune_job_asks(const struct tune_job *job, const struct knob *knob);

/* The items of drive as rows.  Without --only a plan shows all, marked; others show what was asked,
 * and what is changed or comes back is told whoever asked for it. */
void tune_job_take_rows(struct tune_job *job, struct knob_view *view, bool asked_only);

/* Add warnings about rows that did not go well. */
void tune_job_note_states(struct tune_job *job, const struct knob_view *view);

int tune_job_show(struct tune_job *job, struct err *err);

/* The command line as a shell would read it again, with `before` it and `after` the action. */
const char *tune_job_command(struct tune_job *job, const char *before, const char *after);

/* Fail: only root may change `path`; the hint is the same command with sudo. */
int tune_job_need_root(struct tune_job *job, const char *path, struct err *err);

/* Choose what was asked for and would change, and ask for a yes where none was given.  How many
 * changes were agreed to; 0: none is needed or none is wanted. */
int tune_job_agree(struct tune_job *job, bool *ret_declined, struct err *err);
