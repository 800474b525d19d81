/* series.c - see series.h.
 *
 * Warm-up is a change point: the start has another centre than the second half, which is taken as
 * settled.  Each value becomes its distance from the settled median in robust deviations, cut off
 * at 5 so that one wild run cannot carry the sum; then the k that maximises sum^2 / k splits best.
 * A median of each start would serve as well for long starts, but cannot see the usual case, a
 * single cold run.  Memory in the series makes sums wander, so the gain is divided by it. */
#include "base/series.h"

#include <math.h>

#include "base/mem.h"
#include "base/stats.h"

/* sum^2 / k of settled noise stays below this in 99 % of series of 20 to 1000 values (see
 * tests/unit/statistics_property_test.c). */
#define WARM_GAIN 12.0
#define WARM_SHORT 14.0 /* more is asked of short series, whose deviation is not well known */
#define WARM_CUT 8.0
#define WARM_LEAST 8

double series_autocorrelation(const double *values, size_t count)
{
	double mean = stats_mean(values, count), square = 0, product = 0;

	for (size_t i = 0; i < count; i++) {
		square += (values[i] - mean) * (values[i] - mean);
		if (i + 1 < count)
			product += (values[i] - mean) * (values[i + 1] - mean);
	}
	return count < 3 || square == 0 ? (double)NAN : product / square;
}

double series_effective_count(size_t count, double autocorrelation)
{
	if (!(autocorrelation > SERIES_DEPENDENT))
		return (double)count;
	return fmax(1, (double)count * (1 - autocorrelation) / (1 + autocorrelation));
}

/* What one of `count` values is worth when each resembles the one before; the estimate of the
 * resemblance is too low by (1 + 3 r) / n in short series. */
static double series_worth(const double *values, size_t count)
{
	double memory = series_autocorrelation(values, count);

	memory += (1 + 3 * memory) / (double)count;
	return memory > 0 ? (1 - fmin(memory, 0.95)) / (1 + fmin(memory, 0.95)) : 1;
}

size_t series_warm_after(const double *values, size_t count)
{
	size_t half = count / 2, rest = count - half, best = 0;
	const double *late = half ? values + half : values; /* which may be NULL */
	mem_auto double *settled = stats_sorted(late, rest);
	double median = stats_median_sorted(settled, rest);
	double sigma = stats_robust_sigma_sorted(settled, rest);
	double worth = series_worth(late, rest), sum = 0;
	double best_gain = WARM_GAIN * (1 + WARM_SHORT / (double)rest);

	if (count < WARM_LEAST)
		return 0;
	for (size_t k = 1; k <= half; k++) {
		double distance = values[k - 1] - median, mean, gain;

		/* A settled half without any spread: whatever differs is beyond the cut. */
		sum += distance == 0 ? 0 : fmax(-WARM_CUT, fmin(WARM_CUT, distance / sigma));
		mean = sum / (double)k;
		/* pi / 2: a median varies that much more than a mean */
		gain = worth * mean * mean / (1 / (double)k + M_PI_2 / (double)rest);
		if (gain > best_gain) {
			best_gain = gain;
			best = k;
		}
	}
	return best;
}
