/* centre.c - see centre.h.
 *
 * Rank tests are exact whatever the noise is, but p of n pairs cannot go below 2^(1-n), however far
 * apart they lie, and neither can it be corrected for pairs that resemble each other.  The mean has
 * no such floor, and one wild run hides every change.  With a sixth cut off at each end the wild
 * run is gone from 8 values on, and little is lost without one.  The values that were cut count as
 * their neighbours that were not (that is what "winsorised" means), so cutting makes no sample look
 * closer than it is. */
#include "base/centre.h"

#include <math.h>

#include "base/distribution.h"

size_t centre_cut(size_t count)
{
	return count < 8 ? 0 : (count - 2) / 6;
}

/* Ratios of a pair are as often too high as too low; single runs are only ever too long, so more of
 * them is cut. */
static size_t skewed_cut(size_t count)
{
	return count < 8 ? 0 : count * 3 / 10;
}

/* Of one sample: its centre, the square of the error, and what that is known by. */
struct part {
	double centre, square, degrees;
};

static struct part part_of(const double *sorted, size_t count, size_t cut, double least)
{
	size_t kept = count - 2 * cut, last = count - 1 - cut;
	double middle, sum = 0, mean, squares = 0;

	if (count < 2)
		return (struct part){count ? sorted[0] : (double)NAN, HUGE_VAL, 1};
	middle = sorted[count / 2]; /* equal values then have no error at all */
	for (size_t i = cut; i <= last; i++)
		sum += sorted[i] - middle;
	mean = sum + (double)cut * (sorted[cut] - middle + sorted[last] - middle);
	mean /= (double)count;
	for (size_t i = 0; i < count; i++) {
		double value = sorted[i < cut ? cut : i > last ? last : i];

		squares += (value - middle - mean) * (value - middle - mean);
	}
	return (struct part){
		.centre = middle + sum / (double)kept,
		.square = (squares / (double)(kept - 1) + least * least) / (double)kept,
		.degrees = (double)(kept - 1),
	};
}

struct centre centre_of_sorted(const double *sorted, size_t count, double least)
{
	struct part part = part_of(sorted, count, centre_cut(count), least);

	return (struct centre){part.centre, sqrt(part.square), part.degrees};
}

struct centre centre_between_sorted(
	const double *a, size_t a_count, const double *b, size_t b_count, double least)
{
	struct part from = part_of(a, a_count, skewed_cut(a_count), least);
	struct part to = part_of(b, b_count, skewed_cut(b_count), least);
	double square = from.square + to.square;
	double share = square > 0 && isfinite(square) ? from.square / square : 0.5;

	return (struct centre){
		.estimate = to.centre - from.centre,
		.error = sqrt(square),
		.degrees =
			1 / (share * share / from.degrees + (1 - share) * (1 - share) / to.degrees),
	};
}

double centre_p(const struct centre *centre)
{
	if (isnan(centre->estimate) || isinf(centre->error) || centre->estimate == 0)
		return 1;
	return centre->error > 0
		       ? student_both_tails(centre->estimate / centre->error, centre->degrees)
		       : 0;
}

double centre_half(const struct centre *centre, double confidence)
{
	if (isinf(centre->error) || centre->error == 0)
		return centre->error;
	return centre->error * student_quantile(1 - confidence, centre->degrees);
}
