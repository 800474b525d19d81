/* gain.h - what a predicted gain rests on.
 *
 * Does: name the basis, for machines and for people.  Does not: compute a gain. */
#pragma once

#include <stdbool.h>

/* The last four are arithmetic; even: each thread has about the same share of its time there;
 * alone: some of its time is while no other thread runs; beside the runtime: one thread, and the
 * collector of its language. */
enum gain_source {
	GAIN_NONE,
	GAIN_EXPERIMENT,
	GAIN_WHOLE_RUNS, /* experiments that last as long as the program */
	GAIN_ONE_THREAD,
	GAIN_EVEN_THREADS,
	GAIN_ALONE,
	GAIN_BESIDE_RUNTIME
};

/* "experiment", "whole_runs", "arithmetic"; NULL for none. */
const char *gain_source_word(enum gain_source source);

/* "by arithmetic: one thread", "whole runs compared"; "" for an experiment. */
const char *gain_source_note(enum gain_source source);

bool gain_is_arithmetic(enum gain_source source);
bool gain_is_experiment(enum gain_source source); /* whole runs too */
