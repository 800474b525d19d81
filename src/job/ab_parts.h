/* ab_parts.h - the steps of a comparison. */
#pragma once

#include "job/ab.h"

/* How often, and how often to look. */
void ab_plan(struct ab_job *ab);

/* A and B: the words of two programs, or two revisions. */
int ab_sides_add(struct ab_job *ab, struct err *err);

/* The changes before this one: read before anything is measured, multiplied at the end. */
int ab_steps_load(struct ab_job *ab, struct err *err);
void ab_steps_multiply(struct ab_job *ab);

/* Before the first run: are the builds alike, do A and B print the same? */
int ab_check(struct ab_job *ab, struct err *err);

/* After a round: 1 when no more are needed. */
int ab_look(struct ab_job *ab, const struct bench_progress *progress, struct err *err);

/* After the last one: the explanation of a change, with counted events where asked for or where
 * there is a PMU. */
int ab_explain_change(struct ab_job *ab, struct err *err);
