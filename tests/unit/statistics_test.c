/* statistics_test.c - the statistics give what scipy, statsmodels and R give, to 1e-9. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "base/centre.h"
#include "base/distribution.h"
#include "base/interval.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/series.h"
#include "base/shape.h"
#include "base/shift.h"
#include "base/stats.h"
#include "vectors.h"

/* ---- one sample ---- */

static void summary_case(const struct vector_case *one)
{
	struct vector x = vector_of(one, "x"), shares = vector_of(one, "shares");
	mem_auto double *sorted = stats_sorted(x.at, x.count);

	expect(one, "median", stats_median_sorted(sorted, x.count));
	expect(one, "mean", stats_mean(x.at, x.count));
	expect(one, "deviation", stats_deviation(x.at, x.count));
	expect(one, "variation", stats_variation(x.at, x.count));
	expect(one, "mad", stats_mad_sorted(sorted, x.count));
	expect(one, "iqr", stats_iqr_sorted(sorted, x.count));
	for (size_t i = 0; i < shares.count; i++) {
		near_enough(stats_quantile_sorted(sorted, x.count, shares.at[i]),
			vector_at(one, "interpolated", i), "interpolated");
		near_enough(stats_nearest_sorted(sorted, x.count, shares.at[i]),
			vector_at(one, "nearest", i), "nearest rank");
	}
}

static void a_summary_is_that_of_numpy_and_r(void **state)
{
	(void)state;
	assert_int_equal(vectors_check("summary.txt", "summary", summary_case), 9);
	assert_int_equal(vectors_check("r.txt", "summary", summary_case), 3);
}

static void autocorrelation_case(const struct vector_case *one)
{
	struct vector x = vector_of(one, "x");

	expect(one, "r", series_autocorrelation(x.at, x.count));
}

static void autocorrelation_is_that_of_statsmodels_and_r(void **state)
{
	(void)state;
	assert_int_equal(vectors_check("summary.txt", "autocorrelation", autocorrelation_case), 4);
	assert_int_equal(vectors_check("r.txt", "autocorrelation", autocorrelation_case), 3);
}

/* ---- distributions ---- */

static void normal_case(const struct vector_case *one)
{
	near_relative(normal_cdf(vector_value(one, "z")), vector_value(one, "cdf"), "normal");
}

static void normal_quantile_case(const struct vector_case *one)
{
	double share = vector_value(one, "share");

	near_enough(normal_quantile(share), vector_value(one, "z"), "normal quantile");
}

static void beta_case(const struct vector_case *one)
{
	double x = vector_value(one, "x"), a = vector_value(one, "a"), b = vector_value(one, "b");

	expect(one, "cdf", beta_cdf(x, a, b));
}

static void beta_quantile_case(const struct vector_case *one)
{
	double a = vector_value(one, "a"), b = vector_value(one, "b");

	expect(one, "x", beta_quantile(vector_value(one, "share"), a, b));
}

static void binomial_case(const struct vector_case *one)
{
	uint64_t k = (uint64_t)vector_value(one, "k"), n = (uint64_t)vector_value(one, "n");

	expect(one, "cdf", binomial_cdf(k, n, vector_value(one, "share")));
}

static void student_case(const struct vector_case *one)
{
	double t = vector_value(one, "t");

	expect(one, "tails", student_both_tails(t, vector_value(one, "degrees")));
}

static void student_quantile_case(const struct vector_case *one)
{
	double tails = vector_value(one, "tails");

	expect(one, "t", student_quantile(tails, vector_value(one, "degrees")));
}

static void distributions_are_those_of_scipy(void **state)
{
	const char *file = "distribution.txt";

	(void)state;
	assert_int_equal(vectors_check(file, "normal", normal_case), 11);
	assert_int_equal(vectors_check(file, "normal_quantile", normal_quantile_case), 11);
	assert_int_equal(vectors_check(file, "beta", beta_case), 35);
	assert_int_equal(vectors_check(file, "beta_quantile", beta_quantile_case), 28);
	assert_int_equal(vectors_check(file, "binomial", binomial_case), 30);
	assert_int_equal(vectors_check(file, "student", student_case), 6);
	assert_int_equal(vectors_check(file, "student_quantile", student_quantile_case), 5);
}

static void a_distribution_has_no_value_outside_its_domain(void **state)
{
	(void)state;
	assert_true(
		normal_quantile(0) == (double)-INFINITY && normal_quantile(1) == (double)INFINITY);
	assert_true(isnan(normal_quantile(-0.1)) && isnan(normal_quantile((double)NAN)));
	assert_true(isnan(beta_cdf(0.5, 0, 1)) && isnan(beta_cdf((double)NAN, 1, 1)));
	assert_true(isnan(beta_quantile(1.5, 1, 1)) && beta_quantile(0, 2, 2) == 0);
	assert_true(isnan(binomial_cdf(1, 2, 1.1)) && binomial_cdf(7, 7, 0.2) == 1);
	assert_true(student_both_tails((double)INFINITY, 4) == 0 && student_both_tails(0, 4) == 1);
}

static void a_value_that_is_no_number_is_refused_by_name(void **state)
{
	double values[] = {1, 2, (double)NAN}, endless[] = {1, (double)-INFINITY};
	struct err err = {0};

	(void)state;
	assert_int_equal(stats_check(values, 2, "times", &err), 0);
	assert_int_equal(stats_check(values, 3, "times", &err), -EINVAL);
	assert_string_equal(err.text, "times: value 3 of 3 is not a number");
	assert_int_equal(stats_check(endless, 2, "sizes", &err), -EINVAL);
	assert_string_equal(err.text, "sizes: value 2 of 2 is infinite");
}

/* ---- shifts ---- */

static void two_samples_case(const struct vector_case *one)
{
	struct vector a = vector_of(one, "a"), b = vector_of(one, "b");
	mem_auto double *first = stats_sorted(a.at, a.count);
	mem_auto double *second = stats_sorted(b.at, b.count);
	struct shift shift = shift_between_sorted(first, a.count, second, b.count, 0.95);

	expect(one, "estimate", shift.estimate);
	expect(one, "lo", shift.lo);
	expect(one, "hi", shift.hi);
}

static void shifts_are_those_of_r_and_of_sorting_everything(void **state)
{
	(void)state;
	assert_int_equal(vectors_check("shift.txt", "two", two_samples_case), 4);
	assert_int_equal(vectors_check("r.txt", "two", two_samples_case), 4);
}

/* Whole numbers, so that most differences are tied. */
static void a_shift_with_ties_is_that_of_sorting_everything(void **state)
{
	enum { A = 70, B = 31 };
	double a[A], b[B], all[A * B];
	int64_t cut = rank_sum_cut(A, B, 0.95);
	struct random random;
	struct shift shift;

	(void)state;
	random_seed(&random, 3);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < A; i++)
			a[i] = (double)random_below(&random, 9);
		for (int i = 0; i < B; i++)
			b[i] = (double)random_below(&random, 12) - 4;
		for (int i = 0; i < A * B; i++)
			all[i] = b[i % B] - a[i / B];
		stats_sort(a, A);
		stats_sort(b, B);
		stats_sort(all, A * B);
		shift = shift_between_sorted(a, A, b, B, 0.95);
		assert_true(shift.estimate == stats_median_sorted(all, A * B));
		assert_true(shift.lo == all[cut] && shift.hi == all[A * B - 1 - cut]);
	}
}

static void a_shift_of_too_few_values_has_no_bounds(void **state)
{
	double four[] = {1, 2, 3, 4}, same[200];
	struct shift shift = shift_between_sorted(four, 4, NULL, 0, 0.95);

	(void)state;
	assert_true(isnan(shift.estimate) && isinf(shift.hi));
	shift = shift_between_sorted(four, 3, four, 3, 0.95);
	assert_true(shift.estimate == 0 && shift.lo == (double)-INFINITY &&
		    shift.hi == (double)INFINITY);
	shift = shift_between_sorted(four, 4, four, 4, 0.95);
	assert_true(shift.estimate == 0 && shift.lo == -3 && shift.hi == 3);
	for (int i = 0; i < 200; i++)
		same[i] = -7;
	shift = shift_between_sorted(same, 200, same, 200, 0.95);
	assert_true(shift.estimate == 0 && shift.lo == 0 && shift.hi == 0);
}

static void the_cut_of_many_values_is_the_formula_of_the_rules(void **state)
{
	(void)state;
	for (size_t count = 26; count <= 2000; count++) {
		double n = (double)count, m = 30;
		double cut = floor(n * m / 2 - 1.96 * sqrt(n * m * (n + m + 1) / 12));
		int64_t more = rank_sum_cut(count, 30, 0.95) - (int64_t)cut;

		assert_in_range(more, 0, 1); /* 1.96 is 1.959964 rounded up */
	}
	/* Published critical values of U. */
	assert_int_equal(rank_sum_cut(10, 10, 0.95), 23);
	assert_int_equal(rank_sum_cut(20, 20, 0.95), 127);
	assert_int_equal(rank_sum_cut(5, 9, 0.95), 7);
	assert_int_equal(rank_sum_cut(9, 5, 0.95), 7);
	assert_int_equal(rank_sum_cut(10, 10, 0.99), 16);
	assert_int_equal(rank_sum_cut(3, 3, 0.95), -1);
	assert_int_equal(rank_sum_cut(0, 30, 0.95), -1);
}

/* ---- centres ---- */

/* Expected: winsorised and averaged by hand, tails of Student by Simpson's rule. */
static void a_centre_is_that_of_tukey_and_mclaughlin(void **state)
{
	double ten[] = {-0.05, 0.11, 0.15, 0.19, 0.23, 0.27, 0.3, 0.32, 0.41, 3.9};
	double three[] = {0.1, 0.2, 0.3};
	struct centre centre = centre_of_sorted(ten, 10, 0);

	(void)state;
	assert_int_equal(centre_cut(10), 1);
	assert_true(fabs(centre.estimate - 0.2475) < 1e-12 && centre.degrees == 7);
	assert_true(fabs(centre.error - 0.04476127152540942) < 1e-12);
	assert_true(fabs(centre_p(&centre) - 0.0008788529596746) < 1e-9);
	centre = centre_of_sorted(three, 3, 0); /* nothing is cut: the mean and its error */
	assert_true(fabs(centre.error - 0.1 / sqrt(3)) < 1e-12);
	assert_true(fabs(centre_p(&centre) - 0.07417990022745358) < 1e-9);
	centre = centre_of_sorted(three, 3, 0.1);
	assert_true(fabs(centre.error - sqrt(0.02 / 3)) < 1e-12);
}

static void the_centres_of_two_samples_differ_as_yuen_and_welch_say(void **state)
{
	double a[] = {1.1, 1.2, 1.25, 1.3, 1.35, 1.4, 1.45, 1.5}, b[] = {1.6, 1.7, 1.9, 2.1, 2.4};
	struct centre centre = centre_between_sorted(a, 8, b, 5, 0);

	(void)state;
	assert_true(fabs(centre.estimate - 0.615) < 1e-12);
	assert_true(fabs(centre.error - 0.15335144820531257) < 1e-12);
	assert_true(fabs(centre.degrees - 5.077166126741227) < 1e-9);
	assert_true(fabs(centre_p(&centre) - 0.009904030553842591) < 1e-9);
	centre = centre_between_sorted(a, 1, b, 5, 0);
	assert_true(isinf(centre.error) && centre_p(&centre) == 1);
	assert_true(isinf(centre_half(&centre, 0.95)));
}

static void p_and_the_interval_of_a_centre_are_the_same_statement(void **state)
{
	double values[] = {0.2, 0.5, 0.9, 1.6, 2.3}, none[] = {3, 3, 3};
	struct centre centre = centre_of_sorted(values, 5, 0), sure = centre_of_sorted(none, 3, 0);
	double p = centre_p(&centre);

	(void)state;
	assert_true(centre_half(&centre, 1 - p - 1e-6) < centre.estimate);
	assert_true(centre_half(&centre, 1 - p + 1e-6) > centre.estimate);
	assert_true(centre_p(&sure) == 0 && centre_half(&sure, 0.99) == 0);
	centre = centre_of_sorted(NULL, 0, 0);
	assert_true(isnan(centre.estimate) && centre_p(&centre) == 1);
}

/* ---- intervals ---- */

static void quantile_case(const struct vector_case *one)
{
	size_t n = (size_t)vector_value(one, "n");
	double share = vector_value(one, "share"), lo = vector_value(one, "lo");
	mem_auto double *ranks = mem_new(n, sizeof(*ranks));
	struct interval found;

	for (size_t i = 0; i < n; i++)
		ranks[i] = (double)(i + 1);
	found = interval_of_quantile(ranks, n, share, 0.95);
	near_enough(found.lo, lo > 0 ? lo : (double)-INFINITY, "lower bound");
	expect(one, "hi", found.hi);
	expect(one, "upper", quantile_upper_bound(ranks, n, share, 0.95));
}

static void share_case(const struct vector_case *one)
{
	uint64_t k = (uint64_t)vector_value(one, "k"), n = (uint64_t)vector_value(one, "n");
	double confidence = vector_value(one, "confidence");
	struct interval exact = interval_of_share_exact(k, n, confidence);
	struct interval wilson = interval_of_share_wilson(k, n, confidence);
	struct vector expected = vector_find(one, "wilson");

	near_enough(exact.lo, vector_at(one, "exact", 0), "exact lower");
	near_enough(exact.hi, vector_at(one, "exact", 1), "exact upper");
	if (expected.count) {
		near_enough(wilson.lo, expected.at[0], "wilson lower");
		near_enough(wilson.hi, expected.at[1], "wilson upper");
	}
}

static void intervals_are_those_of_scipy_statsmodels_and_r(void **state)
{
	(void)state;
	assert_int_equal(vectors_check("interval.txt", "quantile", quantile_case), 65);
	assert_int_equal(vectors_check("interval.txt", "share", share_case), 14);
	assert_int_equal(vectors_check("r.txt", "share", share_case), 8);
}

static void a_percentile_needs_as_many_values_as_the_rules_say(void **state)
{
	static const struct {
		double share;
		uint64_t one_sided, two_sided;
	} rows[] = {{0.95, 59, 72}, {0.99, 299, 368}, {0.999, 2995, 3688}, {0.9999, 29956, 36887}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(quantile_count_needed(rows[i].share, 0.95), rows[i].one_sided);
		assert_int_equal(quantile_count_needed(rows[i].share, 0.975), rows[i].two_sided);
	}
	assert_int_equal(quantile_count_needed(1, 0.95), 0);
	assert_int_equal(quantile_count_needed((double)NAN, 0.95), 0);
	assert_true(interval_of_quantile(NULL, 0, 0.5, 0.95).lo == (double)-INFINITY);
	assert_true(quantile_upper_bound(NULL, 0, 0.5, 0.95) == (double)INFINITY);
	assert_true(interval_of_share_wilson(0, 0, 0.95).hi == 1);
	assert_true(interval_of_share_exact(0, 0, 0.95).lo == 0);
}

/* ---- random numbers ---- */

static void random_case(const struct vector_case *one)
{
	struct vector high = vector_of(one, "high");
	struct random random;

	random_seed(&random, (uint64_t)vector_value(one, "seed"));
	for (size_t i = 0; i < high.count; i++)
		assert_true((double)(random_next(&random) >> 32) == high.at[i]);
}

static void random_numbers_are_those_of_xoshiro256(void **state)
{
	/* First numbers of the state 1, 2, 3, 4, as published with other implementations. */
	static const uint64_t known[] = {11520, 0, 1509978240, 1215971899390074240};
	struct random random = {{1, 2, 3, 4}};
	unsigned seen[6] = {0};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(random_next(&random), known[i]);
	assert_int_equal(vectors_check("random.txt", "random", random_case), 1);
	random_seed(&random, 0);
	for (int i = 0; i < 6000; i++) {
		double share = random_share(&random);

		assert_true(share >= 0 && share < 1);
		seen[random_below(&random, 6)]++;
	}
	for (int i = 0; i < 6; i++)
		assert_in_range(seen[i], 880, 1120); /* four deviations */
	assert_int_equal(random_below(&random, 0), 0);
	assert_int_equal(random_below(&random, 1), 0);
}

/* ---- series and shape ---- */

static void warm_up_is_where_the_start_ends(void **state)
{
	double cold[] = {
		90, 50, 20, 11, 10, 10.2, 9.9, 10.1, 10, 9.8, 10.1, 10, 9.9, 10.2, 10, 10.1};
	double flat[20], one[20];

	(void)state;
	for (int i = 0; i < 20; i++) {
		flat[i] = 5;
		one[i] = i ? 5 : 9;
	}
	assert_int_equal(series_warm_after(cold, 16), 4);
	assert_int_equal(series_warm_after(cold, 7), 0); /* too few to tell */
	assert_int_equal(series_warm_after(flat, 20), 0);
	assert_int_equal(series_warm_after(one, 20), 1);
	assert_int_equal(series_warm_after(NULL, 0), 0);
}

static void values_that_resemble_their_neighbours_count_less(void **state)
{
	double two[] = {1, 2}, same[] = {3, 3, 3, 3};

	(void)state;
	assert_true(isnan(series_autocorrelation(two, 2)));
	assert_true(isnan(series_autocorrelation(same, 4)));
	assert_true(series_effective_count(100, 0.2) == 100);
	assert_true(series_effective_count(100, (double)NAN) == 100);
	assert_true(fabs(series_effective_count(100, 0.6) - 25) < 1e-12);
	assert_true(series_effective_count(3, 0.99) == 1);
}

static void outliers_are_told_by_robust_deviations(void **state)
{
	double mostly[] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 6}, spread[] = {1, 2, 3, 4, 5};

	(void)state;
	assert_true(stats_robust_sigma_sorted(spread, 5) == STATS_MAD_TO_SIGMA);
	/* More than half are equal: the mean distance, 0.1, takes over. */
	assert_true(fabs(stats_robust_sigma_sorted(mostly, 10) - 0.12533141373155003) < 1e-15);
	assert_int_equal(outlier_class_of(3, 3, 0), OUTLIER_NONE);
	assert_int_equal(outlier_class_of(5.9, 3, 1), OUTLIER_NONE);
	assert_int_equal(outlier_class_of(-0.1, 3, 1), OUTLIER_FAR);
	assert_int_equal(outlier_class_of(13.1, 3, 1), OUTLIER_EXTREME);
	assert_int_equal(outlier_class_of(3.1, 3, 0), OUTLIER_EXTREME);
}

static void two_heaps_are_seen_and_one_is_not(void **state)
{
	double heap[100], two[100], ticks[100];
	struct shape_valley valley;

	(void)state;
	for (int i = 0; i < 100; i++) {
		heap[i] = normal_quantile((i + 0.5) / 100);
		two[i] = normal_quantile((i % 50 + 0.5) / 50) + (i < 50 ? 0 : 8);
		ticks[i] = i - i % 25;
	}
	assert_false(shape_valley_find(heap, 100).found);
	assert_false(shape_valley_find(ticks, 100).found); /* a coarse clock is not two modes */
	assert_false(shape_valley_find(two, 19).found);
	valley = shape_valley_find(two, 100);
	assert_true(valley.found && valley.at > 2 && valley.at < 6);
	assert_true(fabs(valley.lower_share - 0.5) < 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_summary_is_that_of_numpy_and_r),
		cmocka_unit_test(autocorrelation_is_that_of_statsmodels_and_r),
		cmocka_unit_test(distributions_are_those_of_scipy),
		cmocka_unit_test(a_distribution_has_no_value_outside_its_domain),
		cmocka_unit_test(a_value_that_is_no_number_is_refused_by_name),
		cmocka_unit_test(shifts_are_those_of_r_and_of_sorting_everything),
		cmocka_unit_test(a_shift_with_ties_is_that_of_sorting_everything),
		cmocka_unit_test(a_shift_of_too_few_values_has_no_bounds),
		cmocka_unit_test(the_cut_of_many_values_is_the_formula_of_the_rules),
		cmocka_unit_test(a_centre_is_that_of_tukey_and_mclaughlin),
		cmocka_unit_test(the_centres_of_two_samples_differ_as_yuen_and_welch_say),
		cmocka_unit_test(p_and_the_interval_of_a_centre_are_the_same_statement),
		cmocka_unit_test(intervals_are_those_of_scipy_statsmodels_and_r),
		cmocka_unit_test(a_percentile_needs_as_many_values_as_the_rules_say),
		cmocka_unit_test(random_numbers_are_those_of_xoshiro256),
		cmocka_unit_test(warm_up_is_where_the_start_ends),
		cmocka_unit_test(values_that_resemble_their_neighbours_count_less),
		cmocka_unit_test(outliers_are_told_by_robust_deviations),
		cmocka_unit_test(two_heaps_are_seen_and_one_is_not),
	};

	return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
