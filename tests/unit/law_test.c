/* law_test.c - fitted laws equal scipy's, and bad input is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "analyze/law.h"
#include "vectors.h"

static void law_case(const struct vector_case *one)
{
	struct vector sizes = vector_of(one, "sizes"), times = vector_of(one, "times");
	double linear_p = vector_value(one, "linear_p");
	struct law_fit fit;
	struct err err = {0};

	assert_int_equal(law_fit(sizes.at, times.at, sizes.count, &fit, &err), 0);
	for (size_t i = 0; i < LAW_COUNT; i++) {
		near_enough(fit.lines[i].a, vector_at(one, "a", i), "a");
		near_enough(fit.lines[i].b, vector_at(one, "b", i), "b");
		near_enough(fit.lines[i].residual, vector_at(one, "rss", i), "residual");
		near_enough(fit.lines[i].aicc, vector_at(one, "aicc", i), "AICc");
	}
	near_enough(fit.slope, vector_at(one, "slope", 0), "slope");
	near_enough(fit.slope_lo, vector_at(one, "slope", 1), "lower slope");
	near_enough(fit.slope_hi, vector_at(one, "slope", 2), "upper slope");
	if (!isnan(linear_p)) /* no bound was active: the plain weighted regression */
		near_enough(fit.lines[LAW_LINEAR].growth_p, linear_p, "p of growth");
}

static void threads_case(const struct vector_case *one)
{
	struct vector threads = vector_of(one, "threads"), rates = vector_of(one, "rates");
	struct law_threads fit;
	struct err err = {0};

	assert_int_equal(law_fit_threads(threads.at, rates.at, threads.count, &fit, &err), 0);
	expect(one, "rate_of_one", fit.rate_of_one);
	expect(one, "contention", fit.contention);
	expect(one, "coherency", fit.coherency);
	if (fit.coherency > 0)
		near_enough(fit.peak, sqrt((1 - fit.contention) / fit.coherency), "peak");
	else
		assert_true(isinf(fit.peak));
}

static void fitted_laws_are_those_of_scipy(void **state)
{
	(void)state;
	assert_int_equal(vectors_check("law.txt", "law", law_case), 5);
	assert_int_equal(vectors_check("law.txt", "usl", threads_case), 4);
}

static void perfect_data_show_their_own_law(void **state)
{
	const double sizes[] = {1, 10, 50, 100, 500, 1000};
	double times[6];
	struct law_fit fit;
	struct err err = {0};

	(void)state;
	for (enum law law = LAW_CONSTANT; law < LAW_COUNT; law++) {
		for (int i = 0; i < 6; i++)
			times[i] = law_time(law, 100, 3, sizes[i]);
		assert_int_equal(law_fit(sizes, times, 6, &fit, &err), 0);
		assert_int_equal(fit.best, law);
		assert_true(fit.lines[law].weight > 0.9);
		assert_true(fabs(fit.lines[law].a - 100) < 1e-6);
		assert_false(fit.growth_unproven);
	}
	assert_string_equal(law_name(LAW_LINEAR_LOG), "O(n log n)");
}

static void the_peak_of_threads_is_found(void **state)
{
	const double threads[] = {1, 2, 4, 8, 16, 32}, flat[] = {7, 14, 28, 56, 112, 224};
	double rates[6];
	struct law_threads fit;
	struct err err = {0};

	(void)state;
	for (int i = 0; i < 6; i++)
		rates[i] = 50 * threads[i] /
			   (1 + 0.04 * (threads[i] - 1) + 0.0015 * threads[i] * (threads[i] - 1));
	assert_int_equal(law_fit_threads(threads, rates, 6, &fit, &err), 0);
	near_enough(fit.contention, 0.04, "contention");
	near_enough(fit.coherency, 0.0015, "coherency");
	near_enough(fit.peak, sqrt(0.96 / 0.0015), "peak");
	assert_true(fit.deviation < 1e-9);
	assert_int_equal(law_fit_threads(threads, flat, 6, &fit, &err), 0);
	assert_true(fit.contention < 1e-12 && isinf(fit.peak)); /* nothing holds it back */
}

static void what_shows_no_law_is_refused_with_a_way_out(void **state)
{
	const double sizes[] = {1, 10, 10, 1, 1, 5}, times[] = {1, 2, 2, 1, 1, 3};
	const double zero[] = {0, 1, 2, 3, 4}, broken[] = {1, 2, (double)NAN, 4, 5};
	struct law_threads threads;
	struct law_fit fit;
	struct err err = {0};

	(void)state;
	assert_int_equal(law_fit(sizes, times, 5, &fit, &err), -EINVAL); /* two sizes */
	assert_string_equal(err.text, "5 measurements at 2 sizes are too few for a law");
	assert_true(strlen(err.hint) > 0);
	assert_int_equal(law_fit(sizes, times, 0, &fit, &err), -EINVAL);
	assert_int_equal(law_fit(sizes, times, 6, &fit, &err), 0);
	assert_int_equal(law_fit(zero, times, 5, &fit, &err), -EINVAL);
	assert_int_equal(law_fit(sizes, zero, 5, &fit, &err), -EINVAL);
	assert_int_equal(law_fit(sizes, broken, 5, &fit, &err), -EINVAL);
	assert_string_equal(err.text, "times: value 3 of 5 is not a number");
	assert_int_equal(law_fit_threads(sizes, times, 5, &threads, &err), -EINVAL);
	assert_int_equal(law_fit_threads(sizes, times, 0, &threads, &err), -EINVAL);
}

static void equal_times_do_not_grow(void **state)
{
	const double sizes[] = {1, 10, 100, 1000, 10000}, times[] = {4, 4, 4, 4, 4};
	struct law_fit fit;
	struct err err = {0};

	(void)state;
	assert_int_equal(law_fit(sizes, times, 5, &fit, &err), 0);
	assert_int_equal(fit.best, LAW_CONSTANT);
	assert_true(fabs(fit.slope) < 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fitted_laws_are_those_of_scipy),
		cmocka_unit_test(perfect_data_show_their_own_law),
		cmocka_unit_test(the_peak_of_threads_is_found),
		cmocka_unit_test(what_shows_no_law_is_refused_with_a_way_out),
		cmocka_unit_test(equal_times_do_not_grow),
	};

	return cmocka_run_group_tests_name("law", tests, NULL, NULL);
}
