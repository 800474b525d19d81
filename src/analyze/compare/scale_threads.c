/* scale_threads.c - what more threads bring; see scale.h.
 *
 * Threads without a CPU cannot scale, and a law fitted to them would call a perfect program bad.
 * So counts above the CPUs are shown but not fitted, unless the program left the CPUs idle there
 * (it waits for something else).  With two counts left there is one number, the share that queues
 * up; the three of the universal law take three counts. */
#include <math.h>

#include "base/stats.h"
#include "scale_parts.h"

#define BUSY_SHARE 0.6	     /* of the CPUs: below that they were not what was missing */
#define LINEAR_SHARE 0.85    /* of the ideal speed-up, lower bound */
#define FLAT_SHARE 0.95	     /* of the ideal speed-up, upper bound */
#define BACKWARDS_SHARE 0.95 /* of the best throughput */
#define RAN_SHARE 0.67	     /* of what is missing: that much more CPU time explains it */
#define ONE_CPU 1.15
#define BUSY_PRESSURE 0.25

struct thread_draws {
	uint32_t count, fits;
	double contention[SCALE_DRAWS], coherency[SCALE_DRAWS], peak[SCALE_DRAWS];
	double speedup[SCALE_DRAWS], of_best[SCALE_DRAWS];
};

/* Times become throughputs; the law for two counts is Amdahl's. */
static bool threads_fit(const double *counts, const double *times, size_t count, uint32_t different,
	struct law_threads *ret_fit, double *scratch)
{
	struct err unfit;
	double n = counts[different - 1], slow;

	for (size_t i = 0; i < count; i++)
		scratch[i] = 1e9 / times[i];
	if (different >= 3)
		return law_fit_threads(counts, scratch, count, ret_fit, &unfit) >= 0;
	if (different < 2 || counts[0] != 1)
		return false;
	slow = n * times[1] / times[0]; /* medians: exactly two */
	*ret_fit = (struct law_threads){
		.rate_of_one = scratch[0],
		.contention = fmax(0, (slow - 1) / (n - 1)),
		.coherency = (double)NAN,
		.peak = (double)NAN,
		.deviation = (double)NAN,
	};
	return true;
}

/* Fit these rows; blocks for the law of three numbers, medians for one number. */
static bool rows_fit(const struct scale_matrix *matrix, const uint32_t *rows, double *scratch,
	struct law_threads *ret_fit)
{
	size_t most = (size_t)SCALE_BLOCKS * matrix->columns;
	double *counts = scratch, *times = scratch + most;
	size_t count = matrix->columns;

	if (matrix->columns >= 3) {
		count = scale_matrix_blocks(matrix, rows, counts, times);
	} else {
		for (uint32_t i = 0; i < matrix->columns; i++)
			counts[i] = matrix->sizes[i];
		scale_matrix_medians(matrix, rows, times);
	}
	return threads_fit(counts, times, count, matrix->columns, ret_fit, scratch + 2 * most);
}

static void draws_make(
	const struct scale_matrix *matrix, uint32_t best, double *scratch, struct thread_draws *d)
{
	uint32_t rows[SCALE_PIECES], last = matrix->columns - 1;
	struct random random;

	random_seed(&random, 1);
	for (; d->count < SCALE_DRAWS; d->count++) {
		struct law_threads fit;

		scale_matrix_draw(matrix, &random, rows);
		if (rows_fit(matrix, rows, scratch, &fit)) {
			d->contention[d->fits] = fit.contention;
			d->coherency[d->fits] = fit.coherency;
			d->peak[d->fits++] = fit.peak;
		}
		scale_matrix_medians(matrix, rows, scratch);
		d->speedup[d->count] = scratch[0] / scratch[last];
		d->of_best[d->count] = scratch[best] / scratch[last];
	}
}

static void points_choose(struct scale_view *view)
{
	double cpus = view->options.cpus;

	for (uint32_t i = 0; i < view->point_count; i++) {
		struct scale_point *point = &view->points[i];

		if ((double)point->size > cpus && point->parallelism >= BUSY_SHARE * cpus)
			point->fitted = false;
	}
}

static void points_describe(struct scale_view *view)
{
	const struct scale_point *first = &view->points[0];
	struct scale_threads *threads = &view->threads;

	threads->one_cpu = true;
	for (uint32_t i = 0; i < view->point_count; i++) {
		struct scale_point *point = &view->points[i];
		const struct law_threads *fit = &threads->fit;
		double n = (double)point->size, more = n - 1;
		double kappa = isnan(fit->coherency) ? 0 : fit->coherency;
		double rate =
			fit->rate_of_one * n / (1 + fit->contention * more + kappa * n * more);

		point->speedup = point->rate / first->rate;
		point->efficiency = point->speedup * (double)first->size / n;
		if (point->size > 1 && point->parallelism > ONE_CPU)
			threads->one_cpu = false;
		if (!threads->fitted)
			continue;
		point->predicted_ns = 1e9 / rate;
		point->off_share = point->time->median / point->predicted_ns - 1;
	}
}

static void curve_make(struct scale_view *view)
{
	const struct scale_threads *threads = &view->threads;
	const struct law_threads *fit = &threads->fit;
	double kappa = isnan(fit->coherency) ? 0 : fit->coherency;
	double from = log((double)view->points[0].size);
	double to = log((double)view->points[view->point_count - 1].size);
	struct scale_curve *curve = &view->curve;

	for (curve->count = 0; curve->count < SCALE_CURVE_POINTS; curve->count++) {
		uint32_t i = curve->count;
		double n = exp(from + (to - from) * i / (SCALE_CURVE_POINTS - 1));

		curve->x[i] = n;
		curve->other[i] = fit->rate_of_one * n;
		curve->best[i] = fit->rate_of_one * n /
				 (1 + fit->contention * (n - 1) + kappa * n * (n - 1));
	}
}

/* Tasks queued although there was a CPU for each of our threads: it was others who used them. */
static bool machine_is_busy(const struct scale_view *view)
{
	for (uint32_t i = 0; i < view->point_count; i++)
		if (view->points[i].size <= view->options.cpus &&
			view->points[i].pressure_share > BUSY_PRESSURE)
			return true;
	return false;
}

/* Drawn are medians of pieces, shown is the median of all runs.  They differ where a CPU has two
 * speeds, and bounds without what is shown between them would be surer than either. */
static struct interval speedup_bounds(const struct scale_view *view, struct thread_draws *d)
{
	struct interval drawn = scale_drawn_interval(d->speedup, d->count);
	double shown =
		view->points[view->threads.last].rate / view->points[view->threads.first].rate;

	return (struct interval){fmin(drawn.lo, shown), fmax(drawn.hi, shown)};
}

/* Threads that queue up use no CPU time.  When the CPU time of the same work grew by most of what
 * is missing, they ran, each slower than one alone: two hardware threads of one core, caches,
 * memory, a neighbour on the host of a virtual machine, or a lock that spins.  `team free`
 * (tests/workloads) was called contention-bound with 1.04 times the throughput and 1.9 times the
 * CPU time. */
static bool threads_ran(const struct scale_view *view, double ideal)
{
	const struct scale_threads *threads = &view->threads;
	double missing =
		ideal * view->points[threads->first].rate / view->points[threads->last].rate;

	return threads->cpu_times - 1 > RAN_SHARE * (missing - 1);
}

static void kind_choose(struct scale_view *view, struct thread_draws *d)
{
	struct scale_threads *threads = &view->threads;
	struct interval of_best = scale_drawn_interval(d->of_best, d->count);
	double ideal = (double)view->points[threads->last].size /
		       (double)view->points[threads->first].size;

	threads->speedup = speedup_bounds(view, d);
	threads->contention = scale_drawn_interval(d->contention, d->fits);
	threads->coherency = scale_drawn_interval(d->coherency, d->fits);
	threads->peak = scale_drawn_interval(d->peak, d->fits);
	threads->cpu_times = view->points[threads->last].command->cpu.median /
			     view->points[threads->first].command->cpu.median;
	if (threads->best != threads->last && of_best.hi < BACKWARDS_SHARE)
		threads->kind = SCALE_THREADS_COHERENCY;
	else if (threads->speedup.lo >= LINEAR_SHARE * ideal)
		threads->kind = SCALE_THREADS_LINEAR;
	else if (threads->speedup.hi < FLAT_SHARE * ideal)
		threads->kind = SCALE_THREADS_CONTENTION;
	view->doubt = threads->kind == SCALE_THREADS_UNCLEAR ? SCALE_MIXED : SCALE_SURE;
	if (threads->kind == SCALE_THREADS_CONTENTION && threads_ran(view, ideal)) {
		threads->kind = SCALE_THREADS_UNCLEAR;
		view->doubt = SCALE_SLOWER;
	}
	if (threads->kind != SCALE_THREADS_LINEAR && machine_is_busy(view)) {
		threads->kind = SCALE_THREADS_UNCLEAR;
		view->doubt = SCALE_BUSY;
	}
}

int scale_threads_judge(struct scale_view *view, struct arena *arena, struct err *err)
{
	struct scale_threads *threads = &view->threads;
	struct scale_matrix matrix;
	double *scratch;
	uint32_t best = 0;

	(void)err;
	points_choose(view);
	scale_matrix_make(view, arena, &matrix);
	scratch = arena_take(
		arena, ((size_t)SCALE_BLOCKS * matrix.columns * 3 + 3) * sizeof(*scratch));
	threads->cpus = view->options.cpus;
	threads->fit_count = matrix.columns;
	threads->peak_rate = (double)NAN;
	if (matrix.columns >= 2 && view->rounds)
		threads->fitted = rows_fit(&matrix, NULL, scratch, &threads->fit);
	points_describe(view);
	view->doubt = matrix.columns < 2 ? SCALE_FEW_SIZES : SCALE_FEW_RUNS;
	if (matrix.columns < 2)
		return 0;
	for (uint32_t i = 0; i < matrix.columns; i++)
		if (view->points[matrix.points[i]].rate > view->points[matrix.points[best]].rate)
			best = i;
	threads->first = matrix.points[0];
	threads->last = matrix.points[matrix.columns - 1];
	threads->best = matrix.points[best];
	if (threads->fitted) {
		const struct law_threads *fit = &threads->fit;
		double n = fit->peak;

		if (isfinite(n))
			threads->peak_rate =
				fit->rate_of_one * n /
				(1 + fit->contention * (n - 1) + fit->coherency * n * (n - 1));
		curve_make(view);
	}
	if (view->rounds >= SCALE_RUNS_LEAST) {
		struct thread_draws *draws = arena_take(arena, sizeof(*draws));

		draws_make(&matrix, best, scratch, draws);
		view->draws = draws->count;
		kind_choose(view, draws);
	}
	return 0;
}
