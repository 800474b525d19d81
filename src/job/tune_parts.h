/* tune_parts.h - what the actions of tune share. */
#pragma once

#include "job/tune.h"

/* Read names and list of processors, and look where the journal is. */
int tune_prepare(struct tune_job *job, struct err *err);

/* Whether the options ask for this knob. */
bool tune_asks(const struct tune_job *job, const struct knob *knob);

/* Add warnings about rows that did not go well. */
void tune_note_states(struct tune_job *job, const struct knob_view *view);

/* Fail: only root may change `path`; the hint is the same command with sudo. */
int tune_need_root(struct tune_job *job, const char *path, struct err *err);

/* Choose what was asked for and would change, and ask for a yes where none was given.  How many
 * changes were agreed to; 0: none is needed or none is wanted. */
int tune_agree(struct tune_job *job, bool *ret_declined, struct err *err);
