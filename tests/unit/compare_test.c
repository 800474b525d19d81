/* compare_test.c - verdicts: what is called a change, what is not, and what is left open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/compare.h"
#include "analyze/summary.h"
#include "base/distribution.h"
#include "base/random.h"

#define PAIRS 60

/* Times of A with 2 % noise, and of B that takes `ratio` as long. */
static void make_pairs(double ratio, double *a, double *b)
{
	struct random random;

	random_seed(&random, 3);
	for (int i = 0; i < PAIRS; i++) {
		a[i] = 2e7 * exp(0.02 * normal_quantile(random_share(&random)));
		b[i] = 2e7 * ratio * exp(0.02 * normal_quantile(random_share(&random)));
	}
}

static struct comparison compared(
	const double *a, const double *b, size_t count, enum compare_kind kind)
{
	struct compare_input input = {"time", kind, a, b, count, count};
	struct compare_rule rule = {0};
	struct comparison result;
	struct err err = {0};

	if (compare_pairs(&input, &rule, &result, &err) < 0)
		fail_msg("%s", err.text);
	return result;
}

static void a_change_is_called_by_its_direction_and_size(void **state)
{
	double a[PAIRS], b[PAIRS];
	struct comparison slower, faster;

	(void)state;
	make_pairs(1.05, a, b);
	slower = compared(a, b, PAIRS, COMPARE_CPU);
	faster = compared(b, a, PAIRS, COMPARE_CPU);
	assert_int_equal(slower.outcome, COMPARE_REGRESSED);
	assert_true(slower.lo < 0.05 && slower.hi > 0.05 && slower.p < 0.01);
	assert_true(slower.median_b > slower.median_a);
	/* The other way round is the mirror image. */
	assert_int_equal(faster.outcome, COMPARE_IMPROVED);
	assert_true(fabs(faster.log_ratio.estimate + slower.log_ratio.estimate) < 1e-12);
	assert_true(fabs((1 + faster.lo) * (1 + slower.hi) - 1) < 1e-12);
	assert_int_equal(slower.pairs_needed, 0);
}

static void the_same_program_is_equivalent_once_the_interval_says_so(void **state)
{
	double a[PAIRS], b[PAIRS];
	struct comparison few, many;

	(void)state;
	make_pairs(1, a, b);
	few = compared(a, b, 20, COMPARE_CPU);
	many = compared(a, b, PAIRS, COMPARE_CPU);
	assert_int_equal(few.outcome, COMPARE_INCONCLUSIVE);
	assert_int_equal(many.outcome, COMPARE_EQUIVALENT);
	assert_true(many.lo >= -0.01 && many.hi <= 0.01 && many.detectable < 0.01);
	/* About n * (half width / effect)^2. */
	assert_int_equal(few.pairs_needed,
		(uint64_t)ceil(20 * pow(centre_half(&few.centre, 0.95) / log1p(0.01), 2)));
	assert_true(compare_is_settled(&many) && !compare_is_settled(&few));
}

static void a_change_in_few_pairs_needs_a_few_more_and_not_thousands(void **state)
{
	double a[PAIRS], b[PAIRS];
	struct comparison few, enough;

	(void)state;
	make_pairs(1.04, a, b);
	few = compared(a, b, 8, COMPARE_WALL);
	assert_int_equal(few.outcome, COMPARE_INCONCLUSIVE);
	assert_in_range(few.pairs_needed, 9, 14);
	enough = compared(a, b, few.pairs_needed, COMPARE_WALL);
	assert_int_equal(enough.outcome, COMPARE_REGRESSED);
}

/* ---- what few runs show ---- */

/* Of both clocks, as `ab` judges it. */
static struct comparison of_two(const double *a, const double *b, size_t pairs)
{
	struct comparison both[2] = {
		compared(a, b, pairs, COMPARE_WALL), compared(a, b, pairs, COMPARE_CPU)};

	compare_family(both, 2);
	return both[0];
}

static void a_change_far_beyond_the_noise_is_called_in_three_pairs(void **state)
{
	static const double old[] = {8.02, 8.41, 7.93}, fast[] = {0.31, 0.33, 0.35},
			    faster[] = {4.95, 5.32, 5.01};
	struct comparison one = of_two(old, fast, 3);

	(void)state;
	assert_int_equal(one.outcome, COMPARE_IMPROVED);
	assert_true(one.plain && one.hi < 0 && one.lo < one.effect && one.effect < one.hi);
	assert_int_equal(of_two(fast, old, 3).outcome, COMPARE_REGRESSED);
	assert_int_equal(of_two(old, faster, 3).outcome, COMPARE_IMPROVED); /* -37 % */
	assert_int_equal(of_two(old, fast, 2).outcome, COMPARE_INCONCLUSIVE);
}

static void an_interval_of_98_to_94_percent_is_an_improvement(void **state)
{
	static const double old[] = {4.1, 4.6, 4.2, 5.9, 4.3, 4.1, 4.4},
			    new[] = {0.17, 0.16, 0.24, 0.16, 0.19, 0.16, 0.17};
	struct comparison one = of_two(old, new, 7);

	(void)state;
	assert_true(one.lo > -0.98 && one.hi < -0.94 && one.pairs_needed == 0);
	assert_int_equal(one.outcome, COMPARE_IMPROVED);
	/* By fewer pairs too: their number alone makes no other verdict. */
	for (size_t pairs = 4; pairs < 7; pairs++)
		assert_int_equal(of_two(old, new, pairs).outcome, COMPARE_IMPROVED);
}

/* Four threads on two CPUs: wall times that vary by a third.  Ranks gave an interval of -46 to -16
 * % with p = 0.0078, and called it inconclusive. */
static void a_third_less_is_found_in_ten_pairs_that_vary_by_a_third(void **state)
{
	static const double ratios[] = {0.51, 0.62, 0.74, 0.92, 0.48, 0.66, 0.55, 1.04, 0.71, 0.86};
	double a[10], b[10];
	struct comparison one;

	(void)state;
	for (int i = 0; i < 10; i++) {
		a[i] = 1 + 0.3 * (i * 7 % 10) / 10;
		b[i] = a[i] * ratios[i];
	}
	one = of_two(a, b, 10);
	assert_int_equal(one.outcome, COMPARE_IMPROVED);
	assert_true(one.adjusted_p < one.alpha && one.hi < 0);
}

static void one_wild_run_of_ten_hides_nothing(void **state)
{
	double a[10], b[10];

	(void)state;
	for (int i = 0; i < 10; i++) {
		a[i] = 1 + 0.02 * (i * 3 % 10) / 10;
		b[i] = 0.9 + 0.02 * (i * 7 % 10) / 10;
	}
	b[4] = 7;
	assert_int_equal(of_two(a, b, 10).outcome, COMPARE_IMPROVED);
}

static void what_few_runs_do_not_show_stays_open(void **state)
{
	static const double old[] = {2.0, 2.1, 2.05, 2.02, 2.07},
			    little[] = {1.99, 2.05, 2.03, 2.05, 2.01},
			    wild[] = {0.9, 1.0, 2.0, 1.95, 0.9}, same[] = {1, 1, 1},
			    more[] = {1.012, 1.012, 1.012};

	(void)state;
	assert_int_equal(of_two(old, little, 5).outcome, COMPARE_INCONCLUSIVE);
	assert_int_equal(of_two(old, wild, 5).outcome, COMPARE_INCONCLUSIVE);
	/* No machine is as exact as three runs that happen to be equal. */
	assert_int_equal(of_two(same, more, 3).outcome, COMPARE_INCONCLUSIVE);
}

static void two_sessions_need_six_runs_in_all(void **state)
{
	static const double old[] = {5.0, 5.1}, half[] = {2.4, 2.3, 2.35, 2.3, 2.4, 2.3},
			    near[] = {4.9, 4.8, 4.85, 4.8, 4.9, 4.8};
	const struct compare_rule rule = {.session = 0.01};
	struct compare_input input = {"wall", COMPARE_WALL, old, half, 2, 6};
	struct comparison result;
	struct err err = {0};

	(void)state;
	assert_int_equal(compare_samples(&input, &rule, &result, &err), 0);
	assert_int_equal(result.outcome, COMPARE_IMPROVED);
	assert_true(result.advisory && isfinite(result.lo) && isfinite(result.hi));
	input.b = near; /* 4 % is what two sessions may differ by */
	assert_int_equal(compare_samples(&input, &rule, &result, &err), 0);
	assert_int_equal(result.outcome, COMPARE_INCONCLUSIVE);
	input.b = half;
	input.b_count = 3;
	assert_int_equal(compare_samples(&input, &rule, &result, &err), 0);
	assert_int_equal(result.outcome, COMPARE_INCONCLUSIVE);
	assert_true(isinf(result.lo) && result.p == 1);
}

static void a_true_change_below_the_smallest_effect_is_not_called(void **state)
{
	double a[PAIRS], b[PAIRS];
	struct compare_input input = {"cpu", COMPARE_CPU, a, b, PAIRS, PAIRS};
	struct compare_rule rule = {.min_effect = 0.08}, history = {.noise_iqr = 0.04};
	struct comparison result;
	struct err err = {0};

	(void)state;
	make_pairs(1.05, a, b);
	assert_int_equal(compare_pairs(&input, &rule, &result, &err), 0);
	assert_true(result.p < 0.01);
	assert_int_equal(result.outcome, COMPARE_EQUIVALENT);
	assert_int_equal(compare_pairs(&input, &history, &result, &err), 0);
	assert_true(result.min_effect == 0.08); /* twice what A against A used to vary */
	assert_int_equal(result.outcome, COMPARE_EQUIVALENT);
}

static void too_few_pairs_leave_everything_open(void **state)
{
	double a[] = {1, 1.1, 1, 1.1, 1}, b[] = {1.3, 1.2, 1.3, 1.2, 1.3};

	(void)state;
	for (size_t count = 0; count <= 5; count++) {
		struct comparison result = compared(a, b, count, COMPARE_WALL);
		bool none = count < COMPARE_PAIRS_MIN;

		assert_int_equal(result.outcome, COMPARE_INCONCLUSIVE);
		assert_int_equal(isinf(result.lo) && isinf(result.hi), none);
		assert_true(!none || (result.p == 1 && isinf(result.detectable)));
		assert_true(none ? result.pairs_needed == COMPARE_PAIRS_GOOD
				 : result.pairs_needed > count);
		assert_false(compare_is_settled(&result));
	}
}

static void equal_values_are_equivalent(void **state)
{
	double a[PAIRS];

	(void)state;
	for (int i = 0; i < PAIRS; i++)
		a[i] = 5;
	assert_int_equal(compared(a, a, PAIRS, COMPARE_WALL).outcome, COMPARE_EQUIVALENT);
	assert_true(compared(a, a, PAIRS, COMPARE_WALL).p == 1);
}

static void a_count_that_never_varies_decides_by_itself(void **state)
{
	double old[] = {1000, 1000}, new[] = {1001, 1001}, none[] = {0, 0}, noisy[] = {1000, 1003};
	struct comparison result = compared(old, new, 2, COMPARE_COUNT);

	(void)state;
	assert_true(result.constant);
	assert_int_equal(result.outcome, COMPARE_REGRESSED);
	assert_int_equal(compared(old, old, 2, COMPARE_COUNT).outcome, COMPARE_EQUIVALENT);
	assert_int_equal(compared(none, old, 2, COMPARE_COUNT).outcome, COMPARE_REGRESSED);
	assert_int_equal(compared(old, none, 2, COMPARE_COUNT).outcome, COMPARE_IMPROVED);
	assert_int_equal(compared(none, none, 2, COMPARE_COUNT).outcome, COMPARE_EQUIVALENT);
	assert_int_equal(compared(old, noisy, 2, COMPARE_COUNT).outcome, COMPARE_INCONCLUSIVE);
	assert_int_equal(compared(old, new, 1, COMPARE_COUNT).outcome, COMPARE_INCONCLUSIVE);
}

static void what_has_no_ratio_is_refused(void **state)
{
	double good[] = {1, 2, 3}, zero[] = {1, 0, 3}, broken[] = {1, 2, (double)NAN};
	struct compare_input input = {"wall", COMPARE_WALL, good, zero, 3, 3};
	struct compare_rule rule = {0};
	struct comparison result;
	struct err err = {0};

	(void)state;
	assert_int_equal(compare_pairs(&input, &rule, &result, &err), -EINVAL);
	assert_string_equal(err.text, "wall: measurement 2 is 0 or less, so there is no ratio");
	assert_true(strlen(err.hint) > 0);
	assert_int_equal(compare_samples(&input, &rule, &result, &err), -EINVAL);
	input.b = broken;
	assert_int_equal(compare_pairs(&input, &rule, &result, &err), -EINVAL);
	assert_string_equal(err.text, "wall: value 3 of 3 is not a number");
	input.b_count = 2;
	assert_int_equal(compare_pairs(&input, &rule, &result, &err), -EINVAL);
	assert_string_equal(err.text, "wall: 3 and 2 values cannot be paired");
}

static void samples_that_are_not_paired_are_advisory(void **state)
{
	double a[PAIRS], b[PAIRS];
	struct compare_input input = {"wall", COMPARE_WALL, a, b, PAIRS, 30};
	struct compare_rule rule = {0};
	struct comparison result;
	struct compare_verdict verdict;
	struct err err = {0};

	(void)state;
	make_pairs(1.05, a, b);
	assert_int_equal(compare_samples(&input, &rule, &result, &err), 0);
	assert_int_equal(result.outcome, COMPARE_REGRESSED);
	assert_true(result.advisory && result.lo < 0.05 && result.hi > 0.05);
	verdict = compare_decide(&result, 1);
	assert_true(verdict.advisory);
	input.b_count = 0;
	assert_int_equal(compare_samples(&input, &rule, &result, &err), 0);
	assert_int_equal(result.outcome, COMPARE_INCONCLUSIVE);
	assert_true(isnan(result.effect));
}

static void runs_that_resemble_their_neighbours_widen_the_interval(void **state)
{
	double a[PAIRS], b[PAIRS];
	struct comparison result;

	(void)state;
	for (int i = 0; i < PAIRS; i++) {
		a[i] = 1;
		b[i] = 1.001 + 0.02 * sin(i / 3.0) + 1e-4 * (i % 7);
	}
	result = compared(a, b, PAIRS, COMPARE_WALL);
	assert_true(result.autocorrelation > 0.8 && result.effective_count < 5);
	assert_int_equal(result.outcome, COMPARE_INCONCLUSIVE);
	assert_true(result.detectable > 0.01);
}

static void several_metrics_are_corrected_as_one_family(void **state)
{
	double a[PAIRS], b[PAIRS];
	struct comparison items[40], one;

	(void)state;
	make_pairs(1.04, a, b);
	one = compared(a, b, 10, COMPARE_CPU);
	assert_int_equal(one.outcome, COMPARE_REGRESSED);
	assert_true(one.confidence == 0.99);
	for (int i = 0; i < 40; i++)
		items[i] = one;
	compare_family(items, 2);
	assert_true(items[0].adjusted_p == 2 * one.p && items[0].confidence == 0.995);
	assert_true(items[0].lo < one.lo && items[0].hi > one.hi);
	compare_family(items, 40);
	assert_true(items[39].adjusted_p >= items[39].alpha && items[39].lo < 0);
	assert_int_equal(items[39].outcome, COMPARE_INCONCLUSIVE);
}

/* Interval, p and verdict say the same, whatever the data and however many metrics. */
static void a_row_never_contradicts_itself(void **state)
{
	struct random random;

	(void)state;
	random_seed(&random, 61);
	for (int trial = 0; trial < 2000; trial++) {
		size_t pairs = COMPARE_PAIRS_MIN + trial % 20;
		double a[PAIRS], b[PAIRS], sigma = trial % 3 ? 0.02 : 0.2;
		struct comparison items[3], *one = items;
		bool excludes;

		for (size_t i = 0; i < pairs; i++) {
			a[i] = exp(sigma * normal_quantile(random_share(&random)));
			b[i] = (1 + trial % 7 * 0.01) *
			       exp(sigma * normal_quantile(random_share(&random)));
		}
		items[0] = items[1] = items[2] = compared(a, b, pairs, COMPARE_WALL);
		compare_family(items, 1 + trial % 3);
		excludes = one->lo > 0 || one->hi < 0;
		if (one->outcome == COMPARE_EQUIVALENT)
			assert_true(one->hi <= 0.01 + 1e-12 && one->confidence == 0.95);
		else
			assert_int_equal(excludes, one->adjusted_p < one->alpha);
		if (excludes && one->outcome == COMPARE_INCONCLUSIVE)
			assert_true(fabs(one->log_ratio.estimate) <= log1p(0.01));
	}
}

static void the_verdict_says_which_clock_moved(void **state)
{
	const enum compare_outcome open = COMPARE_INCONCLUSIVE, same = COMPARE_EQUIVALENT,
				   better = COMPARE_IMPROVED, worse = COMPARE_REGRESSED;
	const struct {
		enum compare_outcome wall, cpu, outcome;
		enum compare_note note;
		bool confirmed;
	} rows[] = {
		{worse, worse, worse, COMPARE_NOTE_NONE, true},
		{worse, same, worse, COMPARE_NOTE_WALL_ONLY, true},
		{worse, open, worse, COMPARE_NOTE_WALL_ONLY, true},
		{open, worse, worse, COMPARE_NOTE_NO_WALL, false},
		{same, worse, worse, COMPARE_NOTE_CPU_ONLY, false},
		{better, worse, worse, COMPARE_NOTE_OPPOSED, false},
		{worse, better, worse, COMPARE_NOTE_OPPOSED, true},
		{open, better, better, COMPARE_NOTE_NO_WALL, false},
		{better, better, better, COMPARE_NOTE_NONE, true},
		{open, same, open, COMPARE_NOTE_WALL_UNKNOWN, false},
		{same, same, same, COMPARE_NOTE_NONE, false},
		{same, open, open, COMPARE_NOTE_NONE, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct comparison items[] = {{.kind = COMPARE_CPU, .outcome = rows[i].cpu},
			{.kind = COMPARE_WALL, .outcome = rows[i].wall}};
		struct compare_verdict verdict = compare_decide(items, 2);

		assert_int_equal(verdict.outcome, rows[i].outcome);
		assert_int_equal(verdict.note, rows[i].note);
		assert_int_equal(verdict.confirmed, rows[i].confirmed);
		assert_int_equal(strlen(compare_note_text(verdict.note)) > 0,
			rows[i].note != COMPARE_NOTE_NONE);
	}
	assert_null(compare_decide(NULL, 0).by);
	assert_string_equal(compare_outcome_name(COMPARE_REGRESSED), "regressed");
}

static void a_summary_tells_what_a_single_number_hides(void **state)
{
	double values[100];
	struct summary summary;
	struct err err = {0};

	(void)state;
	for (int i = 0; i < 100; i++) /* the same heap in a shuffled order */
		values[i] = 100 + normal_quantile((i * 37 % 100 + 0.5) / 100);
	values[0] = 150;
	values[60] = 105;
	assert_int_equal(summary_make(values, 100, &summary, &err), 0);
	assert_true(summary.warm_after == 1 && summary.extreme == 1 && summary.far == 1);
	assert_true(summary.steady_count == 98 && summary.max == 150);
	assert_true(summary.steady_mean < summary.mean);
	assert_true(summary.median_interval.lo < 100 && summary.median_interval.hi > 100);
	assert_int_equal(summary.spread, SUMMARY_SPREAD_USUAL);
	assert_false(summary.percentiles[3].worst_of_all); /* p95 needs 59 */
	assert_true(summary.percentiles[4].worst_of_all);  /* p99 needs 299 */
	assert_int_equal(summary.percentiles[4].needed, 299);
	assert_false(summary.modes.found);
}

static void a_summary_of_next_to_nothing_says_so(void **state)
{
	double one[] = {7}, same[] = {7, 7}, broken[] = {(double)NAN};
	struct summary summary;
	struct err err = {0};

	(void)state;
	assert_int_equal(summary_make(NULL, 0, &summary, &err), 0);
	assert_true(isnan(summary.median) && isnan(summary.max) && summary.steady_count == 0);
	assert_true(isinf(summary.median_interval.lo));
	assert_int_equal(summary_make(one, 1, &summary, &err), 0);
	assert_true(summary.median == 7 && isnan(summary.deviation));
	assert_true(isinf(summary.median_interval.hi) && summary.percentiles[0].worst_of_all);
	assert_int_equal(summary.spread, SUMMARY_SPREAD_UNKNOWN);
	assert_int_equal(summary_make(same, 2, &summary, &err), 0);
	assert_true(summary.mad == 0 && summary.far == 0 && summary.steady_count == 2);
	assert_int_equal(summary_make(broken, 1, &summary, &err), -EINVAL);
}

static void times_that_drift_have_wide_bounds_but_no_negative_ones(void **state)
{
	double values[40];
	struct summary summary;
	struct err err = {0};

	(void)state;
	for (int i = 0; i < 40; i++) /* slower and slower, by a factor of 50 */
		values[i] = 1 + (i * i) / 31.0;
	assert_int_equal(summary_make(values, 40, &summary, &err), 0);
	assert_true(summary.effective_count < 10);
	assert_true(summary.median_interval.lo > 0);
	assert_true(summary.median_interval.lo < summary.median / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_is_called_by_its_direction_and_size),
		cmocka_unit_test(the_same_program_is_equivalent_once_the_interval_says_so),
		cmocka_unit_test(a_change_in_few_pairs_needs_a_few_more_and_not_thousands),
		cmocka_unit_test(a_change_far_beyond_the_noise_is_called_in_three_pairs),
		cmocka_unit_test(an_interval_of_98_to_94_percent_is_an_improvement),
		cmocka_unit_test(a_third_less_is_found_in_ten_pairs_that_vary_by_a_third),
		cmocka_unit_test(one_wild_run_of_ten_hides_nothing),
		cmocka_unit_test(what_few_runs_do_not_show_stays_open),
		cmocka_unit_test(two_sessions_need_six_runs_in_all),
		cmocka_unit_test(a_true_change_below_the_smallest_effect_is_not_called),
		cmocka_unit_test(too_few_pairs_leave_everything_open),
		cmocka_unit_test(equal_values_are_equivalent),
		cmocka_unit_test(a_count_that_never_varies_decides_by_itself),
		cmocka_unit_test(what_has_no_ratio_is_refused),
		cmocka_unit_test(samples_that_are_not_paired_are_advisory),
		cmocka_unit_test(runs_that_resemble_their_neighbours_widen_the_interval),
		cmocka_unit_test(several_metrics_are_corrected_as_one_family),
		cmocka_unit_test(a_row_never_contradicts_itself),
		cmocka_unit_test(the_verdict_says_which_clock_moved),
		cmocka_unit_test(a_summary_tells_what_a_single_number_hides),
		cmocka_unit_test(times_that_drift_have_wide_bounds_but_no_negative_ones),
		cmocka_unit_test(a_summary_of_next_to_nothing_says_so),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
