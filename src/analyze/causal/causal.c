/* causal.c - see causal.h.  How the bounds are made was settled by simulation: docs/decisions/012.
 */
#include "analyze/causal.h"

#include <math.h>
#include <stddef.h>

#include "base/distribution.h"

/* A gain below three points is not told apart from none: what the method itself is off by. */
#define FLAT_GAIN 0.03
/* Bounds that reach further leave open whether it is worth it. */
#define OPEN_GAIN 0.08
#define STEEP_SLOPE 0.4
/* What the method itself is off by, which no scatter shows, and the more the more delay is put in:
 * fitted to simulated programs, with a point more for the real machine (docs/decisions/012). */
#define BIAS_FLOOR 0.02
#define BIAS_OF_DELAY 0.04
/* Trials at less than half the lowest level would have to be scaled up too much. */
#define LEAST_SHARE 0.5
#define LEAST_RATIO 0.02

enum { TRIALS_MIN = 3, VISITS_MIN = 10 };

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
		[CAUSAL_PACED] = "paced",
	};

	return names[class];
}

bool causal_class_pays(enum causal_class class)
{
	return class == CAUSAL_STEEP || class == CAUSAL_MODERATE || class == CAUSAL_STEP;
}

static uint32_t level_of(double speedup)
{
	uint32_t nearest = 0;

	for (uint32_t i = 1; i < CAUSAL_LEVELS; i++)
		if (fabs(causal_levels[i] - speedup) < fabs(causal_levels[nearest] - speedup))
			nearest = i;
	return nearest;
}

static bool is_usable(const struct causal_trial *trial)
{
	return trial->base.visits > 0 && trial->sped.visits > 0 && trial->base.virtual_ns > 0 &&
	       trial->sped.virtual_ns > 0 && trial->speedup >= LEAST_SHARE * causal_levels[0];
}

static bool is_of(const struct causal_trial *trial, uint32_t target, uint32_t level)
{
	return trial->target == target && level_of(trial->speedup) == level && is_usable(trial);
}

/* ---- one level ---- */

/* Sums over trials; of the visits half a one more is counted, so that none is not infinite. */
struct level_sum {
	double base_ns, base_visits, base_inside, sped_ns, sped_visits, sped_inside;
	double hits, delay;
	uint32_t count;
};

static double trial_cost(const struct causal_window *window)
{
	return (window->inside > 0 ? window->inside : 1) * window->virtual_ns / window->visits;
}

/* Seen from a level beside its own (coz tries every 5 %) a gain is taken in proportion: what the
 * time of the sped window is multiplied by.  The trials of a level lie on both sides of it, so a
 * curve that bends there is not tilted. */
static double stretch_of(const struct causal_trial *trial)
{
	double scale = causal_levels[level_of(trial->speedup)] / trial->speedup;
	double ratio = trial_cost(&trial->sped) / trial_cost(&trial->base);

	return scale == 1 ? 1 : fmax(1 - (1 - ratio) * scale, LEAST_RATIO) / ratio;
}

static void sum_add(struct level_sum *sum, const struct causal_trial *trial, double sign)
{
	double sped_ns = stretch_of(trial) * trial->sped.virtual_ns;

	sum->base_ns += sign * trial->base.virtual_ns;
	sum->base_visits += sign * trial->base.visits;
	sum->base_inside += sign * trial->base.inside * trial->base.virtual_ns;
	sum->sped_ns += sign * sped_ns;
	sum->sped_visits += sign * trial->sped.visits;
	sum->sped_inside += sign * trial->sped.inside * sped_ns;
	sum->hits += sign * trial->hits;
	sum->delay += sign * trial->delay_share;
}

/* What one visit takes, or (Little: inside / rate) one passage. */
static double sum_cost(double ns, double visits, double inside_ns)
{
	return (inside_ns > 0 ? inside_ns : ns) / (visits + 0.5);
}

static double sum_ratio(const struct level_sum *sum)
{
	return log(sum_cost(sum->sped_ns, sum->sped_visits, sum->sped_inside) /
		   sum_cost(sum->base_ns, sum->base_visits, sum->base_inside));
}

/* Scatter between trials: each is left out once. */
static double jackknife(const struct causal_trial *trials, uint32_t trial_count, uint32_t target,
	uint32_t level, struct level_sum sum)
{
	double mean = 0, squares = 0;
	uint32_t seen = 0;

	for (uint32_t i = 0; i < trial_count; i++) {
		double x, delta;

		if (!is_of(&trials[i], target, level))
			continue;
		sum_add(&sum, &trials[i], -1);
		x = sum_ratio(&sum);
		sum_add(&sum, &trials[i], 1);
		delta = x - mean;
		mean += delta / ++seen;
		squares += delta * (x - mean);
	}
	return sqrt(squares * (seen - 1) / seen);
}

/* What counting alone leaves open: whole visits at both ends of a window, and few hits. */
static double least_error(const struct level_sum *sum, double ratio)
{
	double n0 = sum->base_visits, ns = sum->sped_visits;

	return sqrt(sum->count / 6.0 * (1 / (n0 * n0 + 1) + 1 / (ns * ns + 1)) +
		    ratio * ratio * 0.1 / (sum->hits + 1));
}

static void gain_make(const struct causal_trial *trials, uint32_t trial_count, uint32_t target,
	uint32_t level, struct causal_gain *gain)
{
	struct level_sum sum = {0};
	double ratio, error, half;

	gain->speedup = causal_levels[level];
	for (uint32_t i = 0; i < trial_count; i++)
		if (is_of(&trials[i], target, level)) {
			sum_add(&sum, &trials[i], 1);
			sum.count++;
		}
	gain->trials = sum.count;
	gain->visits = sum.base_visits + sum.sped_visits;
	gain->hits = sum.hits;
	if (!sum.count)
		return;
	ratio = sum_ratio(&sum);
	gain->gain = 1 - exp(ratio);
	if (sum.count < TRIALS_MIN || gain->visits < VISITS_MIN)
		return;
	error = fmax(jackknife(trials, trial_count, target, level, sum), least_error(&sum, ratio));
	half = exp(ratio) * student_quantile(0.05, sum.count - 1) * error + BIAS_FLOOR +
	       BIAS_OF_DELAY * sum.delay / sum.count;
	gain->lo = gain->gain - half;
	gain->hi = fmin(gain->gain + half, 1);
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
		open |= gain->hi > OPEN_GAIN || gain->lo < -OPEN_GAIN;
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

void causal_curve_make(const struct causal_trial *trials, uint32_t trial_count, uint32_t target,
	struct causal_curve *ret_curve)
{
	*ret_curve = (struct causal_curve){0};
	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++) {
		struct causal_gain *gain = &ret_curve->gains[i];

		gain_make(trials, trial_count, target, i, gain);
		ret_curve->trials += gain->trials;
	}
	slope_make(ret_curve);
	ret_curve->class = class_of(ret_curve);
}

const struct causal_gain *causal_curve_best(const struct causal_curve *curve)
{
	const struct causal_gain *best = NULL;

	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++)
		if (curve->gains[i].is_known && (!best || curve->gains[i].lo > best->lo))
			best = &curve->gains[i];
	return best;
}

bool causal_curve_at(const struct causal_curve *curve, double speedup, struct causal_gain *ret_gain)
{
	struct causal_gain below = {0};
	bool any = false;

	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++) {
		const struct causal_gain *above = &curve->gains[i];
		double part;

		if (!above->is_known)
			continue;
		any = true;
		if (above->speedup < speedup) {
			below = *above;
			continue;
		}
		part = (speedup - below.speedup) / (above->speedup - below.speedup);
		*ret_gain = *above;
		ret_gain->speedup = speedup;
		ret_gain->gain = below.gain + part * (above->gain - below.gain);
		ret_gain->lo = below.lo + part * (above->lo - below.lo);
		ret_gain->hi = below.hi + part * (above->hi - below.hi);
		return true;
	}
	if (any)
		*ret_gain = below;
	return any;
}
