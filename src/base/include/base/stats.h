/* stats.h - order statistics of plain arrays, and intervals of shares.  Pure; NAN where the sample
 * is too small. */
#pragma once

#include <stddef.h>

/* Sort ascending, in place. */
void stats_sort(double *values, size_t count);

/* Median of a sorted sample. */
double stats_median_sorted(const double *sorted, size_t count);

double stats_mean(const double *values, size_t count);

/* Sample standard deviation (n - 1); NAN below two values. */
double stats_deviation(const double *values, size_t count);

/* Median absolute deviation from the median of a sorted sample, not scaled. */
double stats_mad_sorted(const double *sorted, size_t count);

#define STATS_Z95 1.959963984540054 /* of a normal, 95 % lie within this many deviations */

/* Wilson's interval for a share `p` seen in `n` trials (n > 0, need not be whole).  Unlike p +- z s
 * it stays within 0..1 and holds its level for rare things too. */
void stats_wilson(double p, double n, double z, double *ret_low, double *ret_high);

/* The chance of a normal to be at least |z| away from its mean, on either side. */
double stats_two_sided(double z);
