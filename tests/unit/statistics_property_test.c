/* statistics_property_test.c - how often the rules are wrong, on simulated noise with fixed seeds.
 *
 * Each case prints its rate (meson test -v).  The bounds leave some three deviations for the number
 * of trials; the seeds are fixed, so a case passes always or never. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "analyze/compare.h"
#include "analyze/law.h"
#include "base/centre.h"
#include "base/distribution.h"
#include "base/interval.h"
#include "base/random.h"
#include "base/series.h"
#include "base/shape.h"
#include "base/shift.h"
#include "base/stats.h"

#define RUNS_MAX 120
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static double noise(struct random *random)
{
	return normal_quantile((random_share(random) + 0x1p-54) / (1 + 0x1p-53));
}

/* Times of one program, one run after the other; each resembles the one before by `memory`. */
static void simulate_runs(
	struct random *random, double memory, double sigma, double *runs, size_t count)
{
	double level = noise(random);

	for (size_t i = 0; i < count; i++) {
		runs[i] = 1e7 * exp(sigma * level);
		level = memory * level + sqrt(1 - memory * memory) * noise(random);
	}
}

/* Deal a sequence out as A B B A A B B A ... */
static void deal_in_turns(const double *runs, double ratio, double *a, double *b, size_t pairs)
{
	for (size_t i = 0; i < pairs; i++) {
		a[i] = runs[2 * i + i % 2];
		b[i] = ratio * runs[2 * i + 1 - i % 2];
	}
}

static struct comparison judge(
	const double *a, const double *b, size_t pairs, enum compare_kind kind, size_t clocks)
{
	struct compare_input input = {"time", kind, a, b, pairs, pairs};
	struct compare_rule rule = {0};
	struct comparison both[2];
	struct err err = {0};

	assert_int_equal(compare_pairs(&input, &rule, &both[0], &err), 0);
	both[1] = both[0];
	compare_family(both, clocks);
	return both[0];
}

static bool is_change(const struct comparison *result)
{
	return result->outcome == COMPARE_REGRESSED || result->outcome == COMPARE_IMPROVED;
}

/* Share of comparisons of 20 pairs, measured in turns, that are called changed. */
static double called_changed(double memory, double sigma, double ratio, size_t trials)
{
	double runs[40], a[20], b[20];
	size_t called = 0;
	struct random random;

	random_seed(&random, 11);
	for (size_t i = 0; i < trials; i++) {
		struct comparison result;

		simulate_runs(&random, memory, sigma, runs, 40);
		deal_in_turns(runs, ratio, a, b, 20);
		result = judge(a, b, 20, COMPARE_CPU, 1);
		called += is_change(&result);
	}
	return (double)called / (double)trials;
}

static void the_same_program_is_rarely_called_changed(void **state)
{
	double plain = called_changed(0, 0.02, 1, 2000), wild = called_changed(0.66, 0.5, 1, 2000);

	(void)state;
	print_message("# called changed: %.2f %% of independent, %.2f %% of AR(0.66)\n",
		100 * plain, 100 * wild);
	assert_true(plain <= 0.015 && wild <= 0.015);
}

static void a_slower_program_is_found(void **state)
{
	double five = called_changed(0.57, 0.025, 1.05, 500),
	       two = called_changed(0.57, 0.025, 1.02, 500);

	(void)state;
	print_message("# found: %.1f %% of +5 %%, %.1f %% of +2 %%\n", 100 * five, 100 * two);
	assert_true(five >= 0.98 && two >= 0.5);
}

/* p of no difference between the first and the last half of 40 runs; sorts them. */
static double halves_p(double *runs)
{
	struct centre centre;

	stats_sort(runs, 20);
	stats_sort(runs + 20, 20);
	centre = centre_between_sorted(runs, 20, runs + 20, 20, 0);
	return centre_p(&centre);
}

static void one_after_the_other_gives_false_alarms_and_in_turns_does_not(void **state)
{
	double runs[40], dealt[40];
	size_t blocked = 0, in_turns = 0, trials = 1000;
	struct random random;

	(void)state;
	random_seed(&random, 5);
	for (size_t i = 0; i < trials; i++) {
		simulate_runs(&random, 0.66, 0.5, runs, 40);
		deal_in_turns(runs, 1, dealt, dealt + 20, 20);
		blocked += halves_p(runs) < 0.05;
		in_turns += halves_p(dealt) < 0.05;
	}
	print_message("# p < 0.05: %zu of %zu one after the other, %zu in turns\n", blocked, trials,
		in_turns);
	assert_true(blocked > trials / 5 && in_turns < trials / 20);
}

/* Share of sequences of up to six looks that end in a change. */
static double called_in_six_looks(enum compare_kind kind, double memory, double sigma)
{
	double runs[RUNS_MAX], a[RUNS_MAX / 2], b[RUNS_MAX / 2];
	size_t called = 0, trials = 1000;
	struct random random;

	random_seed(&random, 23);
	for (size_t i = 0; i < trials; i++) {
		struct comparison result;
		size_t pairs = 0;

		simulate_runs(&random, memory, sigma, runs, RUNS_MAX);
		deal_in_turns(runs, 1, a, b, RUNS_MAX / 2);
		do {
			pairs += COMPARE_BATCH;
			result = judge(a, b, pairs, kind, 2);
		} while (!compare_is_settled(&result) && pairs < RUNS_MAX / 2);
		called += is_change(&result);
	}
	return (double)called / (double)trials;
}

static void looking_six_times_keeps_false_alarms_near_three_percent(void **state)
{
	double cpu = called_in_six_looks(COMPARE_CPU, 0.57, 0.05);
	double wall = called_in_six_looks(COMPARE_WALL, 0.66, 0.5);

	(void)state;
	print_message("# six looks: %.1f %% cpu, %.1f %% wall\n", 100 * cpu, 100 * wall);
	assert_true(cpu > 0 && cpu <= 0.035 && wall > 0 && wall <= 0.03);
}

/* Share of simulated scans (6 sizes, 7 repeats) whose law is found. */
static double law_found(enum law law, double sigma, size_t trials)
{
	static const double points[] = {1, 10, 50, 100, 500, 1000};
	double sizes[42], times[42];
	size_t found = 0;
	struct law_fit fit;
	struct random random;
	struct err err = {0};

	random_seed(&random, 31 + law);
	for (size_t i = 0; i < trials; i++) {
		for (size_t k = 0; k < 42; k++) {
			sizes[k] = points[k % 6];
			times[k] = law_time(law, 100, 20, sizes[k]) * exp(sigma * noise(&random));
		}
		assert_int_equal(law_fit(sizes, times, 42, &fit, &err), 0);
		found += fit.best == law;
	}
	return (double)found / (double)trials;
}

static void each_law_is_recovered_from_noise(void **state)
{
	static const double sigmas[] = {0.02, 0.05, 0.10};

	(void)state;
	for (enum law law = LAW_CONSTANT; law < LAW_COUNT; law++)
		for (size_t i = 0; i < COUNT(sigmas); i++) {
			double found = law_found(law, sigmas[i], 300);

			print_message("# %s at %.0f %% noise: %.1f %%\n", law_name(law),
				100 * sigmas[i], 100 * found);
			assert_true(found >= (law == LAW_CONSTANT ? 0.96 : 0.99));
		}
}

static void intervals_cover_what_they_promise(void **state)
{
	static const size_t counts[] = {6, 10, 25, 60};
	const size_t trials = 2000;
	struct random random;

	(void)state;
	random_seed(&random, 41);
	for (size_t k = 0; k < COUNT(counts); k++) {
		size_t median = 0, shift = 0, p90 = 0;
		double values[60], others[60];

		for (size_t i = 0; i < trials; i++) {
			struct interval interval;
			struct shift between;

			for (size_t j = 0; j < counts[k]; j++)
				values[j] = noise(&random), others[j] = noise(&random);
			stats_sort(values, counts[k]);
			stats_sort(others, counts[k]);
			interval = interval_of_quantile(values, counts[k], 0.5, 0.95);
			median += interval.lo <= 0 && interval.hi >= 0;
			between = shift_between_sorted(values, counts[k], others, counts[k], 0.95);
			shift += between.lo <= 0 && between.hi >= 0;
			p90 += quantile_upper_bound(values, counts[k], 0.9, 0.95) >=
			       1.2815515655446004;
		}
		print_message("# n = %zu: median %.1f %%, shift %.1f %%, p90 bound %.1f %%\n",
			counts[k], 100.0 * (double)median / (double)trials,
			100.0 * (double)shift / (double)trials,
			100.0 * (double)p90 / (double)trials);
		assert_true(median >= trials * 94 / 100 && shift >= trials * 94 / 100);
		assert_true(p90 >= trials * 94 / 100);
	}
}

static void settled_series_are_rarely_called_cold_and_one_heap_rarely_two(void **state)
{
	static const size_t counts[] = {20, 50, RUNS_MAX};
	const size_t trials = 1000;
	double runs[RUNS_MAX];
	struct random random;

	(void)state;
	random_seed(&random, 47);
	for (size_t k = 0; k < COUNT(counts); k++) {
		size_t cold = 0, late = 0, heaps = 0;

		for (size_t i = 0; i < trials; i++) {
			simulate_runs(&random, 0, 0.05, runs, counts[k]);
			cold += series_warm_after(runs, counts[k]) > 0;
			for (size_t j = 0; j < 3; j++)
				runs[j] *= 1.5;
			late += series_warm_after(runs, counts[k]) == 3;
			stats_sort(runs, counts[k]);
			heaps += counts[k] > 20 && shape_valley_find(runs + 3, counts[k] - 3).found;
		}
		print_message("# n = %zu: %zu cold, %zu of 3 cold runs found, %zu with two heaps\n",
			counts[k], cold, late, heaps);
		assert_true(
			cold <= trials / 40 && late >= trials * 9 / 10 && heaps <= trials / 100);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Random, few distinct, rising, falling, a saw, and an organ pipe, which makes bad pivots. */
static double value_of(struct random *random, unsigned shape, size_t i, size_t count)
{
	switch (shape) {
	case 0:
		return noise(random);
	case 1:
		return (double)random_below(random, 3);
	case 2:
		return (double)i;
	case 3:
		return -(double)i;
	case 4:
		return (double)(i % 17);
	default:
		return (double)(i < count / 2 ? i : count - i);
	}
}

static void sorting_gives_what_qsort_gives(void **state)
{
	static double ours[5000], theirs[5000];
	struct random random;

	(void)state;
	random_seed(&random, 53);
	for (size_t count = 0; count <= COUNT(ours); count += count < 70 ? 1 : 493)
		for (unsigned shape = 0; shape < 6; shape++) {
			for (size_t i = 0; i < count; i++)
				ours[i] = theirs[i] = value_of(&random, shape, i, count);
			stats_sort(ours, count);
			qsort(theirs, count, sizeof(*theirs), compare);
			assert_memory_equal(ours, theirs, count * sizeof(*ours));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_program_is_rarely_called_changed),
		cmocka_unit_test(a_slower_program_is_found),
		cmocka_unit_test(one_after_the_other_gives_false_alarms_and_in_turns_does_not),
		cmocka_unit_test(looking_six_times_keeps_false_alarms_near_three_percent),
		cmocka_unit_test(each_law_is_recovered_from_noise),
		cmocka_unit_test(intervals_cover_what_they_promise),
		cmocka_unit_test(sorting_gives_what_qsort_gives),
		cmocka_unit_test(settled_series_are_rarely_called_cold_and_one_heap_rarely_two),
	};

	return cmocka_run_group_tests_name("statistics_property", tests, NULL, NULL);
}
