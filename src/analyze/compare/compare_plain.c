/* compare_plain.c - a large change that a few runs already show.
 *
 * The rank tests have a floor: 5 pairs on one side have p = 1/16 however far apart they are, and
 * with two metrics and several looks ten pairs are the fewest that can decide.  For a program of
 * 8 s that is minutes for a change of -96 %.  Below that, size stands in for number: every run of
 * one side beyond every run of the other, by more than either side varies itself and by more than
 * machines usually do, and Student's test on their logarithms, whose spread is the sides' own.
 *
 * What it rests on: a program does not become half as fast again by itself from run to run.  Where
 * it does, by the toss of a coin, three pairs fall on the two sides of it in 2 of 64 cases, four in
 * 2 of 256; hence the least gap falls with the number of runs, and three pairs need wall and CPU
 * time to agree.  Slow drift and load that stays make
 * the sides' own spread larger, never the gap.  Rates: tests/unit/compare_plain_test.c. */
#include "compare_parts.h"

#include <math.h>

#include "base/distribution.h"
#include "base/stats.h"

/* The least ratio between the slowest run of the faster side and the fastest of the slower one, by
 * the number of runs of the smaller side. */
static double gap_least(size_t count)
{
	static const double ratios[] = {HUGE_VAL, HUGE_VAL, 2, 1.5, 1.25};

	return log(count < sizeof(ratios) / sizeof(*ratios) ? ratios[count] : 1.1);
}

static double squares(const double *values, size_t count)
{
	double deviation = stats_deviation(values, count);

	return deviation * deviation * (double)(count - 1);
}

bool compare_plain_find(const double *a, size_t a_count, const double *b, size_t b_count,
	double confidence, struct plain *ret_plain)
{
	size_t least = a_count < b_count ? a_count : b_count;
	double degrees = (double)(a_count + b_count) - 2, gap, own, shift, error, half;

	if (least < 2)
		return false;
	gap = fmax(b[0] - a[a_count - 1], a[0] - b[b_count - 1]);
	own = fmax(a[a_count - 1] - a[0], b[b_count - 1] - b[0]);
	if (gap < gap_least(least) || gap < own)
		return false;
	shift = stats_mean(b, b_count) - stats_mean(a, a_count);
	error = sqrt((squares(a, a_count) + squares(b, b_count)) / degrees *
		     (1 / (double)a_count + 1 / (double)b_count));
	half = error * student_quantile(1 - confidence, degrees);
	*ret_plain = (struct plain){
		.p = error > 0 ? student_both_tails(shift / error, degrees) : 0,
		.shift = {shift, shift - half, shift + half},
	};
	return true;
}
