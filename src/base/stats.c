/* stats.c - see stats.h. */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

static int stats_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void stats_sort(double *values, size_t count)
{
	if (count)
		qsort(values, count, sizeof(*values), stats_compare);
}

double stats_median_sorted(const double *sorted, size_t count)
{
	if (!count)
		return (double)NAN;
	return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
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

double stats_mad_sorted(const double *sorted, size_t count)
{
	mem_auto double *distance = mem_new(count, sizeof(*distance));
	double median = stats_median_sorted(sorted, count);

	for (size_t i = 0; i < count; i++)
		distance[i] = fabs(sorted[i] - median);
	stats_sort(distance, count);
	return stats_median_sorted(distance, count);
}

void stats_wilson(double p, double n, double z, double *ret_low, double *ret_high)
{
	double z2 = z * z / n, middle = (p + z2 / 2) / (1 + z2);
	double half = z / (1 + z2) * sqrt(p * (1 - p) / n + z2 / (4 * n));

	*ret_low = p > 0 ? fmax(0, middle - half) : 0; /* exact, where rounding is not */
	*ret_high = p < 1 ? fmin(1, middle + half) : 1;
}

double stats_two_sided(double z)
{
	return erfc(fabs(z) / sqrt(2));
}
