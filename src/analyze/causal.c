/* causal.c - see causal.h. */
#include "analyze/causal.h"

#include <math.h>

#include "base/distribution.h"

/* A gain below three points is not told apart from none: what the method itself is off by. */
#define FLAT_GAIN 0.03
#define STEEP_SLOPE 0.4
#define BIAS_FLOOR 0.015
/* Trials at less than half the lowest level would have to be scaled up too much. */
#define LEAST_SHARE 0.5
#define LEAST_RATIO 0.02

enum { TRIALS_MIN = 2, VISITS_MIN = 5 };

const double causal_levels[CAUSAL_LEVELS] = {0.25, 0.5, 0.75, 1};

const char *causal_class_name(enum causal_class class)
{
	static const char *const names[CAUSAL_CLASSES] = {
		[CAUSAL_NOISY] = "noisy",
		[CAUSAL_STEEP] = "steep",
		[CAUSAL_MODERATE] = "moderate",
		[CAUSAL_STEP] = "step",
		[CAUSAL_FLAT] = "flat",
		[CAUSAL_CONTENTION] = "contention",
	};

	return names[class];
}

static uint32_t level_of(double speedup)
{
	uint32_t nearest = 0;

	for (uint32_t i = 1; i < CAUSAL_LEVELS; i++)
		if (fabs(causal_levels[i] - speedup) < fabs(causal_levels[nearest] - speedup))
			nearest = i;
	return nearest;
}

/* What one visit costs, or what one passage takes (Little: inside / rate). */
static double cost(const struct causal_window *window)
{
	double rate = window->visits / window->virtual_ns;

	return window->inside > 0 ? window->inside / rate : 1 / rate;
}

static bool is_usable(const struct causal_trial *trial)
{
	return trial->base.visits > 0 && trial->sped.visits > 0 && trial->base.virtual_ns > 0 &&
	       trial->sped.virtual_ns > 0 && trial->speedup >= LEAST_SHARE * causal_levels[0];
}

/* ---- one level ---- */

struct level_sum {
	uint32_t count;
	double visits, hits, weight, mean, squares; /* of the logarithms of the pairs' ratios */
};

/* Seen from a level beside its own (coz tries every 5 %) a gain is taken in proportion.  The trials
 * of a level lie on both sides of it, so a curve that bends there is not tilted. */
static double ratio_at(double ratio, double scale)
{
	return fmax(1 - (1 - ratio) * scale, LEAST_RATIO);
}

static void sum_add(struct level_sum *sum, const struct causal_trial *trial, double level)
{
	double scale = level / trial->speedup;
	double x = log(ratio_at(cost(&trial->sped) / cost(&trial->base), scale));
	/* The counting noise of both windows: a pair with few visits says less, and one that was
	 * scaled up is noisier. */
	double weight = 1 / (1 / trial->base.visits + 1 / trial->sped.visits) / (scale * scale);
	double delta = x - sum->mean;

	sum->count++;
	sum->visits += trial->base.visits + trial->sped.visits;
	sum->hits += trial->hits;
	sum->weight += weight;
	sum->mean += delta * weight / sum->weight;
	sum->squares += weight * delta * (x - sum->mean);
}

/* Student's quantile for 95 %, two-sided, from that of the beta distribution. */
static double student_95(double degrees)
{
	double x = beta_quantile(0.05, degrees / 2, 0.5);

	return sqrt(degrees * (1 / x - 1));
}

static void gain_of_sum(const struct level_sum *sum, struct causal_gain *gain)
{
	double error, half;

	gain->trials = sum->count;
	gain->visits = sum->visits;
	gain->hits = sum->hits;
	if (!sum->count)
		return;
	gain->gain = 1 - exp(sum->mean);
	gain->lo = -(double)INFINITY;
	gain->hi = 1;
	if (sum->count < TRIALS_MIN || sum->visits < 2.0 * VISITS_MIN)
		return;
	error = sqrt(sum->squares / sum->weight / (sum->count - 1));
	half = student_95(sum->count - 1) * error * (1 - gain->gain);
	half = hypot(half, BIAS_FLOOR);
	gain->lo = gain->gain - half;
	gain->hi = gain->gain + half < 1 ? gain->gain + half : 1;
	gain->is_known = true;
}

/* ---- the curve ---- */

/* From the lowest level, and the next one as well while a straight line through the origin explains
 * both. */
static void slope_make(struct causal_curve *curve)
{
	double weights = 0, sum = 0;

	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++) {
		const struct causal_gain *gain = &curve->gains[i];
		double slope = gain->gain / gain->speedup;
		double error = (gain->hi - gain->lo) / 2 / gain->speedup, weight;

		if (!gain->is_known)
			continue;
		if (curve->slope_is_known &&
			fabs(slope - sum / weights) > hypot(error, 1 / sqrt(weights)))
			break;
		weight = 1 / (error * error);
		weights += weight;
		sum += weight * slope;
		curve->slope_is_known = true;
	}
	if (!curve->slope_is_known)
		return;
	curve->slope = sum / weights;
	curve->slope_lo = curve->slope - 1 / sqrt(weights);
	curve->slope_hi = curve->slope + 1 / sqrt(weights);
}

static enum causal_class class_of(const struct causal_curve *curve)
{
	bool open = false, gains = false, loses = false, gains_low = false;

	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++) {
		const struct causal_gain *gain = &curve->gains[i];

		if (!gain->is_known)
			continue;
		gains |= gain->lo > FLAT_GAIN / 2 && gain->gain > FLAT_GAIN / 2;
		gains_low |= gain->lo > 0 && gain->speedup <= 0.5;
		loses |= gain->hi < -FLAT_GAIN / 2;
		open |= gain->hi > FLAT_GAIN * 2 || gain->lo < -FLAT_GAIN * 2;
	}
	if (gains)
		return !gains_low && curve->slope_is_known && curve->gains[0].is_known &&
				       curve->gains[0].hi < FLAT_GAIN * 2
			       ? CAUSAL_STEP
		       : curve->slope >= STEEP_SLOPE ? CAUSAL_STEEP
						     : CAUSAL_MODERATE;
	if (loses)
		return CAUSAL_CONTENTION;
	return open || !curve->slope_is_known ? CAUSAL_NOISY : CAUSAL_FLAT;
}

static void trial_add(struct level_sum *sums, const struct causal_trial *trial)
{
	uint32_t level = level_of(trial->speedup);

	sum_add(&sums[level], trial, causal_levels[level]);
}

void causal_curve_make(const struct causal_trial *trials, uint32_t trial_count, uint32_t target,
	struct causal_curve *ret_curve)
{
	struct level_sum sums[CAUSAL_LEVELS] = {0};

	*ret_curve = (struct causal_curve){0};
	for (uint32_t i = 0; i < trial_count; i++)
		if (trials[i].target == target && is_usable(&trials[i]))
			trial_add(sums, &trials[i]);
	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++) {
		struct causal_gain *gain = &ret_curve->gains[i];

		gain->speedup = causal_levels[i];
		gain_of_sum(&sums[i], gain);
		ret_curve->trials += gain->trials;
		if (gain->is_known && (!ret_curve->best || gain->lo > ret_curve->best->lo))
			ret_curve->best = gain;
	}
	slope_make(ret_curve);
	ret_curve->class = class_of(ret_curve);
}
