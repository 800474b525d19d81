/* law.c - see law.h.
 *
 * Weights are one over the square of the median time at each size: repeats of a size share a
 * weight, so a lucky run does not count more.  AICc alone calls 10 to 16 % of constant programs
 * growing (five laws, the luckiest wins), so a growing law must also beat the constant one in a
 * nested F test at 0.01.  Perfect data have no residuals; they are taken as 1e-12, better than any
 * clock. */
#include "analyze/law.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/distribution.h"
#include "base/fit.h"
#include "base/mem.h"
#include "base/stats.h"

#define LAW_GROWTH_P 0.01
#define LAW_RESIDUAL_LEAST 1e-24 /* mean square */

struct law_point {
	double size, time, middle; /* median time of its size */
};

const char *law_name(enum law law)
{
	static const char *const names[LAW_COUNT] = {
		"O(1)", "O(log n)", "O(n)", "O(n log n)", "O(n^2)"};

	return law < LAW_COUNT ? names[law] : "unknown";
}

static double law_growth(enum law law, double n)
{
	switch (law) {
	case LAW_LOG:
		return log(n);
	case LAW_LINEAR:
		return n;
	case LAW_LINEAR_LOG:
		return n * log(n);
	case LAW_SQUARE:
		return n * n;
	case LAW_CONSTANT:
	case LAW_COUNT:
		break;
	}
	return 0;
}

double law_time(enum law law, double a, double b, double n)
{
	return a + b * law_growth(law, n);
}

static int law_point_compare(const void *a, const void *b)
{
	const struct law_point *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

/* Sort by size, find the median of each; returns how many sizes there are. */
static size_t law_points_group(struct law_point *points, size_t count)
{
	size_t sizes = 0;

	qsort(points, count, sizeof(*points), law_point_compare);
	for (size_t i = 0, end; i < count; i = end, sizes++) {
		double middle;

		for (end = i; end < count && points[end].size == points[i].size;)
			end++;
		middle = (points[(i + end - 1) / 2].time + points[(i + end) / 2].time) / 2;
		for (size_t k = i; k < end; k++)
			points[k].middle = middle;
	}
	return sizes;
}

static int law_points_check(const double *sizes, const double *times, size_t count,
	const char *const what[2], struct err *err)
{
	int status = stats_check(sizes, count, what[0], err);

	if (status == 0)
		status = stats_check(times, count, what[1], err);
	for (size_t i = 0; i < count && status == 0; i++)
		if (sizes[i] < 1 || times[i] <= 0)
			status = err_set(err, ERR_USAGE, EINVAL,
				"a law needs %s of at least 1 and %s above 0; point %zu has %g and "
				"%g",
				what[0], what[1], i + 1, sizes[i], times[i]);
	return status;
}

static void law_line_fit(
	enum law law, const struct law_point *points, size_t count, struct law_line *ret_line)
{
	mem_auto double *columns = mem_new(2 * count, sizeof(*columns));
	mem_auto double *target = mem_new(count, sizeof(*target));
	size_t width = law == LAW_CONSTANT ? 1 : 2;
	double n = (double)count, free = (double)width + 1, coefficients[2] = {0}, residual;

	for (size_t i = 0; i < count; i++) {
		columns[i] = 1 / points[i].middle;
		columns[count + i] = law_growth(law, points[i].size) / points[i].middle;
		target[i] = points[i].time / points[i].middle;
	}
	residual = fit_nonnegative(columns, width, target, count, coefficients);
	*ret_line = (struct law_line){
		.residual = residual,
		.a = coefficients[0],
		.b = coefficients[1],
		.growth_p = 1,
	};
	ret_line->aicc = n * log(fmax(residual / n, LAW_RESIDUAL_LEAST)) + 2 * free +
			 2 * free * (free + 1) / (n - free - 1);
}

/* The nested test of each growing law against the constant one; F with one degree is t squared. */
static void law_lines_test(struct law_line *lines, size_t count)
{
	double n = (double)count, constant = lines[LAW_CONSTANT].residual;

	for (enum law law = LAW_CONSTANT + 1; law < LAW_COUNT; law++) {
		double rest = fmax(lines[law].residual, n * LAW_RESIDUAL_LEAST);
		double gain = fmax(0, constant - lines[law].residual);

		lines[law].growth_p = student_both_tails(sqrt(gain / rest * (n - 2)), n - 2);
	}
}

static void law_choose(struct law_fit *fit)
{
	double sum = 0;

	fit->best = LAW_CONSTANT;
	for (enum law law = LAW_CONSTANT; law < LAW_COUNT; law++)
		if (fit->lines[law].aicc < fit->lines[fit->best].aicc)
			fit->best = law;
	for (enum law law = LAW_CONSTANT; law < LAW_COUNT; law++) {
		double behind = fit->lines[law].aicc - fit->lines[fit->best].aicc;

		fit->lines[law].weight = exp(-behind / 2);
		sum += fit->lines[law].weight;
	}
	for (enum law law = LAW_CONSTANT; law < LAW_COUNT; law++)
		fit->lines[law].weight /= sum;
	fit->growth_unproven =
		fit->best != LAW_CONSTANT && fit->lines[fit->best].growth_p >= LAW_GROWTH_P;
	if (fit->growth_unproven)
		fit->best = LAW_CONSTANT;
}

/* A straight line through ln t over ln n. */
static void law_slope(struct law_fit *fit, const struct law_point *points)
{
	double n = (double)fit->count, x_mean = 0, y_mean = 0, xx = 0, xy = 0, yy = 0, half;

	for (size_t i = 0; i < fit->count; i++) {
		x_mean += log(points[i].size) / n;
		y_mean += log(points[i].time) / n;
	}
	for (size_t i = 0; i < fit->count; i++) {
		double x = log(points[i].size) - x_mean, y = log(points[i].time) - y_mean;

		xx += x * x;
		xy += x * y;
		yy += y * y;
	}
	fit->slope = xy / xx;
	half = student_quantile(0.05, n - 2) * sqrt(fmax(0, yy - xy * xy / xx) / (n - 2) / xx);
	fit->slope_lo = fit->slope - half;
	fit->slope_hi = fit->slope + half;
}

int law_fit(const double *sizes, const double *times, size_t count, struct law_fit *ret_fit,
	struct err *err)
{
	mem_auto struct law_point *points = mem_new(count, sizeof(*points));
	const char *const what[2] = {"sizes", "times"};
	int status = law_points_check(sizes, times, count, what, err);
	size_t size_count;

	if (status < 0)
		return status;
	for (size_t i = 0; i < count; i++)
		points[i] = (struct law_point){.size = sizes[i], .time = times[i]};
	size_count = law_points_group(points, count);
	if (count < 5 || size_count < 3) {
		err_set(err, ERR_USAGE, EINVAL,
			"%zu measurements at %zu sizes are too few for a law", count, size_count);
		err_hint(err, "measure at least 5 times, at 3 or more sizes");
		return -EINVAL;
	}
	*ret_fit = (struct law_fit){.count = count};
	for (enum law law = LAW_CONSTANT; law < LAW_COUNT; law++)
		law_line_fit(law, points, count, &ret_fit->lines[law]);
	law_lines_test(ret_fit->lines, count);
	law_choose(ret_fit);
	law_slope(ret_fit, points);
	return 0;
}

static size_t law_thread_counts(const double *threads, size_t count)
{
	mem_auto double *sorted = stats_sorted(threads, count);
	size_t distinct = count > 0;

	for (size_t i = 1; i < count; i++)
		distinct += sorted[i] != sorted[i - 1];
	return distinct;
}

/* Threads over throughput is linear in what is asked for: N/X = (1 + sigma (N-1) + kappa N (N-1)) /
 * rate_of_one.  So the fit needs no start values and cannot get stuck. */
int law_fit_threads(const double *threads, const double *rates, size_t count,
	struct law_threads *ret_fit, struct err *err)
{
	mem_auto double *columns = mem_new(3 * count, sizeof(*columns));
	mem_auto double *target = mem_new(count, sizeof(*target));
	const char *const what[2] = {"thread counts", "throughputs"};
	int status = law_points_check(threads, rates, count, what, err);
	double found[3], residual;

	if (status < 0)
		return status;
	if (law_thread_counts(threads, count) < 3)
		return err_set(err, ERR_USAGE, EINVAL,
			"scaling over threads needs 3 or more thread counts");
	for (size_t i = 0; i < count; i++) {
		double n = threads[i], weight = rates[i] / n;

		columns[i] = weight;
		columns[count + i] = weight * (n - 1);
		columns[2 * count + i] = weight * n * (n - 1);
		target[i] = 1;
	}
	residual = fit_nonnegative(columns, 3, target, count, found);
	if (!(found[0] > 0)) /* throughput that grows faster than the threads, from nothing */
		return err_set(err, ERR_USAGE, EINVAL,
			"these throughputs fit no law of scaling over threads");
	*ret_fit = (struct law_threads){
		.rate_of_one = 1 / found[0],
		.contention = found[1] / found[0],
		.coherency = found[2] / found[0],
		.deviation = count > 3 ? sqrt(residual / (double)(count - 3)) : (double)NAN,
	};
	ret_fit->peak = ret_fit->coherency > 0
				? sqrt(fmax(0, 1 - ret_fit->contention) / ret_fit->coherency)
				: (double)INFINITY;
	ret_fit->peak = fmax(1, ret_fit->peak);
	return 0;
}
