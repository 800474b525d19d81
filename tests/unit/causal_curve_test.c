/* causal_curve_test.c - trials drawn around a known curve give that curve, its kind, and bounds
 * that hold it; the planner spends its trials where they matter and stops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/causal.h"
#include "base/distribution.h"
#include "base/vec.h"

typedef double (*truth)(double speedup);
typedef vec_of(struct causal_trial) trial_vec;

static double linear(double s)
{
	return 0.7 * s;
}

static double gentle(double s)
{
	return 0.2 * s;
}

static double capped(double s)
{
	return fmin(s, 1.0 / 3);
}

static double nothing(double s)
{
	(void)s;
	return 0;
}

static double worse(double s)
{
	return -0.15 * s;
}

static double late(double s)
{
	return s > 0.8 ? 0.3 : 0;
}

static double normal(struct random *random)
{
	return normal_quantile(random_share(random) * 0.9998 + 0.0001);
}

/* 200 ms, 100 visits, `noise` on either side. */
static struct causal_trial trial_of(
	uint32_t target, double speedup, truth of, double noise, struct random *random)
{
	return (struct causal_trial){
		.target = target,
		.speedup = speedup,
		.base = {2e8 * exp(noise * normal(random)), 100, 0},
		.sped = {2e8 * (1 - of(speedup)) * exp(noise * normal(random)), 100, 0},
		.hits = 80,
	};
}

static struct causal_curve curve_of(truth of, double noise, uint32_t repeats, uint64_t seed)
{
	struct random random;
	struct causal_curve curve;
	trial_vec trials = {0};

	random_seed(&random, seed);
	for (uint32_t i = 0; i < repeats * CAUSAL_LEVELS; i++)
		vec_push(
			&trials, trial_of(3, causal_levels[i % CAUSAL_LEVELS], of, noise, &random));
	causal_curve_make(trials.at, trials.count, 3, &curve);
	vec_done(&trials);
	return curve;
}

static void kinds_are_told_apart(void **state)
{
	static const struct {
		truth of;
		enum causal_class class;
	} kinds[] = {{linear, CAUSAL_STEEP}, {gentle, CAUSAL_MODERATE}, {capped, CAUSAL_STEEP},
		{nothing, CAUSAL_FLAT}, {worse, CAUSAL_CONTENTION}, {late, CAUSAL_STEP}};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct causal_curve curve = curve_of(kinds[i].of, 0.02, 12, seed);

			if (curve.class != kinds[i].class)
				fail_msg("kind %zu, seed %llu: %s", i, (unsigned long long)seed,
					causal_class_name(curve.class));
		}
	assert_int_equal(curve_of(nothing, 0.5, 3, 1).class, CAUSAL_NOISY);
}

static void a_curve_that_was_moved_has_its_own_best_level(void **state)
{
	struct causal_curve curves[2] = {
		curve_of(linear, 0.02, 12, 1), curve_of(nothing, 0.02, 12, 1)};
	struct causal_curve moved = curves[0];

	(void)state;
	curves[0] = curves[1];
	curves[1] = moved;
	for (unsigned i = 0; i < 2; i++) {
		const struct causal_gain *best = causal_curve_best(&curves[i]);

		assert_true(best >= curves[i].gains && best < curves[i].gains + CAUSAL_LEVELS);
	}
	assert_true(causal_curve_best(&curves[0])->gain < 0.1);
	assert_true(causal_curve_best(&curves[1])->gain > 0.5);
}

static void bounds_hold_the_truth(void **state)
{
	static const truth truths[] = {linear, gentle, capped, nothing, worse, late};
	unsigned inside = 0, all = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++)
		for (size_t i = 0; i < 6; i++) {
			struct causal_curve curve =
				curve_of(truths[i], 0.03, 3 + (uint32_t)(seed % 10), seed);

			for (uint32_t level = 0; level < CAUSAL_LEVELS; level++) {
				const struct causal_gain *gain = &curve.gains[level];
				double is = truths[i](gain->speedup);

				assert_true(gain->is_known);
				inside += is >= gain->lo && is <= gain->hi;
				all++;
			}
		}
	assert_true(inside >= all * 93 / 100);
}

static void the_slope_is_that_at_the_origin(void **state)
{
	struct causal_curve curve = curve_of(capped, 0.01, 12, 5);

	(void)state;
	assert_true(curve.slope_is_known && fabs(curve.slope - 1) < 0.12);
	curve = curve_of(linear, 0.01, 12, 5);
	assert_true(fabs(curve.slope - 0.7) < 0.05);
	assert_true(curve.slope_lo < 0.7 && curve.slope_hi > 0.7);
}

static void latency_by_littles_law(void **state)
{
	/* Half as many inside at the same rate: each passes in half the time. */
	const struct causal_trial trial = {
		.speedup = 0.5, .base = {1e9, 1000, 8}, .sped = {1e9, 1000, 4}, .hits = 100};
	const struct causal_trial trials[] = {trial, trial, trial};
	struct causal_curve curve;

	(void)state;
	causal_curve_make(trials, 3, 0, &curve);
	assert_true(fabs(curve.gains[1].gain - 0.5) < 1e-9);
}

static void what_says_nothing(void **state)
{
	const struct causal_trial broken[] = {
		{.speedup = 0.5},
		{.speedup = 0.5, .base = {1e8, 10, 0}, .sped = {-5, 10, 0}},
		{.speedup = 0.5, .base = {1e8, 10, 0}, .sped = {1e8, 9, 0}},
	};
	struct causal_curve curve;

	(void)state;
	causal_curve_make(broken, 3, 0, &curve);
	assert_int_equal(curve.trials, 1);
	assert_false(curve.gains[1].is_known);
	assert_null(causal_curve_best(&curve));
	assert_int_equal(curve.class, CAUSAL_NOISY);
	causal_curve_make(NULL, 0, 0, &curve);
	assert_int_equal(curve.trials, 0);
}

static void trials_go_where_they_matter(void **state)
{
	static const truth truths[] = {linear, nothing, capped, nothing, nothing};
	const struct causal_candidate candidates[] = {{.sample_share = 0.3}, {.sample_share = 0.3},
		{.sample_share = 0.2}, {.sample_share = 0.1},
		{.sample_share = 0.1, .given_up = true}};
	uint32_t spent[5] = {0};
	struct random random;
	trial_vec trials = {0};

	(void)state;
	random_seed(&random, 11);
	for (uint32_t i = 0; i < 5000; i++) {
		struct causal_cell cell =
			causal_next_cell(trials.at, trials.count, candidates, 5, 0.03, &random);

		if (cell.done)
			break;
		spent[cell.target]++;
		vec_push(&trials, trial_of(cell.target, causal_levels[cell.level],
					  truths[cell.target], 0.05, &random));
	}
	assert_true(trials.count < 1000);
	assert_true(spent[0] > spent[3] && spent[2] > spent[3]);
	assert_true(spent[1] && spent[3]);
	assert_int_equal(spent[4], 0);
	vec_done(&trials);
	assert_true(causal_next_cell(NULL, 0, NULL, 0, 0.03, &random).done);
}

static void between_the_levels_a_gain_lies_on_straight_lines(void **state)
{
	struct causal_curve curve = {0};
	struct causal_gain gain;

	(void)state;
	assert_false(causal_curve_at(&curve, 0.5, &gain));
	curve.gains[1] = (struct causal_gain){
		.speedup = 0.5, .gain = 0.2, .lo = 0.1, .hi = 0.3, .is_known = true};
	curve.gains[3] = (struct causal_gain){
		.speedup = 1, .gain = 0.3, .lo = 0.2, .hi = 0.4, .is_known = true};
	assert_true(causal_curve_at(&curve, 0.25, &gain));
	assert_true(fabs(gain.gain - 0.1) < 1e-9 && fabs(gain.hi - 0.15) < 1e-9);
	assert_true(causal_curve_at(&curve, 0.9, &gain));
	assert_true(fabs(gain.gain - 0.28) < 1e-9 && fabs(gain.lo - 0.18) < 1e-9);
	curve.gains[3].is_known = false;
	assert_true(causal_curve_at(&curve, 0.9, &gain));
	assert_true(gain.speedup == 0.5 && gain.gain == 0.2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between_the_levels_a_gain_lies_on_straight_lines),
		cmocka_unit_test(kinds_are_told_apart),
		cmocka_unit_test(a_curve_that_was_moved_has_its_own_best_level),
		cmocka_unit_test(bounds_hold_the_truth),
		cmocka_unit_test(the_slope_is_that_at_the_origin),
		cmocka_unit_test(latency_by_littles_law),
		cmocka_unit_test(what_says_nothing),
		cmocka_unit_test(trials_go_where_they_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
