/* envelope.c - see envelope.h.
 *
 * Both statistics of both metrics are judged and the one that failed is named, because they fail
 * differently: over repeats of 20 runs on a loaded machine the p95 of wall time left 10 % in 83 %
 * of the triples, that of CPU time in 10 %, the median of CPU time never. */
#include "analyze/envelope.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/str.h"

#define DRIFT_STABLE 0.05
#define DRIFT_NOISE 0.10
#define DRIFT_ESCALATE 0.20
enum { ROW_ESCALATE = 3, KINDS = 4 };

/* The values of one repeat: the used runs `first`.. below `last` of a command. */
struct piece {
	const struct bench_command *command;
	uint32_t first, last;
};

const char *envelope_class_name(enum envelope_class class)
{
	static const char *const names[] = {"STABLE", "NOISE", "INVESTIGATE", "ESCALATE"};

	return names[class];
}

static enum envelope_class class_of(const struct envelope_series *series)
{
	if (series->drift > DRIFT_ESCALATE || series->in_a_row >= ROW_ESCALATE)
		return ENVELOPE_ESCALATE;
	return series->drift > DRIFT_NOISE    ? ENVELOPE_INVESTIGATE
	       : series->drift > DRIFT_STABLE ? ENVELOPE_NOISE
					      : ENVELOPE_STABLE;
}

static int reference_refuse(const struct envelope_series *series, struct err *err)
{
	err_set(err, ERR_USAGE, EINVAL,
		"%s %s of %s: the median of the repeats is 0 but one is not, so there is no drift",
		series->metric, series->statistic, series->command);
	err_hint(err, "remove the runs that were not measured, or add repeats");
	return -EINVAL;
}

int envelope_judge(struct envelope_series *series, struct err *err)
{
	mem_auto double *sorted = stats_sorted(series->values, series->count);
	uint32_t row = 0;

	series->reference = stats_nearest_sorted(sorted, series->count, 0.5);
	for (uint32_t i = 0; i < series->count; i++) {
		double away = series->values[i] - series->reference;
		double size = series->reference > 0 ? fabs(away) / series->reference : 0;

		if (series->reference <= 0 && away != 0)
			return reference_refuse(series, err);
		series->drifts[i] = away < 0 ? -size : size;
		row = size > DRIFT_NOISE ? row + 1 : 0;
		if (row > series->in_a_row)
			series->in_a_row = row;
		if (size > series->drift) {
			series->drift = size;
			series->worst = i;
		}
	}
	series->class = class_of(series);
	return 0;
}

static size_t piece_values(const struct piece *piece, bool cpu, double *values)
{
	uint32_t used = 0;
	size_t count = 0;

	for (uint32_t i = 0; i < piece->command->run_count; i++) {
		if (!piece->command->marks[i].used)
			continue;
		if (used >= piece->first && used < piece->last)
			values[count++] = bench_measure_at(
				piece->command, i, cpu ? BENCH_CPU_NS : BENCH_WALL_NS);
		used++;
	}
	stats_sort(values, count);
	return count;
}

/* The four series of one command, each with one value per piece. */
static int command_judge(const struct piece *pieces, uint32_t count, struct arena *arena,
	struct envelope_view *view, struct err *err)
{
	int r = 0;

	for (unsigned kind = 0; r >= 0 && kind < KINDS; kind++) {
		bool cpu = kind & 2, p95 = kind & 1, any = false;
		struct envelope_series *series = &view->series[view->series_count];

		*series = (struct envelope_series){
			.command = pieces[0].command->name,
			.metric = cpu ? "cpu" : "wall",
			.statistic = p95 ? "p95" : "median",
			.values = arena_take(arena, count * sizeof(double)),
			.drifts = arena_take(arena, count * sizeof(double)),
			.count = count,
		};
		for (uint32_t i = 0; i < count; i++) {
			mem_auto double *values =
				mem_new(pieces[i].command->run_count, sizeof(*values));
			size_t n = piece_values(&pieces[i], cpu, values);

			series->values[i] = stats_nearest_sorted(values, n, p95 ? 0.95 : 0.5);
			any |= series->values[i] != 0;
		}
		if (!any) /* this metric was not measured */
			continue;
		r = envelope_judge(series, err);
		view->series_count++;
	}
	return r;
}

static void view_conclude(struct envelope_view *view)
{
	for (uint32_t i = 0; i < view->series_count; i++) {
		const struct envelope_series *one = &view->series[i];

		if (!view->by || one->class > view->class ||
			(one->class == view->class && one->drift > view->by->drift)) {
			view->by = one;
			view->class = one->class;
		}
	}
}

static const struct bench_command *command_named(const struct bench_view *view, const char *name)
{
	for (uint32_t i = 0; i < view->command_count; i++)
		if (view->commands[i].used_count && str_equal(view->commands[i].name, name))
			return &view->commands[i];
	return NULL;
}

int envelope_of_runs(const struct bench_view *const *views, uint32_t count, struct arena *arena,
	struct envelope_view *ret_view, struct err *err)
{
	struct envelope_view view = {.repeats = count};
	int r = 0;

	view.series = arena_take(arena, views[0]->command_count * KINDS * sizeof(*view.series));
	for (uint32_t i = 0; r >= 0 && i < views[0]->command_count; i++) {
		struct piece *pieces = arena_take(arena, count * sizeof(*pieces));
		uint32_t found = 0;

		for (uint32_t k = 0; k < count; k++) {
			const struct bench_command *command =
				command_named(views[k], views[0]->commands[i].name);

			if (command)
				pieces[found++] = (struct piece){command, 0, command->used_count};
		}
		if (found == count)
			r = command_judge(pieces, count, arena, &view, err);
	}
	view_conclude(&view);
	*ret_view = view;
	return r;
}

int envelope_of_blocks(const struct bench_view *view, uint32_t blocks, struct arena *arena,
	struct envelope_view *ret_view, struct err *err)
{
	struct envelope_view result = {.repeats = blocks, .blocks = true};
	struct piece *pieces = arena_take(arena, blocks * sizeof(*pieces));
	int r = 0;

	result.series = arena_take(arena, view->command_count * KINDS * sizeof(*result.series));
	for (uint32_t i = 0; r >= 0 && i < view->command_count; i++) {
		const struct bench_command *command = &view->commands[i];
		uint64_t used = command->used_count;

		if (used < blocks)
			continue;
		for (uint32_t k = 0; k < blocks; k++)
			pieces[k] = (struct piece){command, (uint32_t)(used * k / blocks),
				(uint32_t)(used * (k + 1) / blocks)};
		r = command_judge(pieces, blocks, arena, &result, err);
	}
	view_conclude(&result);
	*ret_view = result;
	return r;
}
