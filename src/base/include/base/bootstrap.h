/* bootstrap.h - an interval for any statistic, by resampling (bias-corrected and accelerated, BCa).
 *
 * For what has no interval of its own, such as a ratio of two medians.  Deterministic: the same
 * seed gives the same bounds on every machine.  Samples are resampled apart, or together as pairs.
 * Does not: help below some ten values; no resampling knows what was not seen.
 * Owns: nothing.  Pure but for the callback. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define BOOTSTRAP_SAMPLES_MAX 2

/* `values[k]` holds `counts[k]` values, which may be reordered at will. */
typedef double (*bootstrap_statistic)(double *const *values, const size_t *counts, void *context);

struct bootstrap {
	const double *values[BOOTSTRAP_SAMPLES_MAX];
	size_t counts[BOOTSTRAP_SAMPLES_MAX]; /* 0: there is no such sample */
	bool paired;			      /* draw the same places from both */
	bootstrap_statistic statistic;
	void *context;
	uint32_t resamples; /* 0: 10,000 */
	double confidence;  /* 0: 0.95 */
	uint64_t seed;
};

struct bootstrap_result {
	double estimate, lo, hi;
};

/* -EINVAL for samples below two values, pairs of unequal length, values that are not finite or a
 * statistic that is NAN of some resample (a ratio with 0 below the line). */
int bootstrap_interval(
	const struct bootstrap *bootstrap, struct bootstrap_result *ret_result, struct err *err);
