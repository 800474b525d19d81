/* formula.h - one line of arithmetic over named values.
 *
 * Does: numbers, names, + - * /, a sign, parentheses, min(a, b), max(a, b).  Does not: know events
 * or read files. Owns: nothing; a formula lives in the arena it was parsed into and never changes.
 *
 * Words.  Event names hold '-' and '/', so a word runs on to the next blank or one of ( ) + *:
 *
 *     L1-dcache-load-misses / L1-dcache-loads          two names and a division
 *     1000 * cpu/event=0xc5,umask=0/ / instructions    a PMU event is one word too
 *     cycles-instructions                              ONE name; a difference needs its blanks
 *     max(0, cycles - instructions)                    within min( and max( a comma ends a word
 *
 * A name starts with a letter or '_', goes on with letters, digits and _ . : - / = , and does not
 * end in - : = or ','.  Its slashes come in pairs, so that "a/b" is refused instead of being taken
 * for an event. */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { FORMULA_DEPTH = 32, FORMULA_STEPS = 256 }; /* deeper or longer ones are refused */

struct formula_step;

struct formula {
	const struct formula_step *steps; /* postfix */
	uint32_t steps_count;
	const char **names; /* each once, in order of appearance */
	uint32_t names_count;
};

/* Parse `text`.  -EINVAL with a sentence that names the place. */
int formula_parse(
	struct arena *arena, const char *text, struct formula *ret_formula, struct err *err);

/* The result, values[i] standing for names[i].  0, or -EDOM when a denominator is 0, or -ERANGE
 * when the result is not finite; then *ret_value is left alone. */
int formula_value(const struct formula *formula, const double *values, double *ret_value);

/* Append the formula with parts[i] in place of names[i], every step in parentheses: how SQL is made
 * from one.  Numbers keep all their digits and have a point. */
void formula_write(const struct formula *formula, const char *const *parts, struct str *out);
