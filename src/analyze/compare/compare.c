/* compare.c - see compare.h.
 *
 * Everything is judged on log ratios: then +10 % and -9.1 % are the same size, and swapping A and B
 * swaps the verdict.  Why both a test and a size: of 304 comparisons of a program with itself on a
 * loaded machine, p < 0.05 alone called 6 % changed, p < 0.01 with 1 % called 1.3 % (wall) and 1.6
 * % (CPU), and still found a true 5 % in 98 % of the cases on CPU time with 20 pairs. */
#include "analyze/compare.h"

#include <errno.h>
#include <math.h>

#include "base/mem.h"
#include "base/rank_test.h"
#include "base/series.h"
#include "base/stats.h"
#include "compare_parts.h"

const char *compare_outcome_name(enum compare_outcome outcome)
{
	static const char *const names[] = {"inconclusive", "equivalent", "improved", "regressed"};

	return names[outcome];
}

double compare_alpha(unsigned looks)
{
	/* Pocock's 0.0142 for six looks is for independent pairs.  Taken in turns ABBA, pairs
	 * resemble their neighbours by r (1 - r) / 2 where single runs do by r, and 0.0142 gave up
	 * to 6.8 % false alarms in 2000 simulated series; 0.01 gave at most 5.1 %, 0.005 2.6 %. */
	return looks > 1 ? 0.005 : 0.01;
}

struct compare_plan compare_plan_make(size_t pairs_max)
{
	struct compare_plan plan;
	double steps = COMPARE_LOOKS_MAX - 1;
	double range = fmax((double)pairs_max / COMPARE_BATCH, 1);

	/* Large effects show in the first ten pairs, and what takes many pairs to see is looked for
	 * when there are many more than last time. */
	for (unsigned i = 0; i < COMPARE_LOOKS_MAX - 1; i++)
		plan.at[i] = COMPARE_BATCH * (size_t)lround(pow(range, i / steps));
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

/* The outcome by the rule; everything else of the comparison is known. */
static enum compare_outcome comparison_judge(const struct comparison *one)
{
	double size = log1p(one->min_effect);
	const struct shift *shift = &one->log_ratio;
	enum compare_outcome moved = compare_points_to(one);

	if (compare_has_moved(moved) && one->adjusted_p < one->alpha)
		return moved;
	if (shift->lo >= -size && shift->hi <= size)
		return COMPARE_EQUIVALENT;
	return COMPARE_INCONCLUSIVE;
}

enum compare_outcome compare_points_to(const struct comparison *one)
{
	double size = log1p(one->min_effect);

	if (one->log_ratio.lo > 0 && one->log_ratio.estimate > size)
		return COMPARE_REGRESSED;
	if (one->log_ratio.hi < 0 && one->log_ratio.estimate < -size)
		return COMPARE_IMPROVED;
	return COMPARE_INCONCLUSIVE;
}

static double comparison_half(const struct comparison *one)
{
	return (one->log_ratio.hi - one->log_ratio.lo) / 2;
}

/* The whole interval is beyond the smallest effect: only the test cannot be sure yet, of so few
 * pairs.  One more pair of the same sign halves its p. */
static bool needs_only_pairs(const struct comparison *one)
{
	double size = log1p(one->min_effect);

	return one->adjusted_p >= one->alpha &&
	       (one->log_ratio.lo > size || one->log_ratio.hi < -size);
}

/* Else the interval must narrow, as it does with the square root of the pairs. */
static uint64_t comparison_needed(const struct comparison *one)
{
	size_t count = one->a_count < one->b_count ? one->a_count : one->b_count;
	double half = comparison_half(one), size = log1p(one->min_effect), needed;

	if (one->outcome != COMPARE_INCONCLUSIVE || size == 0)
		return 0;
	if (isinf(half))
		return COMPARE_PAIRS_GOOD;
	if (needs_only_pairs(one))
		return count + 1 + (uint64_t)ceil(log2(one->adjusted_p / one->alpha));
	needed = ceil((double)count * half / size * half / size);
	if (needed >= 1e15) /* no number of pairs that anyone would measure */
		return 0;
	/* Narrow enough, but across the border: one more batch may tell. */
	return needed > (double)count ? (uint64_t)needed : count + COMPARE_BATCH;
}

static void comparison_conclude(struct comparison *one)
{
	one->outcome = comparison_judge(one);
	one->pairs_needed = comparison_needed(one);
}

/* Runs that resemble their neighbours say less than their number: widen the interval. */
static void comparison_widen(struct comparison *one, double autocorrelation)
{
	size_t count = one->a_count < one->b_count ? one->a_count : one->b_count;
	struct shift *shift = &one->log_ratio;
	double wider;

	one->autocorrelation = autocorrelation;
	one->effective_count = series_effective_count(count, autocorrelation);
	if (!count)
		return;
	wider = sqrt((double)count / one->effective_count);
	shift->lo = shift->estimate - wider * (shift->estimate - shift->lo);
	shift->hi = shift->estimate + wider * (shift->hi - shift->estimate);
}

/* Few runs that are plainly apart: what the ranks of so few cannot say, their distance does.  `a`
 * and `b` are sorted logarithms. */
static void comparison_plain(
	struct comparison *one, const double *a, const double *b, const struct compare_rule *rule)
{
	size_t count = one->a_count < one->b_count ? one->a_count : one->b_count;
	size_t least = one->advisory ? COMPARE_PLAIN_RUNS : COMPARE_PLAIN_PAIRS;
	struct plain plain;

	if (count < least || rule->ranks_only ||
		!compare_plain_find(
			a, one->a_count, b, one->b_count, rule_confidence(rule), &plain))
		return;
	one->plain = true;
	if (count >= COMPARE_BATCH)
		return;
	one->p = fmin(one->p, plain.p);
	if (isinf(comparison_half(one)))
		one->log_ratio = plain.shift;
}

/* Fill in what follows from the log ratio. */
static void comparison_fill(struct comparison *one)
{
	const struct shift *shift = &one->log_ratio;

	one->effect = expm1(shift->estimate);
	one->lo = one->constant || isfinite(shift->lo) ? expm1(shift->lo) : shift->lo;
	one->hi = expm1(shift->hi);
	one->detectable = one->constant ? 0 : expm1(comparison_half(one));
	one->adjusted_p = one->p;
	comparison_conclude(one);
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
		.alpha = rule->alpha > 0 ? rule->alpha : compare_alpha(rule->looks),
		.min_effect = rule_effect(rule, input->kind),
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

/* The same of pairs, for what is plain; 0 on both sides of a pair is a ratio, and no logarithm. */
static void pairs_plain(
	const struct compare_input *input, const struct compare_rule *rule, struct comparison *one)
{
	size_t count = input->a_count;
	mem_auto double *a = mem_new(count, sizeof(*a));
	mem_auto double *b = mem_new(count, sizeof(*b));
	struct err ignored = {0};

	if (logs_of(input, input->a, count, a, &ignored) < 0 ||
		logs_of(input, input->b, count, b, &ignored) < 0)
		return;
	stats_sort(a, count);
	stats_sort(b, count);
	comparison_plain(one, a, b, rule);
}

/* A count that never varied needs no chance: it changed or it did not.  From 0 to something is
 * infinitely more. */
static void comparison_constant(struct comparison *one, double a, double b)
{
	double ratio = a == b ? 0 : log(b / a);

	one->constant = true;
	one->p = a == b ? 1 : 0;
	one->log_ratio = (struct shift){ratio, ratio, ratio};
	one->autocorrelation = (double)NAN;
	one->effective_count = (double)one->a_count;
	comparison_fill(one);
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
	mem_auto double *sorted = NULL;
	struct comparison one;
	struct rank_result test = {.p = 1};
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
	if (status == 0)
		status = signed_rank_test(ratios, count, &test, err);
	if (status < 0)
		return status;
	sorted = stats_sorted(ratios, count);
	one.p = one.rank_p = test.p;
	one.log_ratio = shift_of_sorted(sorted, count, rule_confidence(rule));
	comparison_widen(&one, series_autocorrelation(ratios, count));
	pairs_plain(input, rule, &one);
	comparison_fill(&one);
	*ret_comparison = one;
	return 0;
}

int compare_samples(const struct compare_input *input, const struct compare_rule *rule,
	struct comparison *ret_comparison, struct err *err)
{
	mem_auto double *a = mem_new(input->a_count, sizeof(*a));
	mem_auto double *b = mem_new(input->b_count, sizeof(*b));
	double memory;
	struct comparison one;
	struct rank_result test = {.p = 1};
	int status = input_check(input, err);

	if (status == 0)
		status = logs_of(input, input->a, input->a_count, a, err);
	if (status == 0)
		status = logs_of(input, input->b, input->b_count, b, err);
	if (status == 0)
		status = rank_sum_test(a, input->a_count, b, input->b_count, &test, err);
	if (status < 0)
		return status;
	one = comparison_begin(input, rule);
	one.advisory = true;
	one.p = one.rank_p = test.p;
	memory = fmax(series_autocorrelation(a, input->a_count),
		series_autocorrelation(b, input->b_count));
	stats_sort(a, input->a_count);
	stats_sort(b, input->b_count);
	one.log_ratio =
		shift_between_sorted(a, input->a_count, b, input->b_count, rule_confidence(rule));
	comparison_widen(&one, memory);
	comparison_plain(&one, a, b, rule);
	comparison_fill(&one);
	*ret_comparison = one;
	return 0;
}

void compare_plain_together(struct comparison *items, size_t count)
{
	bool together = count > 1;

	for (size_t i = 0; i < count; i++)
		together &= items[i].plain && (items[i].effect > 0) == (items[0].effect > 0);
	for (size_t i = 0; i < count; i++) {
		struct comparison *one = &items[i];

		if (together || !one->plain || one->a_count >= COMPARE_PLAIN_ALONE)
			continue;
		one->plain = false;
		one->p = one->rank_p;
		one->log_ratio.lo = -HUGE_VAL;
		one->log_ratio.hi = HUGE_VAL;
		comparison_fill(one);
	}
}

void compare_family(struct comparison *items, size_t count)
{
	mem_auto double *p = mem_new(count, sizeof(*p));

	for (size_t i = 0; i < count; i++)
		p[i] = items[i].p;
	holm_adjust(p, count);
	for (size_t i = 0; i < count; i++) {
		items[i].adjusted_p = p[i];
		comparison_conclude(&items[i]);
	}
}

bool compare_is_narrow(const struct comparison *comparison)
{
	return comparison_half(comparison) <= log1p(comparison->min_effect) / 2;
}

bool compare_is_settled(const struct comparison *comparison)
{
	return comparison->outcome != COMPARE_INCONCLUSIVE || compare_is_narrow(comparison);
}
