/* causal_next.c - which trial would teach most; see causal.h.
 *
 * Three questions, in this order.  What is not known at all: every target gets the few trials that
 * bounds need, at one level.  Which target is first: where the bounds of the leader and of another
 * one overlap at that level, trials go to these two (LUCB: Kalyanakrishnan, Tewari, Auer, Stone,
 * ICML 2012), because one trial on a target that is plainly behind tells nothing about the first
 * place.  Then how much: bounds at 100 %, then the cell whose bounds are wide and whose gain may be
 * large.  One trial in four is spent on the last question while the second is open, so that two
 * equal targets do not keep all others from being called flat (docs/decisions/031).
 *
 * A little chance keeps two equal cells in turns, and phases of the program from always meeting the
 * same one. */
#include <math.h>
#include <stddef.h>

#include "analyze/causal.h"

/* What would bring less than this if it were gone is not worth touching, nor knowing better. */
#define WORTHLESS 0.05
#define OPEN_WIDTH 0.8	/* of a level without bounds, when its target was tried */
#define FIRST_WIDTH 1.6 /* of a target that was never tried */

#define TRIALS_BEFORE_LESS 6.0

enum { TRIALS_FOR_BOUNDS = 4, RACE_OF = 4 };

/* What all questions are asked of. */
struct choosing {
	const struct causal_trial *trials;
	uint32_t trial_count;
	const struct causal_candidate *candidates;
	uint32_t candidate_count;
	double half_width;
	struct random *random;
};

static bool has_bounds(const struct causal_gain *gain)
{
	return gain->is_known && gain->trials >= TRIALS_FOR_BOUNDS;
}

/* How much the target may still turn out to be worth: what the highest level with bounds allows.
 */
static double promise_of(const struct causal_curve *curve, const struct causal_candidate *candidate)
{
	for (uint32_t i = CAUSAL_LEVELS; i--;)
		if (has_bounds(&curve->gains[i]))
			return fmax(curve->gains[i].hi, 0);
	return fmin(0.3 + candidate->sample_share, 1);
}

/* Half the curve first: 50 and 100 %; the others where there is something to see. */
static bool is_main(uint32_t level)
{
	return level == 1 || level == CAUSAL_LEVELS - 1;
}

static double openness_of(const struct causal_curve *curve, uint32_t level)
{
	const struct causal_gain *gain = &curve->gains[level];

	if (!curve->trials)
		return is_main(level) ? FIRST_WIDTH : 0;
	if (!has_bounds(gain))
		return OPEN_WIDTH / (1 + gain->trials) * (is_main(level) ? 1 : 0.7);
	return gain->hi - gain->lo;
}

/* One more trial narrows the bounds of n by a part of 1 / n: where many were made, few help. */
static double use_of(const struct causal_gain *gain)
{
	return 1 / (1 + gain->trials / TRIALS_BEFORE_LESS);
}

static bool is_left_out(const struct causal_candidate *candidate, uint32_t level)
{
	return candidate->left_out >> level & 1;
}

/* The level at which targets are held against each other: that of half the work, which the answer
 * shows, else the first that may be tried.  CAUSAL_LEVELS: none. */
static uint32_t race_level(const struct choosing *c)
{
	static const uint32_t order[CAUSAL_LEVELS] = {1, CAUSAL_LEVELS - 1, 0, 2};

	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++)
		for (uint32_t target = 0; target < c->candidate_count; target++)
			if (!c->candidates[target].given_up &&
				!is_left_out(&c->candidates[target], order[i]))
				return order[i];
	return CAUSAL_LEVELS;
}

/* ---- what is not known at all ---- */

/* Trials that were made and cannot be used (no visit) are no reason to go on for ever.  Those of
 * other levels that could be used do not count. */
static bool is_hopeless(
	const struct choosing *c, const struct causal_curve *curve, uint32_t target, uint32_t level)
{
	uint32_t made = 0, elsewhere = curve->trials - curve->gains[level].trials;

	for (uint32_t i = 0; i < c->trial_count; i++)
		made += c->trials[i].target == target;
	return made >= elsewhere + 3 * TRIALS_FOR_BOUNDS;
}

static struct causal_cell cell_without_bounds(const struct choosing *c, uint32_t level)
{
	struct causal_cell cell = {.done = true};
	double best = 0;

	for (uint32_t target = 0; target < c->candidate_count; target++) {
		const struct causal_candidate *candidate = &c->candidates[target];
		struct causal_curve curve;
		double score;

		if (candidate->given_up || is_left_out(candidate, level))
			continue;
		causal_curve_make(c->trials, c->trial_count, target, &curve);
		if (has_bounds(&curve.gains[level]) || is_hopeless(c, &curve, target, level) ||
			promise_of(&curve, candidate) <= WORTHLESS)
			continue;
		score = (curve.trials ? OPEN_WIDTH / (1 + curve.gains[level].trials)
				      : FIRST_WIDTH) *
			promise_of(&curve, candidate) * (0.75 + 0.5 * random_share(c->random));
		if (score <= best)
			continue;
		best = score;
		cell = (struct causal_cell){target, level, false};
	}
	return cell;
}

/* ---- which is first ---- */

/* A target in the race for the first place. */
struct runner {
	uint32_t target;
	struct causal_gain gain;
	bool is_there;
};

/* The best of all but `other` (NULL: of all), by its gain or by what it may be. */
static struct runner runner_find(
	const struct choosing *c, uint32_t level, const struct runner *other)
{
	struct runner best = {0};

	for (uint32_t target = 0; target < c->candidate_count; target++) {
		const struct causal_candidate *candidate = &c->candidates[target];
		struct causal_curve curve;
		const struct causal_gain *gain = &curve.gains[level];

		if (candidate->given_up || (other && other->target == target))
			continue;
		causal_curve_make(c->trials, c->trial_count, target, &curve);
		if (!has_bounds(gain) || promise_of(&curve, candidate) <= WORTHLESS)
			continue;
		if (!best.is_there ||
			(other ? gain->hi > best.gain.hi : gain->gain > best.gain.gain))
			best = (struct runner){target, *gain, true};
	}
	return best;
}

static double width_of(const struct runner *runner)
{
	return runner->gain.hi - runner->gain.lo;
}

/* Of the leader and who may still be ahead of it, the one that a trial narrows more.  Done: no
 * other one reaches into its bounds, or both are known as well as was asked for. */
static struct causal_cell cell_of_race(const struct choosing *c, uint32_t level)
{
	struct runner leader = runner_find(c, level, NULL), challenger, *next = &leader;

	if (!leader.is_there)
		return (struct causal_cell){.done = true};
	challenger = runner_find(c, level, &leader);
	if (!challenger.is_there || challenger.gain.hi <= leader.gain.lo)
		return (struct causal_cell){.done = true};
	if (width_of(&challenger) * use_of(&challenger.gain) *
			(0.75 + 0.5 * random_share(c->random)) >
		width_of(&leader) * use_of(&leader.gain))
		next = &challenger;
	if (width_of(next) <= 2 * c->half_width)
		next = next == &leader ? &challenger : &leader;
	return (struct causal_cell){next->target, level, width_of(next) <= 2 * c->half_width};
}

/* ---- how much ---- */

static struct causal_cell cell_that_is_widest(const struct choosing *c)
{
	struct causal_cell cell = {.done = true};
	double best = 0;

	for (uint32_t target = 0; target < c->candidate_count; target++) {
		const struct causal_candidate *candidate = &c->candidates[target];
		struct causal_curve curve;
		double promise;

		if (candidate->given_up)
			continue;
		causal_curve_make(c->trials, c->trial_count, target, &curve);
		promise = promise_of(&curve, candidate);
		for (uint32_t level = 0; level < CAUSAL_LEVELS; level++) {
			double open = is_left_out(candidate, level)
					      ? 0
					      : openness_of(&curve, level) - 2 * c->half_width;
			double score = open * promise * use_of(&curve.gains[level]) *
				       (0.75 + 0.5 * random_share(c->random));

			if (open <= 0 || promise <= (is_main(level) ? WORTHLESS : 2 * WORTHLESS) ||
				score <= best)
				continue;
			best = score;
			cell = (struct causal_cell){target, level, false};
		}
	}
	return cell;
}

struct causal_cell causal_next_cell(const struct causal_trial *trials, uint32_t trial_count,
	const struct causal_candidate *candidates, uint32_t candidate_count, double half_width,
	struct random *random)
{
	const struct choosing c = {
		trials, trial_count, candidates, candidate_count, half_width, random};
	uint32_t level = race_level(&c);
	struct causal_cell cell = {.done = true};

	if (level < CAUSAL_LEVELS)
		cell = cell_without_bounds(&c, level);
	if (cell.done && level < CAUSAL_LEVELS && trial_count % RACE_OF)
		cell = cell_of_race(&c, level);
	if (cell.done) /* what is gained when all of it is gone, before the levels between */
		cell = cell_without_bounds(&c, CAUSAL_LEVELS - 1);
	return cell.done ? cell_that_is_widest(&c) : cell;
}
