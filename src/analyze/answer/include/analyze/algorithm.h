/* algorithm.h - how often the code of a program runs: calls from each line, trips of each loop.
 *
 * Made from a run that counted calls and loops (`assay stat --engine sim -e
 * instructions,calls,loop-entries,loop-trips`); the samples say whether the simulation came to the
 * code that takes the time.  What it did not come to is not told.
 * Pure.  Owns: everything is in the caller's arena; texts are the runs', which must live longer. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct run;

struct algorithm_site { /* a line that calls */
	const char *file;
	uint32_t line; /* 0: unknown */
	uint64_t calls;
};

struct algorithm_loop {
	const char *file; /* of its first line */
	uint32_t line;
	uint64_t entries, trips;
};

struct algorithm_function {
	const char *function;
	uint64_t calls;			    /* of it, from everywhere; 0: it is the first */
	const struct algorithm_site *sites; /* most calls first */
	uint32_t site_count;
	const struct algorithm_loop *loops; /* most trips first */
	uint32_t loop_count;
	double instructions_share; /* of what was simulated, its own */
	double time_share;	   /* of what was sampled, its own; 0 without samples */
};

struct algorithm_view {
	const struct algorithm_function *functions; /* most instructions first */
	uint32_t function_count;
	uint64_t instructions; /* simulated, of all; 0: not counted */
	bool partial;	       /* the simulation was cut: counts are of its beginning */
	bool is_start_only;    /* and it did not come to what takes the time */
	bool is_smaller;       /* it was of a smaller input */
};

/* False, and an empty view: `calls` has no calls.  `profile` may be NULL. */
bool algorithm_view_make(const struct run *calls, const struct run *profile, struct arena *arena,
	struct algorithm_view *ret_view);

/* NULL: it did not run in the simulation, or not enough to say anything about the time it takes. */
const struct algorithm_function *algorithm_find(
	const struct algorithm_view *view, const char *function);

/* How often it was called at least, also where too little of it was simulated to say more. */
uint64_t algorithm_calls_least(const struct algorithm_view *view, const char *function);

/* How often a line calls a function; 0: never, or not known. */
uint64_t algorithm_calls(
	const struct algorithm_view *view, const char *function, const char *file, uint32_t line);

/* The loop in the code that was inlined at or around a line, whatever function it ended up in. */
const struct algorithm_loop *algorithm_loop_near(
	const struct algorithm_view *view, const char *file, uint32_t line);

/* "50,000 trips per call of the loop at search.c:12, called 100,000 times from main.c:88"; "" when
 * there is nothing worth saying.  `file` and `line` are its hottest line. */
const char *algorithm_words(const struct algorithm_view *view, const char *function,
	const char *file, uint32_t line, struct arena *arena);

/* "50,000", "41.3 million". */
const char *algorithm_count_words(double count, struct arena *arena);
