/* distribution.h - the few distributions that tests and intervals are read from.
 *
 * Pure.  Good to 1e-10 of the result for sample sizes up to 100,000 (beyond, lgamma() loses digits
 * slowly).  NAN outside of a function's domain. */
#pragma once

#include <stdint.h>

/* P(Z <= z) of the standard normal; precise in both tails. */
double normal_cdf(double z);

/* The z with normal_cdf(z) = share; -INFINITY at 0, INFINITY at 1. */
double normal_quantile(double share);

/* Regularised incomplete beta function: P(X <= x). */
double beta_cdf(double x, double a, double b);

/* The x with beta_cdf(x, a, b) = share. */
double beta_quantile(double share, double a, double b);

/* P(at most `successes` of `trials`, each with chance `share`). */
double binomial_cdf(uint64_t successes, uint64_t trials, double share);

/* P(|T| >= |t|) of Student's distribution. */
double student_both_tails(double t, double degrees);

/* The t > 0 with student_both_tails(t, degrees) = tails. */
double student_quantile(double tails, double degrees);
