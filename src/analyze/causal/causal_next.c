/* causal_next.c - which trial would teach most; see causal.h.
 *
 * Time goes where the bounds are wide and the gain may be large.  What was never tried counts as
 * open in full.  A little chance keeps two equal cells in turns, and phases of the program from
 * always meeting the same one. */
#include <math.h>

#include "analyze/causal.h"

/* What would bring less than this if it were gone is not worth touching, nor knowing better. */
#define WORTHLESS 0.05
#define OPEN_WIDTH 0.8	/* of a level without bounds, when its target was tried */
#define FIRST_WIDTH 1.6 /* of a target that was never tried */

#define TRIALS_BEFORE_LESS 6.0

enum { TRIALS_FOR_BOUNDS = 4 };

/* How much the target may still turn out to be worth: what the highest level with bounds allows.
 */
static double promise_of(const struct causal_curve *curve, const struct causal_candidate *candidate)
{
	for (uint32_t i = CAUSAL_LEVELS; i--;)
		if (curve->gains[i].is_known && curve->gains[i].trials >= TRIALS_FOR_BOUNDS)
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
	if (!gain->is_known || gain->trials < TRIALS_FOR_BOUNDS)
		return OPEN_WIDTH / (1 + gain->trials) * (is_main(level) ? 1 : 0.7);
	return gain->hi - gain->lo;
}

/* One more trial narrows the bounds of n by a part of 1 / n: where many were made, few help. */
static double use_of(const struct causal_gain *gain)
{
	return 1 / (1 + gain->trials / TRIALS_BEFORE_LESS);
}

struct causal_cell causal_next_cell(const struct causal_trial *trials, uint32_t trial_count,
	const struct causal_candidate *candidates, uint32_t candidate_count, double half_width,
	struct random *random)
{
	struct causal_cell cell = {.done = true};
	double best = 0;

	for (uint32_t target = 0; target < candidate_count; target++) {
		struct causal_curve curve;
		double promise;

		if (candidates[target].given_up)
			continue;
		causal_curve_make(trials, trial_count, target, &curve);
		promise = promise_of(&curve, &candidates[target]);
		for (uint32_t level = 0; level < CAUSAL_LEVELS; level++) {
			double open = candidates[target].left_out >> level & 1
					      ? 0
					      : openness_of(&curve, level) - 2 * half_width;
			double score = open * promise * use_of(&curve.gains[level]) *
				       (0.75 + 0.5 * random_share(random));

			if (open <= 0 || promise <= (is_main(level) ? WORTHLESS : 2 * WORTHLESS) ||
				score <= best)
				continue;
			best = score;
			cell = (struct causal_cell){target, level, false};
		}
	}
	return cell;
}
