/* centre.h - where values lie, how well that is known, and how likely chance alone is: one pivot.
 *
 * The mean of what is left when the extreme values of each end were cut off, with an error from all
 * of them (Tukey and McLaughlin; of two samples Yuen and Welch).  The p and the interval are both
 * read from estimate / error by Student's distribution, so they can never contradict each other:
 * p < x exactly when the interval of confidence 1 - x excludes 0.
 * Does not: know what the values are.  Pure; samples are sorted and finite. */
#pragma once

#include <stddef.h>

struct centre {
	double estimate; /* NAN: no values */
	double error;	 /* of the estimate, in its unit; infinite: too few values to know */
	double degrees;	 /* of freedom, that the error is known by */
};

/* How many values of one sample are cut off at each end: none of fewer than 8, then a sixth. */
size_t centre_cut(size_t count);

/* The centre of one sample.  `least`: single values are known to vary by at least that, however
 * close these few happen to lie; 0: what they show. */
struct centre centre_of_sorted(const double *sorted, size_t count, double least);

/* The centre of `b` minus that of `a`; each may vary by its own measure.  Three tenths are cut off
 * at each end of 8 and more values: these are single runs, which are only ever too long. */
struct centre centre_between_sorted(
	const double *a, size_t a_count, const double *b, size_t b_count, double least);

/* The chance of an estimate this far from 0, either way, if 0 were true. */
double centre_p(const struct centre *centre);

/* Half the interval of this confidence (0..1). */
double centre_half(const struct centre *centre, double confidence);
