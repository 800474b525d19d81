/* interval.c - see interval.h.
 *
 * The number of values below the true quantile is binomial, whatever the distribution.  So the
 * ranks of the bounds depend on count, share and confidence alone, and are found by bisection of
 * the binomial distribution: 17 looks for 100,000 values. */
#include "base/interval.h"

#include <math.h>

#include "base/distribution.h"

/* How many of the lowest values may be given up: the largest r with P(X <= r - 1) <= tail, where X
 * of `count` values lie below the quantile.  0: none, there is no bound. */
static size_t rank_of_lower(size_t count, double share, double tail)
{
	size_t lo = 0, hi = count; /* P(X <= lo - 1) <= tail; P(X <= hi) > tail */

	while (lo < hi) {
		size_t middle = hi - (hi - lo) / 2;

		/* a chance of exactly 5 % is not missed for its last digit */
		if (binomial_cdf(middle - 1, count, share) <= tail * (1 + 1e-12))
			lo = middle;
		else
			hi = middle - 1;
	}
	return lo;
}

/* The upper bound is the lower one seen from the other end. */
double quantile_upper_bound(const double *sorted, size_t count, double share, double confidence)
{
	size_t rank = rank_of_lower(count, 1 - share, 1 - confidence);

	return rank ? sorted[count - rank] : (double)INFINITY;
}

struct interval interval_of_quantile(
	const double *sorted, size_t count, double share, double confidence)
{
	size_t rank = rank_of_lower(count, share, (1 - confidence) / 2);

	return (struct interval){
		.lo = rank ? sorted[rank - 1] : (double)-INFINITY,
		.hi = quantile_upper_bound(sorted, count, share, (1 + confidence) / 2),
	};
}

uint64_t quantile_count_needed(double share, double confidence)
{
	if (!(share > 0 && share < 1 && confidence > 0 && confidence < 1))
		return 0;
	return (uint64_t)ceil(log1p(-confidence) / log(share));
}

struct interval interval_of_share_exact(uint64_t successes, uint64_t trials, double confidence)
{
	double tail = (1 - confidence) / 2, k = (double)successes, rest = (double)trials - k;

	return (struct interval){
		.lo = successes ? beta_quantile(tail, k, rest + 1) : 0,
		.hi = successes < trials ? beta_quantile(1 - tail, k + 1, rest) : 1,
	};
}

struct interval interval_of_share_score(double share, double trials, double confidence)
{
	double z = normal_quantile((1 + confidence) / 2), z2, middle, half;

	if (!(trials > 0))
		return (struct interval){.lo = 0, .hi = 1};
	z2 = z * z / trials;
	middle = (share + z2 / 2) / (1 + z2);
	half = z / (1 + z2) * sqrt(share * (1 - share) / trials + z2 / (4 * trials));
	return (struct interval){
		/* exact at the ends, where rounding is not */
		.lo = share > 0 ? fmax(0, middle - half) : 0,
		.hi = share < 1 ? fmin(1, middle + half) : 1,
	};
}

struct interval interval_of_share_wilson(uint64_t successes, uint64_t trials, double confidence)
{
	return interval_of_share_score(
		trials ? (double)successes / (double)trials : 0, (double)trials, confidence);
}
