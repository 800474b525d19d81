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

/* The narrowest window of `step` values at or after each place, asked for in ascending order.  One
 * number for each place would be as much as the values: only a block of them is kept at a time,
 * beside one number for each block. */
struct narrowest {
	const double *sorted;
	size_t step, windows;
	size_t at; /* the block that is in `within` */
	double *within, *blocks;
};

enum { BLOCK = 512 };

static void block_fill(struct narrowest *n, size_t block, double *ret_first)
{
	size_t begin = block * BLOCK, end = begin + BLOCK < n->windows ? begin + BLOCK : n->windows;
	double least = n->blocks[block + 1];

	for (size_t i = end; i-- > begin;) {
		least = fmin(least, n->sorted[i + n->step] - n->sorted[i]);
		n->within[i - begin] = least;
	}
	n->at = block;
	*ret_first = least;
}

static void narrowest_open(struct narrowest *n)
{
	size_t count = n->windows / BLOCK + 1;

	n->within = mem_new(BLOCK, sizeof(*n->within));
	n->blocks = mem_new(count + 1, sizeof(*n->blocks));
	n->blocks[count] = (double)INFINITY;
	for (size_t block = count; block-- > 0;)
		block_fill(n, block, &n->blocks[block]);
}

static double narrowest_from(struct narrowest *n, size_t place)
{
	double first;

	if (place / BLOCK != n->at)
		block_fill(n, place / BLOCK, &first);
	return n->within[place % BLOCK];
}

static void narrowest_done(struct narrowest *n)
{
	mem_free_pointer(&n->within);
	mem_free_pointer(&n->blocks);
}
#define narrowest_auto __attribute__((cleanup(narrowest_done)))

struct shape_valley shape_valley_find(const double *sorted, size_t count)
{
	struct shape_valley valley = {0};
	size_t step = (size_t)fmax(4, ceil(0.5 * pow((double)count, 0.7)));
	narrowest_auto struct narrowest right = {.sorted = sorted, .step = step};
	double left = (double)INFINITY, asked = 2 + 8 / sqrt((double)step);

	if (count < VALLEY_LEAST || distinct_count(sorted, count) * 2 < count)
		return valley;
	right.windows = count - step;
	narrowest_open(&right);
	for (size_t i = step; i + step < right.windows; i++) {
		double here = sorted[i + step] - sorted[i], depth;

		left = fmin(left, sorted[i] - sorted[i - step]);
		depth = here / fmax(left, narrowest_from(&right, i + step));
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
