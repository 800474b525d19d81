/* shape.c - see shape.h.
 *
 * Two modes: the width that k neighbours span says how dense the values are there.  A valley is a
 * place where they span much more than at the best place on each side.  With k neighbours such a
 * width varies by 1/sqrt(k) on its own, so the depth that is asked for falls with k. */
#include "base/shape.h"

#include <math.h>
#include <stdint.h>

#include "base/mem.h"

#define VALLEY_LEAST 20

enum outlier_class outlier_class_of(double value, double median, double sigma)
{
	double distance = fabs(value - median);

	if (distance > 10 * sigma)
		return OUTLIER_EXTREME;
	return distance > 3 * sigma ? OUTLIER_FAR : OUTLIER_NONE;
}

static size_t distinct_count(const double *sorted, size_t count)
{
	size_t distinct = count > 0;

	for (size_t i = 1; i < count; i++)
		distinct += sorted[i] != sorted[i - 1];
	return distinct;
}

struct shape_valley shape_valley_find(const double *sorted, size_t count)
{
	struct shape_valley valley = {0};
	size_t step = (size_t)fmax(4, ceil(0.5 * pow((double)count, 0.7))), windows;
	mem_auto double *right = NULL; /* narrowest window at or after each place */
	double left = (double)INFINITY, asked = 2 + 8 / sqrt((double)step);

	if (count < VALLEY_LEAST || distinct_count(sorted, count) * 2 < count)
		return valley;
	windows = count - step;
	right = mem_new(windows + 1, sizeof(*right));
	right[windows] = (double)INFINITY;
	for (size_t i = windows; i-- > 0;)
		right[i] = fmin(right[i + 1], sorted[i + step] - sorted[i]);
	for (size_t i = step; i + step < windows; i++) {
		double here = sorted[i + step] - sorted[i], depth;

		left = fmin(left, sorted[i] - sorted[i - step]);
		depth = here / fmax(left, right[i + step]);
		if (depth > fmax(asked, valley.depth))
			valley = (struct shape_valley){
				.found = true,
				.at = (sorted[i] + sorted[i + step]) / 2,
				.lower_share = ((double)i + (double)step / 2) / (double)count,
				.depth = depth,
			};
	}
	return valley;
}
