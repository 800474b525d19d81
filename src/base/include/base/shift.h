/* shift.h - how large the difference is: Hodges and Lehmann's estimate and its interval.
 *
 * Does: the median of all differences between two samples, with an interval from their ranks.
 * Almost as sharp as the mean on clean data, and one wild value moves it little.
 * Does not: test (centre.h has p and the interval of a verdict).
 * The differences are never written down: memory is that of the sample, time some 20 walks over it
 * for each number.  Pure; values must be finite. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct shift {
	double estimate; /* NAN without values */
	double lo, hi;	 /* infinite where the sample is too small for the confidence */
};

/* How much larger b is than a.  Two samples of 4 have an interval of 0.95, two of 3 have none. */
struct shift shift_between_sorted(
	const double *a, size_t a_count, const double *b, size_t b_count, double confidence);

/* How many ordered differences to give up on each side of an interval with at least `confidence`:
 * index of its lower bound.  Exact up to 25 values a side, by the normal distribution beyond.
 * -1: even the widest does not reach it. */
int64_t rank_sum_cut(size_t a_count, size_t b_count, double confidence);
