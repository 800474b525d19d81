/* stats.h - order statistics of plain arrays.
 *
 * Pure; NAN where the sample is too small.  Values must be finite: stats_check() says so of data
 * from outside, once, before anything here is asked. */
#pragma once

#include <stddef.h>

#include "base/err.h"

/* The deviation of a normal sample is this times its median absolute deviation. */
#define STATS_MAD_TO_SIGMA 1.482602218505602

/* 0, or -EINVAL with a sentence that names the first of `what` that is NaN or infinite. */
int stats_check(const double *values, size_t count, const char *what, struct err *err);

/* Sort ascending, in place. */
void stats_sort(double *values, size_t count);

/* A sorted copy, never NULL.  Free with free(). */
double *stats_sorted(const double *values, size_t count);

/* Median of a sorted sample. */
double stats_median_sorted(const double *sorted, size_t count);

/* The `share` quantile (0..1) by nearest rank: a value that was really seen, index
 * ceil(share * count) - 1. */
double stats_nearest_sorted(const double *sorted, size_t count, double share);

/* The `share` quantile, linear between the two neighbours (R's type 7, numpy's default). */
double stats_quantile_sorted(const double *sorted, size_t count, double share);

/* Upper minus lower quartile, interpolated. */
double stats_iqr_sorted(const double *sorted, size_t count);

double stats_mean(const double *values, size_t count);

/* Sample standard deviation (n - 1); NAN below two values. */
double stats_deviation(const double *values, size_t count);

/* Deviation over |mean|; NAN below two values or when the mean is 0. */
double stats_variation(const double *values, size_t count);

/* Median absolute deviation from the median of a sorted sample, not scaled. */
double stats_mad_sorted(const double *sorted, size_t count);

/* What three deviations are measured in when values may be wild: 1.4826 MAD.  When more than half
 * of the values are equal that is 0; then 1.2533 times the mean absolute deviation. */
double stats_robust_sigma_sorted(const double *sorted, size_t count);
