/* interval.h - between which bounds a quantile or a share lies, with exact binomial chances.
 *
 * Distribution-free: nothing is assumed but independent values.  Pure, no random numbers.  A bound
 * that the sample is too small for is infinite, never a guess. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct interval {
	double lo, hi;
};

/* Two-sided interval of the `share` quantile from order statistics; covers it with at least
 * `confidence` (0.95).  The bounds are values of the sample, or infinite. */
struct interval interval_of_quantile(
	const double *sorted, size_t count, double share, double confidence);

/* The smallest value of the sample that the `share` quantile does not exceed with at least
 * `confidence`; INFINITY below quantile_count_needed(). */
double quantile_upper_bound(const double *sorted, size_t count, double share, double confidence);

/* How many values an upper bound of the `share` quantile takes: ln(1 - confidence) / ln(share),
 * rounded up.  p95 at 0.95: 59, p99: 299.  For a two-sided interval pass (1 + confidence) / 2.
 * 0 where the question makes no sense. */
uint64_t quantile_count_needed(double share, double confidence);

/* The chance behind `successes` of `trials`: exact (Clopper and Pearson), which never covers too
 * little, and Wilson's score, which is shorter and right on average.  0..1 without trials. */
struct interval interval_of_share_exact(uint64_t successes, uint64_t trials, double confidence);
struct interval interval_of_share_wilson(uint64_t successes, uint64_t trials, double confidence);

/* Wilson's interval for a share seen in trials that need not be whole (weighted samples). */
struct interval interval_of_share_score(double share, double trials, double confidence);
