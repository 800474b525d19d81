/* compare_plain_test.c - what few runs show plainly, and how often that is wrong.
 *
 * The rates are of simulated comparisons of a program with itself, with fixed seeds: a case passes
 * always or never.  Each prints its rate (meson test -v). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analyze/ab.h"
#include "base/distribution.h"
#include "base/random.h"

enum { PAIRS_MOST = 10, TRIALS = 10000 };
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct comparison judge(const double *a, const double *b, size_t pairs)
{
	const struct compare_input input = {"wall", COMPARE_WALL, a, b, pairs, pairs};
	const struct compare_rule rule = {.looks = COMPARE_LOOKS_MAX};
	struct comparison result;
	struct err err = {0};

	assert_int_equal(compare_pairs(&input, &rule, &result, &err), 0);
	return result;
}

/* Judged as `ab` does it: wall and CPU time decide together. */
static struct compare_verdict decided(
	const double *const wall[2], const double *const cpu[2], size_t pairs)
{
	static struct comparison both[2]; /* the verdict points there, until the next call */

	both[0] = judge(wall[0], wall[1], pairs);
	both[1] = judge(cpu[0], cpu[1], pairs);
	compare_plain_together(both, 2);
	compare_family(both, 2);
	return compare_decide(both, 2);
}

static enum compare_outcome outcome(const double *a, const double *b, size_t pairs)
{
	const double *const both[] = {a, b};

	return decided(both, both, pairs).outcome;
}

/* ---- what is plain ---- */

static void a_change_far_beyond_the_noise_is_called_in_three_pairs(void **state)
{
	static const double old[] = {8.02, 8.41, 7.93}, fast[] = {0.31, 0.33, 0.35},
			    faster[] = {4.95, 5.02, 5.11};
	struct comparison one = judge(old, fast, 3);

	(void)state;
	assert_int_equal(outcome(old, fast, 3), COMPARE_IMPROVED);
	assert_int_equal(outcome(fast, old, 3), COMPARE_REGRESSED);
	assert_int_equal(outcome(old, faster, 3), COMPARE_IMPROVED); /* -38 % */
	assert_true(one.plain && one.lo > -0.97 && one.hi < -0.95 && one.lo < one.effect &&
		    one.effect < one.hi);
	assert_int_equal(outcome(old, fast, 2), COMPARE_INCONCLUSIVE);
}

static void an_interval_of_98_to_94_percent_needs_no_more_pairs(void **state)
{
	static const double old[] = {4.1, 4.6, 4.2, 5.9, 4.3, 4.1, 4.4},
			    new[] = {0.17, 0.16, 0.24, 0.16, 0.19, 0.16, 0.17};
	struct comparison one = judge(old, new, 7);

	(void)state;
	assert_true(one.hi < -0.94);
	assert_int_equal(outcome(old, new, 7), COMPARE_IMPROVED);
}

static void what_is_not_plain_stays_open(void **state)
{
	static const double old[] = {2.0, 2.1, 2.05, 2.02, 2.07},
			    little[] = {1.91, 1.95, 1.93, 1.92, 1.94}, /* apart, and by 2 % */
		wild[] = {0.9, 1.0, 1.8, 0.95, 0.9},   /* apart by less than B varies itself */
		mixed[] = {0.9, 1.0, 2.08, 0.95, 0.9}; /* one run is not apart */

	(void)state;
	assert_int_equal(outcome(old, little, 5), COMPARE_INCONCLUSIVE);
	assert_int_equal(outcome(old, wild, 5), COMPARE_INCONCLUSIVE);
	assert_int_equal(outcome(old, mixed, 5), COMPARE_INCONCLUSIVE);
	assert_false(judge(old, wild, 5).plain || judge(old, mixed, 5).plain);
}

static void three_pairs_need_both_clocks_and_four_need_one(void **state)
{
	static const double slow[] = {8.0, 8.2, 8.1, 8.1}, fast[] = {0.3, 0.31, 0.3, 0.3},
			    same[] = {0.11, 0.1, 0.12, 0.11};
	const double *const wall[] = {slow, fast}, *const cpu[] = {same, same};

	(void)state;
	assert_int_equal(decided(wall, wall, 3).outcome, COMPARE_IMPROVED);
	assert_int_equal(decided(wall, cpu, 3).outcome, COMPARE_INCONCLUSIVE);
	assert_int_equal(decided(wall, cpu, 4).outcome, COMPARE_IMPROVED);
}

static void two_sessions_of_two_runs_need_twice_the_time(void **state)
{
	static const double old[] = {5.0, 5.1}, half[] = {2.4, 2.3, 2.35, 2.3, 2.4, 2.3},
			    most[] = {3.4, 3.3, 3.35, 3.3, 3.4, 3.3};
	const struct compare_rule rule = {0};
	struct compare_input input = {"wall", COMPARE_WALL, old, half, 2, 6};
	struct comparison result;
	struct err err = {0};

	(void)state;
	assert_int_equal(compare_samples(&input, &rule, &result, &err), 0);
	assert_int_equal(result.outcome, COMPARE_IMPROVED);
	assert_true(result.advisory && isfinite(result.lo) && isfinite(result.hi));
	input.b = most;
	assert_int_equal(compare_samples(&input, &rule, &result, &err), 0);
	assert_int_equal(result.outcome, COMPARE_INCONCLUSIVE);
	input.a_count = 1;
	assert_int_equal(compare_samples(&input, &rule, &result, &err), 0);
	assert_int_equal(result.outcome, COMPARE_INCONCLUSIVE);
}

/* ---- when measuring may stop ---- */

static bool stops(const double *wall, const double *cpu, const double *cpu_b, size_t pairs)
{
	static const double fast[] = {0.31, 0.33, 0.35, 0.31, 0.32, 0.33};
	struct ab_view ab = {.deciding_count = 2,
		.metrics = {judge(wall, fast, pairs), judge(cpu, cpu_b, pairs)}};

	compare_family(ab.metrics, 2);
	ab.verdict = compare_decide(ab.metrics, 2);
	return ab_is_plain(&ab);
}

static void measuring_stops_when_the_other_clock_does_not_say_the_opposite(void **state)
{
	static const double wall[] = {8.02, 8.41, 7.93, 8.1, 8.2, 8.0},
			    cpu[] = {0.11, 0.13, 0.12, 0.11, 0.12, 0.13},
			    same[] = {0.12, 0.12, 0.13, 0.12, 0.11, 0.13}, /* +4 %, of noise */
		more[] = {0.13, 0.15, 0.13, 0.14, 0.13, 0.15};

	(void)state;
	assert_true(stops(wall, wall, cpu, 3));
	assert_false(stops(wall, cpu, same, 5));
	assert_true(stops(wall, cpu, same, 6));
	assert_false(stops(wall, cpu, more, 6));
}

/* ---- how often it is wrong ---- */

static double normal(struct random *random)
{
	return normal_quantile((random_share(random) + 0x1p-54) / (1 + 0x1p-53));
}

enum noise { CALM, LOUD, HEAVY, WILD, MEMORY, DRIFT, SPIKES, LOAD, COIN, NOISES };

static const struct {
	const char *name;
	double most; /* the share of false alarms that is let through */
} kinds[NOISES] = {
	[CALM] = {"2 % normal", 0.005},
	[LOUD] = {"30 % normal", 0.005},
	[HEAVY] = {"Cauchy, 5 %", 0.005},
	[WILD] = {"Cauchy, 30 %", 0.005},
	[MEMORY] = {"50 % normal, each resembles the one before by 0.66", 0.005},
	[DRIFT] = {"5 % normal and 10 % slower with each run", 0.005},
	[SPIKES] = {"one run in ten takes three times as long", 0.005},
	[LOAD] = {"load that comes and goes, twice the wall time for some runs", 0.005},
	/* Nothing but more runs helps here: the price of calling it after three pairs. */
	[COIN] = {"1.6 times as long by the toss of a coin", 0.035},
};

/* The logarithm of the next run. */
static double run_next(struct random *random, enum noise noise, unsigned i, double *memory)
{
	double share = random_share(random), wild;

	switch (noise) {
	case CALM:
	case LOUD:
		return (noise == CALM ? 0.02 : 0.3) * normal(random);
	case HEAVY:
	case WILD:
		wild = (noise == HEAVY ? 0.05 : 0.3) * tan(M_PI * (share - 0.5));
		return fmin(fmax(wild, -20), 20); /* what a time can be */
	case MEMORY:
		*memory = 0.66 * *memory + 0.75 * normal(random);
		return 0.5 * *memory;
	case DRIFT:
		return 0.1 * i + 0.05 * normal(random);
	case SPIKES:
		return (share < 0.1 ? log(3) : 0) + 0.01 * normal(random);
	case LOAD:
		*memory = share < 0.25 ? *memory == 0 : *memory;
		return log(2) * *memory + 0.02 * normal(random);
	case COIN:
		return (share < 0.5 ? log(1.6) : 0) + 0.01 * normal(random);
	case NOISES:
		break;
	}
	return 0;
}

/* Runs in turns, A B B A, looked at after each pair from the third one on; true: a change was
 * called of a program against itself before ten pairs. */
static bool calls_a_change(struct random *random, enum noise noise)
{
	double wall[2][PAIRS_MOST], cpu[2][PAIRS_MOST], memory = 0;
	const double *const walls[] = {wall[0], wall[1]}, *const cpus[] = {cpu[0], cpu[1]};

	for (unsigned i = 0; i < 2 * PAIRS_MOST; i++) {
		unsigned side = i % 2 != i / 2 % 2, pairs = i / 2 + 1;
		double run = run_next(random, noise, i, &memory);

		wall[side][i / 2] = exp(run);
		cpu[side][i / 2] = noise == LOAD ? exp(0.03 * normal(random)) : exp(run);
		if (i % 2 && pairs >= COMPARE_PLAIN_PAIRS && pairs < COMPARE_BATCH &&
			compare_has_moved(decided(walls, cpus, pairs).outcome))
			return true;
	}
	return false;
}

static void the_same_program_is_rarely_called_plainly_faster(void **state)
{
	(void)state;
	for (enum noise noise = 0; noise < NOISES; noise++) {
		struct random random;
		size_t called = 0;
		double share;

		random_seed(&random, 131 + noise);
		for (unsigned i = 0; i < TRIALS; i++)
			called += calls_a_change(&random, noise);
		share = (double)called / TRIALS;
		print_message("# %s: %.2f %% false alarms\n", kinds[noise].name, 100 * share);
		assert_true(share <= kinds[noise].most);
	}
}

/* How often a true change is called within `pairs`. */
static double found(double ratio, double sigma, size_t pairs)
{
	struct random random;
	size_t called = 0;

	random_seed(&random, 17);
	for (unsigned i = 0; i < 1000; i++) {
		double a[PAIRS_MOST], b[PAIRS_MOST];

		for (size_t k = 0; k < pairs; k++) {
			a[k] = exp(sigma * normal(&random));
			b[k] = ratio * exp(sigma * normal(&random));
		}
		called += outcome(a, b, pairs) == COMPARE_IMPROVED;
	}
	return (double)called / 1000;
}

static void a_large_fix_is_found_in_few_pairs(void **state)
{
	double third = found(0.62, 0.02, 3), four = found(0.62, 0.05, 4), most = found(0.1, 0.2, 3);

	(void)state;
	print_message("# found: -38 %% with 2 %% noise in 3 pairs %.1f %%, with 5 %% in 4 %.1f %%; "
		      "-90 %% with 20 %% in 3 %.1f %%\n",
		100 * third, 100 * four, 100 * most);
	assert_true(third >= 0.5 && four >= 0.9 && most >= 0.9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_far_beyond_the_noise_is_called_in_three_pairs),
		cmocka_unit_test(an_interval_of_98_to_94_percent_needs_no_more_pairs),
		cmocka_unit_test(what_is_not_plain_stays_open),
		cmocka_unit_test(three_pairs_need_both_clocks_and_four_need_one),
		cmocka_unit_test(two_sessions_of_two_runs_need_twice_the_time),
		cmocka_unit_test(measuring_stops_when_the_other_clock_does_not_say_the_opposite),
		cmocka_unit_test(the_same_program_is_rarely_called_plainly_faster),
		cmocka_unit_test(a_large_fix_is_found_in_few_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
