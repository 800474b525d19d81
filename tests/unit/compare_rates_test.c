/* compare_rates_test.c - how often `ab` calls a change that is none, and finds one that is there.
 *
 * Simulated comparisons with fixed seeds: a case passes always or never.  Each prints its rates
 * (meson test -v); docs/decisions/027-one-method.md has the table of
 *
 *     ASSAY_TRIALS=20000 build/tests/unit/test-compare_rates
 *
 * A and B are dealt out A B B A, judged by wall and CPU time, and looked at as `ab` does it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "analyze/ab.h"
#include "base/distribution.h"
#include "base/random.h"

enum { PAIRS_MOST = 60, TRIALS = 1000 };
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static unsigned trials(void)
{
	const char *asked = getenv("ASSAY_TRIALS");

	return asked ? (unsigned)strtoul(asked, NULL, 10) : TRIALS;
}

static double normal(struct random *random)
{
	return normal_quantile((random_share(random) + 0x1p-54) / (1 + 0x1p-53));
}

/* ---- noise of one program ---- */

enum noise {
	CALM,
	USUAL,
	LOUD,
	SKEWED,
	HEAVY,
	WILD,
	MEMORY,
	DRIFT,
	SPIKES,
	LOAD,
	TWO,
	COIN,
	NOISES
};

static const char *const names[NOISES] = {
	[CALM] = "2 % normal",
	[USUAL] = "10 % normal",
	[LOUD] = "30 % normal",
	[SKEWED] = "lognormal above a floor",
	[HEAVY] = "Cauchy, 5 %",
	[WILD] = "Cauchy, 30 %",
	[MEMORY] = "50 % normal, resembles the run before by 0.66",
	[DRIFT] = "5 % normal, each run 3 % slower",
	[SPIKES] = "one run in ten takes three times as long",
	[LOAD] = "load that comes and goes, twice the wall time",
	[TWO] = "two modes, one run in four 1.3 times as long",
	[COIN] = "1.6 times as long by the toss of a coin",
};

/* The logarithm of the next run. */
static double run_next(struct random *random, enum noise noise, unsigned i, double *memory)
{
	double share = random_share(random), wild = tan(M_PI * (share - 0.5));

	switch (noise) {
	case CALM:
	case USUAL:
	case LOUD:
		return (noise == CALM ? 0.02 : noise == USUAL ? 0.1 : 0.3) * normal(random);
	case SKEWED:
		return log(1 + 0.1 * exp(normal(random)));
	case HEAVY:
	case WILD: /* within what a time can be */
		return fmin(fmax((noise == HEAVY ? 0.05 : 0.3) * wild, -20), 20);
	case MEMORY:
		*memory = 0.66 * *memory + 0.75 * normal(random);
		return 0.5 * *memory;
	case DRIFT:
		return 0.03 * i + 0.05 * normal(random);
	case SPIKES:
		return (share < 0.1 ? log(3) : 0) + 0.01 * normal(random);
	case LOAD:
		*memory = share < 0.25 ? *memory == 0 : *memory;
		return log(2) * *memory + 0.02 * normal(random);
	case TWO:
		return (share < 0.25 ? log(1.3) : 0) + 0.01 * normal(random);
	case COIN:
		return (share < 0.5 ? log(1.6) : 0) + 0.01 * normal(random);
	case NOISES:
		break;
	}
	return 0;
}

/* Two clocks of both sides, pair by pair. */
struct session {
	double wall[2][PAIRS_MOST], cpu[2][PAIRS_MOST];
	bool disturbed[PAIRS_MOST]; /* one side is far slower than usual, and the other is not */
	size_t pairs;
};

/* B takes `ratio` as long.  CPU time shares the noise, but for load, which only wall time sees. */
static void session_make(
	struct random *random, enum noise noise, double ratio, size_t pairs, struct session *s)
{
	double memory = 0;

	s->pairs = pairs;
	for (unsigned i = 0; i < 2 * pairs; i++) {
		unsigned side = i % 2 != i / 2 % 2;
		double run = run_next(random, noise, i, &memory);
		double own = noise == LOAD ? 0.03 * normal(random) : run;

		s->wall[side][i / 2] = (side ? ratio : 1) * exp(run);
		s->cpu[side][i / 2] = (side ? ratio : 1) * exp(own + 0.005 * normal(random));
		s->disturbed[i / 2] = (i % 2 && s->disturbed[i / 2]) != (run > log(1.25));
	}
}

/* What is left without the disturbed pairs. */
static void session_calm(const struct session *from, struct session *ret_calm)
{
	size_t count = 0;

	for (size_t i = 0; i < from->pairs; i++) {
		if (from->disturbed[i])
			continue;
		for (unsigned side = 0; side < 2; side++) {
			ret_calm->wall[side][count] = from->wall[side][i];
			ret_calm->cpu[side][count] = from->cpu[side][i];
		}
		count++;
	}
	ret_calm->pairs = count;
}

/* ---- judged as `ab` does it ---- */

static struct comparison judge(const double *const sides[2], enum compare_kind kind, size_t pairs)
{
	const struct compare_input input = {
		kind == COMPARE_WALL ? "wall" : "cpu", kind, sides[0], sides[1], pairs, pairs};
	const struct compare_rule rule = {0};
	struct comparison result;
	struct err err = {0};

	assert_int_equal(compare_pairs(&input, &rule, &result, &err), 0);
	return result;
}

/* Whatever comes out, nothing in a row contradicts anything else in it. */
static void assert_consistent(const struct comparison *one)
{
	bool excludes = one->lo > 0 || one->hi < 0, moved = compare_has_moved(one->outcome);

	if (one->outcome == COMPARE_EQUIVALENT)
		assert_true(fmax(-one->log_ratio.lo, one->log_ratio.hi) <=
			    log1p(one->min_effect) + 1e-12);
	else
		assert_int_equal(excludes, one->adjusted_p < one->alpha);
	if (moved)
		assert_true(excludes && (one->effect > 0) == (one->outcome == COMPARE_REGRESSED));
	if (one->outcome == COMPARE_INCONCLUSIVE && excludes)
		assert_true(fabs(one->log_ratio.estimate) <= log1p(one->min_effect));
}

static struct ab_view judged(const struct session *s, size_t pairs)
{
	const double *const wall[] = {s->wall[0], s->wall[1]}, *const cpu[] = {
								       s->cpu[0], s->cpu[1]};
	struct ab_view ab = {
		.metrics = {judge(wall, COMPARE_WALL, pairs), judge(cpu, COMPARE_CPU, pairs)},
		.deciding_count = 2,
		.metric_count = 2,
	};

	compare_family(ab.metrics, 2);
	assert_consistent(&ab.metrics[0]);
	assert_consistent(&ab.metrics[1]);
	ab.verdict = compare_decide(ab.metrics, 2);
	ab.verdict.by = NULL; /* it would point into this copy */
	return ab;
}

/* Up to six looks, the first after `first` pairs; the last verdict. */
static enum compare_outcome looked_at(const struct session *s, size_t first)
{
	const struct compare_plan plan = compare_plan_make(first, s->pairs);
	struct ab_view ab;

	for (size_t pairs = first; pairs < s->pairs; pairs++) {
		if (!compare_plan_looks_at(&plan, pairs))
			continue;
		ab = judged(s, pairs);
		if (ab_is_settled(&ab) || ab_is_confirmed(&ab))
			return ab.verdict.outcome;
	}
	return judged(s, s->pairs).verdict.outcome;
}

/* ---- how often it is wrong ---- */

/* One way to measure: pairs at most, and the first look; 0: only the last one. */
struct way {
	const char *name;
	size_t first, pairs;
	double most; /* the share of false alarms that is let through */
};

static const struct way ways[] = {
	{"-n 3", 0, 3, 0.02},
	{"-n 5", 0, 5, 0.02},
	{"-n 10", 0, 10, 0.02},
	{"-n 30", 0, 30, 0.02},
	{"3 to 10", 3, 10, 0.05},
	{"5 to 30", 5, 30, 0.05},
	{"10 to 60", 10, 60, 0.05},
};

static double alarms(enum noise noise, const struct way *way, bool calm)
{
	struct random random;
	size_t called = 0, count = trials();
	struct session all, some;

	random_seed(&random, 131 + noise);
	for (size_t i = 0; i < count; i++) {
		struct session *s = &all;

		session_make(&random, noise, 1, way->pairs, &all);
		if (calm) {
			session_calm(&all, &some);
			s = &some;
		}
		called += compare_has_moved(way->first && s->pairs > way->first
						    ? looked_at(s, way->first)
						    : judged(s, s->pairs).verdict.outcome);
	}
	return (double)called / (double)count;
}

/* What is let through: two modes of three pairs are the price of a verdict after three. */
static double allowed(enum noise noise, const struct way *way)
{
	double chance = 3 * sqrt(way->most * (1 - way->most) / trials());

	if (noise == COIN && (way->pairs == 3 || way->first == 3))
		return 0.05 + chance;
	return way->most + chance;
}

static void rates_check(bool calm)
{
	unsigned wrong = 0;

	for (enum noise noise = 0; noise < NOISES; noise++) {
		print_message("# %-46s", names[noise]);
		for (size_t i = 0; i < COUNT(ways); i++) {
			double share = alarms(noise, &ways[i], calm);

			print_message(" %s %.1f %%;", ways[i].name, 100 * share);
			wrong += share > allowed(noise, &ways[i]);
		}
		print_message("\n");
	}
	assert_int_equal(wrong, 0);
}

static void the_same_program_is_rarely_called_changed(void **state)
{
	(void)state;
	rates_check(false);
}

static void nor_without_the_disturbed_pairs(void **state)
{
	(void)state;
	rates_check(true);
}

/* ---- how often a true change is found ---- */

static double found(double ratio, enum noise noise, size_t first, size_t pairs)
{
	struct random random;
	struct session s;
	size_t called = 0, count = trials() / 2;

	random_seed(&random, 17);
	for (size_t i = 0; i < count; i++) {
		session_make(&random, noise, ratio, pairs, &s);
		called += (first ? looked_at(&s, first) : judged(&s, pairs).verdict.outcome) ==
			  COMPARE_IMPROVED;
	}
	return (double)called / (double)count;
}

static void fixes_are_found(void **state)
{
	static const double ratios[] = {0.8, 0.62, 0.1};
	static const enum noise noises[] = {CALM, USUAL, LOUD, SPIKES};
	static const size_t pairs[] = {3, 5, 7, 10, 15, 20, 30};

	(void)state;
	for (size_t r = 0; r < COUNT(ratios); r++)
		for (size_t n = 0; n < COUNT(noises); n++) {
			print_message("# %+.0f %%, %-42s", 100 * ratios[r] - 100, names[noises[n]]);
			for (size_t i = 0; i < COUNT(pairs); i++)
				print_message(" %zu: %.0f %%;", pairs[i],
					100 * found(ratios[r], noises[n], 0, pairs[i]));
			print_message(" looks 3 to 10: %.0f %%, 5 to 30: %.0f %%\n",
				100 * found(ratios[r], noises[n], 3, 10),
				100 * found(ratios[r], noises[n], 5, 30));
		}
	assert_true(found(0.62, CALM, 0, 3) >= 0.9 && found(0.62, USUAL, 0, 5) >= 0.6);
	assert_true(found(0.62, USUAL, 3, 10) >= 0.98 && found(0.62, LOUD, 5, 30) >= 0.9);
	assert_true(found(0.8, USUAL, 5, 30) >= 0.9 && found(0.1, LOUD, 3, 10) >= 0.98);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_program_is_rarely_called_changed),
		cmocka_unit_test(nor_without_the_disturbed_pairs),
		cmocka_unit_test(fixes_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
