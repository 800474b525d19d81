/* stats.h - order statistics of plain arrays.  Pure; NAN where the sample is too small. */
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
