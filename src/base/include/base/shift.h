/* shift.h - how large the difference is: Hodges and Lehmann's estimate and its interval.
 *
 * The median of all pairwise averages of one sample (its pseudo-median), or of all differences
 * between two samples, with an interval from their ranks.  Almost as sharp as the mean on clean
 * data, and one wild value moves it little.
 * The pairs are never written down: memory is that of the sample, time some 20 walks over it for
 * each number.  Pure; values must be finite. */
#pragma once

#include <stddef.h>

struct shift {
	double estimate; /* NAN without values */
	double lo, hi;	 /* infinite where the sample is too small for the confidence */
};

/* Centre of one sample.  Needs 6 values for an interval of 0.95. */
struct shift shift_of_sorted(const double *sorted, size_t count, double confidence);

/* How much larger b is than a. */
struct shift shift_between_sorted(
	const double *a, size_t a_count, const double *b, size_t b_count, double confidence);
