/* compare.c - see compare.h.
 *
 * Everything is judged on log ratios: then +10 % and -9.1 % are the same size, and swapping A and B
 * swaps the verdict.  One pivot, estimate over error, gives p, both intervals and the verdict, so
 * that none of them contradicts another.  Why a size besides p: of 304 comparisons of a program
 * with itself on a loaded machine p < 0.05 alone called 6 % changed.  Why this pivot, and how often
 * it is wrong: docs/decisions/027-one-method.md, tests/unit/compare_rates_test.c. */
#include "analyze/compare.h"

#include <errno.h>
#include <math.h>

#include "base/mem.h"
#include "base/series.h"
#include "base/stats.h"

/* No machine repeats a time better than this, whatever a few runs show: three values that happen to
 * lie close would else be sure of anything. */
#define SPREAD_LEAST 0.005

/* Below this factor between the slowest run of one side and the fastest of the other nothing is
 * called plain. */
#define PLAIN_RATIO 1.1

enum { PAIRS_ASKED_MOST = 1000000 };

const char *compare_outcome_name(enum compare_outcome outcome)
{
	static const char *const names[] = {"inconclusive", "equivalent", "improved", "regressed"};

	return names[outcome];
}

struct compare_plan compare_plan_make(size_t first, size_t pairs_max)
{
	struct compare_plan plan;
	double steps = COMPARE_LOOKS_MAX - 1;
	double range = fmax((double)pairs_max / (double)first, 1);
	size_t last = 0;

	/* Large effects show at once, and what takes many pairs to see is looked for when there are
	 * many more than last time. */
	for (unsigned i = 0; i < COMPARE_LOOKS_MAX - 1; i++) {
		size_t at = (size_t)lround((double)first * pow(range, i / steps));

		plan.at[i] = last = at > last ? at : last + 1;
	}
	return plan;
}

bool compare_plan_looks_at(const struct compare_plan *plan, size_t pairs)
{
	for (unsigned i = 0; i < COMPARE_LOOKS_MAX - 1; i++)
		if (plan->at[i] == pairs)
			return true;
	return false;
}

static double rule_effect(const struct compare_rule *rule, enum compare_kind kind)
{
	double least = kind == COMPARE_COUNT ? 0 : 0.01;

	return fmax(rule->min_effect > 0 ? rule->min_effect : least, 2 * rule->noise_iqr);
}

static double rule_confidence(const struct compare_rule *rule)
{
	return rule->confidence > 0 ? rule->confidence : 0.95;
}

static double comparison_half(const struct comparison *one, double confidence)
{
	return centre_half(&one->centre, confidence);
}

/* What a change is called by: `alpha`, as one of several. */
static double change_confidence(const struct comparison *one)
{
	return 1 - one->alpha / one->correction;
}

/* The outcome by the rule; everything else of the comparison is known. */
static enum compare_outcome comparison_judge(const struct comparison *one)
{
	double size = log1p(one->min_effect), estimate = one->centre.estimate;

	if (one->adjusted_p < one->alpha && fabs(estimate) > size)
		return estimate > 0 ? COMPARE_REGRESSED : COMPARE_IMPROVED;
	return fabs(estimate) <= size &&
			       fabs(estimate) + comparison_half(one, one->same_confidence) <= size
		       ? COMPARE_EQUIVALENT
		       : COMPARE_INCONCLUSIVE;
}

enum compare_outcome compare_points_to(const struct comparison *one)
{
	double size = log1p(one->min_effect), estimate = one->centre.estimate;

	if (!(fabs(estimate) > fmax(size, comparison_half(one, one->same_confidence))))
		return COMPARE_INCONCLUSIVE;
	return estimate > 0 ? COMPARE_REGRESSED : COMPARE_IMPROVED;
}

/* How many pairs until the interval excludes 0, if the rest is like these.  The error falls with
 * the root of their number, and few values also know their own error badly. */
static uint64_t pairs_for_change(const struct comparison *one, size_t count)
{
	struct centre later = one->centre;

	for (uint64_t pairs = count + 1; pairs < PAIRS_ASKED_MOST; pairs += 1 + pairs / 16) {
		later.error = one->centre.error * sqrt((double)count / (double)pairs);
		later.degrees =
			fmax((double)(pairs - 2 * centre_cut(pairs) - 1), one->centre.degrees);
		if (centre_p(&later) * one->correction < one->alpha)
			return pairs;
	}
	return 0;
}

/* The interval of a change beyond the smallest effect must exclude 0, any other must be narrow. */
static uint64_t comparison_needed(const struct comparison *one)
{
	size_t count = one->a_count < one->b_count ? one->a_count : one->b_count;
	double half = comparison_half(one, one->same_confidence), size = log1p(one->min_effect);
	double needed;

	if (one->outcome != COMPARE_INCONCLUSIVE || size == 0)
		return 0;
	if (isinf(half))
		return COMPARE_PAIRS_GOOD;
	if (fabs(one->centre.estimate) > size && one->adjusted_p >= one->alpha)
		return pairs_for_change(one, count);
	needed = ceil((double)count * half / size * half / size);
	if (needed >= 1e15) /* no number of pairs that anyone would measure */
		return 0;
	/* Narrow enough, but across the border: one more batch may tell. */
	return needed > (double)count ? (uint64_t)needed : count + COMPARE_BATCH;
}

/* Without an error there is no bound, which is not the same as one of -100 %. */
void compare_show(struct comparison *one, double confidence)
{
	double half = one->constant ? 0 : comparison_half(one, confidence);
	struct shift *shift = &one->log_ratio;

	one->confidence = confidence;
	*shift = (struct shift){.estimate = one->centre.estimate};
	shift->lo = isinf(half) ? -half : shift->estimate - half;
	shift->hi = isinf(half) ? half : shift->estimate + half;
	one->effect = expm1(shift->estimate);
	one->lo = one->constant || isfinite(shift->lo) ? expm1(shift->lo) : shift->lo;
	one->hi = expm1(shift->hi);
	one->detectable = expm1(half);
}

/* Judge as one of so many that p is `correction` times as large. */
static void comparison_conclude(struct comparison *one, double correction)
{
	one->correction = correction;
	one->adjusted_p = fmin(1, one->p * correction);
	one->outcome = comparison_judge(one);
	one->pairs_needed = comparison_needed(one);
	/* The interval that decided. */
	compare_show(one,
		one->outcome == COMPARE_EQUIVALENT ? one->same_confidence : change_confidence(one));
}

/* Runs that resemble their neighbours say less than their number: the error is larger.  Dealt out
 * A B B A, pairs resemble each other by r (1 - r) / 2 where single runs do by r: 0.11 where runs do
 * by 0.66.  That is counted below SERIES_DEPENDENT too: over all looks it is the difference between
 * 4.5 and 2.9 % false alarms (ab_test.c).  Of two sessions it is the smallest of their troubles. */
static void comparison_widen(struct comparison *one, double autocorrelation)
{
	size_t count = one->a_count < one->b_count ? one->a_count : one->b_count;

	one->autocorrelation = autocorrelation;
	one->effective_count =
		one->advisory ? series_effective_count(count, autocorrelation) : (double)count;
	if (!one->advisory && autocorrelation > 0)
		one->effective_count *= (1 - autocorrelation) / (1 + autocorrelation);
	one->effective_count = fmax(1, one->effective_count);
	if (count)
		one->centre.error *= sqrt((double)count / one->effective_count);
}

/* How far single runs are taken to vary at least; memory and faults may be the same each time. */
static double spread_least(const struct comparison *one)
{
	bool is_time = one->kind == COMPARE_WALL || one->kind == COMPARE_CPU;

	return is_time ? fmin(SPREAD_LEAST, one->min_effect / 2) : 0;
}

/* Everything that follows from the centre; `enough` runs to judge at all? */
static void comparison_finish(struct comparison *one, bool enough)
{
	if (!enough)
		one->centre.error = HUGE_VAL;
	one->p = centre_p(&one->centre);
	comparison_conclude(one, 1);
}

/* Is every run of one side beyond every run of the other, by more than either side varies and by
 * far?  `a` and `b` are sorted logarithms. */
static bool sides_are_apart(const double *a, size_t a_count, const double *b, size_t b_count)
{
	double gap, own;

	if (a_count < 2 || b_count < 2)
		return false;
	gap = fmax(b[0] - a[a_count - 1], a[0] - b[b_count - 1]);
	own = fmax(a[a_count - 1] - a[0], b[b_count - 1] - b[0]);
	return gap >= fmax(own, log(PLAIN_RATIO));
}

static double median_of(const double *values, size_t count)
{
	mem_auto double *sorted = stats_sorted(values, count);

	return stats_median_sorted(sorted, count);
}

bool compare_never_varies(const double *values, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (values[i] != values[0])
			return false;
	return count >= 2;
}

static int input_check(const struct compare_input *input, struct err *err)
{
	int status = stats_check(input->a, input->a_count, input->name, err);

	return status < 0 ? status : stats_check(input->b, input->b_count, input->name, err);
}

static struct comparison comparison_begin(
	const struct compare_input *input, const struct compare_rule *rule)
{
	return (struct comparison){
		.name = input->name,
		.kind = input->kind,
		.a_count = input->a_count,
		.b_count = input->b_count,
		.median_a = median_of(input->a, input->a_count),
		.median_b = median_of(input->b, input->b_count),
		.alpha = rule->alpha > 0 ? rule->alpha : COMPARE_ALPHA,
		.same_confidence = rule_confidence(rule),
		.min_effect = rule_effect(rule, input->kind),
		.correction = 1,
		.p = 1,
	};
}

static int ratio_refuse(const struct compare_input *input, size_t index, struct err *err)
{
	err_set(err, ERR_USAGE, EINVAL, "%s: measurement %zu is 0 or less, so there is no ratio",
		input->name, index + 1);
	err_hint(err, "remove that run; a program shorter than the clock's resolution cannot be "
		      "compared");
	return -EINVAL;
}

/* ln(b / a) for each pair; equal values are 0 whatever they are. */
static int log_ratios(const struct compare_input *input, double *ret_ratios, struct err *err)
{
	for (size_t i = 0; i < input->a_count; i++) {
		double a = input->a[i], b = input->b[i];

		if (a != b && (a <= 0 || b <= 0))
			return ratio_refuse(input, i, err);
		ret_ratios[i] = a == b ? 0 : log(b / a);
	}
	return 0;
}

/* Logarithms in the order of measurement. */
static int logs_of(const struct compare_input *input, const double *values, size_t count,
	double *ret_logs, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (values[i] <= 0)
			return ratio_refuse(input, i, err);
		ret_logs[i] = log(values[i]);
	}
	return 0;
}

/* 0 on both sides of a pair is a ratio, and no logarithm: then nothing is plain. */
static bool pairs_are_apart(const struct compare_input *input)
{
	size_t count = input->a_count;
	mem_auto double *a = mem_new(count, sizeof(*a));
	mem_auto double *b = mem_new(count, sizeof(*b));
	struct err ignored = {0};

	if (logs_of(input, input->a, count, a, &ignored) < 0 ||
		logs_of(input, input->b, count, b, &ignored) < 0)
		return false;
	stats_sort(a, count);
	stats_sort(b, count);
	return sides_are_apart(a, count, b, count);
}

/* A count that never varied needs no chance: it changed or it did not.  From 0 to something is
 * infinitely more. */
static void comparison_constant(struct comparison *one, double a, double b)
{
	double ratio = a == b ? 0 : log(b / a);

	one->constant = true;
	one->p = a == b ? 1 : 0;
	one->centre = (struct centre){.estimate = ratio};
	one->autocorrelation = (double)NAN;
	one->effective_count = (double)one->a_count;
	comparison_conclude(one, 1);
}

static bool input_is_constant(const struct compare_input *input)
{
	return input->kind == COMPARE_COUNT && compare_never_varies(input->a, input->a_count) &&
	       compare_never_varies(input->b, input->b_count) && input->a[0] >= 0 &&
	       input->b[0] >= 0;
}

int compare_pairs(const struct compare_input *input, const struct compare_rule *rule,
	struct comparison *ret_comparison, struct err *err)
{
	size_t count = input->a_count;
	mem_auto double *ratios = mem_new(count, sizeof(*ratios));
	struct comparison one;
	double memory;
	int status = input_check(input, err);

	if (status < 0)
		return status;
	if (count != input->b_count)
		return err_set(err, ERR_USAGE, EINVAL, "%s: %zu and %zu values cannot be paired",
			input->name, count, input->b_count);
	one = comparison_begin(input, rule);
	if (input_is_constant(input)) {
		comparison_constant(&one, input->a[0], input->b[0]);
		*ret_comparison = one;
		return 0;
	}
	status = log_ratios(input, ratios, err);
	if (status < 0)
		return status;
	memory = series_autocorrelation(ratios, count);
	stats_sort(ratios, count);
	one.centre = centre_of_sorted(ratios, count, spread_least(&one));
	one.plain = pairs_are_apart(input);
	comparison_widen(&one, memory);
	comparison_finish(&one, count >= COMPARE_PAIRS_MIN);
	*ret_comparison = one;
	return 0;
}

/* What lies between two sessions is in the difference too, however many runs each of them has. */
static void samples_judge(struct comparison *one, const double *a, const double *b, double memory,
	const struct compare_rule *rule)
{
	size_t least = one->a_count < one->b_count ? one->a_count : one->b_count;
	double own;

	one->advisory = true;
	one->centre = centre_between_sorted(a, one->a_count, b, one->b_count, spread_least(one));
	one->plain = sides_are_apart(a, one->a_count, b, one->b_count);
	comparison_widen(one, memory);
	own = one->centre.error;
	one->centre.error = hypot(own, rule->session);
	/* Welch's degrees: that part of the error is not guessed from these runs. */
	if (own > 0 && isfinite(own))
		one->centre.degrees *= pow(fmin(one->centre.error / own, 10), 4);
	comparison_finish(one, least >= 2 && one->a_count + one->b_count >= 2 * COMPARE_PAIRS_MIN);
}

int compare_samples(const struct compare_input *input, const struct compare_rule *rule,
	struct comparison *ret_comparison, struct err *err)
{
	mem_auto double *a = mem_new(input->a_count, sizeof(*a));
	mem_auto double *b = mem_new(input->b_count, sizeof(*b));
	double memory;
	int status = input_check(input, err);

	if (status == 0)
		status = logs_of(input, input->a, input->a_count, a, err);
	if (status == 0)
		status = logs_of(input, input->b, input->b_count, b, err);
	if (status < 0)
		return status;
	memory = fmax(series_autocorrelation(a, input->a_count),
		series_autocorrelation(b, input->b_count));
	stats_sort(a, input->a_count);
	stats_sort(b, input->b_count);
	*ret_comparison = comparison_begin(input, rule);
	samples_judge(ret_comparison, a, b, memory, rule);
	return 0;
}

void compare_family(struct comparison *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		comparison_conclude(&items[i], (double)count);
}

bool compare_is_narrow(const struct comparison *comparison)
{
	return comparison_half(comparison, comparison->same_confidence) <=
	       log1p(comparison->min_effect) / 2;
}

bool compare_is_settled(const struct comparison *comparison)
{
	return comparison->outcome != COMPARE_INCONCLUSIVE || compare_is_narrow(comparison);
}
