/* answer_parts.h - what the files behind answer.h share: commands that can be typed as they stand,
 * what the ledger supports, and what to do next. */
#pragma once

#include "analyze/answer.h"

/* The program with its words and its stdin, or PROGRAM; the program alone. */
const char *command_target(const struct evidence *evidence, struct arena *arena);
const char *command_program(const struct evidence *evidence, struct arena *arena);

/* A file of this run; the next round; this one again. */
const char *command_file(const struct evidence *evidence, const char *name, struct arena *arena);
const char *command_round(const struct evidence *evidence, struct arena *arena);
const char *command_same(const struct evidence *evidence, struct arena *arena);

/* A place: FILE:LINE where there is one and it is asked for, else the function without its
 * parameters. */
const char *command_place(const struct hotspot *spot, bool as_line, struct arena *arena);

/* The command of a rule, with this program for the word PROGRAM and the files of this run for
 * theirs. */
const char *command_fill(const struct evidence *evidence, const char *text, struct arena *arena);

/* A supported explanation of this category, NULL: none. */
const struct ledger_row *answer_supported(const struct ledger_view *ledger, const char *category);

/* An experiment on the place shows a gain. */
bool hotspot_pays(const struct hotspot *spot);

/* Experiments on a place of this program can tell something. */
bool answer_can_try(const struct evidence *evidence);

/* Why no experiment could be made on the place; NULL: it could. */
const char *answer_untried(const struct hotspot *spot, const struct evidence *evidence);

/* answer_sentence.c: what to change there, what it would gain or has, and how the time gets there.
 */
const char *answer_sentence(const struct hotspot *spot, struct arena *arena);

/* Of the first place, or of the explanation that is the answer, and of the whole. */
void answer_features(const struct answer_view *view, struct confidence_features *ret_features);
/* `features` of an answer as they were on a quiet machine: each method counts. */
void answer_features_quiet(const struct answer_view *view, struct confidence_features *features);

/* answer_next.c: another place whose bounds, by experiments, reach into those of `first`; NULL:
 * none, or `first` was not tried. */
const struct hotspot *answer_rival(const struct answer_view *view, const struct hotspot *first);

/* answer_next.c: another place that may well be ahead of `first`, by the bounds of experiments on
 * both; NULL: none, or `first` was not tried. */
const struct hotspot *answer_equal(const struct answer_view *view, const struct hotspot *first);

/* answer_next.c: share of the CPUs that other programs had, where that is why the machine was not
 * quiet; else 0. */
double answer_others_share(const struct answer_view *view);

/* answer_next.c: the one measurement or change that would settle it.  Of an answer without a place
 * only whether the machine was busy is looked at: "" when it was not. */
const char *answer_next(
	const struct answer_view *view, const struct evidence *evidence, struct arena *arena);
