/* answer_parts.h - what the files behind answer.h share: commands that can be typed as they stand.
 */
#pragma once

#include "analyze/answer.h"

/* The program with its words and its stdin, or PROGRAM; the program alone. */
const char *command_target(const struct evidence *evidence, struct arena *arena);
const char *command_program(const struct evidence *evidence, struct arena *arena);

/* A file of this run; the next round. */
const char *command_file(const struct evidence *evidence, const char *name, struct arena *arena);
const char *command_round(const struct evidence *evidence, struct arena *arena);

/* A place: FILE:LINE where there is one and it is asked for, else the function without its
 * parameters. */
const char *command_place(const struct hotspot *spot, bool as_line, struct arena *arena);

/* The command of a rule, with this program for the word PROGRAM and the files of this run for
 * theirs. */
const char *command_fill(const struct evidence *evidence, const char *text, struct arena *arena);
