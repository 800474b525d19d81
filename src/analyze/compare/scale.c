/* scale.c - see scale.h: the points, and what was expected of the law. */
#include "analyze/scale.h"

#include <math.h>

#include "scale_parts.h"

const char *scale_law_name(const struct scale_law *law)
{
	return law->beyond ? "worse than O(n^2)" : law_name(law->best);
}

const char *scale_threads_name(enum scale_threads_kind kind)
{
	static const char *const names[] = {
		[SCALE_THREADS_UNCLEAR] = "unclear",
		[SCALE_THREADS_LINEAR] = "linear",
		[SCALE_THREADS_CONTENTION] = "contention-bound",
		[SCALE_THREADS_COHERENCY] = "coherency-bound",
	};

	return names[kind];
}

const char *scale_doubt_name(enum scale_doubt doubt)
{
	static const char *const names[] = {
		[SCALE_SURE] = "none",
		[SCALE_FEW_RUNS] = "few-runs",
		[SCALE_FEW_SIZES] = "few-sizes",
		[SCALE_NEAR_SIZES] = "near-sizes",
		[SCALE_MIXED] = "noise",
		[SCALE_HIDDEN] = "hidden-growth",
		[SCALE_BUSY] = "busy-machine",
		[SCALE_SLOWER] = "slower-threads",
	};

	return names[doubt];
}

static void point_make(struct scale_view *view, uint32_t index, uint64_t size)
{
	const struct bench_command *command = &view->bench->commands[index];
	struct scale_point *point = &view->points[index], *first = &view->points[0];
	const struct summary *time = scale_is_of_cpu_time(view) ? &command->cpu : &command->wall;
	const struct summary_percentile *p95 = &time->percentiles[SUMMARY_P95];
	const struct summary_percentile *p95_first =
		index ? &first->time->percentiles[SUMMARY_P95] : p95;
	bool tails = !p95->worst_of_all && !p95_first->worst_of_all;

	*point = (struct scale_point){
		.size = size,
		.command = command,
		.time = time,
		.rate = 1e9 / time->median,
		.per_unit_ns = time->median / (double)size,
		.predicted_ns = (double)NAN,
		.off_share = (double)NAN,
		.parallelism = command->cpu.median / command->wall.median,
		.pressure_share = bench_wall_share(command, BENCH_PRESSURE_NS),
		.fitted = command->used_count > 0,
	};
	point->times = time->median / (index ? first->time->median : time->median);
	point->times_p95 = tails ? p95->value / p95_first->value : (double)NAN;
	if (!command->used_count)
		return;
	view->p95_known &= !p95->worst_of_all;
	if (!view->rounds || command->used_count < view->rounds)
		view->rounds = command->used_count;
}

static enum scale_expectation expectation_of(const struct scale_view *view)
{
	const struct scale_law *law = &view->law;
	enum law expected = view->options.expected;
	bool better = false, worse = false;

	if (!view->options.has_expected)
		return SCALE_NOT_ASKED;
	if (view->doubt == SCALE_SURE)
		return law->beyond || law->best > expected ? SCALE_WORSE : SCALE_MET;
	if (view->doubt == SCALE_HIDDEN)
		return expected == LAW_CONSTANT ? SCALE_UNDECIDED : SCALE_MET;
	if (view->doubt != SCALE_MIXED)
		return SCALE_UNDECIDED;
	for (enum law l = LAW_CONSTANT; l < LAW_COUNT; l++) {
		better |= l <= expected && law->candidate[l];
		worse |= law->candidate[l] && l > expected;
	}
	return better && worse ? SCALE_UNDECIDED : worse ? SCALE_WORSE : SCALE_MET;
}

/* Ask CPU time when wall time does not answer. */
static int cpu_ask(struct scale_view *view, const struct scale_sizes *sizes, struct arena *arena,
	struct err *err)
{
	struct scale_options options = view->options;
	struct scale_view *second;
	int r;

	if (options.threads || options.metric == SCALE_CPU || view->doubt == SCALE_SURE)
		return 0;
	options.metric = SCALE_CPU;
	second = arena_take(arena, sizeof(*second));
	r = scale_view_make(view->bench, sizes, &options, arena, second, err);
	view->cpu_is_clear = r >= 0 && second->doubt == SCALE_SURE;
	view->cpu = second->law;
	return r;
}

int scale_view_make(const struct bench_view *bench, const struct scale_sizes *sizes,
	const struct scale_options *options, struct arena *arena, struct scale_view *ret_view,
	struct err *err)
{
	int r;

	*ret_view = (struct scale_view){
		.bench = bench,
		.options = *options,
		.points = arena_take(arena, sizes->count * sizeof(*ret_view->points)),
		.point_count = sizes->count,
		.p95_known = true,
	};
	for (uint32_t i = 0; i < sizes->count; i++)
		point_make(ret_view, i, sizes->at[i]);
	r = options->threads ? scale_threads_judge(ret_view, arena, err)
			     : scale_law_judge(ret_view, arena, err);
	ret_view->expectation = expectation_of(ret_view);
	return r < 0 ? r : cpu_ask(ret_view, sizes, arena, err);
}
