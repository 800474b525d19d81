/* stats.c - see stats.h.
 *
 * A sorted sample answers everything here in one walk: even the median of the distances from the
 * median, since the distances grow on both sides of it, and the walk takes the nearer of the two
 * neighbours each time.  So nothing is allocated but the copy that is sorted. */
#include "base/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int stats_check(const double *values, size_t count, const char *what, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (!isfinite(values[i]))
			return err_set(err, ERR_USAGE, EINVAL, "%s: value %zu of %zu is %s", what,
				i + 1, count, isnan(values[i]) ? "not a number" : "infinite");
	return 0;
}

double *stats_sorted(const double *values, size_t count)
{
	double *copy = mem_new(count, sizeof(*copy));

	if (count)
		memcpy(copy, values, count * sizeof(*copy));
	stats_sort(copy, count);
	return copy;
}

double stats_median_sorted(const double *sorted, size_t count)
{
	if (!count)
		return (double)NAN;
	return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

double stats_nearest_sorted(const double *sorted, size_t count, double share)
{
	/* 0.07 * 100 is 7.000000000000001: the rank is 7 all the same. */
	double rank = ceil(share * (double)count - 1e-9);

	if (!count || !(share >= 0 && share <= 1))
		return (double)NAN;
	return sorted[rank < 1 ? 0 : (size_t)rank - 1];
}

double stats_quantile_sorted(const double *sorted, size_t count, double share)
{
	double place;
	size_t below;

	if (!count || !(share >= 0 && share <= 1))
		return (double)NAN;
	place = share * (double)(count - 1);
	below = (size_t)place;
	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

double stats_iqr_sorted(const double *sorted, size_t count)
{
	return stats_quantile_sorted(sorted, count, 0.75) -
	       stats_quantile_sorted(sorted, count, 0.25);
}

double stats_mean(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return count ? sum / (double)count : (double)NAN;
}

double stats_deviation(const double *values, size_t count)
{
	double mean = stats_mean(values, count), sum = 0;

	if (count < 2)
		return (double)NAN;
	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sqrt(sum / (double)(count - 1));
}

double stats_variation(const double *values, size_t count)
{
	double mean = stats_mean(values, count);

	return count < 2 || mean == 0 ? (double)NAN : stats_deviation(values, count) / fabs(mean);
}

double stats_mad_sorted(const double *sorted, size_t count)
{
	double median = stats_median_sorted(sorted, count), last = 0, before = 0;
	size_t right = count / 2, left = right; /* not taken yet: ..left-1 and right.. */

	if (!count)
		return (double)NAN;
	for (size_t taken = 0; taken <= count / 2; taken++) {
		double down = left ? median - sorted[left - 1] : (double)INFINITY;
		double up = right < count ? sorted[right] - median : (double)INFINITY;

		before = last;
		last = down < up ? down : up;
		if (down < up)
			left--;
		else
			right++;
	}
	return count % 2 ? last : (before + last) / 2;
}

double stats_robust_sigma_sorted(const double *sorted, size_t count)
{
	double median = stats_median_sorted(sorted, count), mad = stats_mad_sorted(sorted, count);
	double sum = 0;

	if (mad != 0)
		return STATS_MAD_TO_SIGMA * mad;
	for (size_t i = 0; i < count; i++)
		sum += fabs(sorted[i] - median);
	return 1.2533141373155003 * sum / (double)count; /* sqrt(pi / 2) */
}
