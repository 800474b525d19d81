/* growth.h - how the time of a program and of its functions grows with the input.
 *
 * Made from samples of the program with its whole input and with smaller ones: time = b * n^power,
 * fitted to the logarithms.  Two or three sizes tell n from n^2; they do not tell n from n log n
 * (`assay scale` does).
 * Pure.  Owns: everything is in the caller's arena; texts are the runs', which must live longer. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/evidence.h"
#include "base/arena.h"

enum { GROWTH_SIZES = 3 };

struct growth_law {
	double power; /* NAN: not known */
	double error; /* half of its 95 % interval */
};

struct growth_function {
	const char *function;
	double share;		      /* of the CPU time with the largest input, its own */
	struct growth_law own, total; /* total: with all that it calls */
};

struct growth_view {
	unsigned size_count;
	double sizes[GROWTH_SIZES]; /* against the whole; largest first */
	double cpu_ns[GROWTH_SIZES];
	struct growth_law whole;
	const struct growth_function *functions; /* most time first */
	uint32_t function_count;
};

/* False: fewer than two sizes are known. */
bool growth_view_make(
	const struct evidence *evidence, struct arena *arena, struct growth_view *ret_view);

/* NULL: too few samples to tell. */
const struct growth_function *growth_find(const struct growth_view *view, const char *function);

/* Surely faster than n log n. */
bool growth_is_superlinear(const struct growth_law *law);

/* "n^2"; "" when it is not known well enough. */
const char *growth_law_words(const struct growth_law *law, struct arena *arena);

/* `times[i]` at `sizes[i]`, each known to within the share `deviations[i]`; at least two. */
struct growth_law growth_fit(
	const double *sizes, const double *times, const double *deviations, unsigned count);
