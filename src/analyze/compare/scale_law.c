/* scale_law.c - which law of size; see scale.h.
 *
 * AICc says which law fits best, not whether another run would say the same.  So the rounds are
 * drawn again and the choice is made each time: a law is called clear when it wins nine draws in
 * ten.  Too few sizes, or sizes too near each other, are never clear, however often one law wins:
 * there a step of the cache is as good an explanation as a law. */
#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "scale_parts.h"

enum { SIZES_LEAST = 4, RANGE_LEAST = 8, ROUNDS_ADVISED = 7 };
#define SUPPORT_CLEAR 0.9
#define SUPPORT_LEAST 0.05
#define GROWTH_PROVEN 1.2 /* times over all sizes, lower bound */
#define NO_GROWTH 1.25	  /* times over all sizes: as good as none, whatever the draws say */
#define HIDDEN_GROWTH 1.5 /* times over all sizes */
#define BEYOND_SLOPE 2.2  /* n^2 log n reaches 2.15 at 1000 */
#define MISFIT_SHARE 0.15
#define SUGGESTED_TIME_NS 20e9

/* What the draws gave. */
struct law_draws {
	uint32_t count, wins[LAW_COUNT];
	uint32_t wins_growing[LAW_COUNT]; /* without O(1) */
	double slope[SCALE_DRAWS], tail[SCALE_DRAWS], growth[SCALE_DRAWS];
};

/* The exponent between the two largest sizes, the start-up (the least median) taken off; 0 when
 * there is nothing left to compare. */
static double tail_of(const struct scale_matrix *matrix, const double *medians)
{
	uint32_t last = matrix->columns - 1;
	double start = medians[0];

	for (uint32_t i = 1; i < last; i++)
		start = fmin(start, medians[i]);
	if (medians[last - 1] <= start || medians[last] <= start)
		return 0;
	return log((medians[last] - start) / (medians[last - 1] - start)) /
	       log(matrix->sizes[last] / matrix->sizes[last - 1]);
}

/* The best of the laws that grow; they have as many numbers each, so the residual decides. */
static enum law growing_best(const struct law_fit *fit)
{
	enum law best = LAW_CONSTANT + 1;

	for (enum law l = best; l < LAW_COUNT; l++)
		if (fit->lines[l].residual < fit->lines[best].residual)
			best = l;
	return best;
}

static int draws_make(const struct scale_matrix *matrix, struct arena *arena, struct law_draws *d,
	struct err *err)
{
	size_t bytes = (size_t)SCALE_BLOCKS * matrix->columns * sizeof(double);
	double *sizes = arena_take(arena, bytes), *times = arena_take(arena, bytes);
	uint32_t rows[SCALE_PIECES];
	struct random random;

	random_seed(&random, 1);
	for (; d->count < SCALE_DRAWS; d->count++) {
		struct law_fit fit;
		size_t count;
		int r;

		scale_matrix_draw(matrix, &random, rows);
		count = scale_matrix_blocks(matrix, rows, sizes, times);
		r = law_fit(sizes, times, count, &fit, err);
		if (r < 0)
			return r;
		d->wins[fit.best]++;
		d->wins_growing[growing_best(&fit)]++;
		scale_matrix_medians(matrix, rows, times);
		d->slope[d->count] = fit.slope;
		d->tail[d->count] = tail_of(matrix, times);
		d->growth[d->count] = times[matrix->columns - 1] / times[0];
	}
	return 0;
}

static void draws_conclude(struct scale_law *law, struct law_draws *d)
{
	const uint32_t *wins = d->wins;

	/* Five medians have little power in a test of growth; all the rounds have more. */
	law->growth = scale_drawn_interval(d->growth, d->count);
	if (law->growth.lo > GROWTH_PROVEN) {
		wins = d->wins_growing;
		law->best = growing_best(&law->fit);
	}
	for (enum law l = LAW_CONSTANT; l < LAW_COUNT; l++) {
		law->support[l] = (double)wins[l] / d->count;
		law->candidate[l] = law->support[l] >= SUPPORT_LEAST || l == law->best;
	}
	law->slope = scale_drawn_interval(d->slope, d->count);
	law->tail = scale_drawn_interval(d->tail, d->count);
	law->beyond = law->tail.lo > BEYOND_SLOPE;
}

/* Without draws everything is possible. */
static void draws_missing(struct scale_law *law)
{
	const struct interval none = {(double)NAN, (double)NAN};

	for (enum law l = LAW_CONSTANT; l < LAW_COUNT; l++) {
		law->support[l] = (double)NAN;
		law->candidate[l] = true;
	}
	law->slope = law->fitted ? (struct interval){law->fit.slope_lo, law->fit.slope_hi} : none;
	law->tail = law->growth = none;
}

/* The next best: by draws, then by weight.  O(1), once refused, is so only by draws: AICc favours
 * it at few sizes because it has one number less. */
static void runner_up_find(struct scale_law *law)
{
	double best = -1;

	for (enum law l = LAW_CONSTANT; l < LAW_COUNT; l++) {
		double support = isnan(law->support[l]) ? 0 : law->support[l];
		double score = support * 1000 + (l == LAW_CONSTANT ? 0 : law->fit.lines[l].weight);

		if (l == law->best || score <= best)
			continue;
		best = score;
		law->runner_up = l;
	}
	law->evidence =
		law->best == LAW_CONSTANT && law->fit.growth_unproven
			? (double)NAN
			: law->fit.lines[law->best].weight / law->fit.lines[law->runner_up].weight;
}

static void points_predict(struct scale_view *view)
{
	struct scale_law *law = &view->law;
	const struct law_line *line = &law->fit.lines[law->best];
	double worst = -1;

	for (uint32_t i = 0; i < view->point_count; i++) {
		struct scale_point *point = &view->points[i];

		point->predicted_ns = law_time(law->best, line->a, line->b, (double)point->size);
		point->off_share = point->time->median / point->predicted_ns - 1;
		if (!point->fitted || !(fabs(point->off_share) > worst))
			continue;
		worst = fabs(point->off_share);
		law->worst = i;
		law->misfit = worst > MISFIT_SHARE &&
			      (point->predicted_ns < point->time->median_interval.lo ||
				      point->predicted_ns > point->time->median_interval.hi);
	}
}

static void law_extrapolate(struct scale_law *law, double largest)
{
	const struct law_line *line = &law->fit.lines[law->best];
	double now = law_time(law->best, line->a, line->b, largest);

	law->doubling = law_time(law->best, line->a, line->b, 2 * largest) / now;
	law->tenfold_ns = law_time(law->best, line->a, line->b, 10 * largest);
	law->tenfold = law->tenfold_ns / now;
}

static enum scale_doubt doubt_of(const struct scale_view *view, const struct scale_matrix *matrix)
{
	const struct scale_law *law = &view->law;
	double first = matrix->columns ? matrix->sizes[0] : 1;

	if (matrix->columns < SIZES_LEAST)
		return SCALE_FEW_SIZES;
	if (view->rounds < SCALE_RUNS_LEAST)
		return SCALE_FEW_RUNS;
	if (matrix->sizes[matrix->columns - 1] < RANGE_LEAST * first)
		return SCALE_NEAR_SIZES;
	if (law->beyond)
		return SCALE_SURE;
	if (law->best == LAW_CONSTANT && law->growth.hi <= NO_GROWTH)
		return SCALE_SURE;
	if (law->support[law->best] < SUPPORT_CLEAR)
		return SCALE_MIXED;
	if (law->best == LAW_CONSTANT && law->growth.hi > HIDDEN_GROWTH)
		return SCALE_HIDDEN;
	return SCALE_SURE;
}

/* Larger sizes tell laws apart best, as long as they end today; else more runs. */
static void way_out_find(struct scale_view *view)
{
	static const uint64_t factors[] = {4, 10};
	struct scale_law *law = &view->law;
	const struct law_line *line = &law->fit.lines[LAW_SQUARE];
	uint64_t largest = view->points[view->point_count - 1].size;

	if (view->doubt == SCALE_FEW_RUNS)
		law->suggested_runs = ROUNDS_ADVISED;
	if (view->doubt == SCALE_FEW_RUNS || view->doubt == SCALE_SURE)
		return;
	for (unsigned i = 0; i < 2; i++) {
		double size = (double)largest * (double)factors[i];

		if (size <= (double)SCALE_SIZE_LARGEST &&
			(!law->fitted ||
				law_time(LAW_SQUARE, line->a, line->b, size) < SUGGESTED_TIME_NS))
			law->suggested[i] = largest * factors[i];
	}
	if (!law->suggested[0])
		law->suggested_runs = view->rounds * 4;
}

static void curve_make(struct scale_view *view, const struct scale_matrix *matrix)
{
	struct scale_law *law = &view->law;
	const struct law_line *best = &law->fit.lines[law->best];
	const struct law_line *other = &law->fit.lines[law->runner_up];
	double from = log(matrix->sizes[0]), to = log(matrix->sizes[matrix->columns - 1]);
	struct scale_curve *curve = &view->curve;

	for (curve->count = 0; curve->count < SCALE_CURVE_POINTS; curve->count++) {
		uint32_t i = curve->count;

		curve->x[i] = exp(from + (to - from) * i / (SCALE_CURVE_POINTS - 1));
		curve->best[i] = law_time(law->best, best->a, best->b, curve->x[i]);
		curve->other[i] = law_time(law->runner_up, other->a, other->b, curve->x[i]);
	}
}

static int law_fit_matrix(
	struct scale_view *view, const struct scale_matrix *matrix, struct arena *arena)
{
	size_t bytes = (size_t)SCALE_BLOCKS * matrix->columns * sizeof(double) + 1;
	double *sizes = arena_take(arena, bytes), *times = arena_take(arena, bytes);
	size_t count = scale_matrix_blocks(matrix, NULL, sizes, times);
	struct err few; /* too little to fit is an answer here, not a failure */

	view->law.fitted = count && law_fit(sizes, times, count, &view->law.fit, &few) >= 0;
	if (!view->law.fitted)
		return 0;
	view->law.best = view->law.fit.best;
	scale_matrix_medians(matrix, NULL, times);
	view->law.tail_slope = tail_of(matrix, times);
	return 1;
}

int scale_law_judge(struct scale_view *view, struct arena *arena, struct err *err)
{
	struct scale_law *law = &view->law;
	struct scale_matrix matrix;
	int r = 0;

	scale_matrix_make(view, arena, &matrix);
	law->tail_slope = (double)NAN;
	if (law_fit_matrix(view, &matrix, arena) && view->rounds >= SCALE_RUNS_LEAST) {
		struct law_draws *draws = arena_take(arena, sizeof(*draws));

		r = draws_make(&matrix, arena, draws, err);
		if (r < 0)
			return r;
		view->draws = draws->count;
		draws_conclude(law, draws);
	} else {
		draws_missing(law);
	}
	if (law->fitted) {
		runner_up_find(law);
		points_predict(view);
		law_extrapolate(law, matrix.sizes[matrix.columns - 1]);
		curve_make(view, &matrix);
	}
	view->doubt = doubt_of(view, &matrix);
	way_out_find(view);
	return 0;
}
