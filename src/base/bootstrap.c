/* bootstrap.c - see bootstrap.h.
 *
 * Efron's BCa: percentiles of the resampled statistics, moved by how far their median is from the
 * estimate (z0) and by how fast the spread changes with it (acceleration, from leaving out one
 * value at a time).  Resampled values equal to the estimate count half on each side: a median has
 * many of them, and counting them on one side would shift the interval. */
#include "base/bootstrap.h"

#include <errno.h>
#include <math.h>

#include "base/distribution.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/stats.h"

/* Room for one resample of each sample. */
struct draw {
	const struct bootstrap *of;
	double *values[BOOTSTRAP_SAMPLES_MAX];
	size_t counts[BOOTSTRAP_SAMPLES_MAX];
};

static void draw_done(struct draw *draw)
{
	for (int k = 0; k < BOOTSTRAP_SAMPLES_MAX; k++)
		mem_free_pointer(&draw->values[k]);
}

static double draw_statistic(const struct draw *draw)
{
	return draw->of->statistic(draw->values, draw->counts, draw->of->context);
}

/* Sample `k` as it is, without place `left_out` (none when that is the count). */
static void draw_copy(struct draw *draw, int k, size_t left_out)
{
	const double *from = draw->of->values[k];
	size_t count = draw->of->counts[k], kept = 0;

	for (size_t i = 0; i < count; i++)
		if (i != left_out)
			draw->values[k][kept++] = from[i];
	draw->counts[k] = kept;
}

static double draw_original(struct draw *draw)
{
	for (int k = 0; k < BOOTSTRAP_SAMPLES_MAX; k++)
		draw_copy(draw, k, draw->of->counts[k]);
	return draw_statistic(draw);
}

static double draw_random(struct draw *draw, struct random *random)
{
	const struct bootstrap *of = draw->of;

	for (int k = 0; k < BOOTSTRAP_SAMPLES_MAX && !(of->paired && k); k++)
		for (size_t i = 0; i < of->counts[k]; i++) {
			size_t from = random_below(random, of->counts[k]);

			draw->values[k][i] = of->values[k][from];
			if (of->paired && of->counts[1])
				draw->values[1][i] = of->values[1][from];
		}
	return draw_statistic(draw);
}

/* Statistics with one value (one pair) left out, added to the sums of the acceleration. */
static void draw_leave_out(struct draw *draw, int k, double *cubes, double *squares)
{
	size_t count = draw->of->counts[k];
	double n = (double)count, mean, cube = 0, square = 0;
	mem_auto double *each = mem_new(count, sizeof(*each));

	for (size_t i = 0; i < count; i++) {
		for (int other = 0; other < BOOTSTRAP_SAMPLES_MAX; other++)
			draw_copy(draw, other,
				other == k || draw->of->paired ? i : draw->of->counts[other]);
		each[i] = draw_statistic(draw);
	}
	mean = stats_mean(each, count);
	for (size_t i = 0; i < count; i++) {
		double pull = (n - 1) * (mean - each[i]);

		square += pull * pull;
		cube += pull * pull * pull;
	}
	*cubes += cube / (n * n * n);
	*squares += square / (n * n);
}

static double draw_acceleration(struct draw *draw)
{
	double cubes = 0, squares = 0;

	draw_leave_out(draw, 0, &cubes, &squares);
	if (draw->of->counts[1] && !draw->of->paired)
		draw_leave_out(draw, 1, &cubes, &squares);
	return squares > 0 ? cubes / (6 * pow(squares, 1.5)) : 0;
}

/* The share of `sorted` below the estimate, ties half; never quite 0 or 1, which have no z. */
static double share_below(const double *sorted, size_t count, double estimate)
{
	size_t below = 0, equal = 0;
	double least = 0.5 / (double)count;

	while (below < count && sorted[below] < estimate)
		below++;
	while (below + equal < count && sorted[below + equal] == estimate)
		equal++;
	return fmin(1 - least, fmax(least, ((double)below + (double)equal / 2) / (double)count));
}

static int bootstrap_check(const struct bootstrap *bootstrap, struct err *err)
{
	for (int k = 0; k < BOOTSTRAP_SAMPLES_MAX; k++) {
		size_t count = bootstrap->counts[k];
		int status = stats_check(bootstrap->values[k], count, "sample", err);

		if (status < 0)
			return status;
		if (count < 2 && (count || k == 0))
			return err_set(err, ERR_USAGE, EINVAL,
				"a sample of %zu cannot be resampled", count);
	}
	if (bootstrap->paired && bootstrap->counts[1] &&
		bootstrap->counts[0] != bootstrap->counts[1])
		return err_set(err, ERR_USAGE, EINVAL, "%zu and %zu values do not make pairs",
			bootstrap->counts[0], bootstrap->counts[1]);
	return 0;
}

/* Fill `sorted` with resampled statistics. */
static int draw_many(struct draw *draw, double *sorted, size_t count, struct err *err)
{
	struct random random;

	random_seed(&random, draw->of->seed);
	draw_original(draw); /* the counts of full samples */
	for (size_t i = 0; i < count; i++)
		sorted[i] = draw_random(draw, &random);
	if (stats_check(sorted, count, "statistic of a resample", err) < 0)
		return -EINVAL;
	stats_sort(sorted, count);
	return 0;
}

int bootstrap_interval(
	const struct bootstrap *bootstrap, struct bootstrap_result *ret_result, struct err *err)
{
	size_t count = bootstrap->resamples ? bootstrap->resamples : 10000;
	double confidence = bootstrap->confidence > 0 ? bootstrap->confidence : 0.95;
	double z = normal_quantile((1 + confidence) / 2), z0, acceleration, shares[2], estimate;
	__attribute__((cleanup(draw_done))) struct draw draw = {.of = bootstrap};
	mem_auto double *sorted = NULL;
	int status = bootstrap_check(bootstrap, err);

	if (status < 0)
		return status;
	for (int k = 0; k < BOOTSTRAP_SAMPLES_MAX; k++)
		draw.values[k] = mem_new(bootstrap->counts[k], sizeof(double));
	sorted = mem_new(count, sizeof(*sorted));
	estimate = draw_original(&draw);
	status = draw_many(&draw, sorted, count, err);
	acceleration = draw_acceleration(&draw);
	if (status == 0 && !isfinite(estimate + acceleration))
		status =
			err_set(err, ERR_USAGE, EINVAL, "the statistic of the sample is no number");
	if (status < 0)
		return status;
	z0 = normal_quantile(share_below(sorted, count, estimate));
	for (int side = 0; side < 2; side++) {
		double moved = z0 + (side ? z : -z);

		shares[side] = normal_cdf(z0 + moved / (1 - acceleration * moved));
	}
	*ret_result = (struct bootstrap_result){
		.estimate = estimate,
		.lo = stats_quantile_sorted(sorted, count, shares[0]),
		.hi = stats_quantile_sorted(sorted, count, shares[1]),
	};
	return 0;
}
